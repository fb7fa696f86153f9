"""What holds of every harvest, whatever the events are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.decisions.harvest import Harvest
from compress.decisions.text import memory_text
from compress.decisions.values import DecisionPoint
from compress.events import SURFACE_TYPES, ContentBlock, SessionEvent
from tests.compress.decisions.story import ABOUT, JUDGE, new_harvest

TEXTS = st.sampled_from(
    [
        "go",
        "",
        "<a>x</a>",
        "Exit code 0",
        "Exit code 1",
        "Exit code 2\nError: no",
        "3 failed, 1 passed",
        "4 passed\nExit code 0",
        "x" * 3_000,
    ]
)
CALLS = st.sampled_from(["c1", "c2", "c3", ""])
INPUTS = st.sampled_from(
    [
        {"command": "runner"},
        {"command": "make | tail", "description": "Build"},
        {"path": "a.py", "content": "x"},
        {"path": "b.py"},
        {"command": "git commit -m a -m b"},
        "text",
        None,
        [1],
    ]
)
BLOCKS = st.one_of(
    st.builds(lambda text: ContentBlock(kind="text", text=text), TEXTS),
    st.builds(
        lambda call, given: ContentBlock(kind="tool_call", id=call, name="shell", input=given),
        CALLS,
        INPUTS,
    ),
    st.builds(
        lambda call, text, flag: ContentBlock(
            kind="tool_result", id=call, text=text, is_error=flag
        ),
        CALLS,
        TEXTS,
        st.sampled_from([None, True, False]),
    ),
)
ITEMS = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.sampled_from(["a", "b", "c", "a, reworded"]),
            "status": st.sampled_from(["pending", "in_progress", "completed"]),
        }
    ),
    max_size=4,
)
JUNK = st.sampled_from([None, 1, "x", "", [], {}, True, [1], {"a": 1}])
METAS = st.one_of(
    st.just({}),
    st.builds(lambda items: {"kind": "todo", "items": items}, ITEMS),
    st.builds(
        lambda decision, call, words: {"decision": decision, "call": call, "message": words},
        st.sampled_from(["approved", "rejected", "edited", "answered", "cancelled"]),
        CALLS,
        TEXTS,
    ),
    st.sampled_from(
        [
            {"reason": "completed"},
            {"reason": "interrupted"},
            {"reason": "error"},
            {"stop": "stop"},
            {"stop": "error"},
            {"stop": "aborted"},
            {"receipt": True},
            {"declined": True},
            {"checkpoint": "agent"},
            {"copy": True},
            {"source": "interrupt"},
            {"marker": "rewind"},
            {"kind": "plan", "explanation": "# Way"},
            {"trigger": "auto", "pre_tokens": 5},
            {"message": "status 529"},
            {"id": "q1", "callId": "c1"},
            {"id": "q1", "outcome": "allowed-once"},
        ]
    ),
    st.dictionaries(
        st.sampled_from(["kind", "items", "decision", "call", "message", "reason", "stop", "id"]),
        JUNK,
        max_size=3,
    ),
)
TYPES = st.sampled_from(
    [
        *("user/message", "assistant/message", "assistant/message", "tool/result", "tool/result"),
        *("context/message", "steering/message", "turn/start", "turn/end", "artifact/update"),
        *("approval/request", "approval/decision", "error", "retry", "usage", "unknown"),
        *("compact/start", "compact/summary", "compact/end"),
    ]
)


@st.composite
def histories(draw: st.DrawFn) -> list[list[SessionEvent]]:
    """Events by record. Turns rise now and then, as in a log."""
    records: list[list[SessionEvent]] = []
    seq, turn = 0, 0
    for place in range(draw(st.integers(1, 14))):
        turn += draw(st.sampled_from([0, 0, 0, 1]))
        record = []
        for block in range(draw(st.integers(1, 3))):
            seq += 1
            kind: Any = draw(TYPES)
            fields: dict[str, Any] = {"seq": seq, "type": kind, "native_id": f"r{place}"}
            fields |= {"block": block, "turn": draw(st.sampled_from([turn, turn, turn, None]))}
            fields |= {"time": draw(st.sampled_from([None, 1.0 * seq])), "meta": draw(METAS)}
            if kind in SURFACE_TYPES:
                fields |= {"node": seq, "blocks": tuple(draw(st.lists(BLOCKS, max_size=2)))}
            record.append(SessionEvent(**fields))
        records.append(record)
    return records


def newest(points: list[DecisionPoint]) -> dict[str, DecisionPoint]:
    """The newest state of each record."""
    found: dict[str, DecisionPoint] = {}
    for point in points:
        known = found.get(point.id)
        if known is None or (point.revision, not point.open) >= (known.revision, not known.open):
            found[point.id] = point
    return found


def feed(harvest: Harvest, records: list[list[SessionEvent]]) -> list[DecisionPoint]:
    for record in records:
        for event in record:
            harvest.feed(event, 3)
    return harvest.take()


@settings(max_examples=40, deadline=None)
@given(histories(), st.data())
def test_pieces_with_snapshots_between_give_the_same_as_the_whole(
    records: list[list[SessionEvent]], data: st.DataObject
) -> None:
    whole = newest(feed(new_harvest(), records))
    harvest, taken, start = new_harvest(), [], 0
    while start < len(records):
        stop = data.draw(st.integers(start + 1, len(records)))
        taken += feed(harvest, records[start:stop])
        start = stop
        if data.draw(st.booleans()):
            harvest = Harvest.restore(ABOUT, len, JUDGE, harvest.snapshot())
    assert newest(taken) == whole


@settings(max_examples=50, deadline=None)
@given(histories())
def test_a_closed_record_never_changes(records: list[list[SessionEvent]]) -> None:
    harvest = new_harvest()
    closed: dict[str, DecisionPoint] = {}
    for record in records:
        for point in feed(harvest, [record]):
            assert point.id not in closed, "a record came back after it was closed"
            if not point.open:
                closed[point.id] = point
    whole = newest(feed(new_harvest(), records))
    assert {key: point for key, point in whole.items() if not point.open} == closed


@settings(max_examples=40, deadline=None)
@given(histories())
def test_events_that_come_twice_count_once(records: list[list[SessionEvent]]) -> None:
    once = feed(new_harvest(), records)
    assert feed(new_harvest(), [[*record, *record] for record in records]) == once
    harvest = new_harvest()
    feed(harvest, records)
    assert feed(harvest, records) == []


@settings(max_examples=50, deadline=None)
@given(histories())
def test_a_record_says_where_everything_in_it_is_from(records: list[list[SessionEvent]]) -> None:
    known = {event.seq for record in records for event in record}
    points = feed(new_harvest(), records)
    assert len({point.id for point in points}) == len(points)
    for point in points:
        parts = [point.sources.title, point.sources.summary, point.sources.rationale]
        parts += [point.sources.outcome, point.sources.started_at, point.sources.ended_at]
        parts += [item.source_event_seqs for item in point.steering]
        parts += [item.source_event_seqs for item in point.evidence]
        parts += [item.source_event_seqs for item in point.files]
        cited = {seq for part in parts for seq in part} | {point.first_seq}
        assert point.source_event_seqs == tuple(sorted(cited, key=int))
        assert cited <= known
        assert bool(point.rationale) == bool(point.sources.rationale)
        assert bool(point.summary) <= bool(point.sources.summary)
        assert (point.outcome == "unknown") or point.sources.outcome
        assert not (point.open and point.outcome != "unknown")
        assert point.tokens == len(memory_text(point))
        assert DecisionPoint.model_validate(json.loads(json.dumps(point.model_dump()))) == point


def test_a_snapshot_of_another_version_is_refused_with_the_way_out() -> None:
    for snapshot in ('{"version": 0}', "{", '{"version": 1, "last_seq": "x"}'):
        with pytest.raises(ValueError, match="harvest the session again"):
            Harvest.restore(ABOUT, len, JUDGE, snapshot)


def test_ids_do_not_depend_on_how_events_are_numbered() -> None:
    first = SessionEvent(seq=1, type="turn/start", native_id="r1", block=0, turn=1)
    moved = first.model_copy(update={"seq": 7, "block": 3})
    ids = []
    for event in (first, moved):
        harvest = new_harvest()
        harvest.feed(event, 0)
        ids.append([point.id for point in harvest.take()])
    assert ids[0] == ids[1]


def test_an_error_of_no_turn_that_a_running_turn_tells_of_is_handed_out() -> None:
    spoken = SessionEvent(seq=1, type="assistant/message", native_id="r0", block=0, node=1, turn=0)
    failed = SessionEvent(seq=2, type="error", native_id="r1", block=0)
    harvest = new_harvest()
    first = feed(harvest, [[spoken]])
    (again,) = feed(harvest, [[failed]])
    assert [point.id for point in first] == [again.id]
    assert again.revision == 2
    assert [fact.source_event_seqs for fact in again.evidence] == [(2,)]
