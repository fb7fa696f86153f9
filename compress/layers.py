"""A mapping laid over another one, so that a few operations cost nothing on a million entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Layered(Mapping[K, V]):
    """Reads ``top`` first, then ``base``; keys in ``gone`` are absent from the base."""

    __slots__ = ("_base", "_gone", "_top")

    def __init__(
        self, base: Mapping[K, V], top: Mapping[K, V], gone: frozenset[K] = frozenset()
    ) -> None:
        self._base = base
        self._top = top
        self._gone = gone

    def __getitem__(self, key: K) -> V:
        if key in self._top:
            return self._top[key]
        if key in self._gone:
            raise KeyError(key)
        return self._base[key]

    def __contains__(self, key: object) -> bool:
        return key in self._top or (key not in self._gone and key in self._base)

    def __iter__(self) -> Iterator[K]:
        for key in self._base:
            if key not in self._gone and key not in self._top:
                yield key
        yield from self._top

    def __len__(self) -> int:
        return sum(1 for _ in self)
