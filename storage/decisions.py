"""Decision points: harvested from what a session got since the last time, kept, never lost.

A session's records are kept beside the state of its harvest, so that a look costs what is new. The
harvest begins anew, under the next number, where the log was begun anew, where something older was
revised, or where the rules changed; records that it no longer gives are kept, but not shown.

Which level a record has is not kept with it: it follows from the graduations on the session's
audited strand.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from compress.decisions.harvest import About, Harvest, Judge
from compress.decisions.memory import graduated, graduating, graduation
from compress.decisions.values import DecisionPoint
from compress.operations import OperationRow, number, operations
from storage.catalog import SessionRecord
from storage.errors import StoreUnusableError
from storage.format import SEQ_MASK
from storage.rows import event_id, seq_of, session_of
from storage.store import Store

_PAGE = 500
_SESSIONS = 400
"""In one query, below SQLite's limit on variables."""

_STANDING = (
    "SELECT d.session_id, d.point, d.last_seq FROM decisions d "
    "JOIN decision_harvests h ON h.session_id = d.session_id AND h.number = d.number "
    "WHERE d.session_id IN ({}) ORDER BY d.session_id, d.first_seq, d.last_seq, d.id"
)
_GRADUATED = (
    "SELECT o.session_id, j.value FROM operation_events o, "
    "json_each(o.event, '$.meta.decisions') j "
    "WHERE o.session_id IN ({}) AND json_extract(o.event, '$.type') = 'memory/graduate'"
)
_KEEP = """
INSERT INTO decisions (session_id, id, number, revision, first_seq, last_seq, point)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session_id, id) DO UPDATE SET number = excluded.number, revision = excluded.revision,
  first_seq = excluded.first_seq, last_seq = excluded.last_seq, point = excluded.point
WHERE excluded.number > number
  OR (excluded.number = number AND excluded.revision >= revision)
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a harvest reads by. ``revision`` names all of it: another one harvests anew."""

    revision: str
    count: Callable[[str], int]
    judge: Callable[[], Judge]
    """Made only where there is something to read."""


@dataclass(frozen=True, slots=True)
class KeptDecision:
    """A record with the session that it is of."""

    session: SessionRecord
    point: DecisionPoint


@dataclass(frozen=True, slots=True)
class _State:
    """Of a session's harvest. ``fed``: how many events it was given."""

    number: int
    generation: int
    rules: str
    fed: int
    last_seq: int
    snapshot: str


@dataclass(frozen=True, slots=True)
class _Harvested:
    before: _State | None
    """As it was kept."""
    state: _State
    points: Sequence[DecisionPoint]


def bring_up(store: Store, session: SessionRecord, rules: Rules) -> list[DecisionPoint]:
    """Harvests what the session got since, and keeps it; the records that are new or changed.
    Where the store takes no more, nothing is kept.

    Raises :class:`storage.errors.StoreBusyError`.
    """
    while True:
        harvested = _harvest(store, session, rules)
        if harvested is None:
            return []
        try:
            if store.connections.read_only or _keep(store, session, harvested):
                return list(harvested.points)
        except StoreUnusableError:
            # Its disk is full: they are harvested anew the next time.
            if store.connections.takes_more:
                raise
            return list(harvested.points)


def excess(store: Store, session: SessionRecord, cap: int) -> frozenset[str]:
    """The ids of what :func:`graduate` would have graduate now; records nothing."""
    points = [kept.point for kept in decisions(store, [session])]
    return frozenset(point.id for point in graduating(_of_session(points, ()), cap))


def graduate(store: Store, session: SessionRecord, cap: int, at: float) -> None:
    """Has the oldest records of the session's memory graduate until the rest weighs at most
    ``cap`` tokens, as one operation of the policy on its strand. ``at``: seconds since 1970."""
    points = [kept.point for kept in decisions(store, [session])]
    if not store.connections.takes_more or not graduating(_of_session(points, ()), cap):
        return

    def make(strand: Sequence[OperationRow]) -> Sequence[OperationRow]:
        gone = {name for op in operations(strand) for name in graduated(op)}
        draft = graduation(_of_session(points, gone), cap)
        newest = strand[-1].number if strand else 0
        if draft is None:
            return ()
        return number(draft, next_number=newest + 1, after=session.last_seq, at=at)

    store.append_operations(session, make)


def decisions(
    store: Store, sessions: Sequence[SessionRecord], *, copies: bool = True
) -> list[KeptDecision]:
    """The newest state of the records of these sessions, in their order and within one by first
    event, each at its level. Without ``copies``: what a fork or a resumed session repeats of
    another is left to the other one."""
    found: dict[int, list[DecisionPoint]] = {}
    for chunk in _chunks(sessions):
        marks = ",".join("?" * len(chunk))
        with store.connections.read() as connection:
            rows = connection.execute(_STANDING.format(marks), chunk).fetchall()
            memory = set(connection.execute(_GRADUATED.format(marks), chunk).fetchall())
            repeated = set() if copies else _copied(connection, rows)
        for session, text, last in rows:
            point = DecisionPoint.model_validate_json(text)
            if (session, last) not in repeated:
                found.setdefault(session, []).append(_at_level(point, session, memory))
    return [
        KeptDecision(session, point) for session in sessions for point in found.get(session.id, ())
    ]


def kept_texts(
    store: Store, sessions: Sequence[SessionRecord], limit: int, *, until: int | None = None
) -> list[tuple[int, str]]:
    """(session, record as JSON) of the newest records of these sessions, the newest first; none
    that ends behind the seq ``until``. For who looks through many: none is decoded."""
    rows: list[tuple[int, str]] = []
    for session in sessions:
        if len(rows) >= limit:
            break
        with store.connections.read() as connection:
            rows += connection.execute(
                "SELECT d.session_id, d.point FROM decisions d JOIN decision_harvests h "
                "ON h.session_id = d.session_id AND h.number = d.number "
                "WHERE d.session_id = ? AND d.last_seq <= ? ORDER BY d.last_seq DESC, d.id LIMIT ?",
                (session.id, SEQ_MASK if until is None else until, limit - len(rows)),
            ).fetchall()
    return rows


def behind(store: Store, session: SessionRecord, rules: Rules) -> int:
    """How many events of a session were not harvested yet by these rules."""
    state = _state(store, session)
    if state is None or (state.rules, state.generation) != (rules.revision, session.generation):
        return session.events
    return session.events - state.fed


def _at_level(
    point: DecisionPoint, session: int, memory: Collection[tuple[int, str]]
) -> DecisionPoint:
    return point.model_copy(update={"level": "L3"}) if (session, point.id) in memory else point


def _of_session(points: Sequence[DecisionPoint], gone: Collection[str]) -> list[DecisionPoint]:
    return [point for point in points if point.level == "L2" and point.id not in gone]


def _copied(connection: sqlite3.Connection, rows: Sequence[Sequence[int]]) -> set[tuple[int, int]]:
    """(session, newest event) of the records that end in a history that was copied."""
    names = json.dumps([event_id(session, last) for session, _, last in rows])
    found = connection.execute(
        "SELECT id FROM events WHERE copied AND id IN (SELECT value FROM json_each(?))", (names,)
    )
    return {(session_of(identifier), seq_of(identifier)) for (identifier,) in found}


def _harvest(store: Store, session: SessionRecord, rules: Rules) -> _Harvested | None:
    """``None`` where nothing is new."""
    before = _state(store, session)
    if before is not None and before.rules == rules.revision:
        if _same(before, session):
            return None
        if before.generation == session.generation:
            found = _feed(store, session, rules, before)
            if found is not None:
                return _Harvested(before, *found)
    number_ = before.number + 1 if before is not None else 1
    begun = _State(number_, session.generation, rules.revision, fed=0, last_seq=0, snapshot="")
    found = _feed(store, session, rules, begun)
    assert found is not None
    return _Harvested(before, *found)


def _same(state: _State, session: SessionRecord) -> bool:
    return (state.generation, state.fed, state.last_seq) == (
        session.generation,
        session.events,
        session.last_seq,
    )


def _feed(
    store: Store, session: SessionRecord, rules: Rules, start: _State
) -> tuple[_State, Sequence[DecisionPoint]] | None:
    """Feeds the events behind ``start``; ``None`` where older ones came to it meanwhile, or where
    its snapshot cannot be read."""
    about = About(agent=session.agent, session=session.native_id, project=session.cwd)
    judge = rules.judge()
    if not start.fed:
        harvest = Harvest(about, rules.count, judge)
    else:
        try:
            harvest = Harvest.restore(about, rules.count, judge, start.snapshot)
        except ValueError:
            return None
    fed = start.fed
    for page in _pages(store, session, harvest):
        events = store.events(session, [seq for seq, _ in page])
        for event, (_, tokens) in zip(events, page, strict=True):
            harvest.feed(event, tokens)
        fed += len(page)
    if start.fed:
        now = store.session(session.id)
        if now.generation == session.generation and fed < now.events:
            return None
    points = harvest.take()
    state = replace(start, fed=fed, last_seq=harvest.last_seq, snapshot=harvest.snapshot())
    return state, points


def _pages(
    store: Store, session: SessionRecord, harvest: Harvest
) -> Iterator[list[tuple[int, int]]]:
    """(seq, tokens) of the events that the harvest does not have, until there are no more."""
    full = True
    while full:
        with store.connections.read() as connection:
            rows = connection.execute(
                "SELECT id, tokens FROM events WHERE id > ? AND id <= ? AND generation = ? "
                "ORDER BY id LIMIT ?",
                (
                    event_id(session.id, harvest.last_seq),
                    event_id(session.id, SEQ_MASK),
                    session.generation,
                    _PAGE,
                ),
            ).fetchall()
        full = len(rows) == _PAGE
        if rows:
            yield [(seq_of(identifier), tokens) for identifier, tokens in rows]


def _state(store: Store, session: SessionRecord) -> _State | None:
    with store.connections.read() as connection:
        return _read_state(connection, session.id)


def _read_state(connection: sqlite3.Connection, session: int) -> _State | None:
    row = connection.execute(
        "SELECT number, generation, rules, fed, last_seq, snapshot FROM decision_harvests "
        "WHERE session_id = ?",
        (session,),
    ).fetchone()
    return None if row is None else _State(*row)


def _keep(store: Store, session: SessionRecord, harvested: _Harvested) -> bool:
    """False where another process was quicker: what it kept is looked at first."""
    state = harvested.state
    with store.connections.write() as connection:
        if _read_state(connection, session.id) != harvested.before:
            return False
        connection.executemany(
            _KEEP,
            [
                (
                    session.id,
                    point.id,
                    state.number,
                    point.revision,
                    point.first_seq,
                    point.last_seq,
                    point.model_dump_json(exclude_defaults=True),
                )
                for point in harvested.points
            ],
        )
        connection.execute(
            "INSERT OR REPLACE INTO decision_harvests "
            "(session_id, number, generation, rules, fed, last_seq, snapshot) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                session.id,
                state.number,
                state.generation,
                state.rules,
                state.fed,
                state.last_seq,
                state.snapshot,
            ),
        )
    return True


def _chunks(sessions: Sequence[SessionRecord]) -> Iterator[list[int]]:
    for start in range(0, len(sessions), _SESSIONS):
        yield [session.id for session in sessions[start : start + _SESSIONS]]
