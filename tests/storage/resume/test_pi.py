"""A copy for pi, entry for entry."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from storage.resume.base import CopyNode, ResumeRefusedError
from storage.resume.pi import PiWriter
from tests.storage.resume.copies import SESSION, checkpoint, receipt
from tests.storage.resume.raw_copies import copy_of, planned, read_back
from tests.storage.sources.pi_logs import (
    ADAPTER,
    HEADER,
    TIME,
    Raw,
    answer,
    call,
    compaction,
    edit,
    entry,
    message,
    result,
)

THINKING = {"type": "thinking", "thinking": "hmm", "thinkingSignature": "c2ln+/é=="}
SPENT = {"input": 150_000, "output": 9, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 150_009}
PROMPT = {"role": "system", "content": "", "sections": {"rules": "Be brief."}}
ROWS = [
    HEADER,
    entry("thinking_level_change", "a0", None, thinkingLevel="low"),
    message("a1", "a0", "user", "Fix it."),
    answer("a2", "a1", THINKING, call("c1"), stop="toolUse", usage=SPENT),
    result("a3", "a2", "c1", "a long result"),
    answer("a4", "a3", "Done.", usage=SPENT),
]


def entries_of(rows: list[Raw], change: Any = None, **source: Any) -> list[Raw]:
    """The entries of the copy behind its header: one chain, and what the plan says."""
    copy = copy_of(ADAPTER, rows, change or (lambda nodes: nodes), **source)
    composed = PiWriter().compose(copy)
    assert read_back(ADAPTER, composed.lines) == planned(copy, "pi")
    found = [json.loads(line) for line in composed.lines]
    assert [line["type"] for line in found].count("session") == 1
    entries = found[1:]
    assert [line["parentId"] for line in entries[:1]] == [None]
    assert all(two["parentId"] == one["id"] for one, two in pairwise(entries))
    assert len({line["id"] for line in entries}) == len(entries)
    return entries


def test_entries_are_carried_over_under_their_own_ids() -> None:
    entries = entries_of(ROWS)
    assert [line["id"] for line in entries] == ["a0", "a1", "a2", "a3", "a4"]
    assert [line["timestamp"] for line in entries] == [TIME] * 5
    assert entries[2]["message"]["content"] == ROWS[3]["message"]["content"]
    assert entries[3]["message"] == ROWS[4]["message"]


def test_thinking_is_carried_byte_for_byte() -> None:
    lines = PiWriter().compose(copy_of(ADAPTER, ROWS)).lines
    assert json.dumps(THINKING).encode() in lines[3]


def test_answers_lose_the_usage_that_speaks_of_another_window() -> None:
    entries = entries_of(ROWS)
    said = [line.get("message", {}) for line in entries]
    usage = [message["usage"] for message in said if message.get("role") == "assistant"]
    assert [figures["totalTokens"] for figures in usage] == [0, 0]
    assert set(usage[0]) == {*SPENT, "cost"}


def test_the_header_names_the_original() -> None:
    composed = PiWriter().compose(copy_of(ADAPTER, ROWS))
    assert json.loads(composed.lines[0]) == {
        "type": "session",
        "version": 3,
        "id": SESSION,
        "timestamp": "2026-05-28T20:26:40.250Z",
        "cwd": "/p",
        "parentSession": "/logs/s.jsonl",
    }
    assert str(composed.place) == f"--p--/2026-05-28T20-26-40-250Z_{SESSION}.jsonl"
    assert composed.command == ("pi", "--session", "{path}")


def test_what_the_plan_brings_is_no_word_of_the_users() -> None:
    entries = entries_of(ROWS, lambda nodes: [checkpoint("o3", "in short"), nodes[-1]])
    brought = entries[1]
    assert (brought["type"], brought["customType"]) == ("custom_message", "ullage")
    assert brought["content"] == [{"type": "text", "text": "in short"}]
    assert brought["timestamp"] == "2026-05-28T20:26:40.250Z"


def test_a_receipt_is_a_result_of_the_same_call() -> None:
    def clear(nodes: list[CopyNode]) -> list[CopyNode]:
        return [*nodes[:2], receipt("o3", nodes[2], "[Cleared]"), *nodes[3:]]

    cleared = entries_of(ROWS, clear)[3]["message"]
    assert (cleared["role"], cleared["toolCallId"], cleared["toolName"]) == (
        "toolResult",
        "c1",
        "bash",
    )
    assert cleared["content"] == [{"type": "text", "text": "[Cleared]"}]


def test_a_compaction_at_the_head_stays_one_and_keeps_nothing_before_it() -> None:
    rows = [*ROWS, compaction("a5", "a4", "S", "a2", usage=SPENT, systemMessage=PROMPT)]
    entries = entries_of([*rows, message("a6", "a5", "user", "Go on.")])
    assert [line["id"] for line in entries] == ["a0", "a5", "a2", "a3", "a4", "a6"]
    kept = entries[1]
    assert (kept["firstKeptEntryId"], kept["summary"]) == ("a5", "S")
    assert kept["systemMessage"] == PROMPT
    assert "usage" not in kept


def test_a_compaction_without_its_system_prompt_goes_on_without() -> None:
    rows = [*ROWS, compaction("a5", "a4", "S", "a5", systemMessage=PROMPT)]
    rows.append(message("a6", "a5", "user", "Go on."))
    assert "systemMessage" not in entries_of(rows, lambda nodes: nodes[1:])[1]
    alone = entries_of(rows, lambda nodes: [nodes[0], *nodes[2:]])
    assert alone[1]["message"] == PROMPT


def test_a_compaction_behind_something_else_is_said_as_it_reads() -> None:
    rows = [*ROWS, compaction("a5", "a4", "S", "a5"), message("a6", "a5", "user", "Go on.")]
    entries = entries_of(rows, lambda nodes: [checkpoint("o3", "first"), *nodes])
    assert "compaction" not in [line["type"] for line in entries]
    assert entries[2]["content"][0]["text"].endswith("<summary>\nS\n</summary>")


@pytest.mark.parametrize(
    ("target", "said", "at"),
    [("a1", "Mend it.", 1), ("a3", "short", 3), ("a4", [{"type": "text", "text": "Ready."}], 4)],
)
def test_edited_content_stands_in_its_entry(target: str, said: Any, at: int) -> None:
    edited = entries_of([*ROWS, edit("a5", "a4", target, said)])[at]
    assert edited["type"] == "message"
    assert edited["id"] != target
    old = next(row["message"] for row in ROWS if row.get("id") == target)
    assert edited["message"]["role"] == old["role"]
    expected = [{"type": "text", "text": said}] if said == "short" else said
    assert edited["message"]["content"] == expected


def test_what_an_edit_leaves_out_is_left_out() -> None:
    entries = entries_of([*ROWS, edit("a5", "a4", "a4", None)])
    assert [line["id"] for line in entries] == ["a0", "a1", "a2", "a3"]


def test_the_settings_of_the_path_go_along_and_those_of_other_branches_do_not() -> None:
    rows = [
        *ROWS,
        entry("model_change", "b1", "a4", provider="p", modelId="left behind"),
        entry("model_change", "b2", "a1", provider="p", modelId="m2"),
        entry("session_info", "b3", "b2", name="Parser"),
        entry("custom", "b4", "b3", customType="todo", data={"n": 1}),
        entry("label", "b5", "b4", targetId="a1", label="here"),
        message("b6", "b5", "user", "Another way."),
    ]
    kinds = [(line["type"], line.get("modelId")) for line in entries_of(rows)]
    assert kinds == [
        ("thinking_level_change", None),
        ("model_change", "m2"),
        ("session_info", None),
        ("custom", None),
        ("message", None),
        ("message", None),
    ]


def test_an_old_log_gets_ids_and_todays_names() -> None:
    old = [
        {"type": "session", "id": "s", "timestamp": TIME, "cwd": "/p"},
        {"type": "thinking_level_change", "timestamp": TIME, "thinkingLevel": "off"},
        {"type": "message", "timestamp": TIME, "message": {"role": "user", "content": "x"}},
        {
            "type": "message",
            "timestamp": TIME,
            "message": {"role": "hookMessage", "customType": "h", "content": "y"},
        },
    ]
    entries = entries_of(old)
    assert [line["type"] for line in entries] == ["thinking_level_change", "message", "message"]
    assert entries[2]["message"]["role"] == "custom"
    assert all(len(line["id"]) == 8 for line in entries)


def test_an_id_that_comes_twice_is_made_unique() -> None:
    rows = [*ROWS, message("a5", "a4", "user", "x"), entry("custom", "a0", "a5", customType="t")]
    entries_of(rows)


def test_half_a_surrogate_pair_is_escaped_as_pi_does() -> None:
    brought = copy_of(ADAPTER, ROWS, lambda nodes: [checkpoint("o3", "\ud83d"), nodes[-1]])
    assert rb"\ud83d" in PiWriter().compose(brought).lines[2]


def test_refusals_say_what_and_the_way_out() -> None:
    label = entry("label", "a1", None, targetId="x", label="y")
    with pytest.raises(ResumeRefusedError, match="Nothing that was said stands"):
        PiWriter().compose(copy_of(ADAPTER, [HEADER, label]))
    orphan = copy_of(ADAPTER, ROWS, lambda nodes: [nodes[0], *nodes[2:]])
    with pytest.raises(ResumeRefusedError, match="The result at event 6 of s answers"):
        PiWriter().compose(orphan)


def test_a_call_without_a_result_is_left_to_pi() -> None:
    copy = copy_of(ADAPTER, ROWS[:4])
    assert [line[1] for line in planned(copy, "pi")] == [
        "text",
        "thinking",
        "tool_call",
        "synthetic",
    ]
    assert read_back(ADAPTER, PiWriter().compose(copy).lines) == planned(copy, "pi")
