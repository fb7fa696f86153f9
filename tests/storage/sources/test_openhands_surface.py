"""OpenHands: what would be sent again is what its own view gives, at every moment."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.events import Rebase, Replace
from compress.surface import fold
from storage.sources.registry import adapter_of, registry
from storage.tail import Tail
from tests.derivation import read
from tests.storage.sources.openhands_logs import (
    ADAPTER,
    SIGNED,
    action,
    answer,
    condensation,
    events,
    lines,
    random_log,
    result,
    sent,
    state,
    user,
)
from tests.storage.sources.openhands_old_logs import of, old, random_old, response, seen
from tests.storage.sources.openhands_reference import Line, loaded, loaded_old


def messages(log: Any) -> list[list[Line]]:
    return [
        [
            (m.role, b.kind, b.id, json.dumps(b.input) if b.kind == "tool_call" else b.text)
            for b in m.blocks
        ]
        for m in sent(log)
    ]


@settings(max_examples=40)
@given(seed=st.integers(0, 1_000_000))
def test_at_every_moment_the_surface_is_what_the_agent_would_load(seed: int) -> None:
    rows = random_log(seed)
    for end in range(1, len(rows) + 1):
        wanted = loaded(rows[:end])
        if wanted is not None:
            assert messages(events(rows[:end])) == wanted


@settings(max_examples=25)
@given(seed=st.integers(0, 1_000_000))
def test_so_it_is_for_conversations_from_before_the_sdk(seed: int) -> None:
    rows = random_old(seed)
    for end in range(1, len(rows) + 1):
        assert messages(events(rows[:end])) == loaded_old(rows[:end])


def test_a_condensation_replaces_what_it_forgets_and_keeps_the_rest() -> None:
    rows = [user("u1", "one"), answer("a1", "two"), user("u2", "three"), answer("a2", "four")]
    log = events([*rows, condensation("k", ["a1", "a2"], "S", 1), user("u3", "five")])
    first = [e.type for e in log].index("compact/start")
    assert [e.type for e in log[first : first + 4]] == [
        "compact/start",
        "compact/summary",
        "context/message",
        "compact/end",
    ]
    one, two, three, four, summary = (e for e in log[: first + 3] if e.node is not None)
    assert summary.op == Replace(start=two.seq, end=four.seq, keep=(three.seq,))
    assert summary.source_event_seqs == (two.seq, four.seq, summary.seq)
    assert summary.meta == {"checkpoint": "agent", "source": "compaction"}
    assert log[first].meta == {"trigger": "auto"}
    assert [text for _, _, _, text in lines(log)] == ["one", "S", "three", "five"]
    assert fold(log).shadowed[summary.seq] == (two.seq, four.seq)
    assert one.seq in fold(log).nodes


def test_a_condensation_without_a_summary_only_forgets() -> None:
    rows = [user("u1", "one"), answer("a1", "two"), user("u2", "three")]
    log = events([*rows, condensation("k", ["a1"], None, None)])
    marker = next(e for e in log if e.meta.get("checkpoint"))
    assert (marker.blocks, type(marker.op)) == ((), Rebase)
    assert [text for _, _, _, text in lines(log)] == ["one", "three"]


def test_a_summary_in_front_of_what_is_kept_whole_lists_all() -> None:
    log = events([user("u1", "one"), answer("a1", "two"), condensation("k", [], "S", 0)])
    assert [text for _, _, _, text in lines(log)] == ["S", "one", "two"]
    assert [type(e.op) for e in log if e.meta.get("checkpoint")] == [Rebase]


def test_what_a_condensation_leaves_of_an_answer_or_a_loop_goes_too() -> None:
    rows = [
        user("u", "do it"),
        action("a1", "c1", "r1"),
        action("a2", "c2", "r1"),
        result("o1", "c1", "one"),
        result("o2", "c2", "two"),
        answer("s", "so"),
        action("b1", "d1", "r2", **SIGNED),
        result("p1", "d1", "three"),
        action("b2", "d2", "r3"),
        result("p2", "d2", "four"),
    ]
    log = events([*rows, condensation("k", ["a1", "p1"], "S", 1)])
    assert [text for _, _, _, text in lines(log)] == ["do it", "S", "so"]


def test_a_conversation_that_goes_on_from_an_earlier_event_leaves_the_rest() -> None:
    rows = [
        {**user("u1", "one"), "parent_id": None},
        {**answer("a1", "two"), "parent_id": "u1"},
        {**user("u2", "three"), "parent_id": "a1"},
        {**user("u3", "other"), "parent_id": "a1"},
        {**user("u4", "anew"), "parent_id": "__root__"},
    ]
    texts = [[t for _, _, _, t in lines(events(rows[:n]))] for n in (3, 4, 5)]
    assert texts == [["one", "two", "three"], ["one", "two", "other"], ["anew"]]
    assert type(events(rows)[-1].op) is Rebase


def test_calls_without_a_result_are_not_sent_and_stand_all_the_same() -> None:
    log = events([user("u", "do it"), action("a", "c", "r", "look")])
    assert lines(log) == [("user", "text", None, "do it")]
    assert len(fold(log).nodes) == 2


def test_thinking_goes_back_where_it_is_signed_or_wanted() -> None:
    thought = {"reasoning_content": "hm", "thinking_blocks": []}
    rows = [action("a", "c", "r", "look", **thought), result("o", "c", "out")]
    told = state("s", "stats", {"usage_to_metrics": {"agent": {"model_name": "kimi-k2-thinking"}}})
    told["value"]["usage_to_metrics"]["agent"]["accumulated_token_usage"] = {"prompt_tokens": 0}
    kinds = [[kind for _, kind, _, _ in lines(events([*first, *rows]))] for first in ([], [told])]
    plain = ["text", "tool_call", "tool_result"]
    assert kinds == [plain, ["thinking", *plain]]


def test_before_the_sdk_an_answer_is_sent_where_its_last_result_came() -> None:
    one = response("r", "c1", "c2")
    rows = [
        old(0, "message", "user", content="do it"),
        of(old(1, "run", command="ls"), one, "c1"),
        of(seen(2, "read", "one", 1), one, "c1"),
        of(old(3, "read", path="a"), one, "c2"),
        old(4, "message", "user", content="and that"),
        of(seen(5, "read", "two", 3), one, "c2"),
    ]
    assert [text for _, kind, _, text in lines(events(rows[:5])) if kind == "text"] == [
        "do it",
        "\n\nand that",
    ]
    assert lines(events(rows))[2:] == [
        ("assistant", "text", None, "so"),
        ("assistant", "tool_call", "c1", '{"a": 1}'),
        ("assistant", "tool_call", "c2", '{"a": 1}'),
        ("user", "tool_result", "c1", "one"),
        ("user", "tool_result", "c2", "two"),
    ]


def test_an_action_from_before_the_sdk_stands_beside_a_condensation_of_the_sdks() -> None:
    one = response("r0", "c0")
    rows = [
        of(old(1, "run", command="ls"), one, "c0"),
        of(seen(2, "run", "out", 1), one, "c0"),
        user("u", "x"),
        condensation("k", ["u"], "S", 2),
    ]
    found = [kind for _, kind, *_ in lines(events(rows))]
    assert found == ["text", "tool_call", "tool_result", "text"]


def test_what_did_not_stand_stands_in_the_branch_that_brings_it_in() -> None:
    """A result whose call comes behind it, in a condensed branch."""
    rows = [
        user("u1", "one"),
        {**condensation("k", [], "S", 0), "parent_id": "u1"},
        user("u2", "two", parent_id="k"),
        {**result("o", "c", "out", "a"), "parent_id": "k"},
        {**action("a", "c", "r"), "parent_id": "o"},
        user("u3", "three", parent_id="a"),
        user("u4", "four", parent_id="a"),
    ]
    found = messages(events(rows))
    assert found == loaded(rows)
    assert ("user", "tool_result", "c", "out") in found[1]


@settings(max_examples=40)
@given(seed=st.integers(0, 1_000_000))
def test_logs_of_both_times_that_are_mixed_are_read_to_their_end(seed: int) -> None:
    """No agent writes such a log; whoever joins two files does."""
    chance = Random(seed)
    ways = [iter(random_log(seed)), iter(random_old(seed))]
    mixed = []
    while ways:
        way = chance.choice(ways)
        row = next(way, None)
        if row is None:
            ways.remove(way)
        else:
            mixed.append(row)
    log = events(mixed)
    assert sent(log)
    assert {str(row["id"]) for row in mixed} >= {event.native_id for event in log}


@pytest.mark.corpus
def test_the_logs_of_the_corpus_hold_their_events_in_order(corpus: Path) -> None:
    log = (corpus / "openhands" / "events.jsonl").read_text()
    rows = [json.loads(line) for line in log.splitlines()]
    wanted = loaded(rows)
    assert wanted is not None
    assert messages(events(rows)) == wanted
    # One result's call was cut out of the log.
    assert len([e for e in events(rows) if e.type == "tool/result"]) == 3


@pytest.mark.corpus
def test_an_export_that_names_actions_instead_of_calls(corpus: Path) -> None:
    path = corpus / "openhands" / "letta_tool-calls.json"
    found_by = adapter_of(registry(), path)
    assert found_by is not None
    with Tail(path) as tail:
        reader, found = read(ADAPTER, path, tail.read(final=True).records)
    assert (reader.unknown_types, found_by.agent) == ({}, "openhands")
    assert lines(found[""]) == [
        ("user", "text", None, "Inspect and update the entry point."),
        ("assistant", "text", None, "I'll inspect the workspace first."),
        ("assistant", "tool_call", "call_oh_1", '{"command": "pwd"}'),
        ("user", "tool_result", "call_oh_1", "/workspace\nready"),
        ("assistant", "tool_call", "action-2", '{"path": "src/app.ts", "content": "updated"}'),
        ("user", "tool_result", "action-2", "Action rejected: Edit was not approved."),
        ("assistant", "text", None, "I inspected the workspace; the edit was rejected."),
    ]
