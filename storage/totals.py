"""What the requests of all sessions cost, each counted once.

One message an id: of the records of a request, the newest with the largest output counts (T01,
T09). A fork or a resumed copy repeats the requests of the session that it came from; among
sessions that are related, a request that stands in several is the first one's (T03).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from storage.catalog import SessionRecord
from storage.rows import UsageFigures, decode_figures, seq_of, session_of
from storage.store import Store

_USED = (
    "SELECT id, generation, request, time, model, usage, type, native_id, block FROM events "
    "WHERE usage IS NOT NULL ORDER BY position"
)
_FAILED = (
    "SELECT id, generation, time, meta, native_id, block FROM events "
    "WHERE type = 'error' ORDER BY position"
)
_REFUSALS = (None, "api_error")
"""Kinds of error events that tell of a request; the others tell of gaps in a log, or are an
agent's own filler."""

_Identity = tuple[str, int, str | None]
"""What an event is called in every copy of it: native id, block, and of a log-only event what it
says, since its id may be a mere number, which a fork goes on counting."""


@dataclass(frozen=True, slots=True)
class SpentRequest:
    """A request that a provider reported figures for. ``time`` in seconds since 1970."""

    session: SessionRecord
    main: SessionRecord
    """The session below which a sub-agent's ran; ``session`` itself where it is none."""
    time: float | None
    model: str | None
    usage: UsageFigures


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """An error in place of a reply, which has no figures."""

    session: SessionRecord
    main: SessionRecord
    time: float | None


@dataclass(frozen=True, slots=True)
class Spending:
    """All requests of a store, and all failed ones, in the order of their sessions."""

    requests: tuple[SpentRequest, ...]
    failures: tuple[FailedRequest, ...]


@dataclass(slots=True)
class _Request:
    usage: UsageFigures
    time: float | None
    model: str | None
    identities: list[_Identity] = field(default_factory=list)

    def take(self, usage: UsageFigures, model: str | None) -> None:
        if (usage.output or 0) >= (self.usage.output or 0):
            self.usage, self.model = usage, model or self.model


def spending(store: Store) -> Spending:
    """Reads the figures of every session in one pass over their index. What no longer stands in a
    session's file is left out; what was read of a file that is gone is not."""
    lineage = _Lineage(store.sessions())
    with store.connections.read() as connection:
        used = _used(connection, lineage.records)
        failed = _failed(connection, lineage.records)
    requests = tuple(
        SpentRequest(record, lineage.main(record), request.time, request.model, request.usage)
        for record, request in _once(used, lineage)
    )
    failures = tuple(
        FailedRequest(record, lineage.main(record), time)
        for record, time in _failed_once(failed, lineage)
    )
    return Spending(requests, failures)


def _used(
    connection: sqlite3.Connection, records: Mapping[int, SessionRecord]
) -> dict[int, dict[int, _Request]]:
    """session id → first event of a request → the request, in the order of the log."""
    found: dict[int, dict[int, _Request]] = {}
    for (
        identifier,
        generation,
        first,
        time,
        model,
        text,
        type_,
        native,
        block,
    ) in connection.execute(_USED):
        session = session_of(identifier)
        if session not in records or records[session].generation != generation:
            continue
        usage = decode_figures(text)
        requests = found.setdefault(session, {})
        name = seq_of(identifier) if first is None else first
        request = requests.get(name)
        if request is None:
            request = requests[name] = _Request(usage, time, model)
        else:
            request.take(usage, model)
            request.time = time if request.time is None else request.time
        request.identities.append((native, block, text if type_ == "usage" else None))
    return found


def _failed(
    connection: sqlite3.Connection, records: Mapping[int, SessionRecord]
) -> dict[int, list[tuple[_Identity, float | None]]]:
    """session id → its failed requests, in the order of the log."""
    found: dict[int, list[tuple[_Identity, float | None]]] = {}
    for identifier, generation, time, meta, native, block in connection.execute(_FAILED):
        session = session_of(identifier)
        if session not in records or records[session].generation != generation:
            continue
        facts = json.loads(meta) if meta else {}
        if facts.get("kind") in _REFUSALS:
            identity = (native, block, facts.get("message"))
            found.setdefault(session, []).append((identity, time))
    return found


def _once(
    used: Mapping[int, Mapping[int, _Request]], lineage: _Lineage
) -> list[tuple[SessionRecord, _Request]]:
    """Each request with the session that made it; what a copy knows better goes to that one."""
    kept: list[tuple[SessionRecord, _Request]] = []
    seen: dict[tuple[int, _Identity], _Request] = {}
    for record in lineage.ordered():
        kin = lineage.kin(record)
        copying = True
        for request in used.get(record.id, {}).values():
            keys = [] if kin is None else [(kin, identity) for identity in request.identities]
            original = next((seen[k] for k in keys if k in seen and (copying or _own(k[1]))), None)
            if original is None:
                original = request
                kept.append((record, request))
                copying = False
            else:
                original.take(request.usage, request.model)
            for key in keys:
                seen.setdefault(key, original)
    return kept


def _own(identity: _Identity) -> bool:
    """Whether it is found in copies only. What a log-only event is called may come again by
    chance, so that it tells of a copy only where a copied history stands: at the front."""
    return identity[2] is None


def _failed_once(
    failed: Mapping[int, Iterable[tuple[_Identity, float | None]]], lineage: _Lineage
) -> Iterator[tuple[SessionRecord, float | None]]:
    seen: set[tuple[int, _Identity]] = set()
    for record in lineage.ordered():
        kin = lineage.kin(record)
        for identity, time in failed.get(record.id, ()):
            if kin is not None:
                if (kin, identity) in seen:
                    continue
                seen.add((kin, identity))
            yield record, time


class _Lineage:
    """Which sessions came from which: forks, resumed copies, sub-agents."""

    def __init__(self, sessions: Iterable[SessionRecord]) -> None:
        self.records = {record.id: record for record in sessions}
        self._by_native: dict[tuple[str, str], int] = {}
        for record in sorted(self.records.values(), key=lambda r: (r.id != r.family, r.id)):
            if record.native_id:
                self._by_native.setdefault((record.agent, record.native_id), record.id)
        self._heads = {identifier: identifier for identifier in self.records}
        for record in self.records.values():
            namesake = self._by_native.get((record.agent, record.native_id))
            for relative in (record.family, namesake, self._parent(record)):
                if relative is not None and relative in self._heads:
                    self._join(record.id, relative)
        sizes: dict[int, int] = {}
        for identifier in self.records:
            head = self._head(identifier)
            sizes[head] = sizes.get(head, 0) + 1
        self._alone = {head for head, size in sizes.items() if size == 1}

    def ordered(self) -> list[SessionRecord]:
        """What came first before what came from it."""
        return sorted(
            self.records.values(), key=lambda r: (len(self._ancestors(r)), r.id != r.family, r.id)
        )

    def kin(self, record: SessionRecord) -> int | None:
        """A number that all related sessions share; ``None`` for one that has no relative."""
        head = self._head(record.id)
        return None if head in self._alone else head

    def main(self, record: SessionRecord) -> SessionRecord:
        """The nearest session above, itself included, that is no sub-agent's; the highest that is
        known where there is none."""
        for ancestor in (record.id, *self._ancestors(record)):
            record = self.records[ancestor]
            if record.relation != "subagent":
                break
        return record

    def _parent(self, record: SessionRecord) -> int | None:
        parent = self._by_native.get((record.agent, record.parent_native_id or ""))
        return None if parent == record.id else parent

    def _ancestors(self, record: SessionRecord) -> list[int]:
        """From the parent upwards. Logs may name each other in a circle."""
        found: list[int] = []
        parent = self._parent(record)
        while parent is not None and parent != record.id and parent not in found:
            found.append(parent)
            parent = self._parent(self.records[parent])
        return found

    def _head(self, identifier: int) -> int:
        while self._heads[identifier] != identifier:
            identifier = self._heads[identifier]
        return identifier

    def _join(self, one: int, other: int) -> None:
        first, second = sorted((self._head(one), self._head(other)))
        self._heads[second] = first
