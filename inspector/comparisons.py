"""What Ullage would have kept where the agent compacted: the two compactions side by side, at the
same moment, over the same region, by the same measure."""

from __future__ import annotations

from collections.abc import Sequence

from compress.compaction.agent import AgentOperation, agent_operations
from compress.compaction.comparison import kept_only_by, resent_tokens
from compress.compaction.loss import lost_by
from compress.compaction.values import Lost, SessionInput
from compress.events import NodeId
from compress.plan import PlanState
from inspector import compactions
from inspector.audits import with_summary
from inspector.compactions import Request, lost_report, session_input
from inspector.loaded import LoadedSession
from inspector.reports import AgentSide, CompactionReport, SessionHeader, SummaryReport
from inspector.settings import Settings
from storage.store import Store


def agent_compactions(loaded: LoadedSession) -> tuple[NodeId, ...]:
    """The agent's own compactions of a session that can be compared with, in order: the first is
    number 1."""
    return tuple(op.seq for op in with_summary(agent_operations(loaded.order)))


def compare(
    store: Store,
    loaded: LoadedSession,
    settings: Settings,
    header: SessionHeader,
    number: int,
    *,
    budget: int | str | None = "own",
    pins: Sequence[NodeId] = (),
) -> CompactionReport:
    """A preview just before the agent's own compaction of this number, of the nodes that it took,
    with what the agent did there beside it. ``budget``: tokens of our summary at most, ``"own"``:
    as many as the agent's has. Writes nothing.

    Raises a :class:`compress.errors.CompressError` where there is no such compaction, or nothing
    could be compacted there.
    """
    request = Request(before_compaction=number, budget=budget, pins=tuple(pins))
    handle = compactions.preview(store, loaded, settings, header, request)
    own = with_summary(agent_operations(loaded.order))[number - 1]
    report, ours = handle.report, handle.preview.lost
    side, theirs = _side(store, loaded, settings, own, report.at_seq)
    return report.model_copy(
        update={
            "theirs": side,
            "kept_only_here": lost_report(kept_only_by(ours, theirs)),
            "kept_only_there": lost_report(kept_only_by(theirs, ours)),
        }
    )


def _side(
    store: Store,
    loaded: LoadedSession,
    settings: Settings,
    own: AgentOperation,
    at: NodeId | None,
) -> tuple[AgentSide, Lost]:
    """The agent's own compaction, on its own surface: operations of the user's had no part in it.
    ``at``: the moment just before it."""
    before = loaded.agent_only("live", at)
    after = loaded.agent_only("live", own.last)
    session, _ = session_input(store, loaded, settings, after, at)
    lost = lost_by(session, own.shadowed)
    used_after = _used_after(loaded, session, before, at)
    side = AgentSide(
        operation=own.seq,
        at=own.time,
        trigger=own.trigger,
        summary=_summary(session, own),
        shadowed_seqs=own.shadowed,
        tokens_before=loaded.meter(at).reading().used,
        tokens_after=used_after,
        stated_before=own.stated_before,
        pressure_after=used_after / session.window if session.window else None,
        cache_invalidated_tokens=session.calibrated(resent_tokens(before, after)),
        lost=lost_report(lost),
    )
    return side, lost


def _used_after(
    loaded: LoadedSession, session: SessionInput, before: PlanState, at: NodeId | None
) -> int:
    """Provider tokens after the agent's compaction, weighed as those after the preview: what stood
    before as the meter weighs it, what came as it is counted."""
    stood = set(before.surface.nodes)
    nodes = session.plan.surface.nodes
    new = sum(session.tokens(node) for node in nodes if node not in stood)
    return loaded.meter(at).reading_of((n for n in nodes if n in stood), new).used


def _summary(session: SessionInput, own: AgentOperation) -> SummaryReport | None:
    texts = [b.text for event in session.content(own.seq).events for b in event.blocks if b.text]
    if not texts:
        return None
    return SummaryReport(text="\n".join(texts), tokens=session.tokens(own.seq))
