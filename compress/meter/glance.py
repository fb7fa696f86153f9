"""Glance: the size of the window by the newest anchor alone, at next to no cost.

For lists of many sessions. It says what :class:`compress.meter.TokenMeter` says where a reply is
the last thing in the log; behind it, it adds the plain count, where the meter adds a calibrated
one. It keeps a handful of numbers, whatever the length of the log.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from compress.entries import LogEntry
from compress.events import Append, NodeId, Rebase, Replace
from compress.meter.meter import MOST_TOKENS

HISTORY = 32
"""Requests whose input is remembered."""


class Glance:
    """Feed a session's entries in log order; never raises for what they hold."""

    def __init__(self) -> None:
        self.model: str | None = None
        """The newest model that answered."""
        self.observed = 0
        """The largest input that the provider reported for it, in tokens."""
        self._inputs: deque[tuple[NodeId, int]] = deque(maxlen=HISTORY)
        self._request: NodeId | None = None
        self._input = 0
        self._output = 0
        self._tail = 0
        self._anchored = False

    @property
    def history(self) -> tuple[int, ...]:
        """Input tokens of the last requests, oldest first."""
        return tuple(tokens for _, tokens in self._inputs)

    @property
    def used(self) -> int:
        """Tokens in the window now: anchor, its reply, and the counted tail."""
        return self._input + self._output + self._tail

    @property
    def source(self) -> Literal["provider", "estimated"]:
        """``provider`` while the anchor's prefix stands."""
        return "provider" if self._anchored else "estimated"

    def feed(self, entry: LogEntry) -> None:
        """Take one event."""
        if entry.op is not None:
            self._stand(entry)
        if entry.usage is not None:
            self._settle(entry)
        elif entry.type == "usage" and entry.meta.get("estimated"):
            context = entry.meta.get("context")
            if isinstance(context, int) and 0 < context <= MOST_TOKENS:
                self._input, self._output, self._tail = context, 0, 0
                self._anchored = False

    def _stand(self, entry: LogEntry) -> None:
        op = entry.op
        if isinstance(op, Append):
            if op.view == "resume":
                return
            if entry.type == "assistant/message" and self._is_told(entry):
                return
            self._tail += entry.tokens
        elif isinstance(op, Replace) and op.live_only:
            return
        elif isinstance(op, Replace) or (isinstance(op, Rebase) and op.seqs):
            checkpoint = entry.meta.get("checkpoint") is not None
            self._anchored = self._anchored and not checkpoint
            if checkpoint:
                self._input = self._output = 0
                self._tail = entry.tokens
            elif isinstance(op, Rebase) and entry.type != "assistant/message":
                self._tail += entry.tokens

    def _is_told(self, entry: LogEntry) -> bool:
        """Whether this reply is in the provider's own figure."""
        if entry.request is None:
            return False
        return entry.request == self._request or _input_of(entry) is not None

    def _settle(self, entry: LogEntry) -> None:
        usage = entry.usage
        total = _input_of(entry)
        if usage is None or total is None:
            return
        request = entry.request if entry.request is not None else entry.seq
        output = usage.output or 0
        if request == self._request:
            self._output = max(self._output, output)
            self._input = total
            self._inputs[-1] = (request, total)
            return
        self._request, self._input, self._output = request, total, output
        self._tail = 0
        self._anchored = True
        self._inputs.append((request, total))
        if entry.model != self.model:
            self.model, self.observed = entry.model or self.model, 0
        self.observed = max(self.observed, total)


def _input_of(entry: LogEntry) -> int | None:
    """The provider's input figure; ``None`` where there is none, or one that cannot be."""
    total = None if entry.usage is None else entry.usage.total_input
    return total if total is not None and 0 < total <= MOST_TOKENS else None
