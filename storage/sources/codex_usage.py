"""``token_count`` records of Codex → usage of single requests (T05, T06).

The record repeats: the same totals again mean that no request was made since. Its total only
grows, but for a resumed or compacted session it may fall; what a request cost is in
``last_token_usage``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compress.events import NodeId, Usage
from storage.sources.values import count, mapping

_FIELDS = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)

Totals = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a ``token_count`` says that the one before it did not."""

    usage: Usage | None
    """Of the request that ended; ``None`` where the record tells of no request."""
    context: int | None
    """Tokens in the window by Codex' own reckoning."""


class UsageReader:
    """Tells requests from repetitions. Feed the ``info`` of each record, in file order."""

    def __init__(self) -> None:
        self._total: Totals | None = None
        self._last: Totals | None = None

    def read(self, info: Any) -> Reading | None:
        """``None`` for a repetition, and where the record has no figures (``info`` null)."""
        if not isinstance(info, dict):
            return None
        total, last = _totals(info.get("total_token_usage")), _totals(info.get("last_token_usage"))
        before, self._total = self._total, total or self._total
        before_last, self._last = self._last, last or self._last
        if total is None and last is None:
            return None
        if before == total if total is not None else before_last == last:
            # Codex estimates the context anew after a compaction: same total, only a last sum.
            estimated = last is not None and last != before_last and not _says(last)
            return Reading(None, last[5]) if estimated and last is not None else None
        if last is None:
            return Reading(_usage(_difference(before, total)), None)
        if _says(last):
            return Reading(_usage(last), last[5])
        return Reading(None, last[5] or (None if total is None else total[5]))


def _totals(value: Any) -> Totals | None:
    if not isinstance(value, dict):
        return None
    return tuple(count(value.get(name)) for name in _FIELDS)


def _says(totals: Totals) -> bool:
    """Whether any bucket but the sum holds tokens."""
    return any(totals[:5])


def _difference(before: Totals | None, after: Totals | None) -> Totals:
    """What was added; where a total fell, it was counted from zero again."""
    assert after is not None
    if before is None:
        return after
    pairs = list(zip(before, after, strict=True))
    if any(old is not None and new is not None and new < old for old, new in pairs):
        return after
    return tuple(None if new is None else new - (old or 0) for old, new in pairs)


def _usage(totals: Totals) -> Usage:
    """Buckets that do not overlap: what was cached is part of ``input_tokens``, what was
    reasoned part of ``output_tokens`` (openai/codex ``protocol.rs``, ``TokenUsage``)."""
    input_tokens, cached, written, output, reasoning, _ = totals
    fresh = None
    if input_tokens is not None:
        # A log that claims more from the cache than was sent at all is wrong about the cache.
        cached = None if cached is None else min(cached, input_tokens)
        written = None if written is None else min(written, input_tokens - (cached or 0))
        fresh = input_tokens - (cached or 0) - (written or 0)
    return Usage.model_construct(
        input=fresh, cache_read=cached, cache_write=written, output=output, reasoning=reasoning
    )


class Requests:
    """Which request an item belongs to.

    Since 0.106 a request's usage follows its items; before, it stands in front of them. A
    request that produced no item (a compaction's) has its usage alone.
    """

    def __init__(self) -> None:
        self.step = 0
        self._first: int | None = None
        self._paid = False
        self._answered = False
        self._usage_leads: bool | None = None

    def produced(self, seq: int) -> int:
        """The step of an item that the model wrote."""
        if self._first is None or (self._answered and not self._paid):
            self._begin(seq)
        return self.step

    def paid(self, seq: int) -> NodeId:
        """The first event of the request whose usage this event carries."""
        if self._first is not None and not self._paid:
            first, self._first = self._first, None
            self._usage_leads = self._usage_leads or False
            return first
        self._begin(seq)
        self._paid = True
        if self._usage_leads is False:
            self._first = None
        else:
            self._usage_leads = True
        return seq

    def answered(self) -> None:
        """A tool answered: the next item is of another request, unless usage is still due."""
        self._answered = True
        if self._paid:
            self._first = None

    def broken(self) -> None:
        """Something other than an answer came between: what was open is over."""
        self._first = None

    def _begin(self, seq: int) -> None:
        self.step += 1
        self._first = seq
        self._paid = self._answered = False


def window_of(payload: Mapping[str, Any]) -> int | None:
    """The context window that a record states, in tokens."""
    found = payload.get("model_context_window")
    if found is None:
        found = mapping(payload.get("info")).get("model_context_window")
    return count(found) or None
