"""Raw records read back from the store in bulk: what a copy of a session is made of."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from storage.blobs import BlobCache
from storage.catalog import SessionRecord
from storage.connection import Connections
from storage.resume.base import Original
from storage.rows import event_id

_PAGE = 500
_PLACE = "r.line, r.size, r.blob_id, r.blob_offset"


class Originals:
    """The raw records of one session's log. The log itself is not opened: it may be gone."""

    def __init__(self, connections: Connections, session: SessionRecord) -> None:
        self._connections = connections
        self._session = session
        self._blobs = BlobCache()

    def of_events(self, seqs: Sequence[int]) -> dict[int, Original]:
        """The newest raw record of each event. Of a line above the size cap only the beginning
        is handed out; no such record is understood, so none stands on a surface."""
        found: dict[int, Original] = {}
        for start in range(0, len(seqs), _PAGE):
            wanted = {event_id(self._session.id, seq): seq for seq in seqs[start : start + _PAGE]}
            marks = ",".join("?" * len(wanted))
            with self._connections.read() as connection:
                rows = connection.execute(
                    f"SELECT e.id, {_PLACE} FROM events e JOIN records r ON r.id = e.record_id "  # noqa: S608 - constants
                    f"WHERE e.id IN ({marks}) ORDER BY r.id",
                    list(wanted),
                )
                found.update((wanted[row[0]], self._original(connection, *row[1:])) for row in rows)
        return found

    def all(self) -> Iterator[Original]:
        """Every record of the log as it was last read, in file order."""
        after = 0
        while True:
            with self._connections.read() as connection:
                # The rows of a file are numbered in file order.
                rows = connection.execute(
                    f"SELECT r.id, {_PLACE} FROM records r WHERE r.id > ? AND r.generation = ? "  # noqa: S608 - constants
                    "AND r.source_id = (SELECT source_id FROM sessions WHERE id = ?) "
                    "ORDER BY r.id LIMIT ?",
                    (after, self._session.generation, self._session.id, _PAGE),
                ).fetchall()
                page = [self._original(connection, *row[1:]) for row in rows]
            yield from page
            if len(page) < _PAGE:
                return
            after = rows[-1][0]

    def _original(
        self, connection: sqlite3.Connection, line: int, size: int, blob: int, start: int
    ) -> Original:
        content = self._blobs.get(connection, blob)
        return Original(line, content[start : start + size])
