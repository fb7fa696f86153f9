"""The store: one SQLite file that holds what was read, and what a person did with it.

All SQL that answers questions stands here and in ``search.py``; what the ingest writes stands in
``writing.py``. No method holds a transaction when it returns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from compress.entries import LogEntry
from compress.events import ContentBlock, SessionEvent
from compress.operations import OperationRow, operation_number
from storage import chain, rows
from storage.blobs import BlobCache
from storage.catalog import (
    SESSIONS,
    SOURCES,
    DamagedLine,
    RawRecord,
    SessionRecord,
    SourceRecord,
    decode_session,
    decode_source,
)
from storage.chain import StrandRow
from storage.connection import Connections
from storage.errors import UnknownEventError, UnknownSessionError
from storage.format import SEQ_MASK
from storage.records import parse_record
from storage.sources.base import Contents, Record, Registry
from storage.strand import Strand

_OPERATIONS = (
    "SELECT operation, after, origin, at, event FROM operation_events "
    "WHERE session_id = ? ORDER BY number"
)
_PAGE = 500
_SHOWN, _LONGEST = 120, 4_096
"""Characters of a reference that a refusal repeats; of the longest that is looked for."""
_NAMED = 6
"""Candidates that a refusal lists."""
_RECENCY = "min(coalesce(s.last_event_at, f.mtime_ns / 1e9), f.mtime_ns / 1e9)"
"""When something was last heard of a session. No event is younger than the last write to its file:
a log that says so has a wrong clock."""


class Store:
    """Opens the store at ``path``; ``":memory:"`` leaves nothing behind.

    Raises the errors of :class:`storage.connection.Connections`.
    """

    def __init__(self, path: str | Path, registry: Registry) -> None:
        self.connections = Connections(path)
        self.registry = registry
        self._blobs = BlobCache()

    @property
    def path(self) -> str:
        """Where the store is, or ``":memory:"``."""
        return self.connections.path

    def close(self) -> None:
        """Closes all connections."""
        self.connections.close()

    def data_version(self) -> tuple[int, int]:
        """Changes whenever anything was written, by this process or another. 0.1 ms."""
        return self.connections.data_version()

    # Sessions

    def sessions(self, limit: int | None = None) -> list[SessionRecord]:
        """All sessions, the newest first."""
        query = f"{SESSIONS} ORDER BY {_RECENCY} DESC, s.id"
        with self.connections.read() as connection:
            found = connection.execute(f"{query} LIMIT ?", (-1 if limit is None else limit,))
            return [decode_session(row) for row in found]

    def session(self, identifier: int) -> SessionRecord:
        """Raises :class:`UnknownSessionError`."""
        with self.connections.read() as connection:
            row = connection.execute(f"{SESSIONS} WHERE s.id = ?", (identifier,)).fetchone()
        if row is None:
            raise UnknownSessionError(f"There is no session number {identifier} in this store.")
        return decode_session(row)

    def find(self, reference: str) -> SessionRecord:
        """The session that a person means: ``last``, a name, a unique prefix of one, or a unique
        ``BEGINNING…END``.

        Raises :class:`UnknownSessionError`, which lists candidates.
        """
        if not reference:
            # The beginning of every name: an empty variable of a script must not pick the only one.
            raise UnknownSessionError("No session is named; ullage sessions lists them.")
        if reference == "last":
            return self._last()
        said = repr(reference if len(reference) <= _SHOWN else f"{reference[:_SHOWN]}…")
        unknown = UnknownSessionError(
            f"No session is called {said}; ullage sessions lists them, and the path of a log will "
            "do as well."
        )
        # SQLite takes neither a pattern without bound nor half of a surrogate pair, and ends a
        # pattern at a NUL.
        odd = "\0" in reference or any("\ud800" <= c <= "\udfff" for c in reference)
        if odd or len(reference) > _LONGEST:
            raise unknown
        pattern = reference.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        pattern = pattern.replace("…", "%") if "…" in pattern else f"{pattern}%"
        with self.connections.read() as connection:
            rows_ = connection.execute(
                f"{SESSIONS} WHERE s.name = ?1 OR s.name LIKE ?2 ESCAPE '\\' "
                "ORDER BY s.name = ?1 DESC, s.name LIMIT ?3",
                (reference, pattern, _NAMED + 1),
            ).fetchall()
        found = [decode_session(row) for row in rows_]
        if not found:
            raise unknown
        if len(found) > 1 and found[0].name != reference:
            several = "several sessions" if len(found) <= _NAMED else f"more than {_NAMED} sessions"
            raise UnknownSessionError(
                f"{said} stands for {several}; give more of the name.",
                choices=[record.name for record in found[:_NAMED]],
            )
        return found[0]

    def _last(self) -> SessionRecord:
        """The newest session that holds something, rather one of a person's than of a sub-agent."""
        with self.connections.read() as connection:
            row = connection.execute(
                f"{SESSIONS} ORDER BY s.events = 0, s.relation = 'subagent', {_RECENCY} DESC, s.id "
                "LIMIT 1"
            ).fetchone()
        if row is None:
            raise UnknownSessionError("The store holds no session yet; try: ullage ingest PATH")
        return decode_session(row)

    def sessions_of_file(self, path: Path) -> list[SessionRecord]:
        """The sessions that were read from a file, its main one first."""
        with self.connections.read() as connection:
            found = connection.execute(
                f"{SESSIONS} WHERE f.path = ? ORDER BY s.key", (str(path.resolve()),)
            )
            return [decode_session(row) for row in found]

    def children(self, session: SessionRecord) -> list[SessionRecord]:
        """The sub-agents' sessions and forks of a session."""
        with self.connections.read() as connection:
            found = connection.execute(
                f"{SESSIONS} WHERE s.parent_native_id = ? AND s.agent = ? AND s.id <> ? "
                "ORDER BY s.started_at, s.id",
                (session.native_id, session.agent, session.id),
            )
            return [decode_session(row) for row in found]

    # Events

    def entries(
        self, session: SessionRecord, asked: Callable[[], None] = lambda: None
    ) -> list[LogEntry]:
        """All events of a session that stand in its file, weighed, in the order of the fold.
        ``asked`` is called on the way, and may raise."""
        with self.connections.read() as connection:
            return rows.entries(connection, session.id, session.generation, asked)

    def entries_after(self, session: SessionRecord, seq: int) -> list[LogEntry]:
        """The events above a seq. Costs what is new, not what is there."""
        with self.connections.read() as connection:
            found = connection.execute(
                f"SELECT {rows.ENTRY_COLUMNS} FROM events WHERE id > ? AND id <= ? "  # noqa: S608
                "AND generation = ? ORDER BY position",
                (
                    rows.event_id(session.id, seq),
                    rows.event_id(session.id, SEQ_MASK),
                    session.generation,
                ),
            )
            return [rows.decode_entry(row) for row in found]

    def events(self, session: SessionRecord, seqs: Sequence[int]) -> list[SessionEvent]:
        """Events with their content, read back from the raw records, in the order asked for.

        Raises :class:`UnknownEventError` for a seq that the session does not have.
        """
        adapter = self.registry.for_agent(session.agent)
        found: dict[int, SessionEvent] = {}
        for page in _pages(seqs):
            marks = ",".join("?" * len(page))
            with self.connections.read() as connection:
                matches = connection.execute(
                    f"SELECT {rows.ENTRY_COLUMNS}, native_id, block, record_id FROM events "  # noqa: S608
                    f"WHERE id IN ({marks}) ORDER BY record_id",
                    [rows.event_id(session.id, seq) for seq in page],
                ).fetchall()
            read = self._reader(adapter.contents)
            for row in matches:
                entry = rows.decode_entry(row)
                native, block, record = row[-3:]
                found[int(entry.seq)] = _event(entry, native, block, read(record, block))
        missing = next((seq for seq in seqs if seq not in found), None)
        if missing is not None:
            raise UnknownEventError(
                f"Session {session.name} has no event {missing}; it has 1 to {session.last_seq}."
            )
        return [found[seq] for seq in seqs]

    def _reader(
        self, contents: Callable[[Any], Contents]
    ) -> Callable[[int, int], tuple[ContentBlock, ...]]:
        """Decodes blocks; a record that gives several events is parsed and decoded once."""
        last: tuple[int, Contents] | None = None

        def read(record: int, block: int) -> tuple[ContentBlock, ...]:
            nonlocal last
            if last is None or last[0] != record:
                last = (record, contents(self._record(record).value))
            return last[1](block)

        return read

    def _record(self, record: int) -> Record:
        raw = self._raw(record)
        # The number of the line only matters for a byte order mark on the first.
        parsed = parse_record(raw.line, raw.offset, raw.raw)
        return parsed or Record(line=raw.line, offset=raw.offset, raw=raw.raw)

    def _raw(self, record: int) -> RawRecord:
        with self.connections.read() as connection:
            path, line, offset, size, blob, start, pieces = connection.execute(
                "SELECT f.path, r.line, r.offset, r.size, r.blob_id, r.blob_offset, "
                "(SELECT count(*) FROM record_pieces p WHERE p.record_id = r.id) "
                "FROM records r JOIN sources f ON f.id = r.source_id WHERE r.id = ?",
                (record,),
            ).fetchone()
            content = self._blobs.get(connection, blob)
        # Of a line above the cap only the first piece is handed out here.
        raw = content if pieces else content[start : start + size]
        return RawRecord(path=path, line=line, offset=offset, raw=raw)

    def raw(self, session: SessionRecord, seq: int) -> list[RawRecord]:
        """The raw record of an event, its earlier revisions first.

        Raises :class:`UnknownEventError`.
        """
        identifier = rows.event_id(session.id, seq)
        with self.connections.read() as connection:
            found = connection.execute(
                "SELECT record_id FROM event_revisions WHERE event_id = ?1 "
                "UNION ALL SELECT record_id FROM events WHERE id = ?1",
                (identifier,),
            ).fetchall()
        if not found:
            raise UnknownEventError(f"Session {session.name} has no event {seq}.")
        return [self._raw(row[0]) for row in found]

    def raw_pieces(self, session: SessionRecord, seq: int) -> Iterator[bytes]:
        """The newest raw record of an event whole, in pieces of bounded size: for a line above
        the cap, of which :meth:`raw` gives the beginning.

        Raises :class:`UnknownEventError`.
        """
        with self.connections.read() as connection:
            record = connection.execute(
                "SELECT record_id FROM events WHERE id = ?", (rows.event_id(session.id, seq),)
            ).fetchone()
        if record is None:
            raise UnknownEventError(f"Session {session.name} has no event {seq}.")
        with self.connections.read() as connection:
            pieces = connection.execute(
                "SELECT blob_id FROM record_pieces WHERE record_id = ? ORDER BY number", record
            ).fetchall()
        if not pieces:
            yield self._raw(record[0]).raw
        for (blob,) in pieces:
            with self.connections.read() as connection:
                content = self._blobs.get(connection, blob)
            yield content

    # The user's operations

    def operations(self, session: SessionRecord, after: int = 0) -> list[OperationRow]:
        """The user's strand of a session, in number order, from the number behind ``after`` on."""
        query = _OPERATIONS.replace("ORDER BY", "AND number > ? ORDER BY")
        with self.connections.read() as connection:
            found = connection.execute(query, (session.id, after)).fetchall()
        return list(Strand(found))

    def append_operations(
        self,
        session: SessionRecord,
        make: Callable[[Sequence[OperationRow]], Sequence[OperationRow]],
    ) -> list[OperationRow]:
        """Appends what ``make`` gives for the strand as it is now, and chains it, in one
        transaction, so that two processes cannot number the same event."""
        with self.connections.write(durable=True) as connection:
            strand = connection.execute(_OPERATIONS, (session.id,)).fetchall()
            new = list(make(Strand(strand)))
            chain.append(
                connection,
                [
                    StrandRow(
                        session_id=session.id,
                        number=row.number,
                        operation=operation_number(row.operation),
                        after=row.after,
                        origin=row.origin.encode(),
                        at=None if row.at is None else float(row.at),
                        event=row.event.model_dump_json(exclude_none=True).encode(),
                    )
                    for row in new
                ],
            )
        return new

    # Sources

    def sources(self) -> list[SourceRecord]:
        """All files that were looked at, by path."""
        with self.connections.read() as connection:
            found = connection.execute(f"{SOURCES} ORDER BY f.path")
            return [decode_source(row) for row in found]

    def source(self, path: Path) -> SourceRecord | None:
        """The file at this path (as it was resolved when it was read), if it was looked at."""
        with self.connections.read() as connection:
            row = connection.execute(
                f"{SOURCES} WHERE f.path = ?",
                (str(path),),
            ).fetchone()
        return None if row is None else decode_source(row)

    def damaged_lines(self, paths: Collection[str], limit: int = 1000) -> list[DamagedLine]:
        """Lines of these files that could not be read as they stand, by file and line."""
        with self.connections.read() as connection:
            found = connection.execute(
                "SELECT f.path, r.line, r.offset, r.damage FROM records r "
                "JOIN sources f ON f.id = r.source_id WHERE r.damage IS NOT NULL "
                "AND r.generation = f.generation "
                "AND f.path IN (SELECT value FROM json_each(?)) ORDER BY f.path, r.line LIMIT ?",
                (json.dumps(sorted(paths)), limit),
            )
            return [DamagedLine(*row) for row in found]

    def health(self) -> dict[str, int | str]:
        """Figures for ``doctor``: sizes in bytes, counts of rows."""
        with self.connections.read() as connection:

            def one(query: str) -> Any:
                return connection.execute(query).fetchone()[0]

            pages, size = one("PRAGMA page_count"), one("PRAGMA page_size")
            wal = Path(f"{self.path}-wal")
            return {
                "path": self.path,
                "bytes": pages * size,
                "wal_bytes": wal.stat().st_size if wal.exists() else 0,
                "sessions": one("SELECT count(*) FROM sessions"),
                "events": one("SELECT coalesce(sum(events), 0) FROM sessions"),
                "records": one("SELECT count(*) FROM records"),
                "operations": one("SELECT count(*) FROM operation_events"),
                "raw_bytes": one("SELECT coalesce(sum(size), 0) FROM blobs"),
                "raw_bytes_compressed": one("SELECT coalesce(sum(length(data)), 0) FROM blobs"),
                "quick_check": one("PRAGMA quick_check(1)"),
            }


def _event(
    entry: LogEntry, native_id: str, block: int, blocks: tuple[ContentBlock, ...]
) -> SessionEvent:
    return SessionEvent.model_construct(
        seq=entry.seq,
        type=entry.type,
        native_id=native_id,
        block=block,
        node=entry.node,
        op=entry.op,
        role=entry.role,
        blocks=blocks,
        turn=entry.turn,
        step=entry.step,
        time=entry.time,
        model=entry.model,
        usage=entry.usage,
        request=entry.request,
        source_event_seqs=entry.source_event_seqs,
        meta=entry.meta,
    )


def _pages(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    return (seqs[start : start + _PAGE] for start in range(0, len(seqs), _PAGE))
