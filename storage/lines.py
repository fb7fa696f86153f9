"""Log bytes → records: the scan for newlines, bounded by the line and never by the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from storage.bytesource import ByteSource
from storage.records import parse_record
from storage.sources.base import Record

CHUNK = 256 * 1024
_BLANK = b" \t\r\x0b\x0c"


class Limits(NamedTuple):
    """What one batch may hold."""

    size: int
    """Bytes; a line that begins within them is read to its end."""
    rows: int
    line: int
    """Bytes of a line that is held whole; a longer one becomes a stub."""


@dataclass(slots=True)
class Taken:
    """What was taken from a source, and where the taking stopped."""

    offset: int
    line: int
    unterminated: bool = False
    records: list[Record] = field(default_factory=list)
    pending: int = 0
    at_end: bool = False
    note: str | None = None


def take_lines(
    source: ByteSource, start: Taken, limits: Limits, *, final: bool, scanned: int = 0
) -> Taken | None:
    """The complete lines from ``start`` on, at most one batch.

    ``scanned``: up to there a former call found no newline. ``None``: the line that was taken
    without its newline went on after all, so it was no line.
    """
    taken = Taken(start.offset, start.line, start.unterminated)
    if taken.unterminated:
        if (skipped := _line_end(source, taken.offset)) is None:
            return None
        taken.unterminated = skipped.unterminated
        taken.offset = skipped.offset
        if taken.unterminated:
            taken.at_end = True
            return taken
    if scanned > taken.offset and (at := _no_newline_until(source, scanned)) is not None:
        taken.pending, taken.at_end = at - taken.offset, True
        if not final:
            return taken
    rest = _complete_lines(source, taken, limits)
    if final and taken.at_end and rest:
        record = parse_record(taken.line + 1, taken.offset, rest)
        # The beginning of a JSON object is never one itself; of a number it may be.
        if record is not None and isinstance(record.value, dict | list):
            taken.records.append(record)
            taken.line += 1
            taken.offset += len(rest)
            taken.pending, taken.unterminated = 0, True
    return taken


def take_document(source: ByteSource, size: int, limits: Limits) -> Taken:
    """A whole file as its one record. Not taken while it is no complete JSON."""
    if size > limits.line:
        return Taken(size, 1, records=[_stub(1, 0, size, limits.line)], at_end=True)
    parts = []
    at = 0
    while at < limits.line and (chunk := source.read_at(at, CHUNK)):
        parts.append(chunk)
        at += len(chunk)
    record = parse_record(1, 0, b"".join(parts))
    if record is None:
        return Taken(0, 0, pending=at, at_end=True)
    if record.value is None:
        return Taken(0, 0, pending=at, at_end=True, note=f"not a whole document: {record.damage}")
    return Taken(at, 1, records=[record], at_end=True)


def _complete_lines(source: ByteSource, taken: Taken, limits: Limits) -> bytes:
    """Take whole lines; give back what stands after the last one, where it fits the limit."""
    parts: list[bytes] = []
    length = 0
    at = first = taken.offset
    while length or (len(taken.records) < limits.rows and at - first < limits.size):
        chunk = source.read_at(at, CHUNK)
        if not chunk:
            taken.at_end = True
            break
        at += len(chunk)
        begin = 0
        while len(taken.records) < limits.rows and (end := chunk.find(b"\n", begin)) >= 0:
            taken.line += 1
            size = length + end - begin
            if size > limits.line:
                taken.records.append(_stub(taken.line, taken.offset, size, limits.line))
            else:
                raw = chunk[begin:end]
                if parts:
                    raw = b"".join((*parts, raw))
                record = parse_record(taken.line, taken.offset, raw)
                if record is not None:
                    taken.records.append(record)
            taken.offset += size + 1
            parts, length, begin = [], 0, end + 1
        if len(taken.records) >= limits.rows:
            return b""
        length += len(chunk) - begin
        if length > limits.line:
            parts = []
        elif length:
            parts.append(chunk[begin:])
    taken.pending = length
    return b"".join(parts)


def _line_end(source: ByteSource, offset: int) -> Taken | None:
    """Past the newline of a line that was taken without it; still ``unterminated`` where it has
    not come, ``None`` where something else came."""
    at = offset
    while chunk := source.read_at(at, CHUNK):
        blank, newline, _ = chunk.partition(b"\n")
        if blank.strip(_BLANK):
            return None
        if newline:
            return Taken(at + len(blank) + 1, 0)
        at += len(chunk)
    return Taken(offset, 0, unterminated=True)


def _no_newline_until(source: ByteSource, at: int) -> int | None:
    """The end of the source, if no newline stands between ``at`` and it."""
    while chunk := source.read_at(at, CHUNK):
        if b"\n" in chunk:
            return None
        at += len(chunk)
    return at


def _stub(line: int, offset: int, size: int, limit: int) -> Record:
    damage = f"line of {size:,} bytes is longer than {limit:,} and was not parsed"
    return Record(line=line, offset=offset, raw=b"", size=size, damage=damage)
