"""opencode's database, read without touching it.

It is in WAL mode. Without a ``-wal`` beside it, it is read where it lies, as ``immutable``: SQLite
then neither locks it nor makes a file. With one, what is newest stands there only, and reading it
in place would write to the agent's ``-shm``: so both are copied to a private folder, the database
itself only when the agent has moved pages into it.

Source: tables ``session``, ``message`` and ``part`` of sst/opencode 1.2 to 1.18 (drizzle
migrations).
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from storage.records import clean
from storage.row_tail import Key, RowTail, UnreadableError
from storage.sources.base import Stand

WAL = "-wal"
_MAGIC = b"SQLite format 3\x00"
_TABLES = ("session", "message", "part")
_ROWS = {
    "session": "SELECT t.id, t.id, t.time_created, '' FROM session t",
    "message": "SELECT t.id, t.session_id, t.time_created, '' FROM message t",
    "part": "SELECT t.id, t.session_id, m.time_created, m.id FROM part t "
    "JOIN message m ON m.id = t.message_id",
}
_PARSED = ("data", "model", "revert")
"""Columns that hold JSON."""
_LEFT_OUT = frozenset({"permission", "summary_diffs", "share_url", "metadata"})
"""Columns of a session that say nothing of its messages, or that nobody else should read."""
_ATTEMPTS = 3
_UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged database raises; the second where a column's name is no text."""


def is_database(path: Path) -> bool:
    """Whether this is such a database, by its name and its tables."""
    if path.suffix != ".db":
        return False
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return False
        connection = _connect(path, "mode=ro&immutable=1")
    except (OSError, sqlite3.Error):
        return False
    try:
        found = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    except _UNREADABLE:
        return False
    finally:
        connection.close()
    # One that was just made may hold all of it in its log still.
    return found.issuperset(_TABLES) or (not found and path.name.startswith("opencode"))


def holds(path: Path, session: str) -> bool:
    """Whether a session stands in a database, as far as its log was moved into it."""
    try:
        connection = _connect(path, "mode=ro&immutable=1")
    except sqlite3.Error:
        return False
    try:
        asked = "SELECT 1 FROM session WHERE id = ?"
        return connection.execute(asked, (session,)).fetchone() is not None
    except _UNREADABLE:
        return False
    finally:
        connection.close()


def stand_of(path: Path) -> Stand | None:
    """What the database and its log look like."""
    try:
        own = path.stat()
    except OSError:
        return None
    wal = _stat(_beside(path))
    return Stand(own.st_size + wal[0], max(own.st_mtime_ns, wal[1]), own.st_dev, own.st_ino)


class DatabaseTail(RowTail):
    """The rows of all sessions: each session's own, its messages by time, the parts of each."""

    _connection: sqlite3.Connection | None = None
    _folder: TemporaryDirectory[str] | None = None
    _copied: tuple[int, ...] | None = None
    """What the database looked like when it was copied."""
    _newest = 0
    """Greatest ``time_updated`` (ms) that is known; the agent sets it with every change."""

    def stand(self) -> Stand | None:
        return stand_of(self.path)

    def noted(self, value: dict[str, Any]) -> None:
        updated = value.get("time_updated")
        if isinstance(updated, int) and updated > self._newest:
            self._newest = updated

    def forget(self) -> None:
        self._newest = 0

    def release(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        super().close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = self._copied = None

    def scan(self, known: Sequence[Key]) -> Iterator[Key]:
        rows: list[tuple[Any, ...]] = []
        for rank, table in enumerate(_TABLES):
            for name, session, created, message in self._newer(table):
                if isinstance(name, str):  # a row without a name can be told from no other
                    place = (created, name) if table == "message" else (created, message)
                    rows.append((session, min(rank, 1), *place, rank, name, table))
        begun = dict(self._ask("SELECT id, time_created FROM session"))
        # Of foreign rows any column may be of any type: never compared with another's.
        rows.sort(key=lambda row: (_order(begun.get(row[0])), *map(_order, row)))
        yield from (Key(row[6], row[5]) for row in rows)
        for table in _TABLES:
            ours = {key: None for key in known if key.table == table}
            count = self._ask(f"SELECT count(*) FROM {table}")[0][0]  # noqa: S608 - a constant
            fresh = sum(1 for row in rows if row[6] == table and Key(table, row[5]) not in ours)
            if len(ours) + fresh != count:
                there = {row[0] for row in self._ask(f"SELECT id FROM {table}")}  # noqa: S608
                yield from (key for key in ours if key.id not in there)

    def _newer(self, table: str) -> list[Any]:
        """The rows that may have changed: all of them, where a table does not tell when."""
        columns = {column[1] for column in self._ask(f"PRAGMA table_info({table})")}
        if "time_updated" not in columns:
            return self._ask(_ROWS[table])
        return self._ask(_ROWS[table] + " WHERE t.time_updated >= ?", (self._newest,))

    def row(self, key: Key) -> dict[str, Any] | None:
        found = self._ask(f"SELECT * FROM {key.table} WHERE id = ?", (key.id,), named=True)  # noqa: S608
        if not found:
            return None
        columns = {name: _value(name, found[0][name]) for name in found[0].keys()}  # noqa: SIM118
        if key.table != "session":
            return {"table": key.table, **columns}
        facts = {name: value for name, value in columns.items() if name not in _LEFT_OUT}
        updated = columns.get("time_updated")
        return {"table": "session", "id": key.id, "time_updated": updated, "data": facts}

    def _ask(
        self, question: str, values: tuple[Any, ...] = (), *, named: bool = False
    ) -> list[Any]:
        try:
            if self._connection is None:
                self._connection = self._open()
            self._connection.row_factory = sqlite3.Row if named else None
            return self._connection.execute(question, values).fetchall()
        except _UNREADABLE as error:
            raise UnreadableError(f"the database cannot be read: {error}") from None
        except OSError as error:
            raise UnreadableError(f"the database cannot be copied: {error}") from None

    def _open(self) -> sqlite3.Connection:
        wal = _beside(self.path)
        if not _stat(wal)[0]:
            return _connect(self.path, "mode=ro&immutable=1")
        for _ in range(_ATTEMPTS):
            before = (*_stat(self.path), *_stat(wal))
            copy = self._copy(before[:2])
            if (*_stat(self.path), *_stat(wal)) == before:
                return _connect(copy, "mode=rw")
            self._copied = None
        raise UnreadableError("the agent writes to its database without a pause")

    def _copy(self, own: tuple[int, ...]) -> Path:
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="ullage-")
        copy = Path(self._folder.name, "copy.db")
        if self._copied != own:
            shutil.copyfile(self.path, copy)
            self._copied = own
        copy.with_name(copy.name + "-shm").unlink(missing_ok=True)
        shutil.copyfile(_beside(self.path), _beside(copy))
        return copy


def _beside(path: Path) -> Path:
    return path.with_name(path.name + WAL)


def _stat(path: Path) -> tuple[int, int]:
    """Bytes and mtime (ns); zeros for what is not there."""
    try:
        facts = path.stat()
    except OSError:
        return 0, 0
    return facts.st_size, facts.st_mtime_ns


def _connect(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path))}?{how}", uri=True)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _order(value: Any) -> tuple[int, Any]:
    if isinstance(value, int | float):
        return 0, value
    return (1, value) if isinstance(value, str) else (2, "")


def _value(name: str, value: Any) -> Any:
    if isinstance(value, bytes):
        return None
    if name in _PARSED and isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return clean(json.loads(value))
        except (ValueError, RecursionError):
            return value
    return value
