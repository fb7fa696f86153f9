"""opencode's rows and files, damaged while they are read: each version is read once, or not at
all."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from storage.row_tail import RowTail
from storage.sources.base import FileReader
from storage.sources.opencode import OpencodeAdapter
from tests.fuzzing.damage import Line, damaged_line, line_of, renamed
from tests.storage.sources.made_logs import MADE
from tests.storage.sources.opencode_store import OpencodeStore

_ADAPTER = OpencodeAdapter()
_ODD = (None, -1, 0, 1.5, "", "x", "\0", b"\xff\0", 2**62, -(2**62), float("inf"), "{", "ses_1")
"""What a column of SQLite takes, whatever it was declared for."""
_COLUMNS = {
    "session": ("id", "directory", "version", "title", "revert", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_created", "time_updated", "data"),
}
_ROWS = [row for copy in range(3) for row in renamed(MADE["opencode"][0].rows, copy)]
_DATA: dict[str, list[Line]] = {
    table: [line_of(row["data"]) for row in _ROWS if row["table"] == table and "data" in row]
    for table in _COLUMNS
}


class _Reading:
    """A tail and what it gave so far; may be begun again from what a store would hold."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.raws: list[bytes] = []
        self.tail: RowTail = _ADAPTER.tail(path, None, self._history)
        self.reader: FileReader = _ADAPTER.open(path)

    def _history(self) -> Iterator[bytes]:
        return iter(self.raws)

    def again(self) -> None:
        """As after a restart."""
        position = self.tail.position
        self.tail.close()
        self.tail = _ADAPTER.tail(self._path, position, self._history)

    def read(self) -> bool:
        """All that is new; ``False`` where the log cannot be read, for a reason in words."""
        more = True
        while more:
            batch = self.tail.read()
            if batch.state == "skipped":
                assert batch.reason
                return False
            for record in batch.records:
                assert json.loads(record.raw) is not None
                self.raws.append(record.raw)
                for derived in self.reader.feed(record):
                    assert derived.session in self.reader.sessions
            more = batch.more
        return True


def database(folder: Path, chance: Random) -> int:
    """A database whose rows change to odd things while it is read; how many rows changed."""
    path = folder / "opencode.db"
    for beside in folder.glob("opencode.db*"):
        beside.unlink()
    store = OpencodeStore(path, wal=chance.random() < 0.5)
    store.connection.execute("PRAGMA synchronous = OFF")
    reading = _Reading(path)
    changed = 0
    for _ in range(chance.randrange(2, 6)):
        store.connection.execute("BEGIN")
        for _ in range(chance.randrange(1, 60)):
            changed += _changed(store, chance)
        store.connection.execute("COMMIT")
        if chance.random() < 0.3:
            store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if chance.random() < 0.3:
            reading.again()
        assert reading.read(), "rows are odd, the database is sound"
    before = len(reading.raws)
    reading.again()
    reading.read()
    assert len(reading.raws) == before, "what is known is not read again"
    store.connection.close()
    if chance.random() < 0.2:
        _flipped(path, chance)
        reading.again()
        if _ADAPTER.keeps(path):
            reading.read()
    reading.tail.close()
    return changed


def _changed(store: OpencodeStore, chance: Random) -> int:
    row = chance.choice(_ROWS)
    table = row["table"]
    if "data" not in row:
        store.remove(row["id"])
        return 1
    now = next(store._clock)
    fields: dict[str, Any] = {"id": row["id"], "time_created": now, "time_updated": now}
    data = json.dumps(row["data"])
    if chance.random() < 0.4:
        line = chance.choice(_DATA[table])
        data = damaged_line(line, line, chance).decode("utf-8", "replace")
    if table == "session":
        fields |= {"directory": "/home/u", "version": "1.18.33", "title": data[:50]}
    else:
        fields |= {"session_id": row["session_id"], "data": data}
    if table == "part":
        fields["message_id"] = row["message_id"]
    if chance.random() < 0.1:
        fields[chance.choice(_COLUMNS[table])] = chance.choice(_ODD)
    with suppress(sqlite3.IntegrityError):
        store._write(table, fields)
    return 1


def _flipped(path: Path, chance: Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 30)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    if chance.random() < 0.3:
        del data[chance.randrange(len(data)) :]
    path.write_bytes(data)


def tree(folder: Path, chance: Random) -> int:
    """The files of an older version, damaged while they are read; how many were written."""
    root = folder / "storage"
    shutil.rmtree(root, ignore_errors=True)
    session = root / "session" / "p" / "ses_1.json"
    (root / "message" / "ses_1").mkdir(parents=True)
    session.parent.mkdir(parents=True)
    session.write_text(json.dumps({"id": "ses_1", "directory": "/p", "time": {"created": 1}}))
    reading = _Reading(session)
    written = 1
    for _ in range(chance.randrange(1, 4)):
        for _ in range(chance.randrange(1, 30)):
            row = chance.choice(_ROWS)
            if row["table"] == "session" or "data" not in row:
                continue
            place = root / "message" / "ses_1" / f"{row['id']}.json"
            told = {"id": row["id"], "sessionID": "ses_1", **row["data"]}
            if row["table"] == "part":
                place = root / "part" / row["message_id"] / f"{row['id']}.json"
                told["messageID"] = row["message_id"]
            place.parent.mkdir(parents=True, exist_ok=True)
            line = line_of(told)
            odd = chance.random() < 0.4
            place.write_bytes(damaged_line(line, line, chance) if odd else line.raw)
            written += 1
        assert _ADAPTER.keeps(session)
        if chance.random() < 0.3:
            reading.again()
        assert reading.read()
    before = len(reading.raws)
    reading.again()
    reading.read()
    assert len(reading.raws) == before, "what is known is not read again"
    return written
