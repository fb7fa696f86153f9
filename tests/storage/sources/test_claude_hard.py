"""Damage and oddities that real Claude Code logs have had, by the number of their case."""

from __future__ import annotations

from pathlib import Path

import pytest

from compress.events import SessionEvent
from compress.messages import derive_messages
from compress.surface import fold
from storage.sources.base import FileReader
from storage.sources.claude import ClaudeAdapter
from tests.derivation import content, read

pytestmark = pytest.mark.hard
ADAPTER = ClaudeAdapter()


def opened(path: Path) -> tuple[FileReader, list[SessionEvent]]:
    reader, events = read(ADAPTER, path)
    return reader, events.get("", [])


def sent(events: list[SessionEvent]) -> list[str]:
    """The texts of the surface, in order."""
    surface = fold(events)
    nodes = content(surface, events)
    return [block.text for node in nodes for event in node.events for block in event.blocks]


def of_type(events: list[SessionEvent], kind: str) -> list[SessionEvent]:
    return [event for event in events if event.type == kind]


def test_r14_one_message_over_three_records_is_one_node(hard_inputs: Path) -> None:
    _, events = opened(hard_inputs / "R14" / "split.jsonl")
    said = of_type(events, "assistant/message")
    assert [block.kind for e in said for block in e.blocks] == ["thinking", "text", "tool_call"]
    assert {e.node for e in said} == {said[0].seq}
    assert {e.request for e in said} == {said[0].seq}
    assert len(fold(events).nodes) == 3


def test_r15_a_copied_history_has_the_ids_of_the_original(hard_inputs: Path) -> None:
    ids = {}
    for name in "abc":
        _, events = opened(hard_inputs / "R15" / f"{name}.jsonl")
        ids[name] = {(event.native_id, event.block) for event in events if event.op is not None}
    assert len(ids["a"]) == 4
    assert ids["a"] < ids["b"]
    assert ids["a"] < ids["c"]
    assert len(ids["a"] | ids["b"] | ids["c"]) == 4 + 2 + 1


def test_r16_order_is_the_files_and_a_bad_time_is_unknown(hard_inputs: Path) -> None:
    _, events = opened(hard_inputs / "R16" / "clock.jsonl")
    expected = [f"{who} {n}" for n in range(6) for who in ("question", "answer")]
    assert sent(events) == expected
    times = [event.time for event in events if event.op is not None]
    assert [time is None for time in times] == [False] * 2 + [True] * 7 + [False] * 3


def test_r17_a_cycle_ends_is_reported_and_shows_each_record_once(hard_inputs: Path) -> None:
    _, events = opened(hard_inputs / "R17" / "cycle.jsonl")
    assert sorted(sent(events)) == sorted(
        [*(f"question {n}" for n in range(3)), *(f"answer {n}" for n in range(3))]
    )
    assert [e.meta["kind"] for e in of_type(events, "error")] == ["gap", "cycle"]
    _, events = opened(hard_inputs / "R17" / "self.jsonl")
    assert sent(events) == ["question 0", "answer 0"]
    assert "its own parent" in of_type(events, "error")[0].meta["message"]


def test_r17_a_deep_chain_needs_no_recursion(hard_inputs: Path) -> None:
    _, events = opened(hard_inputs / "R17" / "deepchain.jsonl")
    assert len(fold(events).nodes) == len(of_type(events, "user/message")) >= 3000


def test_r18_a_missing_parent_cuts_as_the_agent_does_and_is_reported(hard_inputs: Path) -> None:
    _, events = opened(hard_inputs / "R18" / "dangling.jsonl")
    messages = [event for event in events if event.op is not None]
    assert len(messages) == 6, "every record is an event"
    assert sent(events) == ["question 2", "answer 2"]
    gaps = of_type(events, "error")
    assert [gap.meta["kind"] for gap in gaps] == ["gap", "gap"]
    assert all("is not in the file" in gap.meta["message"] for gap in gaps)


def test_r21_orphan_results_keep_their_own_ids(hard_inputs: Path) -> None:
    _, events = opened(hard_inputs / "R21" / "orphan.jsonl")
    results = of_type(events, "tool/result")
    assert [r.blocks[0].id for r in results] == ["toolu_gone", "toolu_a", "toolu_a"]
    assert [r.step for r in results] == [None, 1, 1]
    assert len({r.node for r in results}) == 3


def test_r22_calls_without_a_result_get_the_agents_made_up_one(hard_inputs: Path) -> None:
    reader, events = opened(hard_inputs / "R22" / "interrupted.jsonl")
    messages = derive_messages(content(fold(events), events), "claude")
    made_up = [b.id for m in messages for b in m.blocks if b.kind == "synthetic"]
    assert made_up == ["toolu_x", "toolu_tail"]
    assert [e.meta["reason"] for e in of_type(events, "turn/end")] == ["interrupted"]
    assert not reader.sessions[""].ended


def test_r24_equal_and_empty_ids_are_kept_apart_by_order(hard_inputs: Path) -> None:
    _, events = opened(hard_inputs / "R24" / "dupids.jsonl")
    results = of_type(events, "tool/result")
    assert [(r.blocks[0].id, r.blocks[0].text) for r in results] == [
        ("toolu_dup", "one"),
        ("toolu_dup", "two"),
        ("", "empty"),
        (None, "null"),
    ]
    assert [r.step for r in results] == [1, 2, None, None]
    assert len(fold(events).nodes) == 8


def test_r25_what_is_not_understood_is_kept_and_counted(hard_inputs: Path) -> None:
    reader, events = opened(hard_inputs / "R25" / "unknown.jsonl")
    assert reader.unknown_types == {
        "quantum-snapshot": 1,
        "not an object": 5,
        "object without a type": 4,
    }
    assert len(of_type(events, "unknown")) == 10
    odd = [e.blocks[0] for e in of_type(events, "assistant/message") if e.step == 2]
    assert [block.kind for block in odd] == [
        "opaque",
        "text",
        "opaque",
        "opaque",
        "opaque",
        "opaque",
    ]
    assert [odd[0].name, odd[1].text, odd[2].text] == ["hologram", "bare string", "7"]


def test_r29_odd_shapes_show_as_far_as_they_go(hard_inputs: Path) -> None:
    reader, events = opened(hard_inputs / "R29" / "shapes.jsonl")
    blocks = [b for e in of_type(events, "assistant/message") for b in e.blocks]
    assert [(b.kind, b.text) for b in blocks if b.kind in ("text", "opaque")] == [
        ("text", "text"),
        ("opaque", "{}"),
        ("opaque", "5"),
        ("text", "?"),
        ("text", "x"),
    ]
    assert [b.input for b in blocks if b.kind == "tool_call"] == [None]
    assert all(event.usage is None for event in events)
    assert reader.recognised == 15


def test_r40_the_project_is_the_records_folder(hard_inputs: Path) -> None:
    found = set()
    for path in sorted((hard_inputs / "R40").rglob("*.jsonl")):
        reader, _ = opened(path)
        found.add(reader.sessions[""].cwd)
    assert found == {"/w/my-app", "/w/my/app", "/w/my_app", "/w/你好", "/w/再见"}


@pytest.mark.parametrize("name", ["stream_auto", "stream_None"])
def test_t01_the_records_of_a_stream_are_one_request(hard_inputs: Path, name: str) -> None:
    _, events = opened(hard_inputs / "T01" / f"{name}.jsonl")
    said = of_type(events, "assistant/message")
    assert {e.request for e in said} == {said[0].seq}
    assert [e.usage.output for e in said if e.usage] == [3, 9, 159]
    last = said[-1].usage
    assert last is not None
    assert (last.input, last.cache_read, last.cache_write) == (10, 15555, 0)
    assert [e.usage.lower_bound for e in said if e.usage] == [True, True, False]


def test_t08_sub_agents_are_sessions_of_their_own(hard_inputs: Path) -> None:
    outputs = {}
    for path in sorted((hard_inputs / "T08").rglob("*.jsonl")):
        reader, events = opened(path)
        facts = reader.sessions[""]
        outputs[facts.native_id] = (
            facts.relation,
            [e.usage.output for e in events if e.usage],
        )
        main = next(p.stem for p in (hard_inputs / "T08" / "-p").glob("*.jsonl"))
        assert facts.parent_native_id == (None if facts.relation == "main" else main)
    assert sorted(outputs.values()) == [
        ("main", [20]),
        ("subagent", [40]),
        ("subagent", [80]),
    ]


def test_t09_a_stream_without_an_end_is_a_lower_bound(hard_inputs: Path) -> None:
    _, events = opened(hard_inputs / "R14" / "split.jsonl")
    assert [e.usage.lower_bound for e in events if e.usage] == [True] * 3


def test_t10_the_model_is_told_at_each_switch_and_no_window_is_guessed(hard_inputs: Path) -> None:
    reader, events = opened(hard_inputs / "T10" / "switch.jsonl")
    assert [e.meta["model"] for e in of_type(events, "request/header")] == [
        "claude-sonnet-4-5",
        "claude-opus-4-8",
        "claude-sonnet-4-5[1m]",
        "claude-haiku-4-5",
        "mystery-model-9",
    ]
    assert reader.sessions[""].window is None
    assert len(fold(events).nodes) == 6, "the agent's own filler is not sent"


def test_t11_an_unreadable_figure_is_unknown_and_not_zero(hard_inputs: Path) -> None:
    _, events = opened(hard_inputs / "T11" / "usage.jsonl")
    found = [
        (e.usage.input, e.usage.output) if e.usage else None
        for e in of_type(events, "assistant/message")
    ]
    assert found == [None, (0, 0), None, (None, 3), None, None, None, None]


def test_c08_a_boundary_to_a_missing_record_cuts_and_is_reported(hard_inputs: Path) -> None:
    _, events = opened(hard_inputs / "C08" / "boundary.jsonl")
    assert sent(events) == ["answer 2", "question 3", "answer 3"]
    kinds = [e.type for e in events if e.type.startswith("compact/")]
    assert kinds == ["compact/start", "compact/end"]
    assert [e.meta["kind"] for e in of_type(events, "error")] == ["gap"]
    assert len([event for event in events if event.op is not None]) == 7, "all are shown"
