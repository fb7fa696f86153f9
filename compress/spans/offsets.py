"""From a place in a span's payload to its place in the source.

A payload is metadata, then the text of the span's range, scalar for scalar. Tokens are counted in
the payload; a position in the metadata has no place in the source and is refused.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from compress.errors import CompressError
from compress.spans.blocks import encoded
from compress.spans.values import SourceRange, Span


class PayloadPositionError(CompressError):
    """A position that has no place in the source."""

    code = "payload_position"


@dataclass(frozen=True, slots=True, order=True)
class PayloadOffset:
    """Scalars of a payload before a place in it."""

    scalars: int


@dataclass(frozen=True, slots=True, order=True)
class SourceOffset:
    """A place in a document."""

    scalars: int
    """Before it."""
    bytes: int


class PayloadMap:
    """The map of one span. Positions stand between scalars: that behind the last one has a place,
    that at the first scalar of the text is no metadata."""

    def __init__(self, span: Span) -> None:
        self._start = span.payload_start
        self._payload = span.payload
        self._range = span.range
        # Made when it is asked for: the map of a position in ASCII text needs it, too.
        self._bytes: list[int] | None = None

    def source(self, at: PayloadOffset) -> SourceOffset:
        """Its place in the source. Raises :class:`PayloadPositionError` for a position in the
        metadata, or outside of the payload."""
        if not 0 <= at.scalars <= len(self._payload):
            raise PayloadPositionError(
                f"Position {at.scalars} is outside of a payload of {len(self._payload)} characters."
            )
        if at.scalars < self._start:
            raise PayloadPositionError(
                f"Position {at.scalars} is in the metadata, the first {self._start} characters of "
                "the payload, and has no place in the source."
            )
        inside = at.scalars - self._start
        return SourceOffset(
            self._range.start + inside, self._range.byte_start + self._bytes_before(at.scalars)
        )

    def source_range(self, start: PayloadOffset, end: PayloadOffset) -> SourceRange:
        """The source of a part of the payload. Raises :class:`PayloadPositionError` as
        :meth:`source` does, and for an end before the start."""
        if end < start:
            raise PayloadPositionError(
                f"A range from {start.scalars} to {end.scalars} ends before it begins."
            )
        first, last = self.source(start), self.source(end)
        return SourceRange(first.scalars, last.scalars, first.bytes, last.bytes)

    def payload(self, at: int) -> PayloadOffset:
        """Where the scalar of the source with this offset stands in the payload. Raises
        :class:`PayloadPositionError` where the span does not reach it."""
        if not self._range.start <= at <= self._range.end:
            raise PayloadPositionError(
                f"Character {at} is outside of the span, {self._range.start} to {self._range.end}."
            )
        return PayloadOffset(self._start + at - self._range.start)

    def token_range(self, tokens: Sequence[bytes], first: int, last: int) -> SourceRange:
        """The source of the tokens ``first`` to ``last``, half open, of the payload's tokens.

        Tokens may end inside of a scalar: the scalars that the tokens have any byte of are in the
        range. Raises :class:`PayloadPositionError` for tokens that are not those of the payload,
        for a range that is none of them, and for one that reaches into the metadata.
        """
        if b"".join(tokens) != encoded(self._payload):
            raise PayloadPositionError("The tokens are not those of the payload.")
        if not 0 <= first <= last <= len(tokens):
            raise PayloadPositionError(
                f"Tokens {first} to {last} are none of a payload of {len(tokens)} tokens."
            )
        before = sum(map(len, tokens[:first]))
        size = sum(map(len, tokens[first:last]))
        starts = self._scalar_starts()
        start = bisect_right(starts, before) - 1
        end = start if size == 0 else bisect_right(starts, before + size - 1)
        return self.source_range(PayloadOffset(start), PayloadOffset(end))

    def _bytes_before(self, scalars: int) -> int:
        starts = self._scalar_starts()
        return starts[scalars] - starts[self._start]

    def _scalar_starts(self) -> list[int]:
        if self._bytes is None:
            self._bytes = scalar_starts(self._payload)
        return self._bytes


def scalar_starts(text: str) -> list[int]:
    """Bytes before every scalar, and after the last: one number more than there are scalars."""
    sizes = map(_utf8_size, map(ord, text))
    return list(accumulate(sizes, initial=0))


def _utf8_size(point: int) -> int:
    """Bytes of one scalar; of a lone surrogate, as ``surrogatepass`` writes it."""
    return 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4
