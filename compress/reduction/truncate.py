"""The fourth stage: which items stay within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compress.reduction.items import Item
from compress.reduction.rank import Worth

_DENSITY = 0.5
"""How much the size of a line counts against it: worth ÷ tokens to this power."""
_MARK = 3
"""Tokens of a mark, about: part of what a line costs."""
_EXACT_TOKENS = 200
_EXACT_ITEMS = 200
"""Budget and number of items up to which the best selection is looked for."""
_MISSES = 400
"""Items that did not fit, one after another, before the search for smaller ones ends."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The items that compete. ``costs``: tokens of each. ``near_first``: what is critical, or
    context of it, goes before all else whatever its size."""

    items: Sequence[Item]
    costs: Sequence[int]
    worths: Sequence[Worth]
    near_first: bool

    def fill(self, budget: int, gap_cost: int) -> list[bool]:
        """Which items stay: the best first, while they and the marks of the gaps, of
        ``gap_cost`` tokens each, fit ``budget``. Where gaps have no marks and the budget is
        small, the best selection instead of the first that fits."""
        if not gap_cost and budget <= _EXACT_TOKENS:
            return self._best(budget)
        kept = [False] * len(self.items)
        spent = gap_cost if self.items else 0
        misses = 0
        last = len(self.items) - 1
        for position in self._order():
            before = position > 0 and not kept[position - 1]
            after = position < last and not kept[position + 1]
            more = self.costs[position] + (before + after - 1) * gap_cost
            if spent + more > budget:
                misses += 1
                if misses > _MISSES:
                    break
                continue
            misses = 0
            kept[position] = True
            spent += more
        self._bridge(kept, gap_cost, budget - spent)
        return kept

    def _best(self, budget: int) -> list[bool]:
        """The selection of the greatest worth: the knapsack problem, by dynamic programming over
        tokens, among the most promising items."""
        candidates = [p for p in self._order() if 0 < self.costs[p] <= budget][:_EXACT_ITEMS]
        worth = [0.0] * (budget + 1)
        taken: list[list[bool]] = []
        for position in candidates:
            cost, value = self.costs[position], self.worths[position].value
            row = [False] * (budget + 1)
            for room in range(budget, cost - 1, -1):
                found = worth[room - cost] + value
                if found > worth[room]:
                    worth[room] = found
                    row[room] = True
            taken.append(row)
        kept = [False] * len(self.items)
        room = budget
        for position, row in zip(reversed(candidates), reversed(taken), strict=True):
            if room >= 0 and row[room]:
                kept[position] = True
                room -= self.costs[position]
        return kept

    def _order(self) -> list[int]:
        def key(position: int) -> tuple[bool, bool, float, int]:
            worth = self.worths[position]
            return (
                not (self.near_first and worth.must),
                not (self.near_first and worth.near),
                -worth.value / (self.costs[position] + _MARK) ** _DENSITY,
                position,
            )

        return sorted((p for p, item in enumerate(self.items) if not item.blank), key=key)

    def _bridge(self, kept: list[bool], gap_cost: int, room: int) -> None:
        """Keeps what is no larger than the mark that would say it is gone, and blank lines between
        others while there is room."""
        start = 0
        while start < len(kept):
            if kept[start]:
                start += 1
                continue
            end = start
            while end < len(kept) and not kept[end]:
                end += 1
            blank = all(item.blank for item in self.items[start:end])
            inner = start > 0 and end < len(kept)
            cost = sum(self.costs[start:end])
            free = 0 if blank else gap_cost
            if cost <= free or (blank and inner and cost <= room):
                kept[start:end] = [True] * (end - start)
                room -= max(0, cost - free)
            start = end
