"""Lines of the sessions list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from compress.meter import thresholds
from inspector.reports import SessionHeader, SessionRow, SessionState
from inspector.settings import Settings
from storage.catalog import SessionRecord
from storage.sources.registry import approximation

RECENT = 10 * 60
"""Seconds without a write after which an open turn no longer counts as running (R22)."""
ASLEEP = 24 * 3600
"""Seconds without a write after which a session counts as ended."""


def header_of(record: SessionRecord) -> SessionHeader:
    """Which session a report speaks of."""
    return SessionHeader(
        id=record.name,
        agent=record.agent,
        agent_version=record.agent_version,
        cwd=record.cwd,
        title=record.title,
        model=record.model,
        approximate=approximation(record.agent),
    )


def with_waiting(
    records: Sequence[SessionRecord], waiting: Sequence[SessionRecord]
) -> list[SessionRecord]:
    """The sessions of the store with those that wait to be read, the newest first."""
    read = {record.path for record in records}
    unread = [record for record in waiting if record.path not in read]
    return sorted([*records, *unread], key=_heard_of, reverse=True)


def _heard_of(record: SessionRecord) -> float:
    """When something was last heard of a session; no event is younger than its file."""
    return min(record.file_time, record.last_event_at or record.file_time)


def session_rows(
    records: Sequence[SessionRecord], settings: Settings, now: float
) -> list[SessionRow]:
    """The lines in the order of the records, but a sub-agent's after those of the session that
    started it; ``now`` in seconds since 1970."""
    names = {(record.agent, record.native_id): record.name for record in reversed(records)}
    rows = [
        _row(record, settings, now, names.get((record.agent, record.parent_native_id or "")))
        for record in records
    ]
    by_id = {row.id: row for row in rows}
    groups: dict[str, list[SessionRow]] = {}
    for row in rows:
        groups.setdefault(_root(row, by_id), []).append(row)
    return [
        row
        for root, group in groups.items()
        for row in sorted(group, key=lambda member: member.id != root)
    ]


def _root(row: SessionRow, by_id: Mapping[str, SessionRow]) -> str:
    """The session at whose line this one stands. Logs may name each other in a circle."""
    seen = {row.id}
    while row.relation == "subagent":
        parent = by_id.get(row.parent or "")
        if parent is None or parent.id in seen:
            break
        row = parent
        seen.add(row.id)
    return row.id


def _row(record: SessionRecord, settings: Settings, now: float, parent: str | None) -> SessionRow:
    window = settings.window_for(record.model) or record.window
    pressure = record.tokens / window if window and record.tokens is not None else None
    limits = thresholds(window, settings.micro_high, settings.threshold_ratio)
    return SessionRow(
        id=record.name,
        agent=record.agent,
        path=record.path,
        project=record.cwd,
        title=record.title,
        model=record.model,
        parent=parent or record.parent_native_id,
        relation=_relation(record),
        started_at=record.started_at,
        last_event_at=record.last_event_at,
        state=state_of(record, now),
        events=record.events,
        tokens=record.tokens,
        tokens_source="provider" if record.tokens_source == "provider" else "estimated",
        window=window,
        pressure=pressure,
        proposed=limits.proposed(record.tokens or 0),
        history=tuple(tokens / window for tokens in record.history) if window else (),
        problems=record.problems,
        note=_note(record),
    )


def state_of(record: SessionRecord, now: float) -> SessionState:
    """Running needs an open turn *and* a file that was written lately."""
    # A copied file looks new, a log with a wrong clock looks old or future: the older one counts.
    quiet = now - _heard_of(record)
    if record.ended or record.gone or quiet > ASLEEP:
        return "ended"
    if record.waiting:
        return "waiting"
    return "running" if record.turn_open and quiet < RECENT else "idle"


def _relation(record: SessionRecord) -> Literal["main", "subagent", "fork"]:
    if record.relation == "subagent":
        return "subagent"
    return "fork" if record.relation == "fork" or record.family != record.id else "main"


def _note(record: SessionRecord) -> str | None:
    if record.note:
        return record.note
    if record.gone:
        return "the file is gone; what was read of it is kept"
    if record.events == 0:
        return "no event yet"
    return approximation(record.agent)
