"""Thinking blocks stay byte-identical or leave with their whole unit; a pending call pins its unit;
server-side and parallel results count as results; pairing is checked again across earlier
checkpoints."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings

from compress.compaction.service import preview_region
from compress.errors import CompressError, UnbalancedBoundaryError
from compress.events import Append, NodeId
from compress.pairing import pairing
from compress.pins import pin_draft, unpin_draft
from compress.plan import PlanState
from compress.undo import redo_draft, undo_draft
from compress.units import log_unit
from tests.compress.histories import History, histories, sources
from tests.compress.invariants.acting import (
    bytes_of,
    orphans,
    pairs,
    receipts,
    some_preview,
)
from tests.compress.logs import Log, attempt


def thinking_units(history: History, state: PlanState) -> list[tuple[NodeId, ...]]:
    """The units that stand whole and hold thinking."""
    standing = set(state.surface.nodes)
    found = []
    for seq in history.thinking:
        node = state.entries[seq].node
        assert node is not None
        unit = log_unit(node, state.surface.members, state.entries)
        if standing.issuperset(unit):
            found.append(unit)
    return found


@settings(max_examples=30, deadline=None)
@given(histories(), sources())
def test_thinking_stays_as_it_is_or_leaves_with_its_whole_unit(
    history: History, random: Random
) -> None:
    log = history.log
    for _ in range(3):
        units = thinking_units(history, log.plan())
        before = [bytes_of(log, unit) for unit in units]
        preview = some_preview(history, random)
        if preview is None:
            continue
        log.commit(preview.draft)
        state = log.plan()
        standing = set(state.surface.nodes) | {
            node for node, own in receipts(state).items() if own in state.surface.nodes
        }
        for unit in units:
            stays = [node for node in unit if node in standing]
            assert stays in ([], list(unit))
        assert [bytes_of(log, unit) for unit in units] == before


@settings(max_examples=60, deadline=None)
@given(histories(), sources())
def test_no_region_parts_thinking_from_its_step(history: History, random: Random) -> None:
    """Any two ends: what is not refused takes whole units of thinking, or none of them."""
    log = history.log
    nodes = log.nodes()
    ends = sorted(random.randrange(len(nodes)) for _ in range(2))
    units = thinking_units(history, log.plan())
    try:
        preview = preview_region(log.session(), nodes[ends[0]], nodes[ends[1]])
    except CompressError:
        return
    gone = {fate.node for fate in preview.fates if fate.fate == "shadowed"}
    for unit in units:
        assert gone.isdisjoint(unit) or gone.issuperset(unit)


@settings(max_examples=30, deadline=None)
@given(histories(), sources())
def test_a_pending_call_pins_its_unit(history: History, random: Random) -> None:
    if not history.waiting:
        return
    for _ in range(3):
        preview = some_preview(history, random)
        if preview is None:
            continue
        gone = {fate.node for fate in preview.fates if fate.fate == "shadowed"}
        assert gone.isdisjoint(history.waiting)
        history.log.commit(preview.draft)
        assert set(history.waiting) <= set(history.log.nodes())


@settings(max_examples=30, deadline=None)
@given(histories())
def test_server_side_and_parallel_results_count_as_results(history: History) -> None:
    """By the log's own ids: a call whose id some later block answers is no orphan, whatever stands
    between the two and in which order parallel results come."""
    log = Log(events=history.log.events)
    state = log.plan()
    standing = [seq for node in state.surface.nodes for seq in state.surface.members[node]]
    asked = {call for seq in standing for call, _ in state.entries[seq].calls}
    answered = {call for seq in standing for call in state.entries[seq].results}
    open_calls = {
        call
        for node in pairing(state.surface, state.entries).orphans
        for seq in state.surface.members[node]
        for call, _ in state.entries[seq].calls
    }
    assert asked - answered <= open_calls
    for position in pairing(state.surface, state.entries).unanswered:
        node = state.surface.nodes[position]
        calls = {c for seq in state.surface.members[node] for c, _ in state.entries[seq].calls}
        assert not calls <= answered


@settings(max_examples=30, deadline=None)
@given(histories(), sources())
def test_no_pair_is_split_across_earlier_checkpoints(history: History, random: Random) -> None:
    log = history.log
    for _ in range(5):
        before = log.plan()
        preview = some_preview(history, random)
        if preview is None:
            continue
        log.commit(preview.draft)
        after = log.plan()
        standing, cleared = set(after.surface.nodes), receipts(after)
        for caller, answer in pairs(before):
            stays = answer in standing or cleared.get(answer) in standing
            assert (caller in standing) == stays
        known = orphans(before)
        assert orphans(after) <= known | {cleared[node] for node in known & cleared.keys()}


def refused(log: Log, start: NodeId, end: NodeId) -> CompressError | None:
    """Why a region cannot be compacted; ``None`` where it can."""
    try:
        preview_region(log.session(), start, end)
    except CompressError as error:
        return error
    return None


@settings(max_examples=30, deadline=None)
@given(histories(), sources())
def test_a_boundary_that_splits_a_pair_is_refused_with_boundaries_that_do_not(
    history: History, random: Random
) -> None:
    log = history.log
    nodes = log.nodes()
    first, last = sorted(random.randrange(len(nodes)) for _ in range(2))
    paired = log.session().measure().paired
    refusal = refused(log, nodes[first], nodes[last])
    if refusal is None:
        assert paired.balance[first] == paired.balance[last + 1] == 0
    elif isinstance(refusal, UnbalancedBoundaryError):
        assert str(nodes[first]) in str(refusal) or str(nodes[last]) in str(refusal)
        places = [nodes.index(choice) for choice in refusal.choices]  # type: ignore[arg-type]
        assert all(paired.legal(place) or paired.legal(place + 1) for place in places)


@settings(max_examples=25, deadline=None)
@given(histories(), sources())
def test_no_operation_removes_a_pin(history: History, random: Random) -> None:
    log = history.log
    chosen = random.sample(log.nodes(), min(2, len(log.nodes())))
    for node in chosen:
        attempt(log, lambda node=node: pin_draft(log.plan(), node))
    units = {
        other
        for node in chosen
        for other in log_unit(node, log.plan().surface.members, log.plan().entries)
    }
    pinned = sorted(units, key=str)
    before = bytes_of(log, pinned)

    def all_stand() -> None:
        nodes = log.nodes()
        assert set(chosen) <= set(nodes)
        assert len(set(nodes)) == len(nodes)
        assert bytes_of(log, pinned) == before

    for round_ in range(3):
        preview = some_preview(history, random)
        if preview is not None:
            log.commit(preview.draft)
        all_stand()
        log.user(f"round {round_} " * 30)
        standing = log.fold().nodes
        log.compact(standing[0], standing[-1])  # type: ignore[arg-type]
        all_stand()
    attempt(log, lambda: undo_draft(log.plan(), cascade=True))
    all_stand()


@settings(max_examples=20, deadline=None)
@given(histories(), sources())
def test_the_agents_own_op_supersedes_and_its_rewind_restores(
    history: History, random: Random
) -> None:
    log = history.log
    preview = some_preview(history, random)
    if preview is None:
        return
    operation = log.commit(preview.draft)
    before, agent = log.nodes(), log.fold().nodes
    log.compact(agent[0], agent[-1])  # type: ignore[arg-type]
    assert log.plan().states[operation].state == "superseded"
    log.rebase(agent)  # type: ignore[arg-type]
    assert log.plan().states[operation].state == "standing"
    assert log.nodes() == before


def half_pairs(log: Log) -> set[str]:
    """The ids of the calls that have no result in the log, and of results without a call."""
    every = [e.model_copy(update={"op": Append() if e.blocks else None}) for e in log.events]
    off = [e if e.op else e.model_copy(update={"node": None}) for e in every]
    return ids(Log(off).plan())


def ids(state: PlanState) -> set[str]:
    """The ids of the calls of which just one half stands."""
    entries = [state.entries[s] for node in orphans(state) for s in state.surface.members[node]]
    return {call for e in entries for call in (*e.results, *(asked for asked, _ in e.calls))}


@settings(max_examples=40, deadline=None)
@given(histories(), sources())
def test_any_sequence_of_operations_leaves_whole_pairs_and_no_doubles(
    history: History, random: Random
) -> None:
    """Pins of anything that was ever seen, undo, redo, the agent's own compactions and rewinds."""
    log = history.log
    whole: set[str] = set()
    for number in range(6):
        act = random.choice(["preview", "preview", "pin", "unpin", "undo", "redo", "agent", "step"])
        if act == "preview":
            preview = some_preview(history, random)
            attempt(log, lambda: preview and preview.draft)  # noqa: B023
        elif act == "pin":
            known = random.choice(list(log.plan().surface.members))
            attempt(log, lambda: pin_draft(log.plan(), known))  # noqa: B023
        elif act == "unpin" and log.plan().pins:
            pinned = random.choice(sorted(log.plan().pins, key=str))
            log.commit(unpin_draft(log.plan(), pinned))
        elif act == "undo":
            attempt(log, lambda: undo_draft(log.plan(), cascade=True))
        elif act == "redo":
            attempt(log, lambda: redo_draft(log.plan()))
        elif act == "agent":
            the_agent_acts(log, random)
        else:
            log.assistant("", f"new-{number}")
            log.result(f"new-{number}", "word " * 300)
        state = log.plan()
        assert len(set(state.surface.nodes)) == len(state.surface.nodes)
        assert all(state.surface.members[node] for node in state.surface.nodes)
        assert {s.state for s in state.states.values()} <= {"standing", "undone", "superseded"}
        whole |= half_pairs(log) | ids(Log(list(log.events)).plan())
        assert ids(state) <= whole


def the_agent_acts(log: Log, random: Random) -> None:
    """The agent compacts all, or goes back to the half."""
    standing = log.fold().nodes
    if random.random() < 0.5:
        log.compact(standing[0], standing[-1])  # type: ignore[arg-type]
    else:
        log.rebase(standing[: max(1, len(standing) // 2)])  # type: ignore[arg-type]
