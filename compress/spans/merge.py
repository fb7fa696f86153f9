"""The units of a document merged to pieces, in order, under the rendered budget.

Within a section (a heading and what follows it, to the next one) a unit is added while the payload,
metadata included, is within the preferred size and similarity does not drop. What is pending is
flushed before a block that has to be split. Where a piece must end, it ends at the best cut of its
last part: between blocks rather than within one, at an outer level rather than an inner one. One
unit above the preferred size is a piece alone, up to the hard limit, and cut further above it. A
heading is never alone before what it heads.

Sizes are summed while they are far from the limit and counted near it; at the end every payload is
counted whole, and a section in which a sum was too small is merged anew with less trust in sums,
at last by counts alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from statistics import fmean, pstdev
from typing import NamedTuple

from compress.spans.split import Piece, cut_up
from compress.spans.units import IN_BLOCK, Unit
from compress.spans.values import SpanLimits
from compress.tokens import TokenCounter, count_many

FILL = 0.5
"""Share of the preferred size that a piece has at least where it ends earlier than it must."""
_TRUST = (1.0, 0.5, 0.0)
"""Share of the preferred size up to which sums are taken for sizes; where a payload proves them
wrong, the next one."""
DROP = 1.0
"""Standard deviations below the mean of a document's scores from which similarity drops."""


class Placed(NamedTuple):
    """A piece with what its payload begins with."""

    piece: Piece
    prefix: str
    alone: bool
    """Whether it is of one unit, which may be above the preferred size."""
    tokens: int = 0


class Merge:
    """The work on one document."""

    def __init__(
        self,
        text: str,
        units: Sequence[Unit],
        *,
        limits: SpanLimits,
        counter: TokenCounter,
        prefix_of: Callable[[int], tuple[str, int]],
        scores: Sequence[float],
    ) -> None:
        """``prefix_of``: a block → the metadata of a span that begins in it, and its tokens.
        ``scores``: of the borders between the blocks, or none."""
        self._text = text
        self._units = units
        self._limits = limits
        self._counter = counter
        self._prefix_of = prefix_of
        self._scores = scores
        self._low = fmean(scores) - DROP * pstdev(scores) if scores else 0.0
        sizes = count_many(counter, [text[unit.start : unit.end] for unit in units])
        self._sums = list(accumulate(sizes, initial=0))

    def pieces(self) -> list[Placed]:
        """All of them, in order, each payload counted whole."""
        bounds = [n for n, unit in enumerate(self._units) if self._opens(n)]
        spans = list(pairwise([*bounds, len(self._units)]))
        groups = [list(self._merged(first, stop, trust=_TRUST[0])) for first, stop in spans]
        counted = iter(self._counted([placed for group in groups for placed in group]))
        found: list[Placed] = []
        for (first, stop), group in zip(spans, groups, strict=True):
            same = [next(counted) for _ in group]
            for trust in _TRUST[1:]:
                if all(map(self._holds, same)):
                    break
                same = self._counted(list(self._merged(first, stop, trust=trust)))
            found.extend(same)
        return found

    def _opens(self, index: int) -> bool:
        """Whether a section begins with a unit: a heading that follows no other heading."""
        is_heading = self._units[index].cut == "section"
        return index == 0 or (is_heading and self._units[index - 1].cut != "section")

    def _counted(self, found: Sequence[Placed]) -> list[Placed]:
        payloads = [p.prefix + self._text[p.piece.start : p.piece.end] for p in found]
        counts = count_many(self._counter, payloads)
        return [p._replace(tokens=tokens) for p, tokens in zip(found, counts, strict=True)]

    def _holds(self, placed: Placed) -> bool:
        limits = self._limits
        return placed.tokens <= (limits.hard if placed.alone else limits.preferred)

    def _merged(self, first: int, stop: int, *, trust: float) -> Iterator[Placed]:
        begin = at = first
        while at < stop:
            if begin < at and not self._only_headings(begin, at):
                cut = self._end(begin, at, trust=trust)
                if cut is not None:
                    yield self._placed(begin, cut)
                    begin = at = cut
                    continue
            elif self._size(begin, at + 1, trust=trust) > self._limits.preferred:
                yield from self._alone(begin, at + 1)
                begin = at + 1
            at += 1
        if begin < at:
            yield self._placed(begin, at)

    def _only_headings(self, begin: int, at: int) -> bool:
        # Within a section no heading follows anything else.
        return begin < at and self._units[at - 1].cut == "section"

    def _end(self, begin: int, at: int, *, trust: float) -> int | None:
        """Where what is pending ends, if the unit at ``at`` is not added to it."""
        unit = self._units[at]
        if unit.opens or self._drops(begin, at):
            return at
        if self._size(begin, at + 1, trust=trust) <= self._limits.preferred:
            return None
        return self._best(begin, at)

    def _drops(self, begin: int, at: int) -> bool:
        """Whether similarity does, at the border between two blocks."""
        unit = self._units[at]
        return (
            bool(self._scores)
            and unit.weight < IN_BLOCK
            and self._scores[unit.block - 1] < self._low
            and self._is_filled(begin, at)
        )

    def _is_filled(self, begin: int, at: int) -> bool:
        return self._sums[at] - self._sums[begin] >= FILL * self._limits.preferred

    def _best(self, begin: int, at: int) -> int:
        """The best of the cuts that leave enough before them; the last one of several."""
        best = at
        for cut in range(at - 1, begin, -1):
            if not self._is_filled(begin, cut):
                break
            if self._units[cut].weight < self._units[best].weight:
                best = cut
        return best

    def _size(self, begin: int, stop: int, *, trust: float) -> int:
        """Tokens of a payload; a sum where it is surely within the limit or above it."""
        preferred = self._limits.preferred
        prefix, tokens = self._prefix_of(self._units[begin].block)
        tokens += self._sums[stop] - self._sums[begin]
        # A border between two texts costs a token more than none, or none.
        if tokens <= trust * preferred or (trust == 1 and tokens - (stop - begin) > preferred):
            return tokens
        start, end = self._units[begin].start, self._units[stop - 1].end
        return self._counter.count(prefix + self._text[start:end])

    def _placed(self, begin: int, stop: int) -> Placed:
        first = self._units[begin]
        piece = Piece(first.start, self._units[stop - 1].end, first.cut)
        return Placed(piece, self._prefix_of(first.block)[0], alone=stop == begin + 1)

    def _alone(self, begin: int, stop: int) -> Iterator[Placed]:
        """A unit above the preferred size, headings before it included."""
        first, end = self._units[begin], self._units[stop - 1].end
        prefix = self._prefix_of(first.block)[0]

        def count(start: int, end: int) -> int:
            return self._counter.count(prefix + self._text[start:end])

        limits = self._limits
        if count(first.start, end) <= limits.hard:
            yield Placed(Piece(first.start, end, first.cut), prefix, alone=True)
            return
        for piece in cut_up(self._text, (first.start, end), count, limits, first.cut):
            yield Placed(piece, prefix, alone=True)
