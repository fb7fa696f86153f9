"""The records of a log that is no file of lines: rows that are changed in place.

A version of a row is a record, in canonical JSON. What was read is known by the digests of its
versions, and the store, which keeps every record, gives them back after a restart; so a look costs
what changed, beside finding out what did. A row that is gone is a record too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import to_json

from storage.records import clean, parse_record
from storage.sources.base import History, LogTail, Record, Stand
from storage.tail import BATCH_BYTES, BATCH_ROWS, Batch, Position

_ATTEMPTS = 3
"""Times that a look begins anew because the agent was writing meanwhile."""


class Key(NamedTuple):
    """Names a row."""

    table: str
    id: str


class UnreadableError(Exception):
    """The rows cannot be read; says why, in words."""


class RowTail(LogTail, ABC):
    """Reads one log, batch by batch; stands in for :class:`storage.tail.Tail`."""

    def __init__(
        self,
        path: Path,
        position: Position | None = None,
        history: History = lambda: iter(()),
        *,
        batch_bytes: int = BATCH_BYTES,
        batch_rows: int = BATCH_ROWS,
    ) -> None:
        self.path = path
        self.position = Position() if position is None else position
        self._history = history
        self._batch = batch_bytes, batch_rows
        self._known: dict[Key, bytes] | None = None
        """Digest of the newest version of every row that stands."""
        self._changed: deque[Key] | None = None
        """Rows that are still to be looked at; ``None`` before a look."""
        self._seen: Stand | None = None

    @abstractmethod
    def stand(self) -> Stand | None:
        """What the files look like now; ``None`` where there is nothing."""

    @abstractmethod
    def scan(self, known: Sequence[Key]) -> Iterator[Key]:
        """Rows that may have changed, in the order of the session, then those of ``known`` that
        are gone. Raises :class:`UnreadableError`."""

    @abstractmethod
    def row(self, key: Key) -> dict[str, Any] | None:
        """The record of a row as it is now; ``None`` where it is gone, empty where it is half
        written. Raises :class:`UnreadableError`."""

    @abstractmethod
    def release(self) -> None:
        """Gives back what reading holds open."""

    @abstractmethod
    def noted(self, value: dict[str, Any]) -> None:
        """Is told of every record that is known, in order."""

    @abstractmethod
    def forget(self) -> None:
        """Reading begins anew."""

    def read(self, *, final: bool = False) -> Batch:
        """The next records, at most one batch of them. ``final`` means nothing here: a row is
        whole. Never raises for what the log is or holds."""
        for _ in range(_ATTEMPTS):
            there = self.stand()
            if there is None:
                return Batch("gone", self.position)
            old = self.position
            if self._changed is None and old.at_end and there == _stand_of(old):
                return Batch("unchanged", old)
            if there != self._seen:
                self.release()
                self._changed = None
            try:
                batch = self._advance(there)
            except UnreadableError as error:
                if self.stand() == there:
                    self.close()
                    return Batch("skipped", old, reason=str(error))
                batch = None
            if batch is not None:
                return batch
            self.release()
            self._changed = None
        return Batch("unchanged", self.position)

    def prefix(self, batch_bytes: int = BATCH_BYTES) -> Iterator[Record]:
        """The records before the position, as they were read; the store has them, and bounds what
        it holds of them at a time."""
        offset = 0
        for line, raw in enumerate(self._history(), 1):
            record = parse_record(line, offset, raw)
            offset += len(raw) + 1
            if record is not None:
                yield record

    def pieces(self, offset: int, size: int) -> Iterator[bytes]:
        """No row is too long to be held whole, so there are none."""
        return iter(())

    def close(self) -> None:
        """Give the files back. A later read opens them again."""
        self.release()
        self._changed = None
        self._seen = None

    def _recall(self) -> dict[Key, bytes]:
        if not self.position.offset:
            self._known = None
            self.forget()
            return {}
        if self._known is None:
            self._known = {}
            for record in self.prefix():
                if isinstance(record.value, dict):
                    self._take(self._known, record.value, record.raw)
        return self._known

    def _take(self, known: dict[Key, bytes], value: dict[str, Any], raw: bytes) -> None:
        key = Key(str(value.get("table")), str(value.get("id")))
        self.noted(value)
        if value.get("removed"):
            known.pop(key, None)
        else:
            known[key] = _digest(raw)

    def _advance(self, there: Stand) -> Batch | None:
        """``None`` where the log was written to while it was read."""
        known = self._recall()
        if self._changed is None:
            self._seen = there
            self._changed = deque(self.scan(tuple(known)))
        size, rows = self._batch
        here = self.position
        offset, line, taken = here.offset, here.line, 0
        made: list[tuple[dict[str, Any], Record]] = []
        waiting = self._changed
        while waiting and taken < size and len(made) < rows:
            key = waiting.popleft()
            value = self.row(key)
            if value is None:
                if key not in known:
                    continue
                value = {"table": key.table, "id": key.id, "removed": True}
            if not value:
                continue
            raw = canonical(value)
            if known.get(key) == _digest(raw):
                continue
            line += 1
            made.append((value, Record(line, offset, raw, value, len(raw))))
            offset += len(raw) + 1
            taken += len(raw)
        if self.stand() != there:
            return None
        for value, record in made:
            self._take(known, value, record.raw)
        self._known = known
        if not waiting:
            self._changed = None
            self.release()
        self.position = Position(
            offset=offset,
            line=line,
            file_offset=offset,
            device=there.device,
            inode=there.inode,
            size=there.size,
            mtime_ns=there.mtime_ns,
            at_end=not waiting,
        )
        return Batch(
            "appended" if made else "unchanged",
            self.position,
            tuple(record for _, record in made),
            more=bool(waiting),
        )


def canonical(value: dict[str, Any]) -> bytes:
    """The one JSON text of a row."""
    try:
        return to_json(value)
    except ValueError:  # unpaired surrogates
        return to_json(clean(value))


def _digest(raw: bytes) -> bytes:
    return blake2b(raw, digest_size=12).digest()


def _stand_of(position: Position) -> Stand:
    return Stand(position.size, position.mtime_ns, position.device, position.inode)
