"""One log that is being read: its adapter's reader, and the state that spans batches.

Everything here lives in memory and is ahead of the store until a batch is committed; when a
commit fails, throw the object away and open the file again from the store.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

from compress.events import SURFACE_TYPES, SessionEvent
from compress.images import image_tokens
from compress.tokens import TokenCounter, block_texts, count_many, profile_of
from storage import blobs, rows
from storage.connection import Connections
from storage.format import SEQ_MASK
from storage.indexing import search_text
from storage.sources.base import (
    Derived,
    FileReader,
    LogTail,
    Numbering,
    Record,
    SessionFacts,
    SourceAdapter,
)
from storage.tail import Position
from storage.tracker import SessionTracker
from storage.writing import Batch, BatchEvent, shared_key

LOW_RECOGNITION = 0.2
"""Below this share of understood records a file is reported as not understood (R26)."""
_ENOUGH_RECORDS = 5
_BATCH_BYTES = 1 << 20
"""Small batches keep memory bounded: a batch in work costs some ten times its bytes."""
_PIECE = 1 << 20


class DrawnEvent(NamedTuple):
    """An event that waits for its token counts."""

    session: str
    event: SessionEvent
    record: int
    """Index of its record in the batch."""
    model: str | None
    """In force when it was read: decides how it is counted."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A batch before it is weighed: what came off the file, and what the reader made of it."""

    records: Sequence[Record]
    events: Sequence[DrawnEvent]
    sessions: Mapping[str, tuple[SessionFacts, int]]
    """Of each session that the batch touches: its facts and its last seq, as they were then."""
    before: str | None
    """Where reading stood in the store before this batch, as it is stored."""
    position: str
    file_size: int
    mtime_ns: int
    recognised: int
    unknown_types: Mapping[str, int]
    note: str | None
    size: int
    """Bytes of raw records."""


_Texts = tuple[TokenCounter, list[str], list[tuple[list[int], int]]]
"""Texts that one counter counts, each with the counts that it belongs to and its place there."""


@dataclass(slots=True)
class Weighed:
    """The slow part of a batch, made in a worker thread: token counts and compressed raw."""

    tokens: list[list[int]] = field(default_factory=list)
    packed: list[tuple[blobs.Packed, list[int]]] = field(default_factory=list)


class OpenLog:
    """A log between two batches. ``source`` and ``generation`` are the store's row."""

    def __init__(
        self,
        *,
        source: int,
        generation: int,
        adapter: SourceAdapter,
        tail: LogTail,
        trackers: dict[str, SessionTracker],
        numberings: dict[str, Numbering],
        counter_for: Callable[[str | None], TokenCounter],
    ) -> None:
        self.source = source
        self.generation = generation
        self.adapter = adapter
        self.tail = tail
        self.trackers = trackers
        self.numberings = numberings
        self.reader: FileReader = adapter.open(tail.path, numberings)
        self.records = 0
        self._position: str | None = None
        self._counter_for = counter_for
        self._told: dict[str, SessionFacts] = {}
        """Of each session that the store has: what it is told of it."""

    def skip(self, until: int, position: str | None) -> None:
        """Feeds the part of the file that the store holds already, and drops what comes out, so
        that the reader stands where it stood. ``until`` is the byte offset to stop at,
        ``position`` where the store says that reading stands."""
        self._position = position
        for record in self.tail.prefix(_BATCH_BYTES):
            if record.offset >= until:
                break
            self.records += 1
            for _ in self._feed(record):
                pass
        self._told = {key: replace(self._facts(key)) for key in self.trackers}

    def draw(self, records: Sequence[Record], position: Position) -> Drawn:
        """Feeds records to the reader. Cheap beside :meth:`weigh`, and in order."""
        events: list[DrawnEvent] = []
        sessions = self.reader.sessions
        for index, record in enumerate(records):
            for session, derived in self._feed(record):
                said = sessions.get(session)
                model = said.model if said else None
                events += [
                    DrawnEvent(session, event, index, event.model or model) for event in derived
                ]
        self.records += len(records)
        if not self.reader.sessions:
            self.reader.sessions[""] = SessionFacts(native_id=self.tail.path.stem)
        main = next(iter(self.reader.sessions))
        before, self._position = self._position, json.dumps(asdict(position))
        touched = dict.fromkeys([main, *(drawn.session for drawn in events)])
        # A record may say something of a session that gives no event there: a title, an end.
        changed = [key for key, was in self._told.items() if sessions.get(key, was) != was]
        touched.update(dict.fromkeys(changed))
        told = {key: replace(self._facts(key)) for key in touched}
        self._told.update(told)
        return Drawn(
            records=records,
            events=events,
            sessions={
                key: (facts, self.reader.numbering(key).next - 1) for key, facts in told.items()
            },
            before=before,
            position=self._position,
            file_size=position.size,
            mtime_ns=position.mtime_ns,
            recognised=self.reader.recognised,
            unknown_types=dict(self.reader.unknown_types),
            note=self._note(),
            size=sum(len(record.raw) for record in records),
        )

    def _feed(self, record: Record) -> Iterable[Derived]:
        if _is_stub(record):
            return [self._stub(record)]
        if record.value is None and record.damage is not None:
            return ()
        return self.reader.feed(record)

    def _stub(self, record: Record) -> Derived:
        """A line above the cap stays visible as an event that nobody tried to understand."""
        session = next(iter(self.reader.sessions), "")
        name = f"oversized:{record.offset}:{record.size}"
        event = SessionEvent(
            seq=self.reader.numbering(session).seq(name),
            type="unknown",
            native_id=name,
            meta={"type": "oversized line", "size": record.size, "offset": record.offset},
        )
        return Derived(session, (event,))

    def _facts(self, key: str) -> SessionFacts:
        return self.reader.sessions.get(key) or SessionFacts(key=key, native_id=self.tail.path.stem)

    def weigh(self, drawn: Drawn) -> Weighed:
        """Counts and compresses. Reads only what it is given; runs in any thread."""
        weighed = Weighed()
        texts: dict[str, _Texts] = {}
        by_model: dict[str | None, _Texts] = {}
        for _, event, _, model in drawn.events:
            blocks = event.blocks
            tokens = [0] * len(blocks)
            weighed.tokens.append(tokens)
            for index, block in enumerate(blocks):
                if block.images:
                    pricing = profile_of(model).images
                    tokens[index] = sum(image_tokens(image, pricing) for image in block.images)
                for text in block_texts(block):
                    waiting = by_model.get(model)
                    if waiting is None:
                        counter = self._counter_for(model)
                        waiting = texts.setdefault(counter.name, (counter, [], []))
                        by_model[model] = waiting
                    waiting[1].append(text)
                    waiting[2].append((tokens, index))
        for counter, found, places in texts.values():
            for count, (tokens, index) in zip(count_many(counter, found), places, strict=True):
                tokens[index] += count
        held = [i for i, record in enumerate(drawn.records) if not _is_stub(record)]
        for lines in blobs.group([drawn.records[i].raw for i in held]):
            indices, held = held[: len(lines)], held[len(lines) :]
            weighed.packed.append((blobs.pack(b"".join(lines)), indices))
        return weighed

    def batch(self, drawn: Drawn, weighed: Weighed) -> Batch:
        """Puts both halves together and brings the sessions' figures up to date."""
        trackers = {key: self._tracker(key, facts) for key, (facts, _) in drawn.sessions.items()}
        main = next(iter(trackers.values()))
        main.problems += sum(record.damage is not None for record in drawn.records)
        agent, is_shared = self.adapter.agent, self.adapter.global_ids
        events = []
        for (session, event, record, _), tokens in zip(drawn.events, weighed.tokens, strict=True):
            native, block, blocks = event.native_id, event.block, event.blocks
            entry = trackers[session].add(event, tokens)
            shared = None
            if is_shared and entry.type in SURFACE_TYPES:
                shared = shared_key(agent, native, block)
            text = search_text(blocks) if blocks else ""
            events.append(BatchEvent(session, entry, native, block, record, shared, text))
        return Batch(
            source=self.source,
            generation=self.generation,
            records=drawn.records,
            packed=weighed.packed,
            events=events,
            sessions={
                key: trackers[key].state(last_seq) for key, (_, last_seq) in drawn.sessions.items()
            },
            before=drawn.before,
            position=drawn.position,
            size=drawn.file_size,
            mtime_ns=drawn.mtime_ns,
            recognised=drawn.recognised,
            unknown_types=drawn.unknown_types,
            note=drawn.note,
            pieces={
                index: self._pieces(record)
                for index, record in enumerate(drawn.records)
                if _is_stub(record)
            },
        )

    def _tracker(self, key: str, facts: SessionFacts) -> SessionTracker:
        tracker = self.trackers.get(key)
        if tracker is None:
            counter = self._counter_for(facts.model).name
            tracker = self.trackers[key] = SessionTracker(facts, counter)
        tracker.facts = facts
        return tracker

    def _pieces(self, record: Record) -> Iterator[blobs.Packed]:
        held = bytearray()
        for piece in self.tail.pieces(record.offset, record.size):
            held += piece
            if len(held) >= _PIECE:
                yield blobs.pack(bytes(held))
                held.clear()
        if held:
            yield blobs.pack(bytes(held))

    def _note(self) -> str | None:
        """Why there is less to see than there are records; ``None`` when all is well."""
        recognised, total = self.reader.recognised, self.records
        if total >= _ENOUGH_RECORDS and recognised < total * LOW_RECOGNITION:
            versions = {f.agent_version for f in self.reader.sessions.values() if f.agent_version}
            version = f" (version {', '.join(sorted(versions))})" if versions else ""
            return (
                f"format not understood: {recognised} of {total} records of {self.adapter.agent}"
                f"{version} are known to this version of Ullage"
            )
        return None


def _is_stub(record: Record) -> bool:
    return not record.raw and record.size > 0


def known_numberings(connections: Connections, source: int) -> dict[str, Numbering]:
    """The numberings of a file's sessions, as the store knows them; by session key."""
    numberings = {}
    with connections.read() as connection:
        for session, key in _sessions(connection, source):
            low, high = rows.event_id(session, 0), rows.event_id(session, SEQ_MASK)
            known = connection.execute(
                "SELECT native_id || char(31) || block, id & ? FROM events "
                "WHERE id BETWEEN ? AND ?",
                (SEQ_MASK, low, high),
            ).fetchall()
            numberings[key] = Numbering(dict(known))
    return numberings


def known_trackers(
    connections: Connections, source: int, generation: int
) -> dict[str, SessionTracker]:
    """The figures of a file's sessions, brought to where the store is; by session key."""
    trackers = {}
    with connections.read() as connection:
        for session, key in _sessions(connection, source):
            counter, problems = connection.execute(
                "SELECT counter, problems FROM sessions WHERE id = ?", (session,)
            ).fetchone()
            tracker = trackers[key] = SessionTracker(SessionFacts(key=key), counter)
            tracker.resume(rows.entries(connection, session, generation), problems)
    return trackers


def _sessions(connection: sqlite3.Connection, source: int) -> list[tuple[int, str]]:
    return connection.execute(
        "SELECT id, key FROM sessions WHERE source_id = ? ORDER BY id", (source,)
    ).fetchall()
