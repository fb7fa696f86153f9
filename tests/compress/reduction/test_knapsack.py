"""The best selection, against trying them all."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from compress.reduction.knapsack import Knapsack

OFFERS = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 20).map(float)), min_size=1, max_size=3
)


def weigh(
    groups: list[list[tuple[int, float]]], chosen: tuple[int | None, ...]
) -> tuple[int, float]:
    taken = [group[which] for group, which in zip(groups, chosen, strict=True) if which is not None]
    return sum(cost for cost, _ in taken), sum(value for _, value in taken)


@settings(max_examples=60, deadline=None)
@given(st.lists(OFFERS, max_size=5), st.integers(0, 25), st.integers(0, 25))
def test_no_other_selection_is_worth_more(
    groups: list[list[tuple[int, float]]], budget: int, room: int
) -> None:
    room = min(room, budget)
    cost, value = weigh(groups, tuple(Knapsack(groups, budget).best(room)))
    assert cost <= room
    every = product(*[[None, *range(len(group))] for group in groups])
    assert value == max(v for c, v in (weigh(groups, one) for one in every) if c <= room)


def test_one_of_a_group_is_taken() -> None:
    assert Knapsack([[(4, 3.0), (2, 2.5)], [(2, 2.0)]], 4).best(4) == [1, 0]
    assert Knapsack([[(4, 3.0), (2, 2.5)], [(2, 2.0)]], 4).best(1) == [None, None]
