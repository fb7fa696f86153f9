"""What a reader makes of a rollout's records besides their content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compress.messages import derive_messages
from compress.surface import fold
from tests.derivation import content, read, records
from tests.storage.sources.codex_logs import (
    ADAPTER,
    call,
    data,
    events,
    item,
    meta,
    note,
    output,
    row,
    said,
    texts,
    turn,
)
from tests.storage.sources.paths import NOWHERE


def kinds(rows: list[Any]) -> list[str]:
    log = events(rows)
    messages = derive_messages(content(fold(log), log), "codex")
    return [f"{block.kind} {block.id}" for message in messages for block in message.blocks]


def reading(rows: list[Any]) -> Any:
    return read(ADAPTER, NOWHERE, records(data(rows)))[0]


def test_home_is_where_the_environment_says() -> None:
    home = Path("/home/u")
    named = [str(root.path) for root in ADAPTER.roots({"CODEX_HOME": "/x"}, home)]
    assert named == ["/x/sessions", "/x/archived_sessions"]
    default = [str(root.path) for root in ADAPTER.roots({}, home)]
    assert default == ["/home/u/.codex/sessions", "/home/u/.codex/archived_sessions"]


def test_a_call_without_output_is_answered_right_after_it() -> None:
    rows = [meta(), call("c1"), call("c2"), output("c2"), said("user", "stop")]
    assert kinds(rows) == [
        *("tool_call c1", "synthetic c1"),
        *("tool_call c2", "tool_result c2", "text None"),
    ]
    assert texts(rows)[1] == "aborted"


def test_an_output_without_call_is_not_sent_but_stands() -> None:
    rows = [meta(), output("gone"), said("user", "q")]
    assert kinds(rows) == ["text None"]
    assert len(fold(events(rows)).nodes) == 2


def test_r24_an_empty_id_does_not_match_everything() -> None:
    rows = [meta(), call(""), output("", "one"), call(""), call("c"), output("c")]
    assert kinds(rows) == [
        *("tool_call ", "tool_result "),
        *("tool_call ", "synthetic "),
        *("tool_call c", "tool_result c"),
    ]


def test_r24_results_belong_to_the_step_of_their_own_call() -> None:
    rows = [meta(), call("d"), output("d", "one"), call("d"), output("d", "two"), call(None)]
    steps = [event.step for event in events(rows) if event.type == "tool/result"]
    assert steps == [1, 2]


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        "str",
        42,
        None,
        True,
        {"type": None},
        {"type": ["user"]},
        {"type": {"x": 1}},
        {"type": "quantum-snapshot", "payload": {}},
        row("event_msg", {"type": "from_the_future"}),
        row("event_msg", {}),
        row("event_msg", {"type": ["x"]}),
        row("response_item", {}),
        row("response_item", {"type": {}}),
        row("response_item", None),
        row("session_meta", "x"),
    ],
)
def test_r25_what_is_not_understood_is_kept_and_counted(value: Any) -> None:
    reader = reading([meta(), value])
    assert sum(reader.unknown_types.values()) == 1
    assert reader.recognised == 1
    (found,) = events([meta(), value])[1:]
    assert found.type == "unknown"
    assert isinstance(found.meta["type"], str)


def test_r25_an_unknown_item_stands_as_an_opaque_block() -> None:
    rows = [meta(), item("hologram", data=1), said("user", "q")]
    assert kinds(rows) == ["opaque None", "text None"]
    assert reading(rows).unknown_types == {"response_item/hologram": 1}


@pytest.mark.hard
def test_r26_nothing_recognised_is_seen_by_the_rate(hard_inputs: Path) -> None:
    path = next((hard_inputs / "R26").rglob("*.jsonl"))
    reader, log = read(ADAPTER, path)
    assert reader.recognised == 1
    assert reader.unknown_types == {"event_msg/item_finished_v9": 30}
    assert [event.type for event in log[""]] == ["session/start", *["unknown"] * 30]


@pytest.mark.parametrize("shape", [None, "text", 5, [], {}, True, [None, 7, "bare", [], {}]])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("message", "content"),
        ("message", "role"),
        ("reasoning", "summary"),
        ("function_call", "arguments"),
        ("function_call", "name"),
        ("function_call_output", "output"),
        ("custom_tool_call", "input"),
        ("local_shell_call", "action"),
        ("web_search_call", "action"),
        ("agent_message", "content"),
    ],
)
def test_r29_odd_shapes_are_shown_as_far_as_they_go(kind: str, name: str, shape: Any) -> None:
    base = {"role": "user", "call_id": "c", "name": "n", name: shape}
    rows = [meta(), item(kind, **base), said("user", "after")]
    assert texts(rows)[-1] == "after"


@pytest.mark.parametrize("kind", ["compacted", "turn_context", "session_meta", "event_msg"])
@pytest.mark.parametrize("payload", [None, [], "x", 5, {}, {"replacement_history": [1, {}, None]}])
def test_r29_odd_records_raise_nothing(kind: str, payload: Any) -> None:
    fold(events([said("user", "q"), row(kind, payload), said("user", "after")]))


def test_words_typed_while_a_turn_runs_steer() -> None:
    rows = [meta(), *turn("1", "do", "done", said("user", "rather so")), *turn("2", "next", "ok")]
    spoken = [(e.type, e.turn) for e in events(rows) if e.role == "user" and e.blocks]
    assert spoken == [
        ("user/message", 1),
        ("steering/message", 1),
        ("user/message", 2),
    ]


def test_old_files_have_turns_without_turn_records() -> None:
    rows = [meta(), said("user", "a"), said("assistant", "b"), said("user", "c")]
    assert [(e.type, e.turn) for e in events(rows) if e.role == "user"] == [
        ("user/message", 1),
        ("user/message", 2),
    ]


def test_turns_begin_and_end_as_the_log_says() -> None:
    rows = [
        meta(),
        note("task_started", turn_id="1"),
        note("turn_aborted", turn_id="1", reason="interrupted"),
        note("task_started", turn_id="2"),
        note("turn_aborted", turn_id="2", reason="replaced"),
        *turn("3", "u", "a"),
    ]
    ends = [event.meta["reason"] for event in events(rows) if event.type == "turn/end"]
    assert ends == ["interrupted", "aborted", "completed"]
    assert reading(rows).sessions[""].turn_open is False
    assert reading(rows[:-1]).sessions[""].turn_open is True


def test_an_approval_waits_until_something_happens() -> None:
    asked = [meta(), call("c"), note("exec_approval_request", command=["rm", "x"])]
    assert reading(asked).sessions[""].waiting is True
    assert events(asked)[-1].type == "approval/request"
    assert events(asked)[-1].meta == {"kind": "exec_approval_request", "text": "rm x"}
    assert reading([*asked, output("c")]).sessions[""].waiting is False


def test_what_codex_wrote_in_the_users_name_is_context() -> None:
    rows = [
        meta(),
        said("user", "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"),
        said("user", "<environment_context>\n<cwd>/p</cwd>\n</environment_context>"),
        said("developer", "<permissions instructions>x"),
        said("user", "<b>my words</b>"),
    ]
    found = [(e.type, e.meta.get("source")) for e in events(rows) if e.blocks]
    assert found == [
        ("context/message", "agents_md"),
        ("context/message", "environment"),
        ("context/message", "developer"),
        ("user/message", None),
    ]


def test_a_plan_is_an_artifact_beside_its_call() -> None:
    plan = {
        "explanation": "why",
        "plan": [{"step": "one", "status": "completed"}, {"step": "two", "status": "odd"}],
    }
    log = events([meta(), call("c", "update_plan", json.dumps(plan))])
    assert [event.type for event in log[1:]] == ["assistant/message", "artifact/update"]
    assert log[-1].meta == {
        "kind": "plan",
        "items": [
            {"text": "one", "status": "completed"},
            {"text": "two", "status": "pending"},
        ],
        "explanation": "why",
    }


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("Chunk ID: 1\nWall time: 0 s\nProcess exited with code 0\nOutput:\nx", False),
        ("Chunk ID: 1\nWall time: 0 s\nProcess exited with code 2\nOutput:\nx", True),
        ('{"output":"x","metadata":{"exit_code":1,"duration_seconds":0.1}}', True),
        ('{"output":"x","metadata":{"exit_code":0,"duration_seconds":0.1}}', False),
        ("words about: Process exited with code 1", None),
    ],
)
def test_an_output_is_an_error_by_its_exit_code(text: str, failed: bool | None) -> None:
    (result,) = [event.blocks[0] for event in events([output("c", text)]) if event.blocks]
    assert result.is_error is failed


def test_a_result_holds_its_texts_and_its_images() -> None:
    picture = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
    parts = [
        {"type": "input_text", "text": "a"},
        {"type": "input_image", "image_url": picture},
        {"type": "input_text", "text": "b"},
    ]
    (result,) = [event.blocks[0] for event in events([output("c", parts)])]
    assert result.text == "ab"
    assert [(image.media_type, image.width) for image in result.images] == [("image/gif", 1)]


def test_the_first_header_is_the_identity() -> None:
    rows = [meta(id="one", model_provider="openai"), meta(id="two"), said("user", "\n hello \nx")]
    facts = reading(rows).sessions[""]
    assert (facts.native_id, facts.cwd, facts.agent_version) == ("one", "/p", "0.171.0")
    assert facts.title == "hello"
    assert [event.type for event in events(rows)].count("session/start") == 1


@pytest.mark.parametrize(
    ("fields", "relation", "parent"),
    [
        ({}, "main", None),
        ({"forked_from_id": "p"}, "fork", "p"),
        ({"parent_thread_id": "p", "forked_from_id": "q"}, "subagent", "p"),
        (
            {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}},
            "subagent",
            "p",
        ),
    ],
)
def test_a_fork_and_a_sub_agent_name_their_parent(
    fields: dict[str, Any], relation: str, parent: str | None
) -> None:
    facts = reading([meta(**fields)]).sessions[""]
    assert (facts.relation, facts.parent_native_id) == (relation, parent)


def test_a_copied_history_keeps_its_native_ids() -> None:
    original = [meta(id="one"), *turn("1", "u", "a")]
    fork = [meta(id="two", forked_from_id="one"), *turn("1", "u", "a")]
    for copied in fork[1:]:
        copied["timestamp"] = "2026-02-02T00:00:00.000Z"
    ids = [[event.native_id for event in events(rows)[1:]] for rows in (original, fork)]
    assert ids[0] == ids[1]


def test_the_oldest_files_have_bare_items() -> None:
    rows = [
        {"id": "one", "timestamp": "2025-06-01T00:00:00Z", "instructions": None},
        said("user", "q")["payload"],
        {"record_type": "state"},
        said("assistant", "a")["payload"],
    ]
    assert ADAPTER.recognises(NOWHERE, rows)
    assert texts(rows) == ["q", "a"]
    assert reading(rows).recognised == 4


def test_agents_that_write_to_each_other_are_heard() -> None:
    message = {"author": "/root", "recipient": "/root/a", "content": "look", "trigger_turn": True}
    secret = {**message, "content": "", "encrypted_content": "gAAA"}
    rows = [
        row("inter_agent_communication", message),
        row("inter_agent_communication", secret),
    ]
    head = "Message Type: NEW_TASK\nTask name: /root/a\nSender: /root\nPayload:\n"
    assert texts(rows) == ["look", head, ""]


def test_the_same_records_in_pieces_give_the_same_events() -> None:
    rows = records(data([meta(), *turn("1", "u", "a", call("c"), output("c"))]))
    whole = read(ADAPTER, NOWHERE, rows)[1][""]
    reader = ADAPTER.open(NOWHERE)
    pieces = [event for record in rows for d in reader.feed(record) for event in d.events]
    assert pieces == whole
