"""What a query finds, as candidates for a pack: events, their beliefs, and the signals to rank by.

Bounded in events and tokens that are read, whatever the store holds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from compress.beliefs.classes import Source
from compress.beliefs.harvest import beliefs_of
from compress.beliefs.values import Belief
from compress.events import ContentBlock, NodeId, SessionEvent
from compress.operations import in_log_order, moment, operations, pinned_nodes, undone_by
from compress.packs.values import Candidate
from compress.tokens import TokenCounter
from compress.toolcalls import tool_call
from inspector.contents import Contents
from inspector.loaded import LoadedSession
from inspector.pack_decisions import decision_beliefs
from inspector.pack_reports import PackScope
from storage.around import calls_answered, mentions_behind
from storage.candidates import Matches, matches, recent
from storage.catalog import SessionRecord
from storage.index_part import Match
from storage.scoring import scores
from storage.scripts import is_searchable
from storage.store import Store

READ_TOKENS = 24_000
"""Of the events that are read, where nothing else is asked for."""
_USED = 6
"""Files of which later mentions are counted: those of the best matches."""
_FILE_ACTIONS = ("read", "changed", "created")


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is looked for. ``own``: the session whose pins come first."""

    scope: PackScope
    sessions: tuple[SessionRecord, ...] | None
    """``None``: all."""
    own: SessionRecord | None = None
    at: NodeId | None = None
    """A moment of ``own``, behind which nothing is looked at; ``None``: now."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What candidates are made with. ``load`` is asked only where something is pinned."""

    store: Store
    counter: TokenCounter
    sources: Mapping[str, Source]
    load: Callable[[str], LoadedSession]


@dataclass(slots=True)
class _Found:
    """A belief on its way. ``row``: (session, seq) of its event."""

    belief: Belief
    row: tuple[int, int]
    target: str | None = None


def candidates_of(
    reader: Reader, place: Place, query: str, wanted: int, tokens: int = READ_TOKENS
) -> tuple[Candidate, ...]:
    """The beliefs of at most so many events, of so many tokens in all; beside them those of what is
    pinned and of decision points. Each has its match, its age and its uses. A query without a
    letter or digit takes the newest events.

    Raises :class:`compress.errors.StaleNodeError` for a moment that does not exist.
    """
    store = reader.store
    until, pins = _moment(store, place)
    if is_searchable(query):
        found = matches(store.connections, query, place.sessions, wanted, until=until)
    else:
        found = Matches((), _newest(store, place, wanted, until))
    records = _records(store, place, found.events)
    told = _beliefs(reader, place, records, _bounded(found.events, tokens))
    if found.pieces or found.events:
        decided = decision_beliefs(
            store,
            place.own,
            records,
            found,
            until=until,
            sources=reader.sources,
            named=place.scope != "session",
        )
        told += [_Found(belief, row) for belief, row in decided]
    locked = _locked(reader, place, pins) if pins else []
    pinned = {one.row for one in locked if one.row[1]}
    everything = [*locked, *(one for one in told if one.row not in pinned)]
    matched = scores([one.belief.content for one in everything], found.pieces)
    ages = _ages(everything, records)
    uses = _uses(store, everything, matched, records, until)
    return tuple(
        Candidate(one.belief, match=match, age=ages[one.row], uses=uses.get(at, 0))
        for at, (one, match) in enumerate(zip(everything, matched, strict=True))
    )


def _moment(store: Store, place: Place) -> tuple[int | None, frozenset[NodeId]]:
    """The last seq that is looked at, and the nodes that were pinned then."""
    if place.own is None:
        return None, frozenset()
    until, rows = moment(store.operations(place.own), place.at)
    made = operations(rows)
    return until, pinned_nodes(made, undone_by(made))


def _newest(store: Store, place: Place, wanted: int, until: int | None) -> tuple[Match, ...]:
    sessions = store.sessions() if place.sessions is None else place.sessions
    return recent(store.connections, sessions, wanted, until=until)


def _records(store: Store, place: Place, events: Iterable[Match]) -> dict[int, SessionRecord]:
    """By id: the sessions of these events, and the pack's own."""
    known = {} if place.sessions is None else {record.id: record for record in place.sessions}
    if place.own is not None:
        known[place.own.id] = place.own
    for event in events:
        if event.session not in known:
            known[event.session] = store.session(event.session)
    return known


def _bounded(events: Sequence[Match], room: int) -> list[Match]:
    """The best, as far as they stay below the bound; what is too long is passed over."""
    taken = []
    for event in events:
        if event.tokens <= room:
            room -= event.tokens
            taken.append(event)
    return taken


def _beliefs(
    reader: Reader,
    place: Place,
    records: Mapping[int, SessionRecord],
    events: Sequence[Match],
) -> list[_Found]:
    seqs: dict[int, list[int]] = {}
    for event in events:
        seqs.setdefault(event.session, []).append(event.seq)
    found: list[_Found] = []
    for session, wanted in seqs.items():
        record = records[session]
        read = reader.store.events(record, sorted(wanted))
        found += _told(reader, place, record, read)
    return found


def _told(
    reader: Reader,
    place: Place,
    record: SessionRecord,
    events: Sequence[SessionEvent],
    *,
    locked: bool = False,
) -> list[_Found]:
    """The beliefs of a session's events."""
    calls = _calls(reader.store, record, events)
    name = "" if place.scope == "session" else record.name
    found = []
    for event in events:
        call = calls.get(event.seq)
        target = _file(call, event)
        found += [
            _Found(belief, (record.id, event.seq if isinstance(event.seq, int) else 0), target)
            for belief in beliefs_of(
                event,
                native=record.native_id,
                session=name,
                call=call,
                counter=reader.counter,
                sources=reader.sources,
                locked=locked,
            )
        ]
    return found


def _calls(
    store: Store, record: SessionRecord, events: Sequence[SessionEvent]
) -> dict[NodeId, ContentBlock]:
    """Result's seq → the block of the call that it answers."""
    asked = [
        (event.seq, block.id)
        for event in events
        for block in event.blocks[:1]
        if block.kind == "tool_result" and block.id and isinstance(event.seq, int)
    ]
    if not asked:
        return {}
    places = calls_answered(store.connections, record, asked)
    made = {e.seq: e for e in store.events(record, sorted(set(places.values())))}
    found: dict[NodeId, ContentBlock] = {}
    for seq, identifier in asked:
        event = made.get(places.get(seq, 0))
        for block in event.blocks if event is not None else ():
            if block.kind == "tool_call" and block.id == identifier:
                found[seq] = block
    return found


def _file(call: ContentBlock | None, event: SessionEvent) -> str | None:
    """The file that an event is about, if a call says so."""
    if call is None:
        call = next((block for block in event.blocks if block.kind == "tool_call"), None)
    if call is None:
        return None
    facts = tool_call(call.name or "", call.input).facts
    return next((fact.target for fact in facts if fact.action in _FILE_ACTIONS), None)


def _locked(reader: Reader, place: Place, pins: frozenset[NodeId]) -> list[_Found]:
    """The pinned nodes, each with its whole unit."""
    assert place.own is not None
    loaded = reader.load(place.own.name)
    state = loaded.plan(place.at)
    held = [node for node in in_log_order(state.held) if node in state.surface.members]
    nodes = Contents(reader.store, loaded.record, state).all(held)
    events = [event for node in nodes for event in node.events]
    found: list[_Found] = []
    for one in _told(reader, place, loaded.record, events, locked=True):
        part = one.belief.part
        if part is not None and part[0]:
            # What a person pinned stands whole: in one piece, whatever repeats in it.
            before = found[-1].belief
            found[-1].belief = replace(before, content=before.content + one.belief.content)
        else:
            found.append(replace(one, belief=replace(one.belief, part=None)))
    return found


def _ages(
    found: Sequence[_Found], records: Mapping[int, SessionRecord]
) -> dict[tuple[int, int], int]:
    """By event: how many events among these are newer. Within a session by seq, of sessions by
    when something was last heard of them."""
    rows = {one.row for one in found}
    heard = {n: (min(r.last_event_at or r.file_time, r.file_time), n) for n, r in records.items()}
    ordered = sorted(rows, key=lambda row: (*heard[row[0]], row[1]), reverse=True)
    return {row: age for age, row in enumerate(ordered)}


def _uses(
    store: Store,
    found: Sequence[_Found],
    matched: Sequence[float],
    records: Mapping[int, SessionRecord],
    until: int | None,
) -> dict[int, int]:
    """By position: how many later events name the file that it is about. Of the best only."""
    places: dict[tuple[int, str], list[int]] = {}
    for at in sorted(range(len(found)), key=lambda at: (-matched[at], at)):
        one = found[at]
        if one.target is not None:
            places.setdefault((one.row[0], one.target), []).append(at)
    uses: dict[int, int] = {}
    for (session, target), positions in list(places.items())[:_USED]:
        first = min(found[at].row[1] for at in positions)
        later = mentions_behind(store.connections, records[session], target, first, until)
        for at in positions:
            uses[at] = len(later) - bisect_right(later, found[at].row[1])
    return uses
