"""The best selection of what is offered, within a budget: the knapsack problem with choices.

Of each group at most one is taken. Solved exactly, by dynamic programming over tokens
(Kellerer, Pferschy, Pisinger, *Knapsack Problems*, 2004, chapter 11).
"""

from __future__ import annotations

from collections.abc import Sequence

Offer = tuple[int, float]
"""Cost in tokens, and what it is worth."""


class Knapsack:
    """Solved once, asked for any budget up to the one that it was solved for."""

    def __init__(self, groups: Sequence[Sequence[Offer]], budget: int) -> None:
        """``groups``: the offers of each, of which at most one is taken."""
        self._groups = groups
        self._taken: list[list[int]] = []
        worth = [0.0] * (budget + 1)
        for offers in groups:
            better = list(worth)
            row = [-1] * (budget + 1)
            for which, (cost, value) in enumerate(offers):
                for room in range(cost, budget + 1):
                    found = worth[room - cost] + value
                    if found > better[room]:
                        better[room] = found
                        row[room] = which
            worth = better
            self._taken.append(row)

    def best(self, room: int) -> list[int | None]:
        """Which offer of each group is taken for ``room`` tokens; ``None``: none of it."""
        chosen: list[int | None] = []
        for offers, row in zip(reversed(self._groups), reversed(self._taken), strict=True):
            which = row[room]
            chosen.append(None if which < 0 else which)
            room -= 0 if which < 0 else offers[which][0]
        chosen.reverse()
        return chosen
