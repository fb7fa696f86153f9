"""What the tests of the invariants do to a history: any preview, and what a surface then holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from compress.compaction.micro import preview_micro, preview_reduced
from compress.compaction.policy import Policy
from compress.compaction.service import preview_auto, preview_region
from compress.compaction.values import PressureInputs, Preview, SessionInput
from compress.errors import CompressError
from compress.events import NodeId
from compress.pairing import pairing
from compress.plan import PlanState
from tests.compress.histories import History, legal_ends
from tests.compress.logs import Log

LOOSE = Policy(last_messages=0)
"""Small histories would otherwise be all tail."""


def full(history: History, policy: Policy = LOOSE) -> tuple[SessionInput, PressureInputs]:
    """The session in a window that it just fills."""
    window = max(1, history.total)
    session = history.log.session(window=window, policy=policy)
    return session, PressureInputs(window, window)


def by_region(history: History, random: Random) -> Preview | None:
    """The compaction of any whole units."""
    session, _ = full(history)
    ends = legal_ends(history.log, random)
    return None if ends is None else preview_region(session, *ends)


def by_policy(history: History, random: Random) -> Preview | None:
    """The compaction that the pressure asks for."""
    return preview_auto(*full(history))


def by_receipts(history: History, random: Random) -> Preview | None:
    """The micro-compaction that the pressure asks for."""
    return preview_micro(*full(history))


def by_reduction(history: History, random: Random) -> Preview | None:
    """A shorter text for one result."""
    session, _ = full(history)
    state = session.plan
    results = [
        node
        for node in state.surface.nodes
        if state.entries[state.surface.members[node][0]].type == "tool/result"
    ]
    if not results:
        return None
    return preview_reduced(session, random.choice(results), "its first line", "test")


WAYS: Sequence[Callable[[History, Random], Preview | None]] = (
    by_region,
    by_region,
    by_policy,
    by_receipts,
    by_reduction,
)


def some_preview(history: History, random: Random) -> Preview | None:
    """Any preview; ``None`` where the engine declines or refuses."""
    try:
        return random.choice(WAYS)(history, random)
    except CompressError:
        return None


def pairs(state: PlanState) -> set[tuple[NodeId, NodeId]]:
    """(caller, answer) of every pair on a surface, by the nearest earlier call with the id."""
    waiting: dict[str, NodeId] = {}
    found = set()
    for node in state.surface.nodes:
        for seq in state.surface.members[node]:
            for call in state.entries[seq].results:
                if call in waiting:
                    found.add((waiting.pop(call), node))
            for call, _ in state.entries[seq].calls:
                waiting[call] = node
    return found


def orphans(state: PlanState) -> set[NodeId]:
    """The nodes whose counterpart does not stand."""
    return set(pairing(state.surface, state.entries).orphans)


def receipts(state: PlanState) -> dict[NodeId, NodeId]:
    """What was cleared or reduced → what stands for it."""
    return {
        event.meta["stands_for"]: event.seq
        for event in state.events.values()
        if "stands_for" in event.meta
    }


def bytes_of(log: Log, nodes: Sequence[NodeId]) -> list[str]:
    """The content of nodes, standing or not, as JSON."""
    session = log.session()
    return [
        "\n".join(event.model_dump_json() for event in session.content(node).events)
        for node in nodes
    ]
