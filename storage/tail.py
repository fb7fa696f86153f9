"""Bytes → complete records, from an offset.

A file is only ever read up to its last newline: what follows is *pending*, not an error. Offsets
are bytes, lines end at ``\\n`` alone. A file that was cut, rewritten, replaced or removed is told
apart by its inode and by digests of its first bytes and of the bytes before the offset.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from storage.bytesource import Anchor, ByteSource, open_bytes
from storage.lines import CHUNK, Limits, Taken, take_document, take_lines
from storage.refusals import kind_of, refusal
from storage.sources.base import LogTail, Record, Stand

MAX_LINE = 16 * 1024 * 1024
"""Bytes. A longer line becomes a stub record; its raw is offered by :meth:`Tail.pieces`."""
BATCH_BYTES = 8 * 1024 * 1024
BATCH_ROWS = 1000
DOCUMENT_SUFFIXES = (".json", ".traj")
"""Names of files that are one JSON document: read whole, as one record, when they change."""
RESCAN_BYTES = 1024 * 1024
"""A partial line above this size is not scanned again from its start when more of it comes."""
HEAD_BYTES = 4096
LAST_BYTES = 256

State = Literal["appended", "restarted", "unchanged", "gone", "skipped"]
"""``appended`` – the position moved on; ``restarted`` – the file is another one or was rewritten,
so reading began anew at its first line; ``unchanged`` – nothing to do; ``gone`` – the file does
not exist (any more); ``skipped`` – it is no log that can be read, see :attr:`Batch.reason`."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file was read, and what it looked like. A value to store and to give back."""

    offset: int = 0
    """Log bytes before the next unread line."""
    line: int = 0
    """Lines before it, blank ones included."""
    unterminated: bool = False
    """The last line taken had no newline yet (see ``final`` of :meth:`Tail.read`)."""
    file_offset: int = 0
    """Where in the file reading can be taken up: ``offset``, or the start of a compressed frame."""
    frame_offset: int = 0
    """Log bytes before ``file_offset``."""
    head_size: int = 0
    head: str = ""
    """Digest of the first ``head_size`` bytes of the file, at most :data:`HEAD_BYTES`."""
    last: str = ""
    """Digest of the last bytes before ``file_offset``, at most :data:`LAST_BYTES`."""
    device: int = 0
    inode: int = 0
    size: int = 0
    """Bytes of the file."""
    mtime_ns: int = 0
    pending: int = 0
    """Log bytes after the last complete line."""
    at_end: bool = False
    """All ``size`` bytes had been looked at."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one read gave."""

    state: State
    position: Position
    records: tuple[Record, ...] = ()
    pending: int = 0
    """Bytes after the last complete line."""
    more: bool = False
    """The batch is full; read again at once."""
    reason: str | None = None
    """Why a file was skipped, or why its bytes end early."""

    @property
    def why_nothing(self) -> str:
        """Why a file of which this is the beginning shows nothing, in words."""
        if self.records:
            return "no agent's format is known"
        if self.reason:
            return self.reason
        if self.pending:
            return f"no whole record yet, only {self.pending:,} bytes of the first"
        return "empty: no record yet"


class Tail(LogTail):
    """Reads one file, batch by batch.

    The file stays open between reads, so that what an agent wrote before it renamed or removed
    its log is still read to the end; :meth:`close` gives the descriptor back at any time.
    """

    def __init__(
        self,
        path: Path,
        position: Position | None = None,
        *,
        batch_bytes: int = BATCH_BYTES,
        batch_rows: int = BATCH_ROWS,
        max_line: int = MAX_LINE,
    ) -> None:
        self.path = path
        self.position = Position() if position is None else position
        self._limits = Limits(batch_bytes, batch_rows, max_line)
        self._document = path.suffix in DOCUMENT_SUFFIXES
        self._descriptor: int | None = None
        self._source: ByteSource | None = None

    def read(self, *, final: bool = False) -> Batch:
        """The next complete records, at most one batch of them.

        ``final`` also takes a last line without a newline, if it is a whole JSON object or array:
        for a file that is at rest. Should more of that line appear later, reading restarts.
        Never raises for what the file is or holds.
        """
        there = self._look()
        if self._descriptor is not None and not self._same_file(there):
            # Renamed or removed: first what was still written to it.
            here = self.position
            rest = self._advance(self._descriptor, here, final=True)
            if rest.state == "appended" and rest.records:
                return replace(rest, more=True)
            self.position = here
            self.close()
        if isinstance(there, str):
            return self._absent(there)
        if self._descriptor is None:
            try:
                flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
                self._descriptor = os.open(self.path, flags)
            except OSError as error:
                return self._absent(refusal(self.path, error))
        return self._advance(self._descriptor, self.position, final=final)

    def prefix(self, batch_bytes: int) -> Iterator[Record]:
        """The records from the beginning of the file, in batches of their own."""
        with Tail(self.path, batch_bytes=batch_bytes) as prefix:
            more = True
            while more:
                batch = prefix.read(final=True)
                yield from batch.records
                more = batch.more

    def pieces(self, offset: int, size: int) -> Iterator[bytes]:
        """The log bytes from ``offset``, at most ``size`` of them, in pieces of bounded length.

        For the raw of a stub record, which no one holds whole. Raises ``OSError`` where the file
        cannot be opened (any more).
        """
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            source = open_bytes(self.path, descriptor)
            end = offset + size
            while offset < end and (piece := source.read_at(offset, min(CHUNK, end - offset))):
                offset += len(piece)
                yield piece
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Give the file descriptor back. A later read opens the file again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = self._source = None

    def _look(self) -> os.stat_result | str:
        try:
            there = self.path.stat()
        except OSError as error:
            if error.errno == errno.ENOENT and not self.path.is_symlink():
                return ""
            return refusal(self.path, error)
        return there if stat.S_ISREG(there.st_mode) else f"is {kind_of(there.st_mode)}, not a file"

    def _same_file(self, there: os.stat_result | str) -> bool:
        if isinstance(there, str) or self._descriptor is None:
            return False
        mine = os.fstat(self._descriptor)
        return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)

    def _absent(self, reason: str) -> Batch:
        if reason:
            return Batch("skipped", self.position, reason=reason)
        return Batch("gone", self.position)

    def _advance(self, descriptor: int, old: Position, *, final: bool) -> Batch:
        facts = os.fstat(descriptor)
        if old.at_end and _looks_like(old, facts) and not (final and old.pending):
            return Batch("unchanged", old, pending=old.pending)
        goes_on = self._document or _continues(descriptor, old, facts)
        start = old if goes_on else Position()
        anchor = Anchor(start.file_offset, start.frame_offset)
        source = self._source if goes_on else None
        if source is None:
            source = open_bytes(self.path, descriptor, anchor)
        taken = self._take(source, start, facts.st_size, final=final)
        if taken is None:
            goes_on = False
            source = open_bytes(self.path, descriptor)
            taken = self._take(source, Position(), facts.st_size, final=final)
            assert taken is not None
        restarted = not goes_on or (self._document and old.offset > 0 and bool(taken.records))
        if self._document and not taken.records and goes_on:
            # Half-written: what was read of it before stands until it is whole again.
            taken.offset, taken.line = old.offset, old.line
        self.position = _stamp(descriptor, facts, source, taken)
        # In the middle of a file the source goes on; at its end what follows may be a new frame.
        self._source = None if taken.at_end else source
        moved = taken.records or self.position.offset != old.offset
        return Batch(
            state="restarted" if restarted else "appended" if moved else "unchanged",
            position=self.position,
            records=tuple(taken.records),
            pending=taken.pending,
            more=not taken.at_end,
            reason=taken.note or source.note,
        )

    def _take(self, source: ByteSource, start: Position, size: int, *, final: bool) -> Taken | None:
        if self._document:
            return take_document(source, size, self._limits)
        long = start.pending > RESCAN_BYTES and size > start.size
        scanned = start.offset + start.pending if long else 0
        begin = Taken(start.offset, start.line, start.unterminated)
        return take_lines(source, begin, self._limits, final=final, scanned=scanned)


def stand_of(path: Path) -> Stand | None:
    """What a file looks like; ``None`` where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return Stand(facts.st_size, facts.st_mtime_ns, facts.st_dev, facts.st_ino)


def reread(tail: LogTail, position: Position | None) -> Batch:
    """The next batch from another place than the tail had come to."""
    tail.close()
    tail.position = Position() if position is None else position
    return tail.read(final=True)


def _looks_like(old: Position, facts: os.stat_result) -> bool:
    return (old.device, old.inode, old.size, old.mtime_ns) == (
        facts.st_dev,
        facts.st_ino,
        facts.st_size,
        facts.st_mtime_ns,
    )


def _continues(descriptor: int, old: Position, facts: os.stat_result) -> bool:
    """Whether the file still is what was read of it, as far as can be told without reading all.

    The device is not compared: network file systems number theirs anew at each mount.
    """
    if not old.inode:
        return True
    if facts.st_ino != old.inode or facts.st_size < old.file_offset:
        return False
    if old.file_offset != old.offset and facts.st_size < old.size:
        # A frame of which lines were taken is not whole any more.
        return False
    return (
        _digest(descriptor, 0, old.head_size) == old.head
        and _last_digest(descriptor, old.file_offset) == old.last
    )


def _stamp(descriptor: int, facts: os.stat_result, source: ByteSource, taken: Taken) -> Position:
    anchor = source.anchor(taken.offset)
    inside_frame = anchor.log_offset < taken.offset
    head_size = min(HEAD_BYTES, facts.st_size if inside_frame else anchor.file_offset)
    return Position(
        offset=taken.offset,
        line=taken.line,
        unterminated=taken.unterminated,
        pending=taken.pending,
        file_offset=anchor.file_offset,
        frame_offset=anchor.log_offset,
        head_size=head_size,
        head=_digest(descriptor, 0, head_size),
        last=_last_digest(descriptor, anchor.file_offset),
        device=facts.st_dev,
        inode=facts.st_ino,
        size=facts.st_size,
        mtime_ns=facts.st_mtime_ns,
        at_end=taken.at_end,
    )


def _last_digest(descriptor: int, offset: int) -> str:
    begin = max(0, offset - LAST_BYTES)
    return _digest(descriptor, begin, offset - begin)


def _digest(descriptor: int, offset: int, size: int) -> str:
    return blake2b(os.pread(descriptor, size, offset), digest_size=16).hexdigest()
