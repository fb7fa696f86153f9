"""What a person can do: one class behind the app, the command line and the browser.

Every method may be called from any thread. Refusals are :class:`compress.errors.CompressError`
or :class:`storage.errors.StorageError`; each message is one sentence that may be shown as it is.
"""

# Long because: it is the whole of what a person can do, a short method each.

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from compress.errors import CompressError
from compress.events import NodeId
from compress.operations import OperationDraft, OperationRow, number
from compress.pins import pin_draft, unpin_draft
from compress.plan import PlanState
from compress.surface import View
from compress.undo import redo_draft, undo_draft
from inspector.decision_choice import EVERYTHING, Wanted
from inspector.locations import LOG_SUFFIXES, Locations, Place
from inspector.reading import Reading
from inspector.reports import (
    AuditRow,
    CompactionMode,
    CompactionReport,
    DoctorReport,
    EventDetail,
    IngestReport,
    MessageBlock,
    MessageReport,
    MessagesReport,
    OperationReport,
    PressureReport,
    SearchHit,
    SessionHeader,
    SessionRow,
    SurfaceReport,
    Track,
)
from inspector.session_rows import header_of, session_rows, with_waiting
from inspector.settings import Loaded
from inspector.zones import LOCAL, zone_named
from storage.catalog import SessionRecord
from storage.errors import UnknownSessionError
from storage.format import MEMORY
from storage.ingest import Progress
from storage.search import search
from storage.sources.registry import registry
from storage.store import Store

if TYPE_CHECKING:
    from compress.beliefs.values import Strategy
    from compress.continuation.carry import Carried
    from compress.reduction.values import Budget
    from inspector.artifact_reports import ArtifactsReport
    from inspector.audit_reports import HeadReport, VerificationReport
    from inspector.compactions import PreviewHandle
    from inspector.decision_exports import Format
    from inspector.decision_reports import DecisionsReport, ExportReport
    from inspector.lake_reports import LakeReport, SpansReport
    from inspector.loaded import LoadedSession
    from inspector.pack_reports import PackHandle, PackReport
    from inspector.packs import Packing
    from inspector.rebuild_reports import RebuildHandle, RebuildReport
    from inspector.resume_reports import ResumeReport
    from inspector.squeeze_reports import SqueezedResult
    from inspector.surface_rows import SurfaceRows
    from inspector.usage_reports import UsageBy, UsageReport

_ENDINGS = (*LOG_SUFFIXES, ".db")
"""Of names that are meant as a log's."""
_KEPT = 8
"""Sessions that stay loaded."""


class UnknownProjectError(CompressError):
    """A session whose log names no folder."""

    code = "unknown_project"


class UseCases:
    """Close it when done. ``clock`` gives seconds since 1970."""

    def __init__(
        self,
        store: Store,
        loaded: Loaded,
        *,
        environment: Mapping[str, str] | None = None,
        home: Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings = loaded.settings
        self._loaded_settings = loaded
        self._store = store
        self._clock = clock
        self._environment = os.environ if environment is None else environment
        self._locations = Locations(
            store.registry,
            self._environment,
            Path.home() if home is None else home,
        )
        self._sessions: OrderedDict[int, LoadedSession] = OrderedDict()
        self._lock = threading.RLock()
        self._scope: tuple[Path, ...] = ()
        self._given_up = threading.Event()
        self._reading = Reading(
            store,
            self._locations,
            poll_interval=self.settings.poll_interval,
            clock=clock,
            grew=self._act_by_policy,
        )

    def give_up(self) -> None:
        """Nobody waits any more for what is being read or computed: a session of a million events
        ends within moments, wherever it is (:class:`compactions.CancelledError`). Nothing is
        asked of this object after that but to be closed."""
        self._given_up.set()

    def _wanted(self) -> None:
        if self._given_up.is_set():
            from inspector.compactions import CancelledError

            raise CancelledError("This was given up: Ullage is being left.")

    def close(self) -> None:
        """Stops watching and closes the store."""
        self.stop_watching()
        self._store.close()

    # Reading logs

    def ingest(self, paths: Sequence[Path] = (), progress: Progress | None = None) -> IngestReport:
        """Reads files or folders (none: every agent's logs on this machine) into the store."""
        return self._reading.ingest(paths, progress)

    def watch(
        self,
        paths: Sequence[Path] = (),
        stop: threading.Event | None = None,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        """Reads what is there, newest first, and goes on until ``stop`` is set."""
        self._reading.watch(paths, stop or threading.Event(), notify)

    def narrow(self, paths: Sequence[Path]) -> None:
        """From now on :meth:`sessions` lists only what was read from these files and folders; all
        again where there are none."""
        self._scope = tuple(path.expanduser().resolve() for path in paths)

    def start_watching(self, paths: Sequence[Path], notify: Callable[[], None]) -> None:
        """The same in a thread of its own."""
        self._reading.start(paths, notify)

    def places(self, paths: Sequence[Path] = ()) -> tuple[Place, ...]:
        """Where logs are looked for: below ``paths``, else in each agent's own folders."""
        return self._locations.places(paths)

    def stop_watching(self) -> None:
        """Returns when the thread has ended; what was committed stays."""
        self._reading.stop()

    def progress(self) -> tuple[int, int, str]:
        """(files done, files in all, a note) of the watching."""
        return self._reading.progress

    def data_version(self) -> int:
        """Changes whenever the store has changed. Cheap."""
        return hash(self._store.data_version())

    def _act_by_policy(self, touched: Iterable[str]) -> None:
        """What the setting ``auto`` allows without a person; the audit says ``policy``."""
        from inspector import compactions

        if self.settings.auto == "off":
            return
        for path in sorted(touched):
            for record in self._store.sessions_of_file(Path(path)):
                for mode in compactions.policy_modes(self.settings.auto):
                    with suppress(CompressError):
                        self.commit(self.preview(record.name, mode=mode, by_policy=True))

    # Sessions

    def sessions(self, limit: int | None = None) -> list[SessionRow]:
        """All sessions, the newest first, sub-agents below the session that started them. While a
        large backlog is read, also those that wait: their id is the path of the log, which
        :meth:`find` reads."""
        waiting = self._reading.waiting
        records = self._store.sessions(None if self._scope or waiting else limit)
        if waiting:
            records = with_waiting(records, waiting)[: None if self._scope else limit]
        if self._scope:
            records = [record for record in records if self._in_scope(record)][:limit]
        return session_rows(records, self.settings, self._clock())

    def _in_scope(self, record: SessionRecord) -> bool:
        path = Path(record.path)
        return any(path == named or named in path.parents for named in self._scope)

    def find(self, reference: str) -> str:
        """The name of the session that a person means: a name, a unique prefix, ``last``, or the
        path of a log, which is read into the store first.

        Raises :class:`UnknownSessionError`.
        """
        path, kind = _looked_at(reference)
        if kind == "file":
            return self._find_file(path)
        if kind == "folder":
            raise UnknownSessionError(
                f"{path} is a folder, not a log: name a file in it, or read all of it with "
                "ullage ingest."
            )
        try:
            return self._store.find(reference).name
        except UnknownSessionError as error:
            if error.choices or not reference.endswith(_ENDINGS):
                raise
            raise UnknownSessionError(
                f"There is no file {path}, and no session of that name; ullage sessions lists them."
            ) from error

    def _find_file(self, path: Path) -> str:
        path = self._store.registry.log_of(path)
        report = self.ingest([path])
        found = self._store.sessions_of_file(path)
        if not found:
            why = report.notes[0].rpartition(": ")[2] if report.notes else "holds no session"
            raise UnknownSessionError(f"{path} cannot be shown: {why}.")
        return found[0].name

    def project_of(self, session: str) -> str:
        """The folder that a session worked in.

        Raises :class:`UnknownProjectError`."""
        folder = self._store.find(session).cwd
        if folder is None:
            raise UnknownProjectError(
                f"The log of {session} names no folder, so its project is unknown: name one, or "
                "leave the project out."
            )
        return folder

    def events(self, session: str) -> int:
        """The newest seq of the agent's log; 0 for an empty one."""
        return self._store.find(session).last_seq

    def view(
        self,
        session: str,
        *,
        track: Track = "agent",
        at: NodeId | None = None,
        live: bool = False,
    ) -> SurfaceRows:
        """One state of the surface, row by row. The plan stands on what the running agent saw,
        whatever ``live`` says."""
        from inspector.loaded import PLAN_VIEW
        from inspector.surface_rows import SurfaceRows

        loaded = self._load(session)
        view: View = PLAN_VIEW if track == "plan" else "live" if live else "resume"
        plan = loaded.plan(at)
        state = plan if track == "plan" else loaded.agent_only(view, at)
        return SurfaceRows(
            self._header(loaded.record),
            state,
            loaded.tools,
            pins=plan.pins,
            track=track,
            view=view,
            at_seq=_moment(loaded.record, at),
            counter=loaded.record.counter,
            measured=loaded.measured(state),
        )

    def surface(
        self,
        session: str,
        *,
        track: Track = "agent",
        at: NodeId | None = None,
        live: bool = False,
    ) -> SurfaceReport:
        """The same, whole."""
        rows = self.view(session, track=track, at=at, live=live)
        return SurfaceReport(
            session=rows.session,
            track=track,
            view=rows.view,
            at_seq=rows.at_seq,
            replace_generation=rows.replace_generation,
            counter=rows.counter,
            nodes=tuple(rows.rows(0, len(rows))),
            problems=rows.problems,
        )

    def messages(
        self,
        session: str,
        *,
        track: Track = "agent",
        at: NodeId | None = None,
        live: bool = False,
    ) -> MessagesReport:
        """The exact message list that the agent would send."""
        from compress.messages import derive_messages
        from inspector.contents import Contents
        from inspector.loaded import PLAN_VIEW

        loaded = self._load(session)
        view: View = PLAN_VIEW if track == "plan" else "live" if live else "resume"
        state = loaded.plan(at) if track == "plan" else loaded.agent_only(view, at)
        nodes = Contents(self._store, loaded.record, state).all(state.surface.nodes)
        return MessagesReport(
            session=self._header(loaded.record),
            track=track,
            at_seq=_moment(loaded.record, at),
            view=view,
            messages=tuple(
                MessageReport(
                    role=message.role,
                    seqs=message.seqs,
                    blocks=tuple(
                        MessageBlock(kind=b.kind, id=b.id, name=b.name, input=b.input, text=b.text)
                        for b in message.blocks
                    ),
                )
                for message in derive_messages(nodes, loaded.record.agent)
            ),
        )

    def detail(self, session: str, seq: NodeId, *, track: Track = "agent") -> EventDetail:
        """Everything about one node."""
        from inspector.details import event_detail

        loaded = self._load(session)
        return event_detail(self._store, loaded, self.view(session, track=track), seq)

    def raw_content(self, session: str, seq: int) -> Iterator[bytes]:
        """The text of a tool's result, or the record of another event, byte for byte, in pieces."""
        from inspector.details import raw_content

        return raw_content(self._store, self._load(session), seq)

    def squeezed(self, session: str, seq: NodeId) -> SqueezedResult:
        """A tool's result as the pipeline for tool output reduces it; for looking."""
        from inspector.results import squeezed_result
        from inspector.squeeze_reports import squeezed_report

        loaded = self._load(session)
        return squeezed_report(squeezed_result(self._store, loaded, loaded.plan(), seq))

    def pressure(
        self,
        session: str,
        *,
        track: Track = "agent",
        at: NodeId | None = None,
        live: bool = True,
    ) -> PressureReport:
        """How full the window is, of what, and when it will overflow."""
        from inspector.pressures import pressure_report

        loaded = self._load(session)
        return pressure_report(
            loaded,
            self.settings,
            self._header(loaded.record),
            track=track,
            at=at,
            live=live,
            plan=lambda: loaded.plan(at),
        )

    def artifacts(self, session: str, *, at: NodeId | None = None) -> ArtifactsReport:
        """The plans, to-do lists and plan documents of a session, step by step."""
        from inspector.artifacts import artifacts_report

        loaded = self._load(session)
        return artifacts_report(self._store, loaded, self._header(loaded.record), at)

    def search(self, query: str, limit: int = 50) -> list[SearchHit]:
        """Full text over all sessions."""
        from inspector.excerpts import excerpts

        hits = search(self._store.connections, query, limit)
        told = excerpts(self._store, hits, query)
        return [
            SearchHit(
                session=hit.session,
                seq=hit.seq,
                type=hit.type,
                headline=hit.headline,
                score=round(hit.score, 4),
                partial=hit.partial,
                excerpt=told.get((hit.session, hit.seq), ""),
            )
            for hit in hits
        ]

    # Acting

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
        by_policy: bool = False,
        strength: Budget | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> PreviewHandle:
        """What a compaction would do; writes nothing. ``cancelled`` is asked on the way: once it
        says so, the preview is given up (:class:`compactions.CancelledError`)."""
        from inspector import compactions

        loaded = self._load(session)
        return compactions.preview(
            self._store,
            loaded,
            self.settings,
            self._header(loaded.record),
            compactions.Request(
                start=start,
                end=end,
                mode=mode,
                at=at,
                before_compaction=before_compaction,
                budget=budget,
                pins=tuple(pins),
                origin="policy" if by_policy else "user",
                strength=strength,
                cancelled=cancelled,
            ),
        )

    def preview_diff(self, preview: PreviewHandle) -> str:
        """What a preview would change, as a unified diff of the region's texts."""
        from inspector import diffs

        loaded = self._load(preview.report.session.id)
        at = preview.report.at_seq if preview.past else None
        return diffs.preview_diff(self._store, loaded, preview.preview, at)

    def whereabouts(
        self, session: str, text: str, *, start: NodeId, end: NodeId, at: NodeId | None = None
    ) -> NodeId:
        """The node of a region that something lost stood in."""
        from inspector.whereabouts import whereabouts

        return whereabouts(self._store, self._load(session), text, (start, end), at)

    def commit(self, preview: PreviewHandle) -> CompactionReport:
        """Commits a preview, if its region is still what was previewed."""
        from inspector import compactions

        loaded = self._load(preview.report.session.id)
        report = preview.report

        def checked(_: PlanState) -> OperationDraft:
            nonlocal report
            report, draft = compactions.check(self._store, loaded, self.settings, preview)
            return draft

        operation = self._append(loaded, checked)
        return report.model_copy(update={"operation": operation, "head": self.head().digest})

    def pack(
        self,
        session: str | None,
        query: str,
        *,
        budget: int | None = None,
        project: bool | Path = False,
        compression: bool | None = None,
        overrides: Mapping[str, Strategy] = MappingProxyType({}),
        excluded: Collection[str] = (),
        included: Collection[str] = (),
        allow_overflow: bool = False,
        at: NodeId | None = None,
        abbreviated: bool = False,
        kept: bool = True,
    ) -> PackHandle:
        """What the logs know about a query, under a budget: of a session, of all of its project or
        of a folder's, or of the whole store. A preview (see :class:`inspector.packs.Wish`)."""
        from inspector.packs import Wish

        wish = Wish(
            query=query,
            budget=budget,
            project=project,
            compression=compression,
            overrides=overrides,
            excluded=excluded,
            included=included,
            allow_overflow=allow_overflow,
            at=at,
            abbreviated=abbreviated,
            kept=kept,
        )
        return self._packing.pack(session, wish)

    def weigh(self, text: str, session: str | None = None) -> int:
        """Tokens of a text, as they are counted for a session's model."""
        from storage.resources import counter_for

        model = None if session is None else self._store.find(session).model
        return counter_for(model).count(text)

    def save_pack(self, handle: PackHandle, path: Path) -> PackReport:
        """Writes a pack to two new files, ``.md`` and ``.json``, of this name or in this folder."""
        return self._packing.saved(handle, path)

    def commit_pack(
        self, handle: PackHandle, session: str, *, place: Path | None = None
    ) -> PackReport:
        """Puts a pack on a session's plan, behind what stands there, and writes its files: to
        ``place``, as :meth:`save_pack` does, else beside the store."""
        loaded = self._load(session)
        draft = self._packing.draft(handle, loaded.record)
        name = loaded.record.name
        return self._packing.committed(
            handle, name, place, lambda: self._append(loaded, lambda _: draft)
        )

    def rebuild(
        self,
        session: str,
        *,
        budget: int | None = None,
        query: str | None = None,
        compression: bool | None = None,
        at: NodeId | None = None,
    ) -> RebuildHandle:
        """One context to go on with, under a budget (none: as many tokens as a summary may have).
        A preview. ``query``: ``None`` for the newest words and what is open.

        Raises :class:`compress.continuation.errors.LocksExceedBudgetError`.
        """
        from inspector.packs import Wish
        from inspector.rebuilds import Request, rebuild

        loaded = self._load(session)
        name, packing = loaded.record.name, self._packing
        on, source = packing.compression(compression)
        tokens = self.settings.max_summary_tokens if budget is None else budget
        request = Request(
            budget=tokens, query=query, at=at, compression=on, compression_source=source
        )
        return rebuild(
            self._store,
            loaded,
            request,
            lambda asked: packing.found(name, Wish(asked, at=at), tokens),
        )

    def carried(
        self,
        session: str,
        *,
        whole: bool = False,
        most: int | None = None,
        largest: int | None = None,
    ) -> Carried | None:
        """What is carried over the agent's own compaction, under the setting ``hook_budget``; or
        the ``whole`` summary in its place, as large as a summary may be. ``most``: fewer tokens
        than that, ``largest``: bytes."""
        from compress.continuation.carry import CarryRequest, carry
        from inspector.rebuilds import material_of

        loaded = self._load(session)
        settings, record = self.settings, loaded.record
        budget = settings.max_summary_tokens if whole else settings.hook_budget
        request = CarryRequest(
            budget=budget if most is None else min(budget, most),
            largest=largest,
            whole=whole,
            session=record.name,
            agent=record.agent,
        )
        return carry(material_of(self._store, loaded, None), request)

    def keep_up(self, session: str) -> None:
        """Brings up to date what is derived from a session and kept, before its agent compacts;
        what weighs too much for its memory graduates."""
        from inspector.decisions import current_points

        record = self._store.find(session)
        current_points(self._store, record, self.settings, now=self._clock())

    def save_rebuild(self, handle: RebuildHandle, path: Path) -> RebuildReport:
        """Writes a rebuilt context to two new files, ``.md`` and ``.json``, of this name or in
        this folder."""
        from inspector.rebuilds import saved

        return saved(handle, path)

    def commit_rebuild(self, handle: RebuildHandle, *, place: Path | None = None) -> RebuildReport:
        """Puts a rebuilt context on its session's plan, behind what stands there, and writes its
        files: to ``place``, as :meth:`save_rebuild` does, else beside the store.

        Raises :class:`inspector.rebuilds.PastContextError` for one of a past moment.
        """
        from inspector.rebuilds import committed

        loaded = self._load(handle.session)
        db = self._store.path
        return committed(handle, db, place, lambda made: self._append(loaded, lambda _: made))

    @cached_property
    def _packing(self) -> Packing:
        from inspector.packs import Packing

        return Packing(self._store, self._loaded_settings, self._load)

    def compare(
        self,
        session: str,
        number: int,
        *,
        budget: int | str | None = "own",
        pins: Sequence[NodeId] = (),
    ) -> CompactionReport:
        """What would have been kept where the agent itself compacted for the ``number``-th time,
        beside what it kept."""
        from inspector import comparisons

        loaded = self._load(session)
        header = self._header(loaded.record)
        return comparisons.compare(
            self._store, loaded, self.settings, header, number, budget=budget, pins=pins
        )

    def agent_compactions(self, session: str) -> tuple[NodeId, ...]:
        """The agent's own compactions that can be compared with; the first is number 1."""
        from inspector.comparisons import agent_compactions

        return agent_compactions(self._load(session))

    def pin(self, session: str, seqs: Sequence[NodeId]) -> OperationReport:
        """Pins the nodes of these events. All or none."""
        return self._operate_each(session, seqs, pin_draft)

    def unpin(self, session: str, seqs: Sequence[NodeId]) -> OperationReport:
        """Takes the pins of these nodes away. All or none."""
        return self._operate_each(session, seqs, unpin_draft)

    def undo(
        self, session: str, operation: NodeId | None = None, *, cascade: bool = False
    ) -> OperationReport:
        """Undoes an operation; without an id the newest standing one."""
        name = None if operation is None else str(operation)
        return self._operate(session, lambda plan: undo_draft(plan, name, cascade=cascade))

    def redo(self, session: str, operation: NodeId | None = None) -> OperationReport:
        """Puts an undone operation back in force."""
        name = None if operation is None else str(operation)
        return self._operate(session, lambda plan: redo_draft(plan, name))

    def audit(self, session: str | None = None, *, judged: bool = True) -> list[AuditRow]:
        """Every operation, the agent's own ones too, in the order of the log. Those of one session
        are ``judged``, which reads what they took away; those of all never are, and stand in the
        order of time, the newest last."""
        from inspector import audits

        if session is not None:
            loaded = self._load(session)
            return audits.audit(self._store, loaded, self.settings, judged=judged)
        rows = [
            row
            for record in reversed(self._store.sessions())
            for row in audits.audit(
                self._store, self._load(record.name), self.settings, judged=False
            )
        ]
        # Those of one session keep their order: the log's clock may have gone back.
        latest: dict[str | None, float] = {}
        keys = []
        for row in rows:
            seen = max(latest.get(row.session, 0.0), row.at or 0.0)
            latest[row.session] = seen
            keys.append(seen)
        return [rows[at] for at in sorted(range(len(rows)), key=keys.__getitem__)]

    def audit_diff(self, session: str, operation: NodeId) -> str:
        """What one operation changed, as a unified diff of the surface's texts."""
        from inspector import audits

        return audits.diff(self._store, self._load(session), operation)

    def decisions(
        self,
        session: str | None = None,
        wanted: Wanted = EVERYTHING,
        *,
        zone: str = LOCAL,
        progress: Progress | None = None,
    ) -> DecisionsReport:
        """The decision points of a session, or of all, brought up to date. Looking appends no
        operation.

        Raises :class:`inspector.zones.UnknownZoneError`.
        """
        return self._decisions(session, wanted, zone=zone, progress=progress)

    def _decisions(
        self,
        session: str | None,
        wanted: Wanted,
        *,
        zone: str,
        looking: bool = True,
        progress: Progress | None = None,
    ) -> DecisionsReport:
        from inspector.decisions import decisions_report

        records = self._store.sessions() if session is None else [self._store.find(session)]
        return decisions_report(
            self._store,
            records,
            self.settings,
            wanted,
            zone_named(zone, self._environment),
            now=self._clock(),
            looking=looking,
            progress=progress,
        )

    def export_decisions(
        self,
        path: Path,
        session: str | None = None,
        wanted: Wanted = EVERYTHING,
        *,
        form: Format | None = None,
        zone: str = LOCAL,
        force: bool = False,
        progress: Progress | None = None,
    ) -> ExportReport:
        """Writes the decision points that are wanted to a new file, in the form that its name
        tells where none is given. What weighs too much for a session's memory graduates on the
        way, so that the levels in the file stay true.

        Raises the errors of :func:`inspector.export_files.write_export`.
        """
        from inspector.decision_exports import format_named, written
        from inspector.decision_reports import ExportReport
        from inspector.export_files import write_export

        form = form or format_named(path)
        report = self._decisions(session, wanted, zone=zone, looking=False, progress=progress)
        write_export(path, written(report.points, form), force=force)
        return ExportReport(path=str(path), records=len(report.rows), masked=report.masked)

    def export_lake(
        self, folder: Path, *, masked: bool = True, progress: Progress | None = None
    ) -> LakeReport:
        """Brings a lake up to the store. Raises what :func:`inspector.lake.export_lake` does."""
        from inspector.lake import export_lake

        return export_lake(
            self._store,
            folder,
            self.settings,
            now=self._clock(),
            masked=masked,
            progress=progress,
        )

    def export_spans(
        self, endpoint: str, *, masked: bool = True, progress: Progress | None = None
    ) -> SpansReport:
        """Sends the decision points that ended, and that this collector was not sent yet, as
        spans. Raises the errors of :func:`inspector.otlp.export_spans`."""
        from inspector.otlp import export_spans

        return export_spans(
            self._store,
            endpoint,
            self.settings,
            now=self._clock(),
            masked=masked,
            progress=progress,
        )

    def usage(
        self,
        by: UsageBy = "day",
        *,
        zone: str = LOCAL,
        since: date | None = None,
        until: date | None = None,
    ) -> UsageReport:
        """What the requests of all sessions cost, each counted once, in tokens.

        Raises :class:`inspector.zones.UnknownZoneError`.
        """
        from inspector.usages import usage_report
        from storage.totals import spending

        found = zone_named(zone, self._environment)
        return usage_report(spending(self._store), by, found, since=since, until=until)

    def resume(
        self,
        session: str,
        *,
        track: Track = "plan",
        at: NodeId | None = None,
        out: Path | None = None,
        dry_run: bool = False,
    ) -> ResumeReport:
        """Writes the session's plan as a new session of its agent, beside the original."""
        from inspector import resumes

        loaded = self._load(session)
        path = Path(loaded.record.path)
        if at is None and path.is_file():
            # What the agent wrote since must not be missing in the copy.
            self.ingest([path])
            loaded = self._load(session)
        now = self._clock()
        request = resumes.Request(
            session_id=resumes.new_session_id(now, os.urandom(10)),
            now=now,
            track=track,
            at=at,
            out=out,
            dry_run=dry_run,
        )
        return resumes.resume(
            self._store, loaded, self._locations, self._header(loaded.record), request
        )

    def audit_raw(self, session: str, operation: NodeId) -> str:
        """One operation as it was written, one record a line under the place of the first."""
        from inspector import audits

        return audits.raw(self._store, self._load(session), operation)

    def verify(self, session: str | None = None, head: str | None = None) -> VerificationReport:
        """Whether the recorded operations are what was recorded. ``head``: one that was noted
        earlier, to be found on the chain."""
        from inspector.verification import verification_report

        record = None if session is None else self._store.find(session)
        return verification_report(self._store, record, head)

    def head(self, session: str | None = None) -> HeadReport:
        """The end of the chain of operations, to be noted elsewhere."""
        from inspector.verification import head_report

        record = None if session is None else self._store.find(session)
        return head_report(self._store, record)

    def doctor(self) -> DoctorReport:
        """What is found, what is understood, what is not."""
        from inspector import health

        return health.doctor(self._store, self._locations, self._loaded_settings)

    def _operate_each(
        self,
        session: str,
        seqs: Sequence[NodeId],
        draft: Callable[[PlanState, NodeId], OperationDraft],
    ) -> OperationReport:
        if not seqs:
            raise CompressError("No message is named: give at least one seq.")
        loaded = self._load(session)
        plan = loaded.plan()
        # A node that is named twice, or by two of its events, counts once.
        nodes = {draft(plan, seq).events[0].meta["node"]: seq for seq in seqs}.values()
        reports = [self._operate(session, lambda p, seq=seq: draft(p, seq)) for seq in nodes]  # type: ignore[misc]
        targets = tuple(target for report in reports for target in report.targets)
        return reports[-1].model_copy(update={"targets": targets})

    def _operate(
        self, session: str, draft: Callable[[PlanState], OperationDraft]
    ) -> OperationReport:
        loaded = self._load(session)
        operation = self._append(loaded, draft)
        view = self.view(session, track="plan")
        made = view.state.operations[operation]
        return OperationReport(
            operation=operation,
            state=view.state.states[operation].state,
            surface_tokens=view.tokens,
            targets=made.targets if made.pinned is None else (made.pinned,),
            head=self.head().digest,
        )

    def _append(self, loaded: LoadedSession, draft: Callable[[PlanState], OperationDraft]) -> str:
        """Drafts on the strand as it stands in the very transaction that appends: where another
        process was quicker, what is drafted is checked again."""
        while True:
            made, known, now = draft(loaded.plan()), loaded.newest_operation, self._clock()
            with suppress(_StrandGrewError):
                rows = self._store.append_operations(
                    loaded.record,
                    lambda strand: _behind(strand, known, made, loaded.record.last_seq, now),  # noqa: B023
                )
                break
            loaded.refresh()
        loaded.took(rows)
        loaded.refresh()
        return rows[0].operation

    def _load(self, session: str) -> LoadedSession:
        from inspector.loaded import LoadedSession

        record = self._store.find(session)
        with self._lock:
            found = self._sessions.get(record.id)
            if found is None:
                found = LoadedSession(self._store, record, self._wanted)
                self._sessions[record.id] = found
                while len(self._sessions) > _KEPT:
                    self._sessions.popitem(last=False)
            else:
                self._sessions.move_to_end(record.id)
                found.refresh()
        return found

    def _header(self, record: SessionRecord) -> SessionHeader:
        return header_of(record)


def open_usecases(loaded: Loaded) -> UseCases:
    """The use-cases over the store that the settings name.

    Raises the errors of :class:`storage.store.Store`.
    """
    return UseCases(Store(loaded.settings.db, registry()), loaded)


def doctor_without_store(loaded: Loaded) -> DoctorReport:
    """What :meth:`UseCases.doctor` tells where no store was made yet; none is made for it."""
    usecases = UseCases(Store(MEMORY, registry()), loaded)
    try:
        report = usecases.doctor()
    finally:
        usecases.close()
    missing = {"path": loaded.settings.db, "state": "not there yet: ullage ingest makes it"}
    return report.model_copy(update={"store": missing})


def is_file(reference: str) -> bool:
    """Whether a session is named by the path of a log."""
    return _looked_at(reference)[1] == "file"


def _looked_at(reference: str) -> tuple[Path, Literal["file", "folder", ""]]:
    """What a person's words are as a path; nothing where no path can be meant, as with a name that
    is too long for one, or one that says nothing of being a path."""
    path = Path(reference)
    if "/" not in reference and not path.suffix:
        return path, ""
    with suppress(OSError, ValueError):
        path = Path(os.path.expanduser(reference))  # noqa: PTH111 - of nobody's home, nothing
        return path, "file" if path.is_file() else "folder" if path.is_dir() else ""
    return path, ""


def _moment(record: SessionRecord, at: NodeId | None) -> NodeId | None:
    return record.last_seq if at is None else at


class _StrandGrewError(Exception):
    """The user's strand is longer than what an operation was drafted on."""


def _behind(
    strand: Sequence[OperationRow], known: int, made: OperationDraft, after: int, at: float
) -> Sequence[OperationRow]:
    newest = strand[-1].number if strand else 0
    if newest != known:
        raise _StrandGrewError
    return number(made, next_number=newest + 1, after=after, at=at)
