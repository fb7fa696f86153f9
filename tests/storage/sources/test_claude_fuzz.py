"""Whatever a record holds, the reader never raises and its events fold."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.sources.claude import ClaudeAdapter
from tests.storage.sources.claude_log import Log

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8)
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "text", "content", "id", "uuid", "message", "usage"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)
BLOCK = {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": {"todos": [{"content": "x"}]}}
RECORDS: list[dict[str, Any]] = [
    {"type": "user", "message": {"content": "hi"}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t"}]}},
    {"type": "user", "message": {"content": "sum"}, "isCompactSummary": True},
    {"type": "assistant", "message": {"id": "m", "model": "m-1", "content": [BLOCK], "usage": {}}},
    {"type": "assistant", "message": {"id": "m", "content": "x"}, "isApiErrorMessage": True},
    {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"preservedSegment": {}}},
    {"type": "system", "subtype": "microcompact_boundary", "microcompactMetadata": {}},
    {"type": "system", "subtype": "api_error", "error": {"status": 1}},
    {"type": "attachment", "attachment": {"type": "x", "rendered": [{"content": "y"}]}},
    {"type": "queue-operation", "operation": "enqueue", "content": "x"},
    {"type": "queue-operation", "operation": "remove"},
    {"type": "last-prompt", "leafUuid": "u1"},
    {"type": "api-request", "params": {"model": "m-2"}},
    {"type": "summary", "summary": "t", "leafUuid": "u1"},
]


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    row: Any = json.loads(json.dumps(draw(st.sampled_from(RECORDS))))
    ids = [f"u{number}" for number in range(5)]
    row |= {"uuid": draw(st.sampled_from([*ids, None])), "parentUuid": draw(st.sampled_from(ids))}
    row["isSidechain"] = draw(st.sampled_from([False, False, False, True]))
    target = row
    while draw(st.booleans()):
        inner = [value for value in target.values() if isinstance(value, dict) and value]
        if not inner:
            break
        target = draw(st.sampled_from(inner))
    for _ in range(draw(st.integers(0, 2))):
        target[draw(st.sampled_from(sorted(target)))] = draw(ANYTHING)
    return draw(st.sampled_from([row, row, row, row, draw(ANYTHING)]))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(damaged(), max_size=12))
def test_nothing_in_a_record_raises(rows: list[Any]) -> None:
    log = Log()
    for row in rows:
        for event in log.raw(row):
            json.dumps(dict(event.meta))
            assert ClaudeAdapter().blocks(row, event.block) == event.blocks
    log.texts()
    log.texts("live")
    for session in log.sessions.values():
        seqs = [event.seq for event in session]
        assert seqs == sorted(set(seqs), key=int)


def test_a_deeply_nested_value_is_survived() -> None:
    log = Log()
    deep: Any = "x"
    for _ in range(150):
        deep = [deep]
    log.user([{"type": "hologram", "data": deep}, deep], "u1")
    log.add("attachment", "a", attachment={"type": "x", "content": deep})
    assert len(log.of("user/message")) == 2
