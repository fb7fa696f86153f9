"""The running figures of one session while its log is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compress.entries import LogEntry, entry_of
from compress.events import SessionEvent
from compress.meter import decide_window
from compress.meter.glance import Glance
from storage import resources
from storage.sources.base import SessionFacts
from storage.writing import SessionState

TITLE_LENGTH = 80


class SessionTracker:
    """Feed it every event of a session in log order; ask for its state after a batch."""

    def __init__(self, facts: SessionFacts, counter: str) -> None:
        self.facts = facts
        self.counter = counter
        self.problems = 0
        """Damaged lines, gaps and refused operations."""
        self._glance = Glance()
        self._first_words: str | None = None

    def resume(self, entries: Iterable[LogEntry], problems: int) -> None:
        """Takes what the store holds already."""
        self.problems = problems
        for entry in entries:
            self._take(entry)

    def add(self, event: SessionEvent, tokens: Sequence[int]) -> LogEntry:
        """Weighs an event; ``tokens[i]`` is what its ``i``-th block counts."""
        entry = entry_of(event, tokens)
        self._take(entry)
        if entry.type == "error" and entry.meta.get("kind") is not None:
            self.problems += 1
        return entry

    def _take(self, entry: LogEntry) -> None:
        self._glance.feed(entry)
        if self._first_words is None and entry.type == "user/message" and entry.headline:
            self._first_words = entry.headline[:TITLE_LENGTH]

    def state(self, last_seq: int) -> SessionState:
        """What the sessions list shows now."""
        glance = self._glance
        model = glance.model or self.facts.model
        window = decide_window(
            logged=self.facts.window,
            observed=glance.observed,
            table=resources.table_window(model),
        )
        return SessionState(
            facts=self.facts,
            title=self.facts.title or self._first_words,
            last_seq=last_seq,
            problems=self.problems,
            tokens=glance.used or None,
            tokens_source=glance.source,
            window=window.tokens,
            history=glance.history,
            counter=self.counter,
        )
