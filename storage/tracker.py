"""The running figures of one session while its log is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compress.entries import LogEntry, entry_of
from compress.events import NodeId, SessionEvent
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
        self._first_seq: NodeId | None = None
        self._seen = bytearray()
        """By seq: whether the event came before, so that now it is a revision."""

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
        if self._came_before(int(entry.seq)):
            self._glance.revise(entry)
        else:
            self._glance.feed(entry)
        is_first = self._first_words is None or entry.seq == self._first_seq
        if is_first and entry.type == "user/message" and entry.headline:
            self._first_words, self._first_seq = entry.headline[:TITLE_LENGTH], entry.seq

    def _came_before(self, seq: int) -> bool:
        if seq >= len(self._seen):
            self._seen.extend(bytes(max(seq + 1 - len(self._seen), len(self._seen), 64)))
        before = bool(self._seen[seq])
        self._seen[seq] = 1
        return before

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
