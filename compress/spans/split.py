"""A text above the limit, cut where it hurts least: behind a sentence, a line's end, punctuation or
a blank, else at a token's offset between two grapheme clusters, and within one only if it is larger
than the limit by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from compress.spans.micro_units import cluster_end, cuts_behind, edge_before, is_edge
from compress.spans.values import Cut, SpanLimits

Count = Callable[[int, int], int]
"""Tokens of a part of the text as it is rendered."""

_LEAST = 0.5
"""Share of what fits that a piece has at least, where there is a better place to cut."""
_NEAR = 0.97
"""Share of the limit from which a piece is taken for full."""
_CHARACTERS = 4
"""Scalars for each token of the limit, within which the end of a cluster is looked for."""


class Piece(NamedTuple):
    """A part of the text; ``overlap`` scalars at its beginning stand in the one before it, too."""

    start: int
    end: int
    cut: Cut
    overlap: int = 0


class Atom(Exception):  # noqa: N818 - whoever knows the document makes an error of it
    """One scalar that is above the hard limit."""

    def __init__(self, start: int, end: int, tokens: int) -> None:
        super().__init__()
        self.start = start
        self.end = end
        self.tokens = tokens


def cut_up(
    text: str, part: tuple[int, int], count: Count, limits: SpanLimits, first: Cut
) -> Iterator[Piece]:
    """Pieces of a part of the text, none above the hard limit, and only one cluster above the
    preferred size.

    ``first`` is what the part itself begins at. Takes time in proportion to the part's length.

    Raises:
        Atom: a single scalar is above the hard limit.
    """
    at, end = part
    window = _Window(text, end, count, limits)
    back, cut = at, first
    while at < end:
        stop, next_cut = window.stop(back, at)
        if stop == at and back < at:
            back = at  # what is repeated leaves no room
            continue
        if stop == at:
            stop, next_cut = window.cluster(at)
        yield Piece(back, stop, cut, at - back)
        is_open = next_cut == "cluster" and limits.overlap and stop < end
        back = window.repeated(at, stop) if is_open else stop
        at, cut = stop, next_cut


class _Window:
    """What of a text fits from a place on."""

    def __init__(self, text: str, end: int, count: Count, limits: SpanLimits) -> None:
        self._text = text
        self._end = end
        self._count = count
        self._limits = limits
        self._ratio = 3.0
        """Scalars a token, as the piece before it had."""
        self._inside = 0
        """The end of the cluster that had to be cut last."""

    def stop(self, back: int, at: int) -> tuple[int, Cut]:
        """Where the piece from ``back`` ends, behind ``at``, and what is cut there; ``at`` if
        nothing fits."""
        fits = self._longest(back, at)
        if at < fits < self._inside:
            return fits, "scalar"
        if fits in (at, self._end):
            return fits, "cluster"
        least = max(at, back + int((fits - back) * _LEAST))
        for cut, place in cuts_behind(self._text, at, fits):
            if place > least and self._count(back, place) <= self._limits.preferred:
                return place, cut
        return fits, "cluster"

    def _longest(self, back: int, at: int) -> int:
        """The end of the most whole clusters that fit, nearly; ``at`` if not one does."""
        limit = self._limits.preferred
        low, high = at, self._end + 1
        guess = back + int(limit * self._ratio)
        while high - low > 1:
            place = edge_before(self._text, low, min(max(guess, low + 1), high - 1))
            if place == low:
                # A cluster goes on behind the guess.
                longest = max(_CHARACTERS * limit, guess - low) + 64
                place = cluster_end(self._text, low, longest)
                if place >= high:
                    break
            tokens = self._count(back, place)
            guess = back + (place - back) * limit // max(1, tokens)
            if tokens > limit:
                high = place
                guess = min(guess, low + (high - low) * 9 // 10)
                continue
            low = place
            self._ratio = max(0.25, (place - back) / max(1, tokens))
            if high > self._end:
                guess = max(guess, low + max(1, (low - back) // 32))
            elif tokens >= limit * _NEAR:
                break
            else:
                guess = max(guess, low + (high - low) // 8)
        return low

    def cluster(self, at: int) -> tuple[int, Cut]:
        """A cluster above the preferred size: whole, if the hard limit holds it, else as many of
        its scalars as it holds."""
        hard = self._limits.hard
        whole = min(self._end, cluster_end(self._text, at, _CHARACTERS * hard + 64))
        if self._count(at, whole) <= hard:
            is_whole = whole >= self._inside and is_edge(self._text, at, whole)
            return whole, "cluster" if is_whole else "scalar"
        self._inside = max(self._inside, whole)
        low, high = at, whole
        while high - low > 1:
            middle = (low + high) // 2
            if self._count(at, middle) <= hard:
                low = middle
            else:
                high = middle
        if low == at:
            raise Atom(at, at + 1, self._count(at, at + 1))
        return low, "scalar"

    def repeated(self, at: int, stop: int) -> int:
        """Where the piece behind ``stop`` begins so that it repeats at most the overlap."""
        overlap = self._limits.overlap
        back = max(at, stop - max(1, int(overlap * self._ratio)))
        while back < stop:
            edge = edge_before(self._text, at, back)
            if edge < back:
                # What is repeated begins with a whole cluster.
                back = min(stop, cluster_end(self._text, edge, stop - edge + 1))
            if back == stop or self._count(back, stop) <= overlap:
                break
            back += max(1, (stop - back) // 4)
        return back
