"""The bytes of a log, plain or compressed, behind one small seam.

A source gives *log bytes* (decompressed) by offset, and says where in the *file* reading may be
taken up again. DSH writes its logs as independent zstd frames, one an append, so a position
inside such a log is the start of a frame plus what was already taken of it.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import IO, NamedTuple, Protocol, cast

import zstandard

ZSTD_SUFFIXES = (".zstd", ".zst")

_WINDOW_LIMIT = 1 << 27
"""Bytes of history that a frame may ask for; zstd's own default limit."""
_HEADER_LIMIT = 18
"""Longest zstd frame header, RFC 8878 section 3.1.1."""


class Anchor(NamedTuple):
    """A place where reading can be taken up again."""

    file_offset: int
    """Bytes into the file."""
    log_offset: int
    """Log bytes before that place. Equal to ``file_offset`` for a plain file."""


START = Anchor(0, 0)


class ByteSource(Protocol):
    """Random access to the log bytes of one open file. Sequential reads are the cheap ones."""

    note: str | None
    """Why the bytes end before the file does, if they do."""

    def read_at(self, offset: int, size: int) -> bytes:
        """At most ``size`` log bytes from ``offset``; empty at the end of what is there."""

    def anchor(self, offset: int) -> Anchor:
        """The last place at or before the log offset from which reading can be taken up."""


class PlainBytes:
    """A file as it stands."""

    note: str | None = None

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read_at(self, offset: int, size: int) -> bytes:
        return os.pread(self._descriptor, size, offset)

    def anchor(self, offset: int) -> Anchor:
        return Anchor(offset, offset)


class ZstdBytes:
    """Concatenated zstd frames. Of a torn last frame, the blocks that are whole are given."""

    def __init__(self, descriptor: int, start: Anchor = START) -> None:
        self.note: str | None = None
        self._descriptor = descriptor
        self._frames = [start]
        self._held = b""
        self._at = start.log_offset
        self._enter(start)

    def read_at(self, offset: int, size: int) -> bytes:
        back = self._at - offset
        if 0 < back <= len(self._held):
            return self._held[len(self._held) - back :][:size]
        if offset < self._at:
            self._enter(self.anchor(offset) if offset >= self._frames[0].log_offset else START)
        while self._at < offset:
            if not self._next(min(offset - self._at, 1 << 20)):
                return b""
        return self._next(size)

    def anchor(self, offset: int) -> Anchor:
        return next(
            (frame for frame in reversed(self._frames) if frame.log_offset <= offset), START
        )

    def _enter(self, frame: Anchor) -> None:
        if frame.log_offset < self._frames[0].log_offset:
            self._frames = [frame]
        elif frame.log_offset > self._frames[-1].log_offset:
            self._frames.append(frame)
        if frame.log_offset != self._at:
            self._held = b""
        self._at = frame.log_offset
        self._end = _frame_end(self._descriptor, frame.file_offset)
        span = _Span(self._descriptor, frame.file_offset, self._end)
        decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW_LIMIT)
        self._reader = decompressor.stream_reader(cast("IO[bytes]", span))

    def _next(self, size: int) -> bytes:
        while True:
            try:
                data = self._reader.read(size)
            except zstandard.ZstdError as error:
                self.note = f"compressed data is damaged after {self._at} bytes: {error}"
                return b""
            if data:
                self._at += len(data)
                # A batch often ends within the last piece; the next one begins there.
                self._held = data
                return data
            if self._end is None:
                return b""
            self._enter(Anchor(self._end, self._at))


class _Span(io.RawIOBase):
    """A part of an open file as a stream of its own."""

    def __init__(self, descriptor: int, start: int, end: int | None) -> None:
        self._descriptor, self._at, self._end = descriptor, start, end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        room = len(buffer) if self._end is None else min(len(buffer), self._end - self._at)
        data = os.pread(self._descriptor, room, self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _frame_end(descriptor: int, start: int) -> int | None:
    """File offset after the frame that starts here; ``None`` where the frame is not whole.

    Walks the block headers of RFC 8878, section 3.1.1.2, without decompressing.
    """
    size = os.fstat(descriptor).st_size
    head = os.pread(descriptor, _HEADER_LIMIT, start)
    try:
        at = start + zstandard.frame_header_size(head)
        checksum = 4 if zstandard.get_frame_parameters(head).has_checksum else 0
    except zstandard.ZstdError:
        return None
    last = False
    while not last:
        header = os.pread(descriptor, 3, at)
        if len(header) < 3:
            return None
        field = int.from_bytes(header, "little")
        last, kind, length = bool(field & 1), field >> 1 & 3, field >> 3
        # A run-length block stores one byte, whatever its length.
        at += 3 + (1 if kind == 1 else length)
    end = at + checksum
    return end if end <= size else None


def open_bytes(path: Path, descriptor: int, start: Anchor = START) -> ByteSource:
    """The byte source of an open file, by the file's name."""
    if path.name.endswith(ZSTD_SUFFIXES):
        return ZstdBytes(descriptor, start)
    return PlainBytes(descriptor)
