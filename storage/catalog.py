"""What the store lists: sessions, files, damaged lines, raw records; with the columns behind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session, as the sessions list needs it. Times are seconds since 1970, UTC."""

    id: int
    name: str
    native_id: str
    agent: str
    agent_version: str | None
    path: str
    cwd: str | None
    title: str | None
    model: str | None
    relation: str
    parent_native_id: str | None
    """The session that the log names, else the one whose history it repeats."""
    parent_call_id: str | None
    family: int
    turn_open: bool
    waiting: bool
    ended: bool
    started_at: float | None
    last_event_at: float | None
    events: int
    last_seq: int
    problems: int
    tokens: int | None
    tokens_source: str | None
    log_window: int | None
    window: int | None
    history: tuple[int, ...]
    counter: str
    file_time: float
    """When the file was last written, as far as it was read."""
    generation: int
    gone: bool
    """The file does not exist any more."""
    note: str | None


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """One file that was looked at."""

    id: int
    agent: str | None
    path: str
    position: str | None
    size: int
    mtime_ns: int
    revision: int
    generation: int
    records: int
    recognised: int
    damaged: int
    unknown_types: Mapping[str, int]
    gone: bool
    note: str | None


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line that could not be read as it stands; its raw is kept."""

    path: str
    line: int
    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A raw record with the place where it stood."""

    path: str
    line: int
    offset: int
    raw: bytes


_SESSION_COLUMNS = (
    "s.id, s.name, s.native_id, s.agent, s.agent_version, f.path, s.cwd, s.title, s.model, "
    "s.relation, coalesce(s.parent_native_id, "
    "(SELECT h.native_id FROM sessions h WHERE h.id = s.family AND h.id <> s.id)), "
    "s.parent_call_id, s.family, s.turn_open, s.waiting, s.ended, "
    "s.started_at, s.last_event_at, s.events, s.last_seq, s.problems, s.tokens, s.tokens_source, "
    "s.log_window, s.window, s.history, s.counter, f.mtime_ns, f.generation, f.gone, f.note"
)
SESSIONS = f"SELECT {_SESSION_COLUMNS} FROM sessions s JOIN sources f ON f.id = s.source_id"  # noqa: S608
_SOURCE_COLUMNS = (
    "f.id, f.agent, f.path, f.position, f.size, f.mtime_ns, f.revision, f.generation, f.records, "
    "f.recognised, (SELECT count(*) FROM records r WHERE r.source_id = f.id "
    "AND r.damage IS NOT NULL), f.unknown_types, f.gone, f.note"
)
SOURCES = f"SELECT {_SOURCE_COLUMNS} FROM sources f"  # noqa: S608


def decode_session(row: Sequence[Any]) -> SessionRecord:
    """One row of :data:`SESSIONS`."""
    values = list(row)
    for index in (13, 14, 15, 29):
        values[index] = bool(values[index])
    values[25] = tuple(json.loads(values[25]))
    values[27] /= 1e9
    return SessionRecord(*values)


def decode_source(row: Sequence[Any]) -> SourceRecord:
    """One row of :data:`SOURCES`."""
    values = list(row)
    values[11] = json.loads(values[11])
    values[12] = bool(values[12])
    return SourceRecord(*values)
