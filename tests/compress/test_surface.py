"""The fold, by hand-worked cases and against a fold that does nothing clever."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from compress.errors import StaleNodeError
from compress.events import Append, NodeId, Rebase, Replace, SessionEvent, SurfaceOp
from compress.surface import SurfaceFold, fold


@dataclass(frozen=True)
class Event:
    """The least that can be folded."""

    seq: NodeId
    op: SurfaceOp | None = None
    node: NodeId | None = None
    source_event_seqs: tuple[NodeId, ...] = ()


def appended(*seqs: int) -> list[Event]:
    return [Event(seq, Append()) for seq in seqs]


def test_a_replace_is_positional_so_start_may_be_the_larger_number() -> None:
    # DeepSeek Harness, fixture compaction-recovery: 21 replaces 4; then 28 is appended.
    log = [*appended(4, 13, 15), Event(21, Replace(start=4, end=4)), *appended(28)]
    surface = fold(log)
    assert surface.nodes == (21, 13, 15, 28)
    again = fold([*log, Event(30, Replace(start=21, end=13))])
    assert again.nodes == (30, 15, 28)
    assert again.shadowed[30] == (21, 13)
    assert again.removed_by == {4: 21, 21: 30, 13: 30}


def test_kept_nodes_follow_the_event_in_their_old_order() -> None:
    surface = fold([*appended(1, 2, 3, 4), Event(5, Replace(start=1, end=3, keep=(3, 1)))])
    assert surface.nodes == (5, 1, 3, 4)
    assert surface.shadowed[5] == (2,)


def test_a_later_block_extends_its_node_and_results_still_stand_after_it() -> None:
    log = [
        Event(1, Append(), node=1),
        Event(2, Append(), node=2),
        Event(3, Append(), node=1),
        Event(4, Append(), node=4),
    ]
    surface = fold(log)
    assert surface.nodes == (1, 2, 4)
    assert list(surface.events()) == [1, 3, 2, 4]
    assert surface.replace_generation == 0


def test_only_replace_and_rebase_bump_the_generation() -> None:
    log = [
        *appended(1, 2),
        Event(3),
        Event(4, Replace(start=1, end=1)),
        Event(5, Rebase(seqs=(4,))),
    ]
    assert [fold(log[:n]).replace_generation for n in range(len(log) + 1)] == [0, 0, 0, 0, 1, 2]


@pytest.mark.parametrize(
    ("op", "node"),
    [
        (Replace(start=9, end=2), 9),
        (Replace(start=2, end=1), 1),
        (Replace(start=1, end=2, keep=(3,)), 3),
        (Rebase(seqs=(1, 9)), 9),
        (Rebase(seqs=(2,), after=9), 9),
    ],
)
def test_a_stale_seq_is_refused_by_name_and_changes_nothing(op: SurfaceOp, node: int) -> None:
    state = SurfaceFold()
    for event in appended(1, 2, 3):
        state.apply(event)
    before = state.snapshot()
    with pytest.raises(StaleNodeError) as refusal:
        state.apply(Event(7, op))
    assert refusal.value.node == node
    assert str(node) in str(refusal.value)
    assert state.snapshot() == before


def test_provenance_must_name_all_that_is_shadowed() -> None:
    with pytest.raises(StaleNodeError, match="Event 2 is shadowed by event 9 but not cited"):
        fold([*appended(1, 2), Event(9, Replace(start=1, end=2), source_event_seqs=(1,))])


def test_a_type_that_cannot_stand_refuses_an_operation_at_construction() -> None:
    with pytest.raises(ValidationError, match="cannot stand on the surface"):
        SessionEvent(seq=1, type="usage", native_id="a", op=Append())


def test_what_the_agent_cleared_while_running_is_sent_again_on_resume() -> None:
    log = [*appended(1, 2, 3), Event(4, Replace(start=2, end=2, live_only=True)), *appended(5)]
    assert fold(log).nodes == (1, 2, 3, 5)
    assert fold(log, "live").nodes == (1, 4, 3, 5)
    # A rebase names the log's own nodes; the running agent still sees the receipt.
    branch = Event(6, Rebase(seqs=(1, 2, 5)))
    assert fold([*log, branch]).nodes == (1, 2, 5)
    assert fold([*log, branch], "live").nodes == (1, 4, 5)


def test_what_only_one_view_has_never_stands_in_the_other_whatever_lists_it() -> None:
    log = [
        *appended(1),
        Event(2, Append(view="resume")),
        Event(3, Append(view="live")),
        Event(4, Append(view="resume"), node=2),
    ]
    assert fold(log).nodes == (1, 2)
    assert tuple(fold(log).members[2]) == (2, 4)
    assert fold(log, "live").nodes == (1, 3)
    log.append(Event(5, Rebase(seqs=(3, 2, 5))))
    assert fold(log).nodes == (2, 5)
    assert fold(log, "live").nodes == (3, 5)
    assert fold(log, "live").problems == ()


@st.composite
def logs(draw: st.DrawFn) -> list[Event]:
    """Logs of legal operations, made with a plain list as the model."""
    nodes: list[int] = []
    known: list[int] = []
    log: list[Event] = []
    for seq in range(1, draw(st.integers(1, 25)) + 1):
        kind = draw(st.sampled_from(["append", "append", "replace", "rebase", "after"]))
        if kind == "replace" and nodes:
            start = draw(st.integers(0, len(nodes) - 1))
            stop = draw(st.integers(start, len(nodes) - 1))
            span = nodes[start : stop + 1]
            keep = draw(st.lists(st.sampled_from(span), unique=True))
            log.append(Event(seq, Replace(start=span[0], end=span[-1], keep=tuple(keep))))
            nodes[start : stop + 1] = [seq, *(n for n in span if n in keep)]
        elif kind == "rebase" and known:
            wanted = draw(st.lists(st.sampled_from([*known, seq]), unique=True))
            log.append(Event(seq, Rebase(seqs=tuple(wanted))))
            nodes = list(wanted)
        elif kind == "after" and nodes:
            place = draw(st.integers(0, len(nodes) - 1))
            free = [n for n in [*known, seq] if n not in nodes[: place + 1]]
            wanted = draw(st.lists(st.sampled_from(free), unique=True)) if free else []
            log.append(Event(seq, Rebase(seqs=tuple(wanted), after=nodes[place])))
            nodes[place + 1 :] = wanted
        else:
            log.append(Event(seq, Append()))
            nodes.append(seq)
        known.append(seq)
    return log


def plain(log: list[Event]) -> list[NodeId]:
    """The surface by lists alone."""
    nodes: list[NodeId] = []
    for event in log:
        op = event.op
        if isinstance(op, Replace):
            first, last = nodes.index(op.start), nodes.index(op.end)
            span = nodes[first : last + 1]
            nodes[first : last + 1] = [event.seq, *(n for n in span if n in op.keep)]
        elif isinstance(op, Rebase):
            head = [] if op.after is None else nodes[: nodes.index(op.after) + 1]
            nodes = [*head, *op.seqs]
        else:
            nodes.append(event.seq)
    return nodes


@given(logs())
def test_the_fold_agrees_with_plain_lists_at_every_prefix(log: list[Event]) -> None:
    state = SurfaceFold()
    for length, event in enumerate(log, 1):
        state.apply(event)
        assert state.nodes == plain(log[:length])
        assert [state.position(node) for node in state.nodes] == list(range(len(state.nodes)))
        assert not set(state.removed_by) & set(state.nodes)
