"""Previews and commits of compactions: from a person's words to the engine, and back as reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compress.compaction.agent import AgentOperation, agent_operations
from compress.compaction.micro import Reducer, preview_micro, preview_reduced
from compress.compaction.policy import Automatic, Policy
from compress.compaction.preview import check_commit
from compress.compaction.service import preview_auto, preview_region
from compress.compaction.values import Lost, PressureInputs, Preview, SessionInput
from compress.errors import CompressError, StaleNodeError
from compress.events import NodeId
from compress.operations import OperationDraft, Origin
from compress.plan import PlanState
from inspector.contents import Contents
from inspector.loaded import LoadedSession
from inspector.pressures import reading_of_plan, window_of
from inspector.reports import (
    CompactionMode,
    CompactionReport,
    LostReport,
    RegionReport,
    ReportedFates,
    SessionHeader,
    SummaryReport,
)
from inspector.settings import Settings
from storage import resources
from storage.store import Store

if TYPE_CHECKING:
    from compress.reduction.values import Budget

_LOST_SHOWN = 200
"""Items of each kind of loss in a report; a warning names the rest."""


class NothingToDoError(CompressError):
    """A policy that has nothing to do now; the message says why."""

    code = "nothing_to_do"


class RequestError(CompressError):
    """A request that does not say what it means."""

    code = "request"


class CancelledError(CompressError):
    """Nobody waits for this preview any more."""

    code = "cancelled"


@dataclass(frozen=True, slots=True)
class Request:
    """What to compact. ``start`` and ``end`` for a region; ``budget`` in tokens or ``"own"``: as
    many as the agent's own summary has."""

    start: NodeId | None = None
    end: NodeId | None = None
    mode: CompactionMode = "region"
    at: NodeId | None = None
    before_compaction: int | None = None
    """1 = the first compaction that the agent made itself: the surface as it stood just before,
    the same region."""
    budget: int | str | None = None
    pins: tuple[NodeId, ...] = ()
    origin: Origin = "user"
    strength: Budget | None = None
    """How much of a result may stay, in mode ``reduce``; by its profile where none is given."""
    cancelled: Callable[[], bool] = lambda: False
    """Asked on the way, in the thread of the preview: whether to give up."""


@dataclass(frozen=True, slots=True)
class PreviewHandle:
    """A preview with its report: print it, or commit it."""

    report: CompactionReport
    preview: Preview
    past: bool
    """It is about a moment of the past, and cannot be committed."""


def preview(
    store: Store,
    loaded: LoadedSession,
    settings: Settings,
    header: SessionHeader,
    request: Request,
) -> PreviewHandle:
    """What a compaction would do; writes nothing. Callable in any thread, by several at once.

    Raises a :class:`CompressError` that says why nothing can be done, :class:`CancelledError`
    once the request says that it is.
    """
    at, own = request.at, None
    if request.before_compaction is not None:
        own = _agents_own(loaded, request.before_compaction)
        at = _just_before(loaded, own)
    state = loaded.plan(at)
    for pin in request.pins:
        if pin not in state.surface.members:
            raise StaleNodeError(pin, "is no node of this session, so it cannot be kept")
    session, used = session_input(store, loaded, settings, state, at, cancelled=request.cancelled)
    if request.mode == "reduce":
        made = _reduced(store, loaded, session, request)
    else:
        budget = _budget(loaded, request, own)
        reducer = _reducer(store, loaded) if request.mode == "micro" else None
        made = _made(session, used, request, own, budget, reducer=reducer)
    size = used, _used_after(loaded, session, made, at)
    report = _report(made, session, size, header, _at(loaded, at))
    return PreviewHandle(report, made, past=at is not None and at != loaded.record.last_seq)


def check(
    store: Store, loaded: LoadedSession, settings: Settings, handle: PreviewHandle
) -> tuple[CompactionReport, OperationDraft]:
    """The preview with the figures of now, and what to append.

    Raises :class:`compress.compaction.errors.ChangedError` where its region changed.
    """
    if handle.past:
        raise RequestError(
            f"This preview is of event {handle.report.at_seq}, a moment of the past: only the "
            "present can be compacted. Leave --at and --before-compaction out."
        )
    state = loaded.plan()
    session, used = session_input(store, loaded, settings, state, None)
    now = check_commit(handle.preview, session)
    size = used, _used_after(loaded, session, now, None)
    report = _report(now, session, size, handle.report.session, _at(loaded, None))
    return report, now.draft


def policy_modes(auto: Automatic) -> tuple[CompactionMode, ...]:
    """What a policy may commit without a person, in the order in which it tries: the gentler one
    first, so that a compaction is only made where clearing results was not enough."""
    modes: Mapping[Automatic, tuple[CompactionMode, ...]] = {
        "off": (),
        "micro": ("micro",),
        "full": ("micro", "auto"),
    }
    return modes[auto]


def policy_of(settings: Settings) -> Policy:
    """The engine's policy from the settings."""
    return Policy(
        threshold_ratio=settings.threshold_ratio,
        retain_ratio=settings.retain_ratio,
        retain_tokens=settings.retain_tokens,
        summary_tokens=settings.max_summary_tokens,
        retries=settings.retries,
        last_messages=settings.last_messages,
        micro_start=settings.micro_high,
        micro_target=settings.micro_low,
        unclearable=frozenset(settings.unclearable_tools),
        auto=settings.auto,
    )


def session_input(
    store: Store,
    loaded: LoadedSession,
    settings: Settings,
    state: PlanState,
    at: NodeId | None,
    *,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[SessionInput, int]:
    """The session as compaction sees it, and the provider tokens that its plan holds.

    Raises :class:`CancelledError`, also when its content is read.
    """

    def give_up() -> None:
        if cancelled():
            raise CancelledError("This preview was given up: a newer one is wanted.")

    give_up()
    # Without the lock: others may want the surface while a long log is metered.
    loaded.meter(at, give_up)
    with loaded.lock:
        meter, measured = loaded.meter(at), loaded.measured(state)
        reading = reading_of_plan(meter, state)
        window = window_of(loaded, meter, settings).tokens
    give_up()
    record = loaded.record
    content = Contents(store, record, state, measured=measured, kept=loaded.contents, asked=give_up)
    session = SessionInput(
        plan=state,
        content=content,
        counter=resources.counter_for(reading.model or record.model),
        policy=policy_of(settings),
        window=window,
        overhead=reading.overhead,
        calibration=reading.calibration,
        measured=measured,
        cache=loaded.facts,
    )
    return session, reading.used


def _agents_own(loaded: LoadedSession, number: int) -> AgentOperation:
    own = [op for op in agent_operations(loaded.order) if op.summary is not None]
    if not own:
        raise RequestError(
            "The agent never compacted this session itself: name a region, or leave the choice to "
            "the policy with --auto or --micro."
        )
    if not 1 <= number <= len(own):
        raise RequestError(
            f"The agent compacted this session {_times(len(own))}, so there is no compaction "
            f"{number}; number 1 is the first.",
            [f"--before-compaction {k}" for k in range(1, len(own) + 1)],
        )
    return own[number - 1]


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _just_before(loaded: LoadedSession, own: AgentOperation) -> int:
    """The newest event that is no part of the agent's compaction yet."""
    at = int(own.seq) - 1
    while at in loaded.entries and loaded.entries[at].type in ("compact/start", "compact/summary"):
        at -= 1
    return at


def _budget(loaded: LoadedSession, request: Request, own: AgentOperation | None) -> int | None:
    if request.budget != "own":
        return int(request.budget) if request.budget is not None else None
    if own is None:
        compactions = [op for op in agent_operations(loaded.order) if op.summary is not None]
        if not compactions:
            raise RequestError(
                "--budget own needs a compaction that the agent made itself; there is none. "
                "Name a number of tokens."
            )
        own = compactions[-1]
    members = loaded.fold("resume").members.get(own.seq, (own.seq,))
    return sum(loaded.entries[seq].tokens for seq in members)


def _made(
    session: SessionInput,
    used: int,
    request: Request,
    own: AgentOperation | None,
    budget: int | None,
    *,
    reducer: Reducer | None,
) -> Preview:
    extra = frozenset(request.pins)
    if own is not None and request.start is None:
        standing = set(session.plan.surface.nodes)
        gone = [node for node in own.shadowed if node in standing]
        if not gone:
            raise RequestError(
                f"The agent's compaction at event {own.seq} took nothing away that stood just "
                "before it: name a region with --from and --to."
            )
        return preview_region(session, gone[0], gone[-1], budget, extra)
    if request.mode == "region":
        start, end = _ends(session, request)
        return preview_region(session, start, end, budget, extra)
    inputs = PressureInputs(used, session.window)
    if session.window is None:
        raise NothingToDoError(
            "The context window of this model is unknown, so no policy can act: set window in the "
            "settings (--set window=200000), or name a region with --from and --to."
        )
    if request.mode == "micro":
        found = preview_micro(session, inputs, request.origin, reducer)
        name, start_at = "Micro-compaction", session.policy.micro_start
    else:
        found = preview_auto(session, inputs, budget, extra, request.origin)
        name, start_at = "Compaction", session.policy.threshold_ratio
    if found is None:
        share = used / session.window
        why = (
            f"it begins at {start_at * 100:.0f} %, and the window is {share * 100:.0f} % full"
            if share < start_at
            else "nothing is left that may be taken: pins, the last messages and the open step stay"
        )
        raise NothingToDoError(f"{name} has nothing to do: {why}. Name a region (--from, --to).")
    return found


def _reducer(store: Store, loaded: LoadedSession) -> Reducer:
    from inspector.results import result_reducer  # noqa: PLC0415 - see _reduced

    return result_reducer(store, loaded)


def _reduced(
    store: Store, loaded: LoadedSession, session: SessionInput, request: Request
) -> Preview:
    """One result, through the pipeline for tool output."""
    # The profiles and their patterns take a tenth of a second to load, which others need not pay.
    from inspector.results import squeezed_result  # noqa: PLC0415

    if request.start is None:
        raise RequestError("Name the result that is to be reduced.")
    found = squeezed_result(store, loaded, session.plan, request.start, request.strength)
    return preview_reduced(
        session, request.start, found.text, f"tool output, {found.profile}", request.origin
    )


def _ends(session: SessionInput, request: Request) -> tuple[NodeId, NodeId]:
    nodes = session.plan.surface.nodes
    if not nodes:
        raise RequestError("The surface is empty: there is nothing to compact.")
    if request.start is None and request.end is None:
        raise RequestError(
            "Name the region with --from SEQ and --to SEQ, or let the policy choose: --auto, "
            "--micro."
        )
    return (
        nodes[0] if request.start is None else request.start,
        nodes[-1] if request.end is None else request.end,
    )


def _at(loaded: LoadedSession, at: NodeId | None) -> NodeId:
    return loaded.record.last_seq if at is None else at


def _used_after(
    loaded: LoadedSession, session: SessionInput, made: Preview, at: NodeId | None
) -> int:
    """Provider tokens of the surface that a commit would leave, weighed as the gauge will."""
    measured = session.measure()
    brought = [e.node or e.seq for e in session.plan.events.values() if e.op is not None]
    places = (measured.place(node) for node in dict.fromkeys(brought))
    stay = (made.fates[p] for p in places if p is not None)
    new = made.region_after
    new += sum(fate.tokens_before for fate in stay if fate.fate in ("kept", "pinned"))
    with loaded.lock:
        return loaded.meter(at).reading_of(made.surface, new).used


def _report(
    made: Preview,
    session: SessionInput,
    size: tuple[int, int],
    header: SessionHeader,
    at: NodeId,
) -> CompactionReport:
    """Sizes of the whole window in provider tokens, so that every percentage has the window as
    its one denominator; ``size`` is what the gauge shows before and will show after."""
    used, after = size
    summary = made.summary
    window = session.window
    return CompactionReport(
        session=header,
        at_seq=at,
        replace_generation=session.plan.surface.replace_generation,
        region=RegionReport(start=made.region.start, end=made.region.end),
        nodes=ReportedFates(made.fates),
        summary=None
        if summary is None
        else SummaryReport(
            text=summary.text, tokens=summary.tokens, sections=dict(summary.sections)
        ),
        tokens_before=used,
        tokens_after=after,
        window=window,
        pressure_before=used / window if window else None,
        pressure_after=after / window if window else None,
        cache_invalidated_tokens=session.calibrated(made.cache_invalidated_tokens),
        floor=min(session.calibrated(made.floor), after),
        oversized_units=made.oversized,
        lost=lost_report(made.lost),
        warnings=made.warnings,
    )


def lost_report(lost: Lost) -> LostReport:
    """What was lost, cut to what can be read, with the totals."""
    return LostReport(
        identifiers=lost.identifiers[:_LOST_SHOWN],
        instructions=lost.instructions[:_LOST_SHOWN],
        errors=lost.errors[:_LOST_SHOWN],
        identifiers_total=len(lost.identifiers),
        instructions_total=len(lost.instructions),
        errors_total=len(lost.errors),
        unread_nodes=lost.unread,
    )
