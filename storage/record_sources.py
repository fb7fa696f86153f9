"""Logs as sources of records for ``compress.chunks``: a file, a live tail, a stored session, all
logs of an adapter. A record is the raw line without its newline, whatever its length; blank lines
are none. And what makes any other source tick while it waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from compress.chunks import IDLE, AsyncRecordSource, Idle, RecordSource
from storage.blobs import BlobCache
from storage.catalog import SessionRecord
from storage.connection import Connections
from storage.sources.base import Record, Registry, SourceAdapter
from storage.sources.discovery import discover
from storage.store import Store
from storage.tail import MAX_LINE, Tail

POLL_SECONDS = 0.1
"""Between two looks of a live tail at its file; each that finds nothing is a tick."""
_PAGE = 500


class Stop(Protocol):
    """What ends a live tail; a ``threading.Event`` is one."""

    def is_set(self) -> bool: ...
    def wait(self, timeout: float | None = None) -> bool: ...


@dataclass(frozen=True, slots=True)
class LogFile:
    """The records of one log as it stands, of whatever adapter, plain or compressed. A file that
    cannot be read has none."""

    path: Path
    max_line: int = MAX_LINE
    """Bytes of a line up to which it is read with others; a longer one is read by itself."""

    def records(self) -> Iterator[bytes]:
        with Tail(self.path, max_line=self.max_line) as tail:
            more = True
            while more:
                batch = tail.read(final=True)
                for record in batch.records:
                    yield _raw(tail, record)
                more = batch.more


@dataclass(frozen=True, slots=True)
class LiveTail:
    """The records of one log, and those that are written while it is read, until ``stop`` is set.

    It ticks while there is nothing new. A last line without its newline is waited for. A file that
    was rewritten is read again from its first line; one that is not there, or cannot be read, is
    looked for until it can be.
    """

    path: Path
    stop: Stop
    seconds: float = POLL_SECONDS
    """Between two looks."""
    max_line: int = MAX_LINE

    def records(self) -> Iterator[bytes | Idle]:
        with Tail(self.path, max_line=self.max_line) as tail:
            while not self.stop.is_set():
                batch = tail.read()
                for record in batch.records:
                    yield _raw(tail, record)
                if not batch.more:
                    yield IDLE
                    self.stop.wait(self.seconds)


@dataclass(frozen=True, slots=True)
class AdapterLogs:
    """All logs that an adapter finds, one after the other, the oldest first."""

    adapter: SourceAdapter
    environment: Mapping[str, str]
    home: Path

    def records(self) -> Iterator[bytes]:
        found = discover(Registry([self.adapter]), self.environment, self.home).candidates
        for candidate in reversed(found):
            path = candidate.path
            if not self.adapter.keeps(path):
                yield from LogFile(path).records()
                continue
            with self.adapter.tail(path, None, lambda: iter(())) as tail:
                more = True
                while more:
                    batch = tail.read(final=True)
                    yield from (record.raw for record in batch.records)
                    more = batch.more


@dataclass(frozen=True, slots=True)
class StoredLog:
    """The records of a session's log as the store keeps them, also when the log is gone. Sessions
    that share a file share its records."""

    store: Store
    session: SessionRecord

    def records(self) -> Iterator[bytes]:
        with self.store.connections.read() as connection:
            found = connection.execute(
                "SELECT source_id FROM sessions WHERE id = ?", (self.session.id,)
            ).fetchone()
        if found is not None:
            yield from source_records(self.store.connections, found[0])


def source_records(connections: Connections, source: int) -> Iterator[bytes]:
    """The records of one log (a row of ``sources``) as the store keeps them, in their order."""
    blobs = BlobCache()
    newest = 0
    while rows := _page(connections, source, newest):
        for record, size, blob, start, pieces in rows:
            newest = record
            with connections.read() as connection:
                if pieces:
                    numbered = connection.execute(
                        "SELECT blob_id FROM record_pieces WHERE record_id = ? ORDER BY number",
                        (record,),
                    ).fetchall()
                    raw = b"".join([blobs.get(connection, row[0]) for row in numbered])
                else:
                    raw = blobs.get(connection, blob)[start : start + size]
            yield raw


def _page(
    connections: Connections, source: int, after: int
) -> list[tuple[int, int, int, int, int]]:
    with connections.read() as connection:
        return connection.execute(
            "SELECT r.id, r.size, r.blob_id, r.blob_offset, EXISTS "
            "(SELECT 1 FROM record_pieces p WHERE p.record_id = r.id) "
            "FROM records r "
            "JOIN sources f ON f.id = r.source_id AND f.generation = r.generation "
            "WHERE r.source_id = ? AND r.id > ? ORDER BY r.id LIMIT ?",
            (source, after, _PAGE),
        ).fetchall()


@dataclass(frozen=True, slots=True)
class InThread:
    """A source that blocks, for ``async for``: each step is made in a worker thread, one at a time
    and only when it is asked for. Left while it blocks, the thread ends with the step."""

    source: RecordSource[bytes]

    async def records(self) -> AsyncIterator[bytes | Idle]:
        records = self.source.records()
        while (record := await asyncio.to_thread(next, records, None)) is not None:
            yield record


@dataclass(frozen=True, slots=True)
class Ticking:
    """A source that may keep one waiting, with a tick after every ``seconds`` of it. Nothing is
    read ahead of whoever asks. For a source that blocks: ``Ticking(InThread(source), seconds)``."""

    source: AsyncRecordSource[bytes]
    seconds: float

    async def records(self) -> AsyncIterator[bytes | Idle]:
        records = self.source.records()
        coming = asyncio.ensure_future(anext(records, None))
        try:
            while True:
                while not (await asyncio.wait({coming}, timeout=self.seconds))[0]:
                    yield IDLE
                record = coming.result()
                if record is None:
                    return
                yield record
                coming = asyncio.ensure_future(anext(records, None))
        finally:
            # Left while waiting: the step is given up, and the source closed behind it.
            coming.cancel()
            await asyncio.wait({coming})
            if isinstance(records, AsyncGenerator):
                await records.aclose()


def _raw(tail: Tail, record: Record) -> bytes:
    """The whole line, also where it is above the cap and the record a stub."""
    if record.raw or not record.size:
        return record.raw
    return b"".join(tail.pieces(record.offset, record.size))
