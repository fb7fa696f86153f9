"""What a lake is fed from: the events and operations of every session, each once, in one order.

A session's events are read in the order of the fold. That order only ever grows within one
generation of the log, also where a log that was begun anew finds old events again, so that a mark
on it tells what is new. An event that was exported and revised since is found by the number of
its earlier contents. What another session of the family holds already is left to that session.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from compress.entries import LogEntry
from compress.events import SessionEvent
from storage import rows
from storage.catalog import SessionRecord
from storage.errors import StorageError
from storage.format import SEQ_MASK
from storage.store import Store

PAGE_EVENTS = 500
PAGE_BYTES = 8 << 20
"""Raw bytes of the records behind one page of events, unless one record is larger."""


class OtherStoreError(StorageError):
    """A lake was written from another store, or from a state that this one no longer has."""

    code = "other_store"


class Kept(NamedTuple):
    """What a lake holds of one decision point."""

    version: int
    digest: str
    day: str | None
    """The partition of its newest row."""


@dataclass(slots=True)
class Mark:
    """How far one session stands in a lake."""

    generation: int = 0
    position: int = 0
    """In the order of the fold: everything up to it was exported."""
    read: tuple[int, int] | None = None
    """The counters of its file when the session was last read to its end (:class:`Found`)."""
    operations: int = 0
    """Number of the newest event of the user's strand."""
    rules: str = ""
    """What its decision points were harvested by."""
    revised: dict[int, int] = field(default_factory=dict)
    """Seq → revision, of the events that were exported in a revision above the first."""
    decisions: dict[str, Kept] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """A session, and what tells whether anything of it is new."""

    session: SessionRecord
    read: tuple[int, int]
    """Records of its file, and the place that its next event gets: no read leaves both alone."""
    operations: int

    def is_read(self, mark: Mark) -> bool:
        """No event of it is new or revised."""
        return (mark.generation, mark.read) == (self.session.generation, self.read)


class LakeEvent(NamedTuple):
    """One event on its way into a lake."""

    entry: LogEntry
    event: SessionEvent
    position: int
    revision: int
    """From 1: how many contents its log had for it, so far."""


def identity(store: Store) -> str:
    """What tells this store from every other, however it is called: when its first table was
    made, to the microsecond. A copy of the file has the same."""
    with store.connections.read() as connection:
        made = connection.execute(
            "SELECT applied_at FROM _sqlite_migrations WHERE migration_set = 'ullage' "
            "ORDER BY name LIMIT 1"
        ).fetchone()
    return hashlib.sha256(f"ullage store {made}".encode()).hexdigest()[:32]


def sessions(store: Store) -> list[Found]:
    """All sessions, by agent, beginning and the order in which the store met them: what fell on
    one day comes together."""
    with store.connections.read() as connection:
        counters = {
            row[0]: row[1:]
            for row in connection.execute(
                "SELECT s.id, f.records, f.next_position, coalesce(h.count, 0) FROM sessions s "
                "JOIN sources f ON f.id = s.source_id "
                "LEFT JOIN operation_heads h ON h.session_id = s.id"
            )
        }
    found = []
    for session in store.sessions():
        if session.id in counters:
            records, place, operations = counters[session.id]
            found.append(Found(session, (records, place), operations))
    return sorted(found, key=lambda f: (f.session.agent, f.session.started_at or 0.0, f.session.id))


def check(found: Sequence[Found], marks: dict[str, Mark]) -> None:
    """Raises :class:`OtherStoreError` where the lake holds more than the store ever had, as after
    the store was put back to an older copy."""
    for one in found:
        mark = marks.get(one.session.name)
        if mark is None:
            continue
        behind = one.session.generation, one.read[1] - 1
        if behind < (mark.generation, mark.position) or one.operations < mark.operations:
            raise OtherStoreError(
                f"The lake holds more of session {one.session.name} than this store, which seems "
                "to be an older copy; export it to a new folder."
            )


def new_events(store: Store, session: SessionRecord, mark: Mark) -> Iterator[list[LakeEvent]]:
    """Pages of what the lake does not have of a session: revisions of what it has, then what
    follows, in the order of the fold. Each page moves the mark on only by :func:`passed`; of a log
    that was begun anew it is put back to the beginning."""
    if mark.generation != session.generation:
        mark.generation, mark.position, mark.read = session.generation, 0, None
        mark.revised.clear()
    position = mark.position
    revisions = _revisions(store, session)
    again = {seq for seq, found in revisions.items() if found > mark.revised.get(seq, 1)}
    waiting = _places(store, session, position)
    if again and position:
        known = _places(store, session, 0, until=position, only=again)
        yield from _pages(store, session, known, revisions)
    yield from _pages(store, session, waiting, revisions)


def passed(mark: Mark, page: Sequence[LakeEvent]) -> dict[int, int]:
    """Moves the mark behind a page; the seqs of it in a revision above the first."""
    revised = {int(one.entry.seq): one.revision for one in page if one.revision > 1}
    mark.revised.update(revised)
    mark.position = max([mark.position, *(one.position for one in page)])
    return revised


class _Places(NamedTuple):
    seqs: array[int]
    sizes: array[int]
    """Bytes of the raw record of each."""


def _places(
    store: Store,
    session: SessionRecord,
    after: int,
    *,
    until: int | None = None,
    only: set[int] | None = None,
) -> _Places:
    """Of a session of a million events 16 MB: an index on its order would cost every ingest."""
    found = _Places(array("q"), array("q"))
    chosen = "" if only is None else "AND e.id IN (SELECT value FROM json_each(?)) "
    identifiers = [rows.event_id(session.id, seq) for seq in sorted(only or ())]
    with store.connections.read() as connection:
        listed = connection.execute(
            "SELECT e.id, r.size FROM events e JOIN records r ON r.id = e.record_id "  # noqa: S608
            "WHERE e.id BETWEEN ? AND ? AND e.generation = ? AND e.position > ? "
            f"AND e.position <= ? AND NOT e.copied {chosen}ORDER BY e.position",
            (
                rows.event_id(session.id, 0),
                rows.event_id(session.id, SEQ_MASK),
                session.generation,
                after,
                (1 << 63) - 1 if until is None else until,
                *(() if only is None else (json.dumps(identifiers),)),
            ),
        )
        for identifier, size in listed:
            found.seqs.append(rows.seq_of(identifier))
            found.sizes.append(size)
    return found


def _revisions(store: Store, session: SessionRecord) -> dict[int, int]:
    """Seq → number of its newest content, where it had others before."""
    with store.connections.read() as connection:
        listed = connection.execute(
            "SELECT event_id, max(revision) + 1 FROM event_revisions "
            "WHERE event_id BETWEEN ? AND ? GROUP BY event_id",
            (rows.event_id(session.id, 0), rows.event_id(session.id, SEQ_MASK)),
        )
        return {rows.seq_of(identifier): revision for identifier, revision in listed}


def _pages(
    store: Store, session: SessionRecord, places: _Places, revisions: dict[int, int]
) -> Iterator[list[LakeEvent]]:
    start, room = 0, PAGE_BYTES
    for at, size in enumerate(places.sizes):
        if at - start == PAGE_EVENTS or (size > room and at > start):
            yield _read(store, session, places.seqs[start:at], revisions)
            start, room = at, PAGE_BYTES
        room -= size
    if start < len(places.seqs):
        yield _read(store, session, places.seqs[start:], revisions)


def _read(
    store: Store, session: SessionRecord, seqs: Sequence[int], revisions: dict[int, int]
) -> list[LakeEvent]:
    names = json.dumps([rows.event_id(session.id, seq) for seq in seqs])
    with store.connections.read() as connection:
        listed: list[Any] = connection.execute(
            f"SELECT {rows.ENTRY_COLUMNS}, position FROM events "  # noqa: S608 - constant
            "WHERE id IN (SELECT value FROM json_each(?))",
            (names,),
        ).fetchall()
    entries = {rows.seq_of(row[0]): (rows.decode_entry(row), int(row[-1])) for row in listed}
    page = []
    for event in store.events(session, seqs):
        seq = int(event.seq)
        entry, position = entries[seq]
        page.append(LakeEvent(entry, event, position, revisions.get(seq, 1)))
    return page
