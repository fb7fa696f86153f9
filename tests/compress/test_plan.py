"""The plan track: operations re-applied over the agent's surface, pins, undo, redo."""

from __future__ import annotations

import pytest

from compress.compaction.micro import preview_reduced
from compress.compaction.service import preview_region
from compress.errors import StaleNodeError
from compress.events import NodeId
from compress.operations import OperationRow, moment, operations
from compress.pins import PinError, pin_draft, unpin_draft
from compress.plan import Standing, plan
from compress.undo import UndoError, redo_draft, undo_draft
from tests.compress.logs import Log


def talk() -> Log:
    """user 1, step 2–3, step 4–5, user 6, answer 7; each part large enough to gain."""
    log = Log()
    log.user("fix the bug in src/main.py " * 40)
    log.assistant("look", "a")
    log.result("a", "line of output\n" * 200)
    log.assistant("look again", "b")
    log.result("b", "more output\n" * 200)
    log.user("and now?")
    log.assistant("it is fixed")
    return log


def compact(log: Log, start: NodeId, end: NodeId) -> str:
    return log.commit(preview_region(log.session(), start, end).draft)


def test_a_compaction_takes_the_place_of_its_region() -> None:
    log = talk()
    assert compact(log, 1, 5) == "o1"
    assert log.nodes() == ("o3", 6, 7)
    assert [row.event.type for row in log.rows] == [
        "compact/start",
        "compact/summary",
        "user/message",
        "compact/end",
    ]
    assert log.plan().surface.shadowed["o3"] == (1, 2, 3, 4, 5)


def test_the_agents_own_surface_is_untouched() -> None:
    log = talk()
    compact(log, 1, 5)
    assert log.fold().nodes == [1, 2, 3, 4, 5, 6, 7]


def test_both_tracks_can_be_asked_for_at_any_past_moment() -> None:
    log = talk()
    compact(log, 1, 3)
    log.user("next")
    compact(log, "o3", 5)
    assert log.nodes(at=5) == (1, 2, 3, 4, 5)
    assert log.nodes(at="o4") == ("o3", 4, 5, 6, 7)
    assert log.nodes(at="o8") == ("o7", 6, 7, 8)
    assert log.nodes(at=7) == ("o3", 4, 5, 6, 7)


def test_an_unknown_moment_is_refused() -> None:
    with pytest.raises(StaleNodeError, match="o9"):
        talk().plan(at="o9")


def test_what_the_agent_appends_later_stands_behind() -> None:
    log = talk()
    compact(log, 1, 5)
    new = log.user("go on")
    assert log.nodes() == ("o3", 6, 7, new)


def test_the_agents_own_compaction_supersedes_and_its_rewind_restores() -> None:
    log = talk()
    compact(log, 2, 5)
    theirs = log.compact(1, 5)
    assert log.nodes() == (theirs, 6, 7)
    assert log.plan().states["o1"] == Standing("superseded", theirs)
    back = log.rebase([1, 2, 3, 4, 5, 6, 7])
    assert back not in log.nodes()
    assert log.nodes() == (1, "o3", 6, 7)
    assert log.plan().states["o1"] == Standing("standing")


def test_what_names_a_superseded_checkpoint_is_superseded_by_the_same_op() -> None:
    log = talk()
    compact(log, 1, 3)
    compact(log, "o3", 5)
    theirs = log.compact(1, 2)
    states = log.plan().states
    assert states["o1"] == states["o5"] == Standing("superseded", theirs)
    assert log.nodes() == (theirs, 3, 4, 5, 6, 7)


def test_a_range_that_the_agent_broke_open_is_superseded() -> None:
    log = talk()
    compact(log, 1, 5)
    theirs = log.rebase([1, 2, 3, 6, 4, 5, 7])
    assert log.plan().states["o1"] == Standing("superseded", theirs)


def test_a_start_that_a_crash_left_alone_is_inert() -> None:
    log = talk()
    compact(log, 1, 5)
    rows: list[OperationRow] = log.rows[:1]
    state = plan(log.fold().snapshot(), log.entries, rows)
    assert state.surface.nodes == (1, 2, 3, 4, 5, 6, 7)
    assert [problem.kind for problem in state.surface.problems] == ["unfinished_operation"]


def test_a_row_survives_its_json() -> None:
    log = talk()
    compact(log, 1, 5)
    log.rows = [
        OperationRow(
            row.operation,
            row.after,
            row.origin,
            type(row.event).model_validate_json(row.event.model_dump_json()),
        )
        for row in log.rows
    ]
    assert log.nodes() == ("o3", 6, 7)


def test_the_rows_of_a_moment_are_those_made_by_then() -> None:
    log = talk()
    compact(log, 1, 3)
    log.user("next")
    log.commit(pin_draft(log.plan(), 6))
    assert [op.id for op in operations(moment(log.rows, 7)[1])] == ["o1"]
    assert [op.kind for op in operations(moment(log.rows, 8)[1])] == ["compact", "pin"]


class TestPins:
    def test_a_pinned_node_stays_with_its_whole_unit(self) -> None:
        log = talk()
        log.commit(pin_draft(log.plan(), 3))
        compact(log, 1, 5)
        assert log.nodes() == ("o4", 2, 3, 6, 7)

    def test_a_node_pinned_after_it_was_compacted_stands_again(self) -> None:
        log = talk()
        compact(log, 1, 5)
        log.commit(pin_draft(log.plan(), 1))
        assert log.nodes() == ("o3", 1, 6, 7)

    def test_what_the_agent_removed_stands_behind_the_head_checkpoint(self) -> None:
        log = talk()
        log.commit(pin_draft(log.plan(), 5))
        theirs = log.compact(1, 7)
        state = log.plan()
        assert state.surface.nodes == (theirs, 4, 5)
        assert state.restored == {4, 5}

    def test_a_later_op_of_the_agent_that_brings_it_back_leaves_no_duplicate(self) -> None:
        log = talk()
        log.commit(pin_draft(log.plan(), 5))
        log.compact(1, 7)
        log.rebase([1, 2, 3, 4, 5, 6, 7])
        state = log.plan()
        assert state.surface.nodes == (1, 2, 3, 4, 5, 6, 7)
        assert state.restored == frozenset()

    def test_a_checkpoint_of_the_users_comes_back_when_the_agent_removes_what_it_stands_for(
        self,
    ) -> None:
        log = talk()
        compact(log, 1, 5)
        log.commit(pin_draft(log.plan(), "o3"))
        theirs = log.compact(1, 7)
        state = log.plan()
        assert state.surface.nodes == (theirs, "o3")
        assert state.restored == {"o3"}
        log.rebase([1, 2, 3, 4, 5, 6, 7])
        assert log.nodes() == ("o3", 6, 7)

    def test_a_result_that_the_running_agent_saw_cleared_stands_in_its_place(self) -> None:
        log = talk()
        log.commit(pin_draft(log.plan(), 3))
        log.add("tool/result", op={"op": "replace", "start": 3, "end": 3, "live_only": True})
        assert log.plan(view="live").surface.nodes == (1, 2, 3, 4, 5, 6, 7)
        assert log.plan(view="live").restored == {3}
        assert log.plan().surface.nodes == (1, 2, 3, 4, 5, 6, 7)

    def test_a_cleared_result_that_is_pinned_since_stands_in_the_place_of_its_receipt(
        self,
    ) -> None:
        log = talk()
        log.commit(preview_reduced(log.session(), 3, "its first line", "test").draft)
        compact(log, 4, 5)
        assert log.nodes() == (1, 2, "o3", "o7", 6, 7)
        log.commit(pin_draft(log.plan(), 3))
        assert log.nodes() == (1, 2, 3, "o7", 6, 7)
        compact(log, 1, "o7")
        assert log.nodes()[1:] == (2, 3, 6, 7)
        log.commit(unpin_draft(log.plan(), 3))
        assert 3 not in log.nodes()

    def test_a_pinned_receipt_keeps_its_call(self) -> None:
        log = talk()
        log.commit(preview_reduced(log.session(), 3, "its first line", "test").draft)
        compact(log, 1, 5)
        log.commit(pin_draft(log.plan(), "o3"))
        assert log.nodes() == ("o7", 2, "o3", 6, 7)

    def test_unpinned_it_goes_with_the_next_compaction(self) -> None:
        log = talk()
        log.commit(pin_draft(log.plan(), 3))
        log.commit(unpin_draft(log.plan(), 3))
        compact(log, 1, 5)
        assert log.nodes() == ("o5", 6, 7)

    def test_an_event_that_never_stood_cannot_be_pinned(self) -> None:
        log = talk()
        fact = log.fact("turn/start")
        with pytest.raises(PinError, match="never stood"):
            pin_draft(log.plan(), fact)
        with pytest.raises(StaleNodeError, match="99"):
            pin_draft(log.plan(), 99)

    def test_a_pin_twice_or_none_is_refused(self) -> None:
        log = talk()
        log.commit(pin_draft(log.plan(), 3))
        with pytest.raises(PinError, match="pinned already"):
            pin_draft(log.plan(), 3)
        with pytest.raises(PinError, match="Pinned are: 3") as refusal:
            unpin_draft(log.plan(), 5)
        assert refusal.value.choices == (3,)


class TestUndo:
    def test_undo_gives_back_the_identical_surface_and_redo_the_checkpoint(self) -> None:
        log = talk()
        before = log.nodes()
        compact(log, 1, 5)
        log.commit(undo_draft(log.plan()))
        assert log.nodes() == before
        log.commit(redo_draft(log.plan()))
        assert log.nodes() == ("o3", 6, 7)

    def test_what_was_appended_since_stays(self) -> None:
        log = talk()
        compact(log, 1, 5)
        new = log.user("go on")
        log.commit(undo_draft(log.plan()))
        assert log.nodes() == (1, 2, 3, 4, 5, 6, 7, new)

    def test_pins_outlive_an_undo(self) -> None:
        log = talk()
        compact(log, 1, 3)
        log.commit(pin_draft(log.plan(), 7))
        log.commit(undo_draft(log.plan()))
        assert log.plan().states["o1"].state == "undone"
        assert log.plan().pins == {7}

    def test_what_carries_later_operations_is_refused_or_goes_with_them(self) -> None:
        log = talk()
        compact(log, 1, 3)
        compact(log, "o3", 5)
        with pytest.raises(UndoError, match="carries later ones: o5") as refusal:
            undo_draft(log.plan(), "o1")
        assert refusal.value.choices == ("o5",)
        log.commit(undo_draft(log.plan(), "o1", cascade=True))
        assert log.nodes() == (1, 2, 3, 4, 5, 6, 7)
        log.commit(redo_draft(log.plan()))
        assert log.nodes() == ("o7", 6, 7)

    def test_an_operation_on_other_nodes_does_not_stand_in_the_way(self) -> None:
        log = talk()
        compact(log, 1, 1)
        compact(log, 2, 5)
        log.commit(undo_draft(log.plan(), "o1"))
        assert log.nodes() == (1, "o7", 6, 7)

    def test_redo_needs_what_it_builds_on(self) -> None:
        log = talk()
        compact(log, 1, 3)
        compact(log, "o3", 5)
        log.commit(undo_draft(log.plan()))
        log.commit(undo_draft(log.plan()))
        with pytest.raises(UndoError, match="builds on o1"):
            redo_draft(log.plan(), "o5")

    def test_redo_is_refused_where_its_nodes_were_compacted_again(self) -> None:
        log = talk()
        compact(log, 2, 5)
        log.commit(undo_draft(log.plan()))
        again = compact(log, 1, 5)
        with pytest.raises(UndoError, match=again):
            redo_draft(log.plan(), "o1")

    def test_nothing_to_undo_is_said(self) -> None:
        log = talk()
        with pytest.raises(UndoError, match="no standing operation"):
            undo_draft(log.plan())
        with pytest.raises(UndoError, match="no operation o5"):
            undo_draft(log.plan(), "o5")
        with pytest.raises(UndoError, match="No operation is undone"):
            redo_draft(log.plan())

    def test_an_undo_is_not_undone_twice(self) -> None:
        log = talk()
        compact(log, 1, 5)
        undo = log.commit(undo_draft(log.plan()))
        with pytest.raises(UndoError, match="undone already"):
            undo_draft(log.plan(), "o1")
        with pytest.raises(UndoError, match="undo itself"):
            undo_draft(log.plan(), undo)
