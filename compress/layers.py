"""Mappings that share what they show: a few operations cost nothing on a million entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from compress.events import NodeId

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


class Until(Mapping[NodeId, Sequence[NodeId]]):
    """Node → its events up to a seq, over lists that go on growing at their ends, in the order of
    the seqs."""

    __slots__ = ("_last", "_lists")

    def __init__(self, lists: Mapping[NodeId, list[NodeId]], last: int) -> None:
        self._lists = lists
        self._last = last

    def __getitem__(self, node: NodeId) -> tuple[NodeId, ...]:
        seqs = self._lists[node]
        last = self._last
        if seqs[-1] <= last:  # type: ignore[operator]
            return tuple(seqs)
        found = tuple(seq for seq in seqs if seq <= last)  # type: ignore[operator]
        if not found:
            raise KeyError(node)
        return found

    def __contains__(self, node: object) -> bool:
        seqs = self._lists.get(node)  # type: ignore[call-overload]
        return seqs is not None and seqs[0] <= self._last

    def __iter__(self) -> Iterator[NodeId]:
        return (node for node in list(self._lists) if node in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
