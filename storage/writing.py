"""The write side of the store: one batch of a log, one transaction.

The position in the log and everything read up to it are written together, so a killed ingest
leaves either both or neither.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from compress.entries import LogEntry
from compress.events import NodeId
from storage import blobs
from storage.errors import PositionMovedError
from storage.rows import ENTRY_COLUMNS, encode_entry, event_id
from storage.sources.base import Record, SessionFacts

_EVENT_COLUMNS = (
    f"{ENTRY_COLUMNS}, position, generation, native_id, block, record_id, digest, copied"
)
_COUNT = _EVENT_COLUMNS.count(",") + 1
_REVISED = ", ".join(
    f"{name} = excluded.{name}"
    for name in (*ENTRY_COLUMNS.split(", ")[1:], "record_id", "digest", "copied")
)
_UPSERT = f"""
INSERT INTO events ({_EVENT_COLUMNS}) VALUES ({", ".join("?" * _COUNT)})
ON CONFLICT (id) DO UPDATE SET {_REVISED},
  position = CASE WHEN generation = excluded.generation THEN position ELSE excluded.position END,
  generation = excluded.generation
"""  # noqa: S608 - constants
_CHUNK = 500
"""Values in one ``IN`` list, below SQLite's limit on variables."""


class BatchEvent(NamedTuple):
    """One event on its way into the store."""

    session: str
    """Key of its session in the file."""
    entry: LogEntry
    native_id: str
    block: int
    record: int
    """Index of its record in the batch."""
    shared_key: int | None
    """See :func:`shared_key`; ``None`` where the agent's ids are not globally unique."""
    text: str
    """What the full-text index holds of it."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """What the sessions list shows of one session after a batch."""

    facts: SessionFacts
    title: str | None
    """The log's own, else the user's first words."""
    last_seq: int
    problems: int
    tokens: int | None
    tokens_source: str | None
    window: int | None
    history: Sequence[int]
    counter: str


@dataclass(slots=True)
class Batch:
    """Some consecutive records of one file, with all that came of them."""

    source: int
    generation: int
    records: Sequence[Record]
    packed: Sequence[tuple[blobs.Packed, Sequence[int]]]
    """Compressed groups of lines; each with the indices of the records that it holds."""
    events: Sequence[BatchEvent]
    sessions: Mapping[str, SessionState]
    before: str | None
    """The position that the store must hold for this batch to follow."""
    position: str
    size: int
    mtime_ns: int
    recognised: int
    unknown_types: Mapping[str, int]
    note: str | None = None
    pieces: Mapping[int, Iterable[blobs.Packed]] = field(default_factory=dict)
    """Of lines above the cap: record index → the raw, in order; read while it is written."""


def shared_key(agent: str, native_id: str, block: int) -> int:
    """64 bits that identify an event across files, for agents whose ids are globally unique."""
    text = f"{agent}\x1f{native_id}\x1f{block}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)


def raw_digest(raw: bytes) -> int:
    """Length and checksum of a raw record: enough to tell two contents of one id apart."""
    return len(raw) << 32 | zlib.crc32(raw)


def write_batch(connection: sqlite3.Connection, batch: Batch, agent: str, revision: int) -> None:
    """Writes a batch inside the caller's transaction. ``agent`` and ``revision`` are the
    adapter's that read it.

    Raises :class:`PositionMovedError` where the store has moved on, so that two processes that
    read the same log never write a record twice.
    """
    position = _next_position(connection, batch)
    first_record = _write_records(connection, batch)
    sessions: dict[str, int] = {}
    last_seqs: dict[str, int] = {}
    for key, state in batch.sessions.items():
        found = _write_session(connection, batch.source, key, agent, state)
        sessions[key], last_seqs[key] = found
    copied = _copies(connection, batch, sessions)
    digests = [raw_digest(record.raw) for record in batch.records]
    known, unchanged = _write_revisions(connection, batch, sessions, last_seqs, digests)
    generation = batch.generation
    rows, texts = [], []
    for place, event in enumerate(batch.events, position):
        key, entry, native_id, block, record, shared, text = event
        row = encode_entry(sessions[key], entry)
        is_copy = shared in copied
        rows.append(
            (
                *row,
                place,
                generation,
                native_id,
                block,
                first_record + record,
                digests[record],
                int(is_copy),
            )
        )
        # A revision's words are added to those of the event's earlier contents.
        if text and not is_copy and row[0] not in unchanged:
            texts.append((row[0], text))
    connection.executemany(_UPSERT, rows)
    connection.executemany("INSERT INTO search (rowid, text) VALUES (?, ?)", texts)
    _refresh_counts(connection, batch, sessions, known)
    connection.execute(
        "UPDATE sources SET position = ?, size = ?, mtime_ns = ?, next_position = ?, "
        "records = records + ?, recognised = ?, unknown_types = ?, note = ?, agent = ?, "
        "revision = ?, gone = 0 WHERE id = ?",
        (
            batch.position,
            batch.size,
            batch.mtime_ns,
            position + len(batch.events),
            len(batch.records),
            batch.recognised,
            json.dumps(dict(sorted(batch.unknown_types.items())), ensure_ascii=False),
            batch.note,
            agent,
            revision,
            batch.source,
        ),
    )


def _next_position(connection: sqlite3.Connection, batch: Batch) -> int:
    """Where the batch's first event comes in the order of the fold, if it is this batch's turn."""
    *there, position = connection.execute(
        "SELECT position, generation, next_position FROM sources WHERE id = ?", (batch.source,)
    ).fetchone()
    if there != [batch.before, batch.generation]:
        raise PositionMovedError("Another process reads the same logs into this store.")
    return int(position)


def _write_records(connection: sqlite3.Connection, batch: Batch) -> int:
    """Row id of the batch's first record; the others follow. Safe to number here: the transaction
    is exclusive."""
    first = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM records").fetchone()[0]
    where: dict[int, tuple[int, int]] = {}
    for packed, indices in batch.packed:
        blob, offset = blobs.put(connection, packed), 0
        for index in indices:
            where[index] = (blob, offset)
            offset += len(batch.records[index].raw)
    pieces: list[tuple[int, int, int]] = []
    for index, parts in batch.pieces.items():
        ids = [blobs.put(connection, part) for part in parts]
        where[index] = (ids[0], 0)
        pieces.extend((first + index, number, blob) for number, blob in enumerate(ids))
    connection.executemany(
        "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                first + index,
                batch.source,
                batch.generation,
                record.line,
                record.offset,
                record.size,
                *where[index],
                record.damage,
            )
            for index, record in enumerate(batch.records)
        ],
    )
    connection.executemany("INSERT INTO record_pieces VALUES (?, ?, ?)", pieces)
    return int(first)


def _write_session(
    connection: sqlite3.Connection, source: int, key: str, agent: str, state: SessionState
) -> tuple[int, int]:
    """The session's row id, and its last seq before this batch; 0 for a new one."""
    facts = state.facts
    row = connection.execute(
        "SELECT id, last_seq FROM sessions WHERE source_id = ? AND key = ?", (source, key)
    ).fetchone()
    last_seq = 0
    if row is None:
        identifier = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM sessions").fetchone()[
            0
        ]
        connection.execute(
            "INSERT INTO sessions (id, source_id, key, name, native_id, agent, family, counter) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                identifier,
                source,
                key,
                _free_name(connection, facts.native_id or f"{agent}-{identifier}"),
                facts.native_id,
                agent,
                identifier,
                state.counter,
            ),
        )
    else:
        identifier, last_seq = row
    connection.execute(
        "UPDATE sessions SET native_id = ?, agent_version = ?, cwd = ?, title = ?, model = ?, "
        "relation = ?, parent_native_id = ?, parent_call_id = ?, turn_open = ?, waiting = ?, "
        "ended = ?, last_seq = max(last_seq, ?), problems = ?, tokens = ?, tokens_source = ?, "
        "log_window = ?, window = ?, history = ? WHERE id = ?",
        (
            facts.native_id,
            facts.agent_version,
            facts.cwd,
            state.title,
            facts.model,
            facts.relation,
            facts.parent_native_id,
            facts.parent_call_id,
            int(facts.turn_open),
            int(facts.waiting),
            int(facts.ended),
            state.last_seq,
            state.problems,
            state.tokens,
            state.tokens_source,
            facts.window,
            state.window,
            json.dumps(list(state.history)),
            identifier,
        ),
    )
    return int(identifier), int(last_seq)


def _free_name(connection: sqlite3.Connection, wanted: str) -> str:
    """The native id, with ``~2``, ``~3`` … where another file holds a session of that id."""
    name, number = wanted, 1
    while connection.execute("SELECT 1 FROM sessions WHERE name = ?", (name,)).fetchone():
        number += 1
        name = f"{wanted}~{number}"
    return name


def _refresh_counts(
    connection: sqlite3.Connection,
    batch: Batch,
    sessions: Mapping[str, int],
    known: Mapping[int, int],
) -> None:
    """Adds the batch to the sessions' totals: work is bounded by what changed."""
    fresh: dict[str, set[NodeId]] = {key: set() for key in sessions}
    moments: dict[str, list[float]] = {key: [] for key in sessions}
    for event in batch.events:
        entry = event.entry
        fresh[event.session].add(entry.seq)
        if entry.time is not None:
            moments[event.session].append(entry.time)
    for key, session in sessions.items():
        times = moments[key]
        seen = (
            sum(known.get(event_id(session, int(seq))) == batch.generation for seq in fresh[key])
            if known
            else 0
        )
        connection.execute(
            "UPDATE sessions SET events = events + ?2, "
            "started_at = coalesce(min(started_at, ?3), started_at, ?3), "
            "last_event_at = coalesce(max(last_event_at, ?4), last_event_at, ?4) WHERE id = ?1",
            (session, len(fresh[key]) - seen, min(times, default=None), max(times, default=None)),
        )


def _copies(connection: sqlite3.Connection, batch: Batch, sessions: Mapping[str, int]) -> set[int]:
    """Keys of the events that another session holds already; joins the families."""
    own = {e.shared_key: sessions[e.session] for e in batch.events if e.shared_key is not None}
    held: dict[int, int] = {}
    for chunk in _chunks(list(own)):
        held.update(
            connection.execute(
                f"SELECT key, session_id FROM natives WHERE key IN ({_marks(chunk)})",  # noqa: S608
                chunk,
            ).fetchall()
        )
    connection.executemany(
        "INSERT INTO natives VALUES (?, ?)",
        [(key, session) for key, session in own.items() if key not in held],
    )
    copied = {key for key, holder in held.items() if holder != own[key]}
    for holder, session in sorted({(held[key], own[key]) for key in copied}):
        _join_families(connection, holder, session, batch)
    return copied


def _join_families(connection: sqlite3.Connection, one: int, other: int, batch: Batch) -> None:
    """Makes one family of two. Its head is the session whose file came to rest first: a copy is
    younger than what it was made of, whichever was read first."""
    families = [
        row[0]
        for row in connection.execute(
            "SELECT DISTINCT family FROM sessions WHERE id IN (?, ?) ORDER BY family", (one, other)
        )
    ]
    if len(families) == 2:
        head = connection.execute(
            "SELECT s.id FROM sessions s JOIN sources f ON f.id = s.source_id "
            "WHERE s.family IN (?1, ?2) "
            "ORDER BY CASE f.id WHEN ?3 THEN ?4 ELSE f.mtime_ns END, s.id LIMIT 1",
            (*families, batch.source, batch.mtime_ns),
        ).fetchone()[0]
        connection.execute(
            "UPDATE sessions SET family = ? WHERE family IN (?, ?)", (head, *families)
        )


def _write_revisions(
    connection: sqlite3.Connection,
    batch: Batch,
    sessions: Mapping[str, int],
    last_seqs: Mapping[str, int],
    digests: Sequence[int],
) -> tuple[dict[int, int], set[int]]:
    """Keeps what a known event was before. Only up to the last seq that its session had can an
    event be known.

    Returns the events that were known (id → the generation in which they were last seen), and
    the ids of those that are what they were.
    """
    coming = {
        event_id(sessions[e.session], int(e.entry.seq)): digests[e.record]
        for e in batch.events
        if int(e.entry.seq) <= last_seqs[e.session]
    }
    known: dict[int, int] = {}
    unchanged: set[int] = set()
    for chunk in _chunks(list(coming)):
        for identifier, generation, digest, record in connection.execute(
            f"SELECT id, generation, digest, record_id FROM events WHERE id IN ({_marks(chunk)})",  # noqa: S608
            chunk,
        ).fetchall():
            known[identifier] = generation
            if digest == coming[identifier]:
                unchanged.add(identifier)
                continue
            connection.execute(
                "INSERT INTO event_revisions SELECT ?, count(*) + 1, ? FROM event_revisions "
                "WHERE event_id = ?",
                (identifier, record, identifier),
            )
    return known, unchanged


def _chunks(values: list[int]) -> Iterable[list[int]]:
    return (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
