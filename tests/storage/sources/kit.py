"""What every adapter must hold to, whatever its log looks like.

:func:`check` takes a log, made or real; :func:`check_damage` takes any records at all. Write a
made log for a new adapter in ``made_logs.py``, and ``test_kit.py`` holds the adapter to both.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from compress.events import SURFACE_TYPES, NodeId, SessionEvent
from compress.messages import derive_messages
from compress.surface import SurfaceFold, View
from storage.records import parse_record
from storage.sources.base import FileReader, Numbering, Record, SourceAdapter
from tests.derivation import content

Events = dict[str, list[SessionEvent]]
"""The events of a file, by session."""

STRANGER = {"type": "a type that nobody has", "payload": [1, {"deep": None}]}
"""A record of no agent's."""
EARLIEST, LATEST = 631_152_000.0, 7_258_118_400.0
"""1990 and 2200: a time is between them, or unknown."""


def rows_as_records(rows: Iterable[Any]) -> list[Record]:
    """The records of a log that would hold these values, one a line."""
    found, offset = [], 0
    for number, row in enumerate(rows, 1):
        raw = json.dumps(row).encode()
        record = parse_record(number, offset, raw)
        offset += len(raw) + 1
        if record is not None:
            found.append(record)
    return found


def check(adapter: SourceAdapter, path: Path, log: Sequence[Record]) -> None:
    """All laws, on one log. ``path`` need not exist."""
    events = check_records(adapter, path, log)
    check_content(adapter, path, log)
    check_surface(adapter, events)
    check_prefixes(adapter, path, log, events)
    check_pieces(adapter, path, log, events)


def check_records(adapter: SourceAdapter, path: Path, log: Sequence[Record]) -> Events:
    """No record is lost: each is recognised, or counted as unknown and kept as an event. Each
    event is one that the store takes. Returns the events."""
    reader = adapter.open(path)
    events: Events = {}
    for record in log:
        before = _accounted(reader)
        unknown = sum(reader.unknown_types.values())
        made = _feed(reader, record, events)
        if record.value is None:
            continue
        assert _accounted(reader) > before, f"record {record.line} is in no count"
        if sum(reader.unknown_types.values()) > unknown:
            assert made, f"record {record.line} is not understood, and gives no event"
    for key, found in events.items():
        assert key in reader.sessions, f"session {key!r} has no facts"
        numbers: dict[tuple[str, int], NodeId] = {}
        for event in found:
            # Twice only as a revision: the same event with other content.
            assert numbers.setdefault((event.native_id, event.block), event.seq) == event.seq
        assert list(numbers.values()) == list(range(1, len(numbers) + 1))
        for event in found:
            _check_event(event)
    return events


def check_content(adapter: SourceAdapter, path: Path, log: Sequence[Record]) -> None:
    """The content of each event follows from its raw record alone; what is no event has none."""
    reader = adapter.open(path)
    for record in log:
        contents = adapter.contents(record.value)
        for block in (-1, -2, -(1 << 46), 1 << 60):
            assert adapter.blocks(record.value, block) == contents(block) == ()
        for derived in reader.feed(record):
            for event in derived.events:
                # pi's edit of a result does not repeat the id of its call: the facts have it.
                if "call_id" not in event.meta:
                    assert adapter.blocks(record.value, event.block) == event.blocks
                    assert contents(event.block) == event.blocks


def check_surface(adapter: SourceAdapter, events: Events, *, strict: bool = True) -> None:
    """Every operation is legal where it stands, in both views, and the agent's messages can be
    rendered, of events of the log. Not ``strict``: the log states the operations itself, and may
    state illegal ones."""
    for found in events.values():
        seqs = {event.seq for event in found}
        views: tuple[View, ...] = ("resume", "live")
        for view in views:
            state = SurfaceFold(view)
            for event in found:
                state.apply_leniently(event)
            assert not (strict and state.problems), state.problems
            for message in derive_messages(content(state.snapshot(), found), adapter.agent):
                assert seqs.issuperset(message.seqs)


def check_prefixes(
    adapter: SourceAdapter, path: Path, log: Sequence[Record], events: Events
) -> None:
    """What is read of a log depends on nothing behind it, nor on what was read before."""
    assert read(adapter, path, log) == events
    for cut in _cuts(len(log)):
        for key, found in read(adapter, path, log[:cut]).items():
            assert found == events[key][: len(found)], f"{cut} records give something else"


def check_pieces(adapter: SourceAdapter, path: Path, log: Sequence[Record], events: Events) -> None:
    """After a restart the known part is fed again, its numbers known: seqs stay what they were,
    and what follows is what it would have been."""
    for cut in _cuts(len(log)):
        first = adapter.open(path)
        for record in log[:cut]:
            _feed(first, record, {})
        known = {
            key: Numbering(dict(first.numbering(key)._known)) for key in read(adapter, path, log)
        }
        again = adapter.open(path, known)
        found: Events = {}
        for record in log:
            _feed(again, record, found)
        assert found == events, f"a restart after {cut} records changes what follows"


def check_stranger(
    adapter: SourceAdapter, path: Path, log: Sequence[Record], *, strict: bool = True
) -> None:
    """A record of a type that nobody has, anywhere in a log of lines, is kept, shown and
    counted."""
    for cut in _cuts(len(log)):
        values = [record.value for record in log]
        with_it = rows_as_records([*values[:cut], STRANGER, *values[cut:]])
        events = check_records(adapter, path, with_it)
        unknown = [e for found in events.values() for e in found if e.type == "unknown"]
        assert STRANGER["type"] in [event.meta["type"] for event in unknown]
        check_surface(adapter, events, strict=strict)


def check_damage(
    adapter: SourceAdapter, path: Path, values: Sequence[Any], *, strict: bool = True
) -> None:
    """Whatever records hold, reading them raises nothing, loses nothing, and gives a log that
    folds."""
    log = rows_as_records(values)
    events = check_records(adapter, path, log)
    check_content(adapter, path, log)
    check_surface(adapter, events, strict=strict)
    assert read(adapter, path, log) == events


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@st.composite
def damaged(draw: st.DrawFn, rows: Sequence[Any]) -> list[Any]:
    """Rows of a log in some order, some twice, with values of theirs replaced by anything or
    taken away."""
    chosen = draw(st.lists(st.sampled_from(range(len(rows))), max_size=10))
    found = [copy.deepcopy(rows[index]) for index in chosen]
    for index in range(len(found)):
        for _ in range(draw(st.integers(0, 2))):
            *way, last = draw(st.sampled_from([(), *_places(found[index])])) or (None,)
            if last is None:
                found[index] = draw(ANYTHING)
                break
            target = found[index]
            for key in way:
                target = target[key]
            if isinstance(target, dict) and draw(st.booleans()):
                del target[last]
            else:
                target[last] = draw(ANYTHING)
            if not _places(found[index]):
                break
    return found


def read(adapter: SourceAdapter, path: Path, log: Iterable[Record]) -> Events:
    """The events of these records, by a reader of their own."""
    reader = adapter.open(path)
    events: Events = {}
    for record in log:
        _feed(reader, record, events)
    return events


def _feed(reader: FileReader, record: Record, events: Events) -> list[SessionEvent]:
    made = []
    for derived in reader.feed(record):
        events.setdefault(derived.session, []).extend(derived.events)
        made += derived.events
    return made


def _accounted(reader: FileReader) -> int:
    return reader.recognised + sum(reader.unknown_types.values())


def _check_event(event: SessionEvent) -> None:
    """It is valid, though it was made unchecked; its facts are JSON; its figures are plausible."""
    printed = event.model_dump_json()
    json.loads(printed)
    SessionEvent.model_validate(event.model_dump())
    assert event.op is None or event.type in SURFACE_TYPES
    assert event.time is None or EARLIEST <= event.time < LATEST
    if event.usage is not None:
        figures = event.usage.model_dump(exclude={"lower_bound"})
        assert all(count is None or 0 <= count <= 2**55 for count in figures.values())
        assert event.request is not None


def _cuts(length: int) -> list[int]:
    """All places in a short log, some in a long one."""
    return sorted({*range(0, length, max(1, length // 8)), length})


def _places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    found = [(*way, key) for key in keys]
    return found + [deep for key in keys for deep in _places(value[key], (*way, key))]
