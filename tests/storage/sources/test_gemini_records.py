"""Gemini CLI: figures, turns, lists, plans, decisions, and where its chats are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compress.events import Image, Usage
from storage.sources.base import SessionFacts
from storage.sources.registry import adapter_of, registry
from tests.derivation import read, records
from tests.storage.sources.gemini_logs import (
    ADAPTER,
    CONTEXT,
    HEADER,
    answer,
    checkpoint,
    data,
    events,
    message,
    response,
    tool,
    user,
)

TOKENS = {"input": 100, "output": 7, "cached": 40, "thoughts": 3, "tool": 5, "total": 115}


def facts(rows: list[Any], path: str = "chats/session-1.jsonl") -> SessionFacts:
    return read(ADAPTER, Path(path), records(data(rows)))[0].sessions[""]


def of(rows: list[Any], kind: str) -> list[Any]:
    return [event for event in events(rows) if event.type == kind]


def test_figures_have_disjoint_buckets() -> None:
    (said,) = of([HEADER, user("u1", "a"), answer("g1", "b", tokens=TOKENS)], "assistant/message")
    assert said.usage == Usage(input=65, cache_read=40, output=10, reasoning=3)
    assert said.request == said.seq
    assert said.usage.total_input == 105


def test_figures_that_come_later_name_the_answer_and_none_is_told_twice() -> None:
    first = answer("g1", "b")
    rows = [HEADER, first, {**first, "tokens": TOKENS}, {**first, "tokens": TOKENS}]
    rows.append(checkpoint({**first, "tokens": TOKENS}))
    log = events(rows)
    told = [event for event in log if event.usage is not None]
    assert [(event.type, event.step) for event in told] == [("usage", 1)]
    (said,) = [event for event in log if event.type == "assistant/message"]
    assert told[0].request == said.seq


def test_figures_of_an_answer_that_only_calls_come_with_its_first_record() -> None:
    first = answer("g1", "", tokens=TOKENS)
    rows = [HEADER, user("u1", "a"), first, {**first, "toolCalls": [tool("c1", "x")]}]
    told = [event for event in events(rows) if event.usage is not None]
    assert [event.type for event in told] == ["usage"]
    assert told[0].usage == Usage(input=65, cache_read=40, output=10, reasoning=3)


@pytest.mark.parametrize("tokens", [None, {}, [], {"input": -1}, {"input": True, "output": "7"}])
def test_figures_that_are_none_are_unknown(tokens: Any) -> None:
    assert not [e for e in events([HEADER, answer("g1", "b", tokens=tokens)]) if e.usage]


def test_turns_and_steps() -> None:
    rows = [
        HEADER,
        user("u1", "a"),
        answer("g1", "", toolCalls=[tool("c1", "x")]),
        user("u2", response("c1", "x"), "and mind the gap"),
        answer("g2", "b"),
        user("u3", "c"),
    ]
    told = [(e.type, e.turn, e.step) for e in events(rows) if e.blocks]
    assert told == [
        ("user/message", 1, None),
        ("assistant/message", 1, 1),
        ("tool/result", 1, 1),
        ("tool/result", 1, 1),
        ("steering/message", 1, None),
        ("assistant/message", 1, 2),
        ("user/message", 2, None),
    ]


def test_a_turn_is_open_until_an_answer_that_calls_nothing() -> None:
    first = answer("g1", "")
    rows = [HEADER, user("u1", "a"), first, {**first, "toolCalls": [tool("c1", "x")]}]
    assert facts(rows).turn_open
    assert not facts([*rows, answer("g2", "done")]).turn_open


def test_a_cancelled_request_ends_its_turn() -> None:
    rows = [HEADER, user("u1", "a"), message("i1", "info", "Request cancelled.")]
    assert [event.meta for event in of(rows, "turn/end")] == [{"reason": "interrupted"}]
    assert not facts(rows).turn_open


def test_errors_are_told_and_notes_stand_beside_the_surface() -> None:
    rows = [HEADER, message("e1", "error", "boom"), message("i1", "info", "hm")]
    assert [event.meta for event in of(rows, "error")] == [{"message": "boom"}]
    (note,) = of(rows, "context/message")
    assert (note.op, note.node, note.blocks[0].text) == (None, None, "hm")


def test_the_model_and_its_changes() -> None:
    rows = [HEADER, answer("g1", "a"), {**answer("g2", "b"), "model": "gemini-3-pro"}]
    told = [event.meta["model"] for event in of(rows, "request/header")]
    assert told == ["gemini-2.5-pro", "gemini-3-pro"]
    assert facts(rows).model == "gemini-3-pro"


def test_what_the_session_is() -> None:
    rows: list[Any] = [HEADER, user("x", CONTEXT), user("u1", "first words\nand more")]
    found = facts(rows)
    assert (found.native_id, found.cwd, found.title) == ("5e55-10", "/home/me/app", "first words")
    assert found.relation == "main"
    assert facts([*rows, {"$set": {"summary": "A name"}}]).title == "A name"


def test_the_session_of_a_sub_agent_names_its_parent_and_its_result_names_it() -> None:
    header = {**HEADER, "kind": "subagent", "directories": ["/home/me/app"]}
    found = facts([header], "chats/5e55-10/ab12.jsonl")
    assert (found.relation, found.parent_native_id) == ("subagent", "5e55-10")
    assert found.cwd == "/home/me/app"
    rows = [HEADER, answer("g1", "", toolCalls=[tool("c1", "done", agentId="ab12")])]
    assert [event.meta for event in of(rows, "tool/result")] == [{"agent": "ab12"}]


def test_a_to_do_list() -> None:
    todos = [
        {"description": "a", "status": "completed"},
        {"description": "b", "status": "in_progress"},
        {"description": "c", "status": "blocked"},
        {"description": "d", "status": "cancelled"},
    ]
    call = tool("c1", "ok", name="write_todos", args={"todos": todos})
    (told,) = of([HEADER, answer("g1", "", toolCalls=[call])], "artifact/update")
    assert told.meta == {
        "kind": "todo",
        "items": [
            {"text": "a", "status": "completed"},
            {"text": "b", "status": "in_progress"},
            {"text": "c", "status": "pending"},
        ],
    }


def test_a_plan_is_the_file_that_it_names_and_what_the_user_said_to_it() -> None:
    written = {"file_path": "/t/plans/p.md", "content": "# Plan\n\n1. first\n2. second\n"}
    left = {"name": "exit_plan_mode", "args": {"plan_filename": "p.md"}}
    no = "Plan rejected. User feedback: smaller\n\nThe plan is stored at: /t/plans/p.md"
    rows = [
        HEADER,
        answer("g1", "", toolCalls=[tool("w", "ok", name="write_file", args=written)]),
        answer("g2", "", toolCalls=[tool("x1", no, **left)]),
        answer("g3", "", toolCalls=[tool("x2", "Plan approved. Switching.", **left)]),
    ]
    plan = of(rows, "artifact/update")[0].meta
    assert [item["text"] for item in plan["items"]] == ["first", "second"]
    assert plan["document"] == {"call": "w", "field": "content", "path": "/t/plans/p.md"}
    assert [event.meta["call"] for event in of(rows, "approval/request")] == ["x1", "x2"]
    assert [event.meta for event in of(rows, "approval/decision")] == [
        {"call": "x1", "decision": "rejected", "message": "smaller"},
        {"call": "x2", "decision": "approved"},
    ]


def test_an_answered_question() -> None:
    asked = {"questions": [{"question": "Which?", "header": "h", "type": "text"}]}
    call = tool("q", json.dumps({"answers": {"0": "the blue one"}}), name="ask_user", args=asked)
    rows = [HEADER, answer("g1", "", toolCalls=[call]), user("u2", *call["result"])]
    assert [event.meta for event in of(rows, "approval/decision")] == [
        {"call": "q", "decision": "answered", "message": "the blue one", "question": "Which?"}
    ]


def test_a_refused_call() -> None:
    error = {"error": "[Operation Cancelled] Reason: User denied execution."}
    part = {"functionResponse": {"id": "c1", "name": "read_file", "response": error}}
    rows = [HEADER, answer("g1", "", toolCalls=[tool("c1", [part], status="cancelled")])]
    (result,) = of(rows, "tool/result")
    assert result.meta == {"declined": True}
    assert result.blocks[0].is_error
    assert [event.meta for event in of(rows, "approval/decision")] == [
        {"call": "c1", "decision": "rejected"}
    ]


@pytest.mark.parametrize(
    ("answered", "text", "failed"),
    [
        ({"output": "x"}, "x", None),
        ({"error": "x"}, "x", True),
        ({"output": "x", "code": 1}, '{"output":"x","code":1}', None),
        ({"a": {"ä": 1}}, '{"a":{"ä":1}}', None),
        (None, "", None),
    ],
)
def test_the_text_of_a_result(answered: Any, text: str, failed: bool | None) -> None:
    part = {"functionResponse": {"id": "c1", "name": "n", "response": answered}}
    (result,) = of([HEADER, user("u1", part)], "tool/result")
    assert (result.blocks[0].text, result.blocks[0].is_error) == (text, failed)


def test_a_message_of_many_parts() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    audio = {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}
    log = of([HEADER, user("u1", "look", image, audio)], "user/message")
    assert [event.blocks[0].kind for event in log] == ["text", "image", "opaque"]
    assert log[1].blocks[0].images == (Image(media_type="image/png", size=3),)
    assert len({event.node for event in log}) == 1


def test_a_type_that_nobody_knows_is_kept_and_counted() -> None:
    rows = [HEADER, {"id": "m1", "type": "model", "parts": []}, {"$other": 1}, [1], 7, None]
    reader, found = read(ADAPTER, Path("s.jsonl"), records(data(rows)))
    assert reader.unknown_types == {"model": 1, "object": 1, "array": 1, "number": 1, "null": 1}
    assert len([event for event in found[""] if event.type == "unknown"]) == 5


def test_each_record_of_an_unheard_type_counts_though_its_id_is_known() -> None:
    rows = [HEADER, {"id": "m1", "type": "model"}, {"id": "m1", "type": "other"}]
    reader, found = read(ADAPTER, Path("s.jsonl"), records(data([*rows, rows[-1]])))
    assert reader.unknown_types == {"model": 1, "other": 2}
    assert len([event for event in found[""] if event.type == "unknown"]) == 2


def test_a_document_that_grew_keeps_its_numbers() -> None:
    said = [user("u1", "a"), answer("g1", "b", tokens=TOKENS)]
    short = [{**HEADER, "messages": said}]
    long = [{**HEADER, "messages": [*said, user("u2", "c")]}]
    before = events(short)
    known = read(ADAPTER, Path("s.json"), records(data(short)))[0].numbering("")
    again = ADAPTER.open(Path("s.json"), {"": known})
    (record,) = records(data(long))
    after = [event for derived in again.feed(record) for event in derived.events]
    assert after[: len(before)] == before
    assert [event.seq for event in after[len(before) :]] == [len(before) + 1]


def test_a_saved_chat_is_its_list_of_contents() -> None:
    history = [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"text": "b"}]},
    ]
    log = events([{"history": history, "authType": "gemini-api-key"}])
    assert [(event.type, event.blocks[0].text) for event in log] == [
        ("user/message", "a"),
        ("assistant/message", "b"),
    ]


def test_chats_are_found_below_the_folder_for_temporary_files(tmp_path: Path) -> None:
    (root,) = ADAPTER.roots({}, tmp_path)
    assert (root.path, root.source) == (tmp_path / ".gemini" / "tmp", "default")
    (own,) = ADAPTER.roots({"GEMINI_CLI_HOME": "/g"}, tmp_path)
    assert (own.path, own.source) == (Path("/g/.gemini/tmp"), "GEMINI_CLI_HOME")
    for name in ("a/chats/session-1.jsonl", "a/chats/5e55-10/ab12.jsonl", "a/logs.json"):
        path = root.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    found = {path.name for path in root.path.glob(root.pattern)}
    assert found == {"session-1.jsonl", "ab12.jsonl"}


def test_of_a_document_that_went_on_as_lines_only_these_count() -> None:
    names = ("a.json", "a.jsonl", "b.json", "c.jsonl.unreadable-1", "c.jsonl.tmp-2")
    assert [path.name for path in ADAPTER.select([Path(name) for name in names])] == [
        "a.jsonl",
        "b.json",
    ]


@pytest.mark.corpus
def test_logs_are_recognised_by_their_content(corpus: Path) -> None:
    for path in sorted((corpus / "gemini").iterdir()):
        adapter = adapter_of(registry(), path)
        assert adapter is not None, path
        assert adapter.agent == "gemini"
    for path in sorted(corpus.rglob("*.json*")):
        if not {"gemini", "surfaces"} & set(path.parts):
            adapter = adapter_of(registry(), path)
            assert adapter is None or adapter.agent != "gemini", path
