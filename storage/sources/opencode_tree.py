"""opencode before its database (below 1.2): one JSON file a session, a message, a part.

``storage/session/PROJECT/SESSION.json``, ``storage/message/SESSION/MESSAGE.json``,
``storage/part/MESSAGE/PART.json``. The session's file stands for all of it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from storage.records import read_document
from storage.row_tail import Key, RowTail, UnreadableError
from storage.sources.base import Stand
from storage.sources.opencode_database import holds
from storage.sources.values import count, mapping, string

_LONGEST = 200
"""Bytes of an id that is taken for the name of a folder."""


def is_session(path: Path) -> bool:
    """Whether this is a session's file of such a tree, by its place."""
    if path.suffix != ".json" or path.parent.parent.name != "session":
        return False
    return path.is_file() and (path.parents[2] / "message").is_dir()


def session_of(path: Path) -> Path | None:
    """The session's file that a message's file or a part's belongs to, by its place."""
    if path.suffix != ".json" or len(path.parents) < 3:
        return None
    root, kind = path.parents[2], path.parent.parent.name
    own = glob.escape(path.parent.name)
    if kind == "message":
        name = own
    elif kind == "part":
        messages = (root / "message").glob(f"*/{own}.json")
        name = next((glob.escape(message.parent.name) for message in messages), "")
    else:
        return None
    return next((root / "session").glob(f"*/*{name}.json"), None) if name else None


class TreeTail(RowTail):
    """The files of one session as rows: its own, its messages by time, the parts of each."""

    def stand(self) -> Stand | None:
        try:
            own = self.path.stat()
        except OSError:
            return None
        size, newest = own.st_size, own.st_mtime_ns
        for path in self._files():
            try:
                facts = path.stat()
            except OSError:
                continue
            size += facts.st_size
            newest = max(newest, facts.st_mtime_ns)
        return Stand(size, newest, own.st_dev, own.st_ino)

    def scan(self, known: Sequence[Key]) -> Iterator[Key]:
        # opencode moved its sessions into a database once, and left the files where they were.
        database = self.path.parents[3] / "opencode.db"
        if not known and database.is_file() and holds(database, self._session()):
            raise UnreadableError(f"its session stands in {database.name}, which is read instead")
        keys = [Key("session", self.path.name)]
        messages = [(read_document(path), path) for path in self._messages()]
        messages.sort(key=lambda one: (_created(one[0]), _name(one[0], one[1])))
        for value, path in messages:
            keys.append(Key("message", path.name))
            keys += (
                Key("part", f"{_name(value, path)}/{p.name}") for p in self._parts(value, path)
            )
        yield from keys
        there = {*keys}
        yield from (Key(table, name) for table, name in known if Key(table, name) not in there)

    def row(self, key: Key) -> dict[str, Any] | None:
        path = self._path(key)
        if not path.is_file():
            return None
        data = read_document(path)
        if not isinstance(data, dict):
            return {}
        row: dict[str, Any] = {"table": key.table, "id": key.id, "file": True}
        if key.table != "session":
            row["session_id"] = string(data.get("sessionID")) or self._session()
        if key.table == "part":
            row["message_id"] = string(data.get("messageID")) or key.id.partition("/")[0]
        if key.table == "message":
            row["time_created"] = _created(data)
        return {**row, "data": data}

    def release(self) -> None:
        """Nothing is held open."""

    def noted(self, value: dict[str, Any]) -> None:
        """All is looked at each time."""

    def forget(self) -> None:
        """There is nothing to forget."""

    def _session(self) -> str:
        return _name(read_document(self.path), self.path)

    def _path(self, key: Key) -> Path:
        root = self.path.parents[2]
        if key.table == "session":
            return self.path
        if key.table == "message":
            return root / "message" / self._folder().name / key.id
        return root / "part" / key.id

    def _folder(self) -> Path:
        root = self.path.parents[2] / "message"
        by_name = root / self.path.stem
        return by_name if by_name.is_dir() else root / self._session()

    def _messages(self) -> list[Path]:
        return _listed(self._folder())

    def _parts(self, value: Any, path: Path) -> list[Path]:
        return _listed(self.path.parents[2] / "part" / _name(value, path))

    def _files(self) -> Iterator[Path]:
        for path in self._messages():
            yield path
            folder = self.path.parents[2] / "part" / path.stem
            yield from _listed(
                folder if folder.is_dir() else folder.parent / _name(read_document(path), path)
            )


def _listed(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(e.path) for e in entries if e.name.endswith(".json"))
    except OSError:
        return []


def _created(value: Any) -> int:
    return count(mapping(mapping(value).get("time")).get("created")) or 0


def _name(value: Any, path: Path) -> str:
    """The id that the file states, which names a folder; the file's own name where it cannot."""
    own = string(mapping(value).get("id"))
    is_one = own not in ("", ".", "..") and not {"/", "\0", os.sep}.intersection(own)
    return own if is_one and len(os.fsencode(own)) <= _LONGEST else path.stem
