"""The fourth stage: which items stay within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from compress.reduction.counting import LineCounts
from compress.reduction.items import Item
from compress.reduction.profile import Profile
from compress.reduction.rank import Worth
from compress.reduction.render import Frame, Rendering, render
from compress.reduction.shorten import clip, shorten
from compress.tokens import TokenCounter

CEILING_SHARE = 0.6
CEILING_TOKENS = 2_000
"""Without a budget, critical lines and their context may take that share of the tokens, and up to
so many tokens whatever their share: a short output that is all failures is shown."""
SMALL_TOKENS = 400
"""Likewise for lines that tell anything at all."""
_OVERHEAD, _MARK = 30, 6
"""Tokens of a full header and of a mark, about."""
_DENSITY = 0.5
"""How much the size of a line counts against it: worth ÷ tokens to this power."""
_SILENT = 0.3
"""What context is worth, where there is room for few lines, beside lines that tell something."""
_TIGHT = 2.0
"""How many times its budget an output's telling lines must be for paths to be shortened."""
_SHORTEST_HEADER = 7
_CLIPPED = 2
"""Characters for a token to which a line is cut that would not fit otherwise."""
_CUT_WORTH = 0.5
_MISSES = 400
"""Items that did not fit, one after another, before the search for smaller ones ends."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The items that compete. ``costs``: tokens of each. ``near_first``: what must stay goes
    before all else, then what is critical or context of it, whatever the size."""

    items: Sequence[Item]
    costs: Sequence[int]
    worths: Sequence[Worth]
    near_first: bool

    def tightened(self, limit: int, counts: LineCounts, sign: str) -> Pool:
        """The same with shorter lines: paths, where what tells something is far above ``limit``
        tokens, and the middle of any line that alone would fill it. What was cut is worth less."""
        items = list(self.items)
        if self.telling() > limit * _TIGHT:
            items = shorten(items, sign)
        whole = counts.costs(items)
        cut = [cost >= limit - _SHORTEST_HEADER for cost in whole]
        characters = (limit - _SHORTEST_HEADER) * _CLIPPED
        items = [clip(i, characters, sign) if c else i for i, c in zip(items, cut, strict=True)]
        worths = [
            replace(w, value=w.value * _CUT_WORTH) if c else w
            for w, c in zip(self.worths, cut, strict=True)
        ]
        return Pool(items, counts.costs(items), worths, self.near_first)

    def near(self) -> int:
        """Tokens of all that is critical, with its context, header and marks."""
        return self._tokens([worth.near for worth in self.worths])

    def telling(self) -> int:
        """Tokens of all that says something, likewise."""
        return self._tokens([worth.near or worth.tells for worth in self.worths])

    def must(self) -> int:
        """Tokens of all that must stay, likewise."""
        return self._tokens([worth.must for worth in self.worths])

    def values(self) -> list[float]:
        """What each item is worth where there is room for few: what tells nothing is worth less."""
        return [worth.value * (1 if worth.tells else _SILENT) for worth in self.worths]

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
        self._bridge(kept, gap_cost, budget - spent)
        return kept

    def _tokens(self, wanted: Sequence[bool]) -> int:
        lines = sum(cost for cost, stays in zip(self.costs, wanted, strict=True) if stays)
        gaps = sum(stays and not above for above, stays in pairwise([False, *wanted]))
        return lines + _OVERHEAD + _MARK * gaps

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


def strength(before: int, pool: Pool, profile: Profile, success: bool) -> int:
    """The budget where none is given. The profile's share; more, up to the ceiling, if critical
    lines need it, and in any case what must stay. On success its share of success alone."""
    if success:
        return max(int(before * profile.success.share), pool.must())
    ceiling = max(int(before * CEILING_SHARE), CEILING_TOKENS)
    critical = max(min(pool.near(), ceiling), pool.must(), min(pool.telling(), SMALL_TOKENS))
    return max(int(before * profile.truncate.share), critical, profile.truncate.floor)


def truncate(
    pool: Pool, limit: int, counter: TokenCounter, frame: Frame
) -> tuple[Rendering, list[bool]]:
    """The fullest rendering within the limit, and which items are in it. Lines counted one by one
    may add up to a little less than the text: what is over is taken from the room, then twice as
    much, and so on. A limit that the header alone exceeds leaves the header."""
    gap_cost = counter.count(f"\n{frame.sign}123\n") - 1
    room = limit - counter.count(render([], [], frame).header) - 1
    step = 0
    while room > 0:
        kept = pool.fill(room, gap_cost)
        rendering = render(pool.items, kept, frame)
        over = counter.count(rendering.text) - limit
        if over <= 0:
            return rendering, kept
        step = max(over, step * 2)
        room -= step
    kept = [False] * len(pool.items)
    return render(pool.items, kept, frame), kept
