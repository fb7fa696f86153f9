"""A continuation context of one session: what it is made from, and the answer as a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compress.compaction.digest import digest
from compress.compaction.values import SessionInput
from compress.continuation.draft import continuation_draft
from compress.continuation.query import Query, query_of
from compress.continuation.rebuild import rebuild as rebuilt
from compress.continuation.values import (
    Availability,
    Continuation,
    ContinuationRequest,
    Material,
)
from compress.errors import CompressError
from compress.events import NodeId
from compress.operations import OperationDraft
from compress.packs.values import Candidate
from inspector import pack_files
from inspector.contents import Contents
from inspector.decisions import session_points
from inspector.loaded import LoadedSession
from inspector.packs import line_report, symbols_only
from inspector.rebuild_reports import (
    AvailabilityReport,
    MissingReport,
    RebuildHandle,
    RebuildReport,
    SectionReport,
)
from storage import resources
from storage.store import Store

_SHOWN = 200
"""Items of each kind that is missing."""

Candidates = Callable[[str], Sequence[Candidate]]
"""Query → what is found, nothing of it newer than the moment."""


class PastContextError(CompressError):
    """A context of a past moment, which cannot stand on the plan of now."""

    code = "past_context"


@dataclass(frozen=True, slots=True)
class Request:
    """What to rebuild. ``query``: ``None`` for the newest words and what is open."""

    budget: int
    query: str | None = None
    at: NodeId | None = None
    compression: bool = True
    compression_source: str = "default"


def rebuild(
    store: Store, loaded: LoadedSession, request: Request, candidates: Candidates
) -> RebuildHandle:
    """The context of a session at a moment; writes nothing but the decision points that are new.

    Raises :class:`compress.continuation.errors.LocksExceedBudgetError`, and what
    :meth:`LoadedSession.until` raises.
    """
    record = loaded.record
    material = material_of(store, loaded, request.at)
    asked_for = Query(request.query) if request.query is not None else query_of(material.found)
    query = asked_for.text
    material = replace(material, candidates=candidates(query))
    asked = ContinuationRequest(
        query=query,
        budget=request.budget,
        type_aware=request.compression,
        session=record.name,
        agent=record.agent,
    )
    made = rebuilt(material, asked)
    at = record.last_seq if request.at is None else request.at
    past = request.at is not None and request.at != record.last_seq
    report = _report(made, loaded, request, at, asked_for)
    return RebuildHandle(report, made, past)


def material_of(store: Store, loaded: LoadedSession, at: NodeId | None) -> Material:
    """What a context of this moment is made from, nothing retrieved yet."""
    record = loaded.record
    with loaded.lock:
        state = loaded.plan(at)
        measured = loaded.measured(state)
    content = Contents(store, record, state, measured=measured, kept=loaded.contents)
    session = SessionInput(
        plan=state,
        content=content,
        counter=resources.counter_for(record.model),
        measured=measured,
        cache=loaded.facts,
    )
    found = digest(session, state.surface.nodes)
    newest = state.agent_seq
    points = session_points(store, record, newest)
    return Material(session, found, points)


def saved(handle: RebuildHandle, place: Path) -> RebuildReport:
    """Writes the context as Markdown and as JSON.

    Raises :class:`inspector.export_files.ExportFileError`.
    """
    with pack_files.written(handle.report, place, stem="context") as files:
        return handle.report.model_copy(update={"files": files})


def committed(
    handle: RebuildHandle, db: str, place: Path | None, append: Callable[[OperationDraft], str]
) -> RebuildReport:
    """Writes the files, beside the store ``db`` where no place is named, and appends the context;
    neither without the other.

    Raises :class:`PastContextError`, :class:`inspector.export_files.ExportFileError`.
    """
    if handle.past:
        raise PastContextError(
            f"This context is of event {handle.report.at_seq}, a moment of the past: only one of "
            "now can stand on the plan. Leave --at out, or save it to a file."
        )
    made = continuation_draft(handle.continuation)
    return pack_files.committed(handle.report, db, place, lambda: append(made), stem="context")


def _report(
    made: Continuation, loaded: LoadedSession, request: Request, at: NodeId, query: Query
) -> RebuildReport:
    note = symbols_only(request.query or "")
    if not any(part.items for part in made.sections):
        note = f"Nothing stands in it: at event {at} the session held nothing to go on with."
    return RebuildReport(
        query=made.request.query,
        query_source="session" if request.query is None else "given",
        query_seqs=query.nodes,
        query_items=query.items,
        note=note,
        scope="session",
        session=loaded.record.name,
        at_seq=at,
        budget=made.request.budget,
        tokens=made.tokens,
        counter=made.counter,
        compression=made.request.type_aware,
        compression_source=request.compression_source,
        text=made.text,
        lines=tuple(line_report(line, loaded.record.name) for line in made.lines),
        sections=tuple(
            SectionReport(
                name=part.name,
                title=part.title,
                tokens=part.tokens,
                items=part.items,
                left_out=part.left_out,
                degraded=part.degraded,
                text=part.text,
            )
            for part in made.sections
        ),
        availability=_availability(made.availability),
    )


def _availability(found: Availability) -> AvailabilityReport:
    return AvailabilityReport(
        share=round(found.share, 4),
        identifiers=_missing(found.missing, found.identifiers),
        instructions=_missing(found.instructions, found.instructions_of),
        errors=_missing(found.errors, found.errors_of),
    )


def _missing(items: Sequence[str], of: int) -> MissingReport:
    return MissingReport(total=len(items), of=of, items=tuple(items[:_SHOWN]))
