"""What the screens ask of the use-cases, and nothing more.

All methods may take long, except :meth:`data_version` and :meth:`progress`: they are called in
threads. Refusals are a :class:`compress.errors.CompressError` or a
:class:`storage.errors.StorageError` each, its message fit to be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:  # so that the first screen waits for none of them
    from compress.beliefs.values import Strategy
    from compress.events import NodeId
    from inspector.artifact_reports import ArtifactsReport
    from inspector.audit_reports import VerificationReport
    from inspector.decision_choice import Wanted
    from inspector.decision_reports import DecisionsReport, ExportReport
    from inspector.locations import Place
    from inspector.pack_reports import PackHandle, PackReport
    from inspector.rebuild_reports import RebuildHandle, RebuildReport
    from inspector.reports import (
        AuditRow,
        CompactionMode,
        CompactionReport,
        EventDetail,
        OperationReport,
        PressureReport,
        SearchHit,
        SessionRow,
        Track,
    )
    from inspector.resume_reports import ResumeReport
    from inspector.squeeze_reports import SqueezedResult
    from inspector.views import SurfaceView


class Preview(Protocol):
    """A compaction that could be committed."""

    @property
    def report(self) -> CompactionReport: ...


P = TypeVar("P", bound=Preview)


class Inquiry(Protocol[P]):
    """The use-cases behind the screens. ``P`` is the kind of preview that it gives, and the only
    one that it commits."""

    def data_version(self) -> int: ...

    def progress(self) -> tuple[int, int, str]: ...

    def give_up(self) -> None: ...

    def start_watching(self, paths: Sequence[Path], notify: Callable[[], None]) -> None: ...

    def stop_watching(self) -> None: ...

    def places(self, paths: Sequence[Path] = ()) -> tuple[Place, ...]: ...

    def sessions(self, limit: int | None = None) -> list[SessionRow]: ...

    def find(self, reference: str) -> str: ...

    def search(self, query: str, limit: int) -> list[SearchHit]: ...

    def events(self, session: str) -> int: ...

    def view(
        self,
        session: str,
        *,
        track: Track = "agent",
        at: NodeId | None = None,
        live: bool = False,
    ) -> SurfaceView: ...

    def detail(self, session: str, seq: NodeId, *, track: Track = "agent") -> EventDetail: ...

    def artifacts(self, session: str, *, at: NodeId | None = None) -> ArtifactsReport: ...

    def squeezed(self, session: str, seq: NodeId) -> SqueezedResult: ...

    def pressure(
        self,
        session: str,
        *,
        track: Track = "agent",
        at: NodeId | None = None,
        live: bool = True,
    ) -> PressureReport: ...

    def preview(
        self,
        session: str,
        *,
        start: NodeId | None = None,
        end: NodeId | None = None,
        mode: CompactionMode = "region",
        at: NodeId | None = None,
        before_compaction: int | None = None,
        budget: int | str | None = None,
        pins: Sequence[NodeId] = (),
        cancelled: Callable[[], bool] = ...,
    ) -> P: ...

    def preview_diff(self, preview: P) -> str: ...

    def whereabouts(
        self, session: str, text: str, *, start: NodeId, end: NodeId, at: NodeId | None = None
    ) -> NodeId: ...

    def compare(
        self,
        session: str,
        number: int,
        *,
        budget: int | str = "own",
        pins: Sequence[NodeId] = (),
    ) -> CompactionReport: ...

    def commit(self, preview: P) -> CompactionReport: ...

    def pin(self, session: str, seqs: Sequence[NodeId]) -> OperationReport: ...

    def unpin(self, session: str, seqs: Sequence[NodeId]) -> OperationReport: ...

    def undo(
        self, session: str, operation: NodeId | None = None, *, cascade: bool = False
    ) -> OperationReport: ...

    def redo(self, session: str, operation: NodeId | None = None) -> OperationReport: ...

    def resume(
        self, session: str, *, at: NodeId | None = None, dry_run: bool = False
    ) -> ResumeReport: ...

    def audit(self, session: str | None = None) -> list[AuditRow]: ...

    def audit_diff(self, session: str, operation: NodeId) -> str: ...

    def audit_raw(self, session: str, operation: NodeId) -> str: ...

    def decisions(self, session: str | None = None, wanted: Wanted = ...) -> DecisionsReport: ...

    def export_decisions(
        self, path: Path, session: str | None = None, wanted: Wanted = ...
    ) -> ExportReport: ...

    def verify(self, session: str | None = None) -> VerificationReport: ...

    def pack(
        self,
        session: str | None,
        query: str,
        *,
        budget: int | None = None,
        project: bool = False,
        compression: bool | None = None,
        overrides: Mapping[str, Strategy] = ...,
        excluded: Collection[str] = (),
        included: Collection[str] = (),
        allow_overflow: bool = False,
    ) -> PackHandle: ...

    def commit_pack(self, handle: PackHandle, session: str) -> PackReport: ...

    def save_pack(self, handle: PackHandle, path: Path) -> PackReport: ...

    def rebuild(
        self,
        session: str,
        *,
        budget: int | None = None,
        query: str | None = None,
        compression: bool | None = None,
    ) -> RebuildHandle: ...

    def commit_rebuild(self, handle: RebuildHandle) -> RebuildReport: ...

    def save_rebuild(self, handle: RebuildHandle, path: Path) -> RebuildReport: ...
