"""The cuts, just before messages of the user's: what stood before, what was needed after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from compress.compaction.agent import agent_operations
from compress.compaction.facts import node_facts
from compress.events import SURFACE_TYPES, SessionEvent
from compress.messages.base import NodeContent
from inspector.loaded import LoadedSession
from inspector.settings import Loaded, Settings
from inspector.usecases import UseCases
from storage.catalog import SessionRecord
from storage.resources import counter_for
from storage.sources.registry import registry
from storage.store import Store
from tests.benchmarks.fidelity.arms import Count
from tests.benchmarks.fidelity.cases import AGENTS
from tests.benchmarks.fidelity.scoring import Later, Target, targets
from tests.benchmarks.fidelity.texts import Texts

HISTORY = 20_000
"""Counted tokens of log that stand before a cut at least."""
_ENDS = ("compact", "clear")


@dataclass(frozen=True, slots=True)
class Cut:
    """A moment just before a message of the user's."""

    session: str
    at: int
    """Seq of the newest event before the message."""
    query: str
    """The message."""
    history: Sequence[str]
    """The text of each event that stood before, in order."""
    tokens: int
    """Of the log before it, as counted."""
    wanted: Sequence[Target]
    """Needed until the agent compacts or clears next, or the log ends."""
    wanted_soon: Sequence[Target]
    """The part of these that is needed before the user speaks again."""
    count: Count


class Sessions:
    """The corpus in a store of its own, read by the product's own ways. Close it when done."""

    def __init__(self, corpus: Path, folder: Path, *, only: str = "", most: int = 12) -> None:
        """``most``: cuts a session, evenly spread over those that it has."""
        path = folder / "packs.db"
        self.store = Store(path, registry())
        self.usecases = UseCases(self.store, Loaded(Settings(db=str(path))))
        logs = [p for agent in AGENTS for p in sorted((corpus / agent).glob("*")) if p.is_file()]
        self.usecases.ingest(logs)
        self._only, self._most = only, most
        self._texts = Texts()
        self.found: dict[str, tuple[int, int]] = {}
        """Session → cuts that it has, and those that are measured."""

    def close(self) -> None:
        """Closes the store."""
        self.usecases.close()

    def cuts(self) -> Iterator[Cut]:
        """All cuts that are measured. Of sessions that share their start, a shared cut is taken
        once, from the longest one; cuts after which nothing is needed are left out."""
        records = sorted(
            (record for record in self.store.sessions() if self._only in record.name),
            key=lambda record: (-record.events, record.name),
        )
        seen: set[int] = set()
        for record in records:
            yield from self._of(record, seen)

    def _of(self, record: SessionRecord, seen: set[int]) -> Iterator[Cut]:
        session = LoadedSession(self.store, record)
        places = [
            place
            for place, entry in enumerate(session.order)
            if entry.type == "user/message" and not entry.meta.get("checkpoint")
        ]
        weights = [0]
        for entry in session.order:
            weights.append(weights[-1] + (entry.tokens if entry.type in SURFACE_TYPES else 0))
        if not any(weights[place] >= HISTORY for place in places):
            return
        wanted = [int(e.seq) for e in session.order if e.type in SURFACE_TYPES]
        events = {int(e.seq): e for e in self.store.events(record, wanted)}
        texts = {seq: self._texts.of([event]) for seq, event in events.items()}
        starts = [p for p in places if _speaks(events[int(session.order[p].seq)])]
        candidates = [place for place in starts if weights[place] >= HISTORY]
        stops = sorted(
            int(operation.seq)
            for operation in agent_operations(session.order)
            if operation.kind in _ENDS and operation.finished
        )
        count = counter_for(record.model).count
        measured = 0
        for place in _spread(candidates, self._most):
            message = int(session.order[place].seq)
            order = [int(e.seq) for e in session.order if e.type in SURFACE_TYPES]
            history = [texts[seq] for seq in order if seq < message]
            key = hash((texts[message], tuple(history)))
            if key in seen:
                continue
            seen.add(key)
            stop = next((s for s in stops if s > message), record.last_seq + 1)
            following = [seq for seq in order if message <= seq < stop]
            later = [Later(events[s].type == "assistant/message", texts[s]) for s in following]
            next_words = next((int(session.order[p].seq) for p in starts if p > place), stop)
            soon = sum(1 for seq in following if seq < next_words)
            needed = targets(history, "", later)
            if not needed:
                continue
            names = {target.name for target in targets(history, "", later[:soon])}
            measured += 1
            yield Cut(
                session=record.name,
                at=message - 1,
                query=texts[message],
                history=history,
                tokens=weights[place],
                wanted=needed,
                wanted_soon=[target for target in needed if target.name in names],
                count=count,
            )
        self.found[record.name] = (len(candidates), measured)


def _speaks(event: SessionEvent) -> bool:
    """Whether these are words of the user's: no checkpoint, no echo of a command."""
    facts = node_facts(NodeContent(event.seq, (event,)))
    return facts.kind == "user" and bool(facts.text.strip())


def _spread(places: Sequence[int], most: int) -> list[int]:
    """At most so many of these, the same distance from one another."""
    if len(places) <= most:
        return list(places)
    return [places[(2 * index + 1) * len(places) // (2 * most)] for index in range(most)]
