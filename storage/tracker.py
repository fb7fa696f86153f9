"""The running figures of one session while its log is read: weighed entries, meter, problems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compress.entries import LogEntry, entry_of
from compress.events import SessionEvent
from compress.meter import TokenMeter, decide_window
from storage import resources
from storage.sources.base import SessionFacts
from storage.writing import SessionState

HISTORY = 32
"""Requests whose input the sessions list shows as a sparkline."""


class SessionTracker:
    """Feed it every event of a session in log order; ask for its state after a batch."""

    def __init__(self, facts: SessionFacts, counter: str) -> None:
        self.facts = facts
        self.counter = counter
        self.problems = 0
        """Damaged lines, gaps and refused operations."""
        self._meter = TokenMeter("live")

    def resume(self, entries: Iterable[LogEntry], problems: int) -> None:
        """Takes what the store holds already."""
        self.problems = problems
        self._meter.feed_all(entries)

    def add(self, event: SessionEvent, tokens: Sequence[int]) -> LogEntry:
        """Weighs an event; ``tokens[i]`` is what its ``i``-th block counts."""
        entry = entry_of(event, tokens)
        self._meter.feed(entry)
        if event.type == "error" and event.meta.get("kind") is not None:
            self.problems += 1
        return entry

    def state(self, last_seq: int) -> SessionState:
        """What the sessions list shows now."""
        reading = self._meter.reading()
        model = reading.model or self.facts.model
        window = decide_window(
            logged=self.facts.window,
            observed=reading.observed,
            table=resources.table_window(model),
        )
        inputs = [r.actual_input for r in self._meter.requests[-HISTORY:] if r.actual_input]
        return SessionState(
            facts=self.facts,
            last_seq=last_seq,
            problems=self.problems,
            tokens=reading.used or None,
            tokens_source=reading.used_source,
            window=window.tokens,
            history=inputs,
            counter=self.counter,
        )
