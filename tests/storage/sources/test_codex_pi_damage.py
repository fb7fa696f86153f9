"""Whatever a record of Codex or pi holds, reading it raises nothing and the fold stays legal."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compress.messages import derive_messages
from compress.surface import fold
from storage.sources.base import SourceAdapter
from tests.derivation import content, read, records
from tests.storage.sources import codex_logs as codex
from tests.storage.sources import pi_logs as pi
from tests.storage.sources.made_logs import PI, PLAN
from tests.storage.sources.paths import NOWHERE

ROLLOUT = [
    codex.meta(source={"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}),
    *codex.turn("1", "u1", "a1", codex.call("c"), codex.output("c", [{"type": "input_text"}])),
    codex.row("turn_context", {"turn_id": "1", "model": "m", "cwd": "/p"}),
    codex.call("p", "update_plan", PLAN),
    codex.item("reasoning", summary=[{"type": "summary_text", "text": "r"}]),
    codex.item("custom_tool_call", name="apply_patch", input="p", call_id="d"),
    codex.item("agent_message", author="a", content=[{"type": "input_text", "text": "x"}]),
    codex.row("inter_agent_communication", {"author": "a", "content": "x"}),
    codex.usage(codex.figures(9, 1, 2, 0), codex.figures(9, 1, 2, 0)),
    codex.note("item_completed", item={"type": "Plan", "text": "t"}),
    codex.note("exec_approval_request", command=["x"]),
    codex.compacted("k", "S"),
    codex.summarised("L"),
    codex.rolled_back(1),
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    found = [(*path, key) for key in keys]
    return found + [deep for key in keys for deep in _places(value[key], (*path, key))]


@st.composite
def damaged(draw: st.DrawFn, rows: list[Any]) -> list[Any]:
    """The rows in some order, with single values of theirs replaced by anything."""
    chosen = [copy.deepcopy(row) for row in draw(st.lists(st.sampled_from(rows), max_size=14))]
    for row in chosen:
        if draw(st.booleans()):
            *path, last = draw(st.sampled_from(_places(row)))
            target = row
            for key in path:
                target = target[key]
            target[last] = draw(ANYTHING)
    return chosen


def _check(adapter: SourceAdapter, rows: list[Any]) -> None:
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    found = records(data)
    values = {number: record.value for number, record in enumerate(found)}
    reader = adapter.open(NOWHERE)
    log = []
    for number, record in enumerate(found):
        for derived in reader.feed(record):
            for event in derived.events:
                log.append(event)
                json.loads(event.model_dump_json())
                own = adapter.blocks(values[number], event.block)
                assert own == event.blocks or "call_id" in event.meta
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    derive_messages(content(fold(log), log), adapter.agent)
    assert read(adapter, NOWHERE, found)[1].get("", []) == log


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged(ROLLOUT))
def test_damaged_codex_records(rows: list[Any]) -> None:
    _check(codex.ADAPTER, rows)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged(PI))
def test_damaged_pi_entries(rows: list[Any]) -> None:
    _check(pi.ADAPTER, rows)


@pytest.mark.parametrize("depth", [150, 900, 100_000])
def test_arguments_nested_without_end_are_kept_as_text(depth: int) -> None:
    arguments = "[" * depth + "]" * depth
    (event,) = codex.events([codex.call("c", "x", arguments)])
    assert event.blocks[0].kind == "tool_call"
    assert json.loads(event.model_dump_json())["blocks"][0]["name"] == "x"
