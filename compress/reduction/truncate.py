"""The fourth stage: which items stay within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compress.reduction.items import Item
from compress.reduction.rank import Worth

_DENSITY = 0.35
"""How much the size of a line counts against it: worth ÷ tokens to this power."""
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
        ``gap_cost`` tokens each, fit ``budget``."""
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
        self._bridge(kept, gap_cost)
        return kept

    def _order(self) -> list[int]:
        def key(position: int) -> tuple[bool, bool, float, int]:
            worth = self.worths[position]
            return (
                not (self.near_first and worth.must),
                not (self.near_first and worth.near),
                -worth.value / max(self.costs[position], 1) ** _DENSITY,
                position,
            )

        return sorted((p for p, item in enumerate(self.items) if not item.blank), key=key)

    def _bridge(self, kept: list[bool], gap_cost: int) -> None:
        """Keeps what is no larger than the mark that would say it is gone."""
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
            if sum(self.costs[start:end]) <= gap_cost and (inner or not blank):
                kept[start:end] = [True] * (end - start)
            start = end
