"""A sequence made of stretches of others, none of them copied.

What an operation does to a surface of a million nodes is told by a handful of stretches. Copying
the nodes would hold the interpreter for a tenth of a second each time: to make the copy, to look
through it for garbage, and to free it again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeVar, overload

T = TypeVar("T")

CHUNK = 4_096
"""Values that are taken in one step."""


class Pieces(Sequence[T]):
    """The stretches ``(sequence, start, stop)`` one behind the other; empty ones are left out.

    Equal to any sequence of the same values. What it is made of must not change.
    """

    __slots__ = ("_ends", "_parts")

    def __init__(self, parts: Iterable[tuple[Sequence[T], int, int]]) -> None:
        self._parts = tuple(part for part in parts if part[1] < part[2])
        self._ends = tuple(accumulate(stop - start for _, start, stop in self._parts))

    @classmethod
    def without(cls, values: Sequence[T], start: int, stop: int, left: Iterable[int]) -> Pieces[T]:
        """``values[start:stop]`` but for the positions ``left`` out, which are ascending."""
        parts = []
        for place in left:
            parts.append((values, start, place))
            start = place + 1
        return cls([*parts, (values, start, stop)])

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return tuple(self[place] for place in range(start, stop, step))
            return self._short(start, stop) or Pieces(self._between(start, stop))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        number = bisect_right(self._ends, place)
        values, _, stop = self._parts[number]
        return values[stop - self._ends[number] + place]

    def __iter__(self) -> Iterator[T]:
        for chunk in self.chunks():
            yield from chunk

    def __reversed__(self) -> Iterator[T]:
        for values, start, stop in reversed(self._parts):
            for edge in range(stop, start, -CHUNK):
                yield from reversed(values[max(start, edge - CHUNK) : edge])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str) or len(self) != len(other):
            return False
        place = 0
        for chunk in self.chunks():
            if tuple(chunk) != tuple(other[place : place + len(chunk)]):
                return False
            place += len(chunk)
        return True

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Pieces({tuple(self)!r})"

    def chunks(self) -> Iterator[Sequence[T]]:
        """Its values by bounded slices, in order."""
        for values, start, stop in self._parts:
            for edge in range(start, stop, CHUNK):
                yield values[edge : min(edge + CHUNK, stop)]

    def _short(self, start: int, stop: int) -> Sequence[T]:
        """A slice of one stretch, where the wanted values are few and stand in one."""
        if not 0 < stop - start <= CHUNK:
            return ()
        number = bisect_right(self._ends, start)
        if stop > self._ends[number]:
            return ()
        values, _, last = self._parts[number]
        first = last - self._ends[number]
        return values[first + start : first + stop]

    def _between(self, start: int, stop: int) -> Iterator[tuple[Sequence[T], int, int]]:
        low = 0
        for (values, first, last), end in zip(self._parts, self._ends, strict=True):
            yield values, first + max(start - low, 0), last - max(end - stop, 0)
            low = end
