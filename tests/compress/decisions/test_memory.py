"""Which records graduate: the oldest, in whole records, and nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compress.decisions.memory import graduated, graduating, graduation, within
from compress.decisions.values import DecisionPoint, Stage
from compress.errors import CompressError
from compress.operations import OperationRow, number, operations
from compress.plan import plan
from compress.surface import SurfaceFold
from compress.undo import undo_draft


def record(place: int, tokens: int, *, running: bool = False) -> DecisionPoint:
    return DecisionPoint(
        id=f"{place:032x}",
        agent="claude",
        session="s",
        project="/p",
        stage=Stage(kind="turn", title=f"turn {place}", index=place),
        summary="",
        first_seq=10 * place + 1,
        last_seq=10 * place + 9,
        tokens=tokens,
        open=running,
        revision=10 * place + 9,
    )


weights = st.lists(st.tuples(st.integers(0, 3_000), st.booleans()), max_size=12)
caps = st.integers(0, 12_000)


def records(made: Sequence[tuple[int, bool]]) -> list[DecisionPoint]:
    return [record(at, tokens, running=running) for at, (tokens, running) in enumerate(made, 1)]


@given(weights, caps)
def test_both_levels_together_hold_every_record(made: list[tuple[int, bool]], cap: int) -> None:
    known = records(made)
    gone = graduating(known, cap)
    rest = [point for point in known if point not in gone]
    assert sorted([*gone, *rest], key=lambda p: p.id) == known
    closed = [point for point in known if not point.open]
    assert gone == closed[: len(gone)], "the oldest first, what runs never"
    assert sum(p.tokens for p in rest) <= cap or not [p for p in rest if not p.open]
    if gone:
        assert sum(p.tokens for p in rest) + gone[-1].tokens > cap, "no more than it takes"


@given(weights, st.lists(caps, min_size=1, max_size=4))
def test_what_graduated_stays_graduated(made: list[tuple[int, bool]], steps: list[int]) -> None:
    """Through any number of graduations, under caps that change, as the strand records them."""
    known, rows = records(made), list[OperationRow]()
    for cap in steps:
        gone = {name for op in operations(rows) for name in graduated(op)}
        draft = graduation([p for p in known if p.id not in gone], cap)
        if draft is not None:
            rows += number(draft, len(rows) + 1, after=0)
    named = [name for op in operations(rows) for name in graduated(op)]
    assert len(named) == len(set(named)), "each graduates once"
    assert set(named) <= {p.id for p in known}


def test_by_hand() -> None:
    known = [record(1, 900), record(2, 1_500), record(3, 100, running=True), record(4, 2_000)]
    assert graduating(known, 4_500) == []
    assert graduating(known, 4_000) == [known[0]]
    assert graduating(known, 3_000) == [known[0], known[1]]
    assert graduating(known, 50) == [known[0], known[1], known[3]]
    draft = graduation(known, 3_000)
    assert draft is not None
    (event,) = draft.events
    assert event.meta == {
        "decisions": [known[0].id, known[1].id],
        "cap": 3_000,
        "tokens_before": 4_500,
        "tokens_after": 2_100,
    }


@given(weights, caps)
def test_what_is_shown_is_the_newest_that_fits(made: list[tuple[int, bool]], cap: int) -> None:
    known = records(made)
    shown = within(known, cap)
    assert shown == known[len(known) - len(shown) :]
    assert len(shown) >= min(len(known), 1)
    if len(shown) > 1:
        assert sum(p.tokens for p in shown) <= cap


def test_a_graduation_changes_no_surface_and_is_not_undone() -> None:
    draft = graduation([record(1, 10)], 0)
    assert draft is not None
    fold = SurfaceFold("resume")
    state = plan(fold.snapshot(), {}, number(draft, 1, after=0))
    assert state.surface.nodes == ()
    assert state.operations["o1"].kind == "graduate"
    with pytest.raises(CompressError, match="nothing to undo"):
        undo_draft(state, "o1")
    with pytest.raises(CompressError, match="no standing operation"):
        undo_draft(state)
