"""Use-cases without a store: believable, deterministic, in memory."""

# Long because: it stands for all of the use-cases, a short method each.

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compress.beliefs.values import Strategy
from compress.errors import CompressError, StaleNodeError, UnbalancedBoundaryError
from compress.events import NodeId
from inspector.artifact_reports import ArtifactsReport
from inspector.audit_reports import FindingReport, HeadReport, VerificationReport
from inspector.decision_choice import EVERYTHING, Wanted, is_wanted
from inspector.decision_reports import DecisionsReport, ExportReport
from inspector.locations import Place
from inspector.pack_reports import PackHandle, PackReport
from inspector.rebuild_reports import RebuildHandle, RebuildReport
from inspector.reports import (
    AuditRow,
    CompactionReport,
    DoctorReport,
    EventDetail,
    NodeReport,
    OperationReport,
    PressureReport,
    RegionReport,
    SearchHit,
    SessionHeader,
    SessionRow,
    Track,
)
from inspector.resume_reports import ResumeReport
from inspector.squeeze_reports import SqueezedResult, StageRow
from tests.inspector import decided, packed, plans, story
from tests.inspector.surfaces import FakeView, MillionView


@dataclass(frozen=True)
class FakePreview:
    report: CompactionReport
    pins: tuple[NodeId, ...] = ()


@dataclass
class FakeUseCases:
    """One long session in the middle of its work, and some others around it."""

    newest: int = 41
    version: int = 1
    pinned: set[NodeId] = field(default_factory=lambda: set[NodeId](story.PINNED))
    operations: list[AuditRow] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    reading: tuple[int, int, str] = (0, 0, "")
    findings: list[FindingReport] = field(default_factory=list)
    """What is wrong with the records of the operations."""
    looked_in: tuple[Place, ...] = ()
    extra: list[NodeReport] = field(default_factory=list)
    """Nodes that arrived since."""

    # The store

    def data_version(self) -> int:
        return self.version

    def progress(self) -> tuple[int, int, str]:
        return self.reading

    def start_watching(self, paths: Sequence[Path], notify: Callable[[], None]) -> None:
        self.calls.append(f"watch {len(paths)}")
        notify()

    def places(self, paths: Sequence[Path] = ()) -> tuple[Place, ...]:
        return self.looked_in

    def give_up(self) -> None:
        """Nothing here takes long."""

    def stop_watching(self) -> None:
        self.calls.append("stop")

    def doctor(self) -> DoctorReport:
        return DoctorReport()

    def find(self, ref: str) -> str:
        return "s1" if ref == "last" else ref

    # Sessions

    def sessions(self, limit: int | None = None) -> list[SessionRow]:
        return story.sessions()[:limit]

    def events(self, session: str) -> int:
        return self.newest

    def search(self, query: str, limit: int) -> list[SearchHit]:
        found = [
            node for node in story.nodes_of_story() if query.casefold() in node.headline.casefold()
        ]
        return [
            SearchHit(
                session="s1", seq=int(node.seq), type=node.type, headline=node.headline, score=1
            )
            for node in found[:limit]
        ]

    # One session

    def header(self, session: str) -> SessionHeader:
        row = next((row for row in story.sessions() if row.id == session), story.sessions()[0])
        return SessionHeader(
            id=session, agent=row.agent, title=row.title, model=row.model, cwd=row.project
        )

    def view(
        self, session: str, *, track: Track = "agent", at: NodeId | None = None, live: bool = False
    ) -> FakeView:
        self.calls.append(f"view {track} {at} {live}")
        log = [
            node.model_copy(update={"pinned": node.seq in self.pinned})
            for node in (*story.nodes_of_story(), *self.extra)
        ]
        upto = at if isinstance(at, int) else self.newest
        nodes = [node for node in log if isinstance(node.seq, int) and node.seq <= upto]
        if upto >= 41:
            head = story.checkpoint_of(41, range(1, 9), 1_620, "agent")
            nodes = [head, *(node for node in nodes if int(node.seq) > 8)]
        for row in self.operations:
            if track == "plan" and row.state == "standing" and row.kind == "compact":
                gone = set(row.shadowed_seqs)
                first = next(at for at, node in enumerate(nodes) if node.seq in gone)
                summary = story.checkpoint_of(row.operation, row.shadowed_seqs, 980, "user")
                nodes = [node for node in nodes if node.seq not in gone]
                nodes.insert(first, summary)
        return FakeView(self.header(session), nodes, track, "live" if live else "resume", upto)

    def detail(self, session: str, seq: NodeId, *, track: Track = "agent") -> EventDetail:
        self.calls.append(f"detail {seq}")
        node = next((n for n in (*story.nodes_of_story(), *self.extra) if n.seq == seq), None)
        if node is None:
            standing = self.view(session, track=track).nodes
            node = next((n for n in standing if n.seq == seq), None)
        if node is None:
            raise StaleNodeError(seq, "is unknown in this session")
        return EventDetail(
            node=node.model_copy(update={"pinned": seq in self.pinned}),
            blocks=story.blocks_of(node),
            raw=f'{{"type":"message","seq":{seq},"headline":"{node.headline}"}}',
            provenance=f"~/.claude/projects/retry/3f1c.jsonl, line {seq}",
            sub_agent="s2" if (node.type, node.tool) == ("tool/result", "Task") else None,
            operations=("#41 shadowed it: the agent's own compaction.",)
            if isinstance(seq, int) and seq <= 8
            else (),
        )

    def artifacts(self, session: str, *, at: NodeId | None = None) -> ArtifactsReport:
        upto = at if isinstance(at, int) else self.newest
        return ArtifactsReport(
            session=self.header(session), at_seq=upto, artifacts=plans.artifacts(upto)
        )

    def squeezed(self, session: str, seq: NodeId) -> SqueezedResult:
        self.calls.append(f"squeezed {seq}")
        stages = (
            StageRow(name="filter", lines_removed=3, tokens_removed=12, notes=("3 blank lines",)),
            StageRow(name="truncate", lines_removed=40, tokens_removed=900),
        )
        return SqueezedResult(
            text=f"⋮ ullage: 2 of 45 lines · all in s1:{seq}\nFAILED retry_test\n1 failed",
            profile="pytest",
            stages=stages,
            tokens_before=1_000,
            tokens_after=88,
            lines_before=45,
            lines_after=3,
        )

    def pressure(
        self, session: str, *, track: Track = "agent", at: NodeId | None = None, live: bool = True
    ) -> PressureReport:
        report = story.pressure_of(self.header(session), track, live)
        if track == "plan" and any(row.state == "standing" for row in self.operations):
            report = report.model_copy(update={"used": 61_000, "proposed": None})
        return report

    def pin(self, session: str, seqs: Sequence[NodeId]) -> OperationReport:
        self.pinned |= set(seqs)
        return self._operation("pin", seqs)

    def unpin(self, session: str, seqs: Sequence[NodeId]) -> OperationReport:
        self.pinned -= set(seqs)
        return self._operation("unpin", seqs)

    def preview(
        self,
        session: str,
        *,
        start: NodeId | None = None,
        end: NodeId | None = None,
        mode: str = "region",
        at: NodeId | None = None,
        before_compaction: int | None = None,
        budget: int | str | None = None,
        pins: Sequence[NodeId] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> FakePreview:
        self.calls.append(f"preview {mode} {start} {end} {budget} {list(pins)}")
        at, budget = (40, 1_620) if before_compaction else (at, budget)
        assert not isinstance(budget, str)
        view = self.view(session, track="plan", at=at)
        first = 0 if start is None else view.index_of(start)
        last = 25 if end is None else view.index_of(end)
        if first is None or last is None:
            raise StaleNodeError(start if first is None else end or 0, "is not on the surface")
        region = view.nodes[first : last + 1]
        if region[0].type == "tool/result":
            raise UnbalancedBoundaryError(
                f"The region would begin between a call and its result at event {region[0].seq}: "
                "begin one earlier or one later.",
                [story.int_of(region[0].seq) - 1, story.int_of(region[0].seq) + 1],
            )
        if region[-1].seq == self.newest - 1 and first > 0:
            raise UnbalancedBoundaryError(
                f"A region cannot end at event {region[-1].seq}: its call still waits for a "
                "result. End at event 39.",
                [39],
            )
        if len(region) < 2:
            raise CompressError("There is nothing to gain: the region holds one node.")
        report = story.compaction_of(view, (first, last), mode, budget, {*self.pinned, *pins})
        return FakePreview(report, tuple(pins))

    def preview_diff(self, preview: FakePreview) -> str:
        return story.DIFF

    def whereabouts(
        self, session: str, text: str, *, start: NodeId, end: NodeId, at: NodeId | None = None
    ) -> NodeId:
        self.calls.append(f"whereabouts {text} {start} {end} {at}")
        found = [node.seq for node in story.nodes_of_story() if text in node.headline]
        if not found:
            raise CompressError(f"No node of the region holds {text!r} word for word.")
        return found[-1]

    def compare(
        self,
        session: str,
        number: int,
        *,
        budget: int | str = "own",
        pins: Sequence[NodeId] = (),
    ) -> CompactionReport:
        self.calls.append(f"compare {number} {budget} {list(pins)}")
        view = self.view(session, track="plan", at=40)
        return story.comparison_of(view, None if isinstance(budget, str) else budget, set(pins))

    def commit(self, preview: FakePreview) -> CompactionReport:
        report = preview.report
        done = self._operation(
            "compact" if report.summary is not None else "micro",
            [fate.seq for fate in report.nodes if fate.fate in ("shadowed", "receipt")],
            before=report.tokens_before,
            after=report.tokens_after,
        )
        return report.model_copy(update={"operation": done.operation})

    # Operations

    def undo(
        self, session: str, operation: NodeId | None = None, *, cascade: bool = False
    ) -> OperationReport:
        self.calls.append(f"undo {operation} {cascade}")
        standing = [row for row in self.operations if row.state == "standing"]
        if not standing:
            raise CompressError("There is no standing operation to undo.")
        row = next((r for r in standing if r.operation == operation), standing[-1])
        later = [r.operation for r in standing if r.kind == "compact" and r is not row]
        if row.kind == "compact" and later and not cascade:
            raise CompressError(f"Operation {row.operation} carries {later[0]}.", later)
        self._set(row, "undone")
        return OperationReport(operation=row.operation, state="undone", surface_tokens=1)

    def redo(self, session: str, operation: NodeId | None = None) -> OperationReport:
        undone = [row for row in self.operations if row.state == "undone"]
        if not undone:
            raise CompressError("There is nothing to redo.")
        self._set(undone[-1], "standing")
        return OperationReport(operation=undone[-1].operation, state="standing", surface_tokens=1)

    def resume(
        self, session: str, *, at: NodeId | None = None, dry_run: bool = False
    ) -> ResumeReport:
        self.calls.append(f"resume {session} {at} {dry_run}")
        view = self.view(session, track="plan", at=at)
        return story.copy_of(view, written=not dry_run)

    def audit(self, session: str | None = None) -> list[AuditRow]:
        return [*story.agents_operations(), *self.operations]

    def audit_diff(self, session: str, operation: NodeId) -> str:
        return story.DIFF

    def audit_raw(self, session: str, operation: NodeId) -> str:
        return f'{{"type":"compact","operation":"{operation}"}}'

    def decisions(self, session: str | None = None, wanted: Wanted = EVERYTHING) -> DecisionsReport:
        self.calls.append(f"decisions {session} {wanted.project} {wanted.whole}")
        found = decided.rows(session)
        shown = found if wanted.whole else found[1:]
        return DecisionsReport(rows=tuple(shown), hidden=len(found) - len(shown))

    def export_decisions(
        self, path: Path, session: str | None = None, wanted: Wanted = EVERYTHING
    ) -> ExportReport:
        self.calls.append(f"export {path} {session} {wanted.masked}")
        if path.suffix != ".md":
            raise CompressError(f"{path} does not tell its format.")
        kept = [row for row in decided.rows(session) if is_wanted(row.point, wanted)]
        return ExportReport(path=str(path), records=len(kept), masked=2)

    def pack(
        self,
        session: str | None,
        query: str,
        *,
        budget: int | None = None,
        project: bool = False,
        compression: bool | None = None,
        overrides: Mapping[str, Strategy] | None = None,
        excluded: Collection[str] = (),
        included: Collection[str] = (),
        allow_overflow: bool = False,
    ) -> PackHandle:
        self.calls.append(f"pack {session} {query} {budget} {project} {compression}")
        return packed.pack_of(
            query,
            budget or 1_500,
            scope="store" if session is None else "project" if project else "session",
            compression=compression is not False,
            overrides=overrides or {},
            excluded=excluded,
            included=included,
            allow_overflow=allow_overflow,
        )

    def commit_pack(self, handle: PackHandle, session: str) -> PackReport:
        done = self._operation("pack", [self.newest])
        return handle.report.model_copy(update={"operation": done.operation})

    def save_pack(self, handle: PackHandle, path: Path) -> PackReport:
        self.calls.append(f"save {path}")
        if path.parent.name == "missing":
            raise CompressError(f"{path.parent} is no folder: name one that exists.")
        files = (str(path.with_suffix(".md")), str(path.with_suffix(".json")))
        return handle.report.model_copy(update={"files": files})

    def rebuild(
        self,
        session: str,
        *,
        budget: int | None = None,
        query: str | None = None,
        compression: bool | None = None,
    ) -> RebuildHandle:
        self.calls.append(f"rebuild {session} {query} {budget} {compression}")
        return packed.context_of(self.newest, query, budget or 4_000, compression is not False)

    def commit_rebuild(self, handle: RebuildHandle) -> RebuildReport:
        done = self._operation("pack", [self.newest])
        return handle.report.model_copy(update={"operation": done.operation})

    def save_rebuild(self, handle: RebuildHandle, path: Path) -> RebuildReport:
        self.calls.append(f"save {path}")
        files = (str(path.with_suffix(".md")), str(path.with_suffix(".json")))
        return handle.report.model_copy(update={"files": files})

    def verify(self, session: str | None = None) -> VerificationReport:
        head = HeadReport(session=session, count=len(self.operations), digest="9f2c" * 16)
        return VerificationReport(
            intact=not self.findings, events=len(self.operations), commits=len(self.operations),
            head=head, findings=tuple(self.findings),
        )  # fmt: skip

    def _operation(
        self,
        kind: str,
        seqs: Sequence[NodeId],
        before: int | None = None,
        after: int | None = None,
    ) -> OperationReport:
        self.version += 1
        name = f"o{len(self.operations) + 1}"
        self.operations.append(
            AuditRow(
                operation=name,
                kind=kind,
                origin="user",
                at=story.NOW,
                rule="by hand",
                region=RegionReport(start=seqs[0], end=seqs[-1]),
                shadowed_seqs=tuple(seqs) if kind == "compact" else (),
                tokens_before=before,
                tokens_after=after,
            )
        )
        return OperationReport(operation=name, state="standing", surface_tokens=1)

    def _set(self, row: AuditRow, state: str) -> None:
        self.version += 1
        at = self.operations.index(row)
        self.operations[at] = row.model_copy(update={"state": state})


class MillionUseCases(FakeUseCases):
    """A session of a million nodes."""

    def __init__(self) -> None:
        super().__init__(newest=1_000_000)

    def view(
        self, session: str, *, track: Track = "agent", at: NodeId | None = None, live: bool = False
    ) -> FakeView:
        return MillionView(self.header(session), at if isinstance(at, int) else 1_000_000)

    def detail(self, session: str, seq: NodeId, *, track: Track = "agent") -> EventDetail:
        detail = super().detail(session, (story.int_of(seq) - 1) % 40 + 1)
        return detail.model_copy(update={"node": detail.node.model_copy(update={"seq": seq})})
