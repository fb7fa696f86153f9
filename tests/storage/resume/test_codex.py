"""A copy for Codex, record for record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from storage.resume.base import CopyNode, ResumeRefusedError
from storage.resume.codex import CodexWriter
from tests.resuming import Planned
from tests.storage.resume.copies import SESSION, checkpoint, receipt
from tests.storage.resume.raw_copies import copy_of, planned, read_back
from tests.storage.sources.codex_logs import (
    ADAPTER,
    Raw,
    call,
    compacted,
    data,
    item,
    meta,
    note,
    output,
    row,
    said,
    summarised,
    turn,
)

SECRET = "gAAAAABn+/é=="
SETTINGS = row("turn_context", {"turn_id": "1", "model": "m", "cwd": "/p"})
ENVIRONMENT = said("user", "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>")
REASONING = item("reasoning", summary=[], content=None, encrypted_content=SECRET)
ROWS = [
    meta(model_provider="openai", base_instructions={"text": "Be brief."}, history_mode="x"),
    row("turn_context", {"turn_id": "0", "model": "older"}),
    ENVIRONMENT,
    *turn("1", "Fix it.", "Done.", REASONING, call("c1"), output("c1", "a long result")),
    SETTINGS,
]


def lines_of(rows: list[Raw], change: Any = None, **source: Any) -> list[Raw]:
    copy = copy_of(ADAPTER, rows, change or (lambda nodes: nodes), **source)
    composed = CodexWriter().compose(copy)
    assert read_back(ADAPTER, composed.lines) == planned(copy, "codex")
    return [json.loads(line) for line in composed.lines]


def stated(lines: list[Raw]) -> list[Raw]:
    found = [line for line in lines if line["type"] == "compacted"]
    assert len(found) == 1
    history: list[Raw] = found[0]["payload"]["replacement_history"]
    return history


def test_the_history_is_stated_as_the_log_has_it() -> None:
    lines = lines_of(ROWS)
    items = [line["payload"] for line in ROWS if line["type"] == "response_item"]
    assert stated(lines) == items
    assert [line["type"] for line in lines] == [
        "session_meta",
        "compacted",
        "event_msg",
        "turn_context",
    ]


def test_reasoning_is_carried_byte_for_byte() -> None:
    """Spaces, escapes and the order of the fields included."""
    lines = CodexWriter().compose(copy_of(ADAPTER, [said("user", "x"), REASONING])).lines
    assert json.dumps(REASONING["payload"]).encode() in lines[1]


def test_the_header_keeps_the_provider_and_has_an_id_of_its_own() -> None:
    header = lines_of(ROWS)[0]["payload"]
    assert header["id"] == SESSION
    assert header["forked_from_id"] == "019f0000-0000-7000-8000-000000000001"
    assert header["model_provider"] == "openai"
    assert header["base_instructions"] == {"text": "Be brief."}
    assert header["timestamp"] == "2026-05-28T20:26:40.250Z"
    assert "history_mode" not in header


def test_the_copy_of_a_sub_agent_stands_alone() -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}
    header = lines_of([meta(source=spawned, parent_thread_id="p"), said("user", "x")])[0]
    assert header["payload"]["source"] == "cli"
    assert "parent_thread_id" not in header["payload"]


def test_a_log_without_a_header_gets_one() -> None:
    header = lines_of([said("user", "x")], native_id="no uuid", cwd="/q")[0]["payload"]
    assert header["cwd"] == "/q"
    assert set(header) == {"id", "timestamp", "cwd", "originator", "cli_version", "source"}


def test_settings_stand_behind_the_history_while_it_tells_them() -> None:
    told = [line["type"] for line in lines_of(ROWS)]
    assert told.index("turn_context") > told.index("compacted")

    def summarise(nodes: list[CopyNode]) -> list[CopyNode]:
        return [checkpoint("o3", "what was before"), *nodes[-1:]]

    lines = lines_of(ROWS, summarise)
    anew = [line["type"] for line in lines]
    assert anew.index("turn_context") < anew.index("compacted")
    assert [line["payload"] for line in lines if line["type"] == "turn_context"] == [
        SETTINGS["payload"]
    ]


def test_what_the_plan_brings_is_said_in_the_users_place() -> None:
    history = stated(lines_of(ROWS, lambda nodes: [checkpoint("o3", "in short"), nodes[-1]]))
    assert history[0] == {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "in short"}],
    }


@pytest.mark.parametrize(
    ("called", "answered"),
    [
        (call("c1"), output("c1")),
        (
            item("custom_tool_call", name="apply_patch", input="p", call_id="c1"),
            item("custom_tool_call_output", call_id="c1", output="patched"),
        ),
        (
            item("local_shell_call", status="completed", action={}, call_id="c1"),
            output("c1"),
        ),
    ],
)
def test_a_receipt_is_an_output_of_the_kind_that_its_call_wants(called: Raw, answered: Raw) -> None:
    def clear(nodes: list[CopyNode]) -> list[CopyNode]:
        return [*nodes[:-1], receipt("o3", nodes[-1], "[Cleared]")]

    history = stated(lines_of([said("user", "x"), called, answered], clear))
    kind = answered["payload"]["type"]
    assert history[-1] == {"type": kind, "call_id": "c1", "output": "[Cleared]"}


def test_copies_of_an_earlier_compaction_are_stated_again() -> None:
    history = [said("user", "k1")["payload"], REASONING["payload"], said("user", "S")["payload"]]
    before = compacted()
    before["payload"]["replacement_history"] = history
    rows = [meta(), *turn("1", "u1", "a1"), before, said("user", "u2")]
    assert stated(lines_of(rows)) == [*history, said("user", "u2")["payload"]]


def test_words_that_a_legacy_compaction_cut_stay_cut() -> None:
    words = said("user", "w" * 100_000)
    words["payload"]["content"].append({"type": "input_image", "image_url": "data:,"})
    history = stated(lines_of([meta(), words, summarised("in short"), said("user", "u2")]))
    texts = [part["text"] for part in history[0]["content"]]
    assert [len(text) for text in texts][::2] == [40_000, 40_000]
    assert texts[1] == "…5000 tokens truncated…"
    assert history[1]["content"][0]["text"] == "in short"


def test_a_message_between_agents_becomes_the_item_that_codex_makes_of_it() -> None:
    sent = {"author": "/root", "recipient": "/root/a", "content": "go", "trigger_turn": True}
    history = stated(lines_of([said("user", "x"), row("inter_agent_communication", sent)]))
    assert history[1] == {
        "type": "agent_message",
        "author": "/root",
        "recipient": "/root/a",
        "content": [{"type": "input_text", "text": "go"}],
    }


def test_an_item_that_codex_would_not_read_follows_the_statement() -> None:
    broken = item("function_call", name="shell", arguments={"not": "a text"}, call_id="c")
    lines = lines_of([said("user", "x"), broken, said("user", "y")])
    assert len(stated(lines)) == 1
    loose = [line["payload"] for line in lines if line["type"] == "response_item"]
    assert loose == [broken["payload"], said("user", "y")["payload"]]


def test_a_history_too_long_for_a_line_goes_on_in_loose_items() -> None:
    rows = [said("user", f"{number}" + "x" * (3 << 20)) for number in range(4)]
    copy = copy_of(ADAPTER, rows)
    composed = CodexWriter().compose(copy)
    assert max(map(len, composed.lines)) < 16 << 20
    assert read_back(ADAPTER, composed.lines) == planned(copy, "codex")


def test_half_a_surrogate_pair_does_not_cost_the_history() -> None:
    lines = lines_of([said("user", "x"), said("user", "😀")])
    assert stated(lines)[1]["content"][0]["text"] == "😀"
    copy = copy_of(ADAPTER, [said("user", "broken \ud83d")])
    line = CodexWriter().compose(copy).lines[1]
    assert b"\\ud" not in line
    assert "broken \ufffd".encode() in line


def test_the_list_of_sessions_names_the_first_words() -> None:
    shown = [line["payload"] for line in lines_of(ROWS) if line["type"] == "event_msg"]
    assert shown == [{"type": "user_message", "message": "Fix it.", "images": []}]
    alone = lines_of(ROWS, lambda nodes: [checkpoint("o3", "s"), nodes[-1]], title="Parser")
    assert note("user_message", message="Parser", images=[])["payload"] in [
        line["payload"] for line in alone
    ]


def test_the_file_is_found_by_date_and_id() -> None:
    composed = CodexWriter().compose(copy_of(ADAPTER, ROWS))
    name = f"rollout-2026-05-28T20-26-40-{SESSION}.jsonl"
    assert str(composed.place) == f"2026/05/28/{name}"
    assert composed.command == ("codex", "resume", SESSION)


def test_the_copy_of_an_archived_session_is_not_archived() -> None:
    path = Path("/h/.codex/archived_sessions/rollout-x.jsonl")
    composed = CodexWriter().compose(copy_of(ADAPTER, ROWS, path=path))
    assert str(composed.place.parent) == "../sessions/2026/05/28"


def test_it_lies_where_codex_looks(tmp_path: Path) -> None:
    log = tmp_path / "archived_sessions" / f"rollout-2026-01-01T00-00-00-{SESSION}.jsonl"
    log.parent.mkdir()
    log.write_bytes(data(ROWS))
    with Planned(log, tmp_path, "plain", {"CODEX_HOME": str(tmp_path)}) as plan:
        copy = plan.copy()
    assert copy.path.parent == tmp_path / "sessions" / "2026" / "05" / "28"
    assert copy.report.command == f"codex resume {copy.report.session_id}"
    assert copy.path.stem.endswith(copy.report.session_id)


def test_a_plan_without_a_word_is_refused() -> None:
    with pytest.raises(ResumeRefusedError, match="Nothing that was said stands on the plan of s"):
        CodexWriter().compose(copy_of(ADAPTER, [meta(), ENVIRONMENT]))


def test_calls_and_outputs_that_stand_alone_are_left_to_codex() -> None:
    rows = [said("user", "x"), output("gone"), call("open")]
    copy = copy_of(ADAPTER, rows)
    assert [line[1] for line in planned(copy, "codex")] == ["text", "tool_call", "synthetic"]
    assert read_back(ADAPTER, CodexWriter().compose(copy).lines) == planned(copy, "codex")
