"""Glance: the size of the window by the newest anchor alone, at next to no cost.

For lists of many sessions. It says what :class:`compress.meter.TokenMeter` says where a reply is
the last thing in the log; behind it, it adds the plain count, where the meter adds a calibrated
one. It keeps a handful of numbers, whatever the length of the log, and the weights of the newest
events, which may come again with another content.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Literal

from compress.entries import LogEntry
from compress.events import Append, NodeId, Rebase, Replace
from compress.meter.meter import MOST_TOKENS

HISTORY = 32
"""Requests whose input is remembered."""
_REVISABLE = 1_024
"""Events behind the anchor, the newest, whose weight is corrected when they come again."""


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
        self._weights: OrderedDict[NodeId, int] = OrderedDict()
        """Of the newest events that the tail is made of, in their order."""
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
                self._input, self._output = context, 0
                self._begin_tail()
                self._anchored = False

    def revise(self, entry: LogEntry) -> None:
        """Take an event that was fed before and says something else now. It keeps its place."""
        before = self._weights.get(entry.seq)
        total = _input_of(entry)
        if entry.usage is not None and total is not None:
            request = entry.request if entry.request is not None else entry.seq
            place = next((i for i, (r, _) in enumerate(self._inputs) if r == request), None)
            if request == self._request:
                self._settle(entry)
            elif place is not None:
                self._inputs[place] = (request, total)
            elif before is not None:
                self._anchor_at(entry)
                return
        if before is not None:
            self._tail += entry.tokens - before
            self._weights[entry.seq] = entry.tokens

    def _anchor_at(self, entry: LogEntry) -> None:
        """The provider's figure came for an event of the tail: what is behind it is the tail."""
        behind = list(self._weights.items())
        seqs = [seq for seq, _ in behind]
        self._settle(entry)
        for seq, tokens in behind[seqs.index(entry.seq) + 1 :]:
            self._grow(seq, tokens)

    def _grow(self, seq: NodeId, tokens: int) -> None:
        self._tail += tokens
        self._weights[seq] = tokens
        if len(self._weights) > _REVISABLE:
            self._weights.popitem(last=False)

    def _begin_tail(self) -> None:
        self._tail = 0
        self._weights.clear()

    def _stand(self, entry: LogEntry) -> None:
        op = entry.op
        if isinstance(op, Append):
            if op.view == "resume":
                return
            if entry.type == "assistant/message" and self._is_told(entry):
                return
            self._grow(entry.seq, entry.tokens)
        elif isinstance(op, Replace) and op.live_only:
            return
        elif isinstance(op, Replace) or (isinstance(op, Rebase) and op.seqs):
            checkpoint = entry.meta.get("checkpoint") is not None
            self._anchored = self._anchored and not checkpoint
            if checkpoint:
                self._input = self._output = 0
                self._begin_tail()
                self._grow(entry.seq, entry.tokens)
            elif isinstance(op, Rebase) and entry.type != "assistant/message":
                self._grow(entry.seq, entry.tokens)

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
        self._begin_tail()
        self._anchored = True
        self._inputs.append((request, total))
        if entry.model != self.model:
            self.model, self.observed = entry.model or self.model, 0
        self.observed = max(self.observed, total)


def _input_of(entry: LogEntry) -> int | None:
    """The provider's input figure; ``None`` where there is none, or one that cannot be."""
    total = None if entry.usage is None else entry.usage.total_input
    return total if total is not None and 0 < total <= MOST_TOKENS else None
