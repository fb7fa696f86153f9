"""DSH's numbers and ours. They differ by one, unless lines of the log were lost."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from compress.events import Append, NodeId, Replace, SurfaceOp
from storage.sources.draft import APPEND
from storage.sources.values import count, listing


class Seqs:
    """Translates DSH's event numbers (from 0) into seqs, and what a record says in them."""

    def __init__(self) -> None:
        self.next = 0
        """DSH's number of the next event, where a record does not state it."""
        self._starts: list[int] = []
        self._shifts: list[int] = []

    def take(self, first: int, seqs: list[int]) -> None:
        """Events ``first``, ``first + 1`` … have these seqs."""
        self.next = first + len(seqs)
        if seqs and (not self._shifts or self._shifts[-1] != seqs[0] - first):
            place = bisect_right(self._starts, first)
            self._starts.insert(place, first)
            self._shifts.insert(place, seqs[0] - first)

    def seq(self, number: int) -> int:
        """Our seq for DSH's number."""
        place = bisect_right(self._starts, number)
        return number + (self._shifts[place - 1] if place else 1)

    def operation(self, value: dict[str, Any]) -> SurfaceOp | None:
        """The record's operation; ``None`` for one that DSH itself would refuse to read."""
        raw = value.get("surfaceOp")
        if raw == "append":
            return APPEND
        if not isinstance(raw, dict):
            return None
        if raw.get("op") == "append":
            return Append()
        start = count(raw.get("startSeq", raw.get("start")))
        end = count(raw.get("endSeq", raw.get("end")))
        if raw.get("op") != "replace" or start is None or end is None:
            return None
        return Replace(start=self.seq(start), end=self.seq(end))

    def sources(self, value: dict[str, Any], own: int) -> tuple[NodeId, ...]:
        """The events that a record cites, ranges expanded. Only earlier ones can be cited, which
        bounds a range."""
        found: list[NodeId] = []
        for item in listing(value.get("sourceEventSeqs")):
            pair = item if isinstance(item, list) else [item, item]
            first, last = (count(pair[0]), count(pair[1])) if len(pair) == 2 else (None, None)
            if first is not None and last is not None:
                found.extend(self.seq(number) for number in range(first, min(last + 1, own)))
        return tuple(found)
