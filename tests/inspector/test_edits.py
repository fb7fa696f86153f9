"""What a person wants of a compaction, edit by edit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.reports import NodeReport, SessionHeader
from inspector.screens.edits import (
    BudgetWordsError,
    Edits,
    budget_of,
    moved_edge,
    nearer_edge,
    next_unit,
    snapped,
    unit_of,
)
from tests.inspector.surfaces import FakeView


def view_of(sizes: list[int]) -> FakeView:
    """A surface of units of these sizes."""
    units = [unit for unit, size in enumerate(sizes) for _ in range(size)]
    nodes = [
        NodeReport(seq=seq, type="assistant/message", unit=unit, events=(seq,))
        for seq, unit in enumerate(units, 1)
    ]
    return FakeView(SessionHeader(id="s", agent="claude"), nodes)


def test_a_unit_is_found_from_any_of_its_nodes() -> None:
    view = view_of([1, 3, 1])
    assert [unit_of(view, row) for row in range(5)] == [(0, 0), (1, 3), (1, 3), (1, 3), (4, 4)]


def test_a_region_is_moved_out_to_whole_units_and_tells_which_edge_moved() -> None:
    view = view_of([1, 3, 1, 2])
    found = snapped(view, 2, 4)
    assert (found.first, found.last, found.moved) == (1, 4, ("start",))
    found = snapped(view, 4, 5)
    assert (found.first, found.last, found.moved) == (4, 6, ("end",))
    assert snapped(view, 1, 4).moved == ()


@given(st.lists(st.integers(1, 200), min_size=1, max_size=6), st.data())
def test_a_snapped_region_cuts_no_unit_and_holds_what_was_asked_for(
    sizes: list[int], data: Any
) -> None:
    view = view_of(sizes)
    rows = st.integers(0, len(view) - 1)
    first, last = sorted((data.draw(rows), data.draw(rows)))
    found = snapped(view, first, last)
    units = [node.unit for node in view.nodes]
    assert found.first <= first <= last <= found.last
    assert found.first == units.index(units[first])
    assert found.last == len(units) - 1 - units[::-1].index(units[last])


def test_an_edge_moves_by_whole_units_and_stops_at_the_ends() -> None:
    view = view_of([1, 3, 2])
    assert next_unit(view, 1, "start", -1) == 0
    assert next_unit(view, 0, "start", -1) == 0
    assert next_unit(view, 3, "end", 1) == 5
    assert next_unit(view, 5, "end", -1) == 3
    assert next_unit(view, 5, "end", 1) == 5


def test_an_edge_that_passes_the_other_takes_it_along() -> None:
    assert moved_edge((2, 5), "start", 7) == (7, 7)
    assert moved_edge((2, 5), "end", 1) == (1, 1)
    assert moved_edge((2, 5), "end", 9) == (2, 9)
    assert moved_edge(None, "start", 4) == (4, 4)


def test_the_edge_nearer_to_the_cursor_is_meant() -> None:
    assert nearer_edge((2, 8), 4) == "start"
    assert nearer_edge((2, 8), 6) == "end"


@pytest.mark.parametrize(
    ("words", "tokens"),
    [("8192", 8_192), ("8,192", 8_192), ("8k", 8_000), (" 1.5K ", 1_500), ("", None)],
)
def test_a_budget_is_said_in_words(words: str, tokens: int | None) -> None:
    assert budget_of(words) == tokens


@pytest.mark.parametrize("words", ["0", "-4", "many", "8 kB", "9999999", "1e3"])
def test_what_is_no_budget_is_refused(words: str) -> None:
    with pytest.raises(BudgetWordsError, match="as 4096 or 8k"):
        budget_of(words)


def test_steps_of_the_budget_begin_at_the_default_and_end_at_the_ends() -> None:
    edits = Edits().with_budget_step(-1, 8_192)
    assert edits.budget == 4_096
    assert edits.with_budget_step(1, 8_192).budget == 8_192
    least = Edits(budget=512)
    assert least.with_budget_step(-1, 8_192) is least


def test_nodes_are_kept_together_and_let_go_of_together() -> None:
    edits = Edits().with_kept([3]).with_kept([3, 4])
    assert edits.keep == (3, 4)
    assert edits.with_kept([4]).keep == (3,)
    assert edits.with_kept([3, 4]).keep == ()
