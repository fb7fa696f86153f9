"""A copy for Claude Code, record for record."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from storage.resume.base import CopyNode, ResumeRefusedError
from storage.resume.claude import ClaudeWriter
from tests.storage.resume.claude_recipe import check_recipe
from tests.storage.resume.copies import (
    SESSION,
    checkpoint,
    copy_of,
    names,
    planned,
    read_back,
    receipt,
    texts,
)
from tests.storage.sources.claude_log import USAGE, Log

THINKING = {"type": "thinking", "thinking": "Ünsure…", "signature": "c2ln/bmF0+dXJl=="}
SUMMARY = "[Checkpoint] what happened before"


@pytest.fixture
def log() -> Log:
    """A question, a step with two parallel calls, and an answer."""
    made = Log("s")
    made.user("Fix the parser.", "u1")
    made.assistant(THINKING, "a1", message="m1")
    made.call("Read", "a2", message="m1", input={"file_path": "/p/a.py"})
    made.call("Read", "a3", message="m1", input={"file_path": "/p/b.py"})
    made.result("call-a2", "text of a", "r1", "a2", toolUseResult={"file": "a"})
    made.result("call-a3", "text of b", "r2", "a3", toolUseResult={"file": "b"})
    made.assistant("Done.", "a4", "r2", message="m2", stop_reason="end_turn")
    made.user("And now the lexer.", "u2")
    return made


def chain_of(lines: tuple[bytes, ...]) -> list[dict[str, Any]]:
    return check_recipe(lines, SESSION)


def test_a_plan_without_operations_is_the_chain_alone(log: Log) -> None:
    composed = ClaudeWriter().compose(copy_of(log))
    chain = chain_of(composed.lines)
    assert [row["uuid"] for row in chain] == ["u1", "a1", "a2", "a3", "r1", "r2", "a4", "u2"]
    originals = {row["uuid"]: row for row in log.rows}
    links = ("parentUuid", "sessionId")
    for row in chain:
        kept = {key: value for key, value in row.items() if key not in links}
        # The log of the test names no times and no roles; the agent wants both.
        del kept["timestamp"]
        before = {k: v for k, v in originals[row["uuid"]].items() if k not in links}
        before["message"].setdefault("role", row["type"])
        assert kept == before
    assert json.loads(composed.lines[-1]) == {
        "type": "last-prompt",
        "lastPrompt": "And now the lexer.",
        "leafUuid": "u2",
        "sessionId": SESSION,
    }


def test_a_checkpoint_at_the_head_stands_below_a_boundary(log: Log) -> None:
    def change(nodes: list[CopyNode]) -> list[CopyNode]:
        return [checkpoint("o3", SUMMARY, behind="r2"), *nodes[4:]]

    copy = copy_of(log, change, changed_from=0)
    chain = chain_of(ClaudeWriter().compose(copy).lines)
    boundary, summary = copy.new_uuid("boundary"), copy.new_uuid("o3")
    time = "2026-05-28T20:26:40.250Z"
    around = {"cwd": "/p", "userType": "external", "version": "2.1.9"}
    assert chain[0] == {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": boundary,
        "parentUuid": None,
        "logicalParentUuid": "r2",
        "sessionId": SESSION,
        "timestamp": time,
        "content": "Conversation compacted",
        "level": "info",
        "isMeta": False,
        "isSidechain": False,
        "compactMetadata": {"trigger": "manual", "preTokens": 1_234},
        **around,
    }
    assert chain[1] == {
        "type": "user",
        "uuid": summary,
        "parentUuid": boundary,
        "sessionId": SESSION,
        "timestamp": time,
        "isSidechain": False,
        "isCompactSummary": True,
        "isVisibleInTranscriptOnly": True,
        "message": {"role": "user", "content": SUMMARY},
        **around,
    }
    assert [row["uuid"] for row in chain[2:]] == ["a4", "u2"]


def test_the_agents_own_checkpoint_gets_a_boundary_again(log: Log) -> None:
    segment = {"headUuid": "u2", "anchorUuid": "s", "tailUuid": "u2"}
    log.system(
        "compact_boundary",
        "b",
        None,
        logicalParentUuid="u2",
        compactMetadata={"trigger": "auto", "preTokens": 9, "preservedSegment": segment},
    )
    flags = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
    log.user("In short: parser fixed.", "s", "b", **flags)
    log.assistant("On with the lexer.", "a9")
    copy = copy_of(log)
    composed = ClaudeWriter().compose(copy)
    chain = chain_of(composed.lines)
    # What the boundary kept stands in the chain itself, so it must not be brought back again.
    assert [row["uuid"] for row in chain[1:]] == ["s", "u2", "a9"]
    assert chain[0]["compactMetadata"] == {"trigger": "auto", "preTokens": 100}
    assert texts(read_back(composed.lines)[0]) == texts(planned(copy.nodes))


def test_a_checkpoint_further_down_cuts_nothing_off(log: Log) -> None:
    copy = copy_of(log, lambda nodes: [nodes[0], checkpoint("o3", SUMMARY), *nodes[4:]])
    chain = chain_of(ClaudeWriter().compose(copy).lines)
    brought = copy.new_uuid("o3")
    assert [row["uuid"] for row in chain] == ["u1", brought, "a4", "u2"]
    assert chain[1]["isMeta"] is True
    assert "isCompactSummary" not in chain[1]


def test_a_receipt_answers_the_call_in_the_results_place(log: Log) -> None:
    def change(nodes: list[CopyNode]) -> list[CopyNode]:
        return [*nodes[:2], receipt("o3", nodes[2], "[Cleared]"), *nodes[3:]]

    copy = copy_of(log, change, changed_from=2)
    composed = ClaudeWriter().compose(copy)
    chain = chain_of(composed.lines)
    assert chain[4]["message"]["content"] == [
        {"type": "tool_result", "tool_use_id": "call-a2", "content": "[Cleared]"}
    ]
    assert "toolUseResult" not in chain[4]
    assert "text of a" not in b"".join(composed.lines).decode()


def test_a_failed_result_stays_failed_in_its_receipt(log: Log) -> None:
    log.call("Bash", "a5")
    log.result("call-a5", "exit 1", "r5", is_error=True)
    copy = copy_of(log, lambda nodes: [*nodes[:-1], receipt("o3", nodes[-1], "[Cleared]")])
    chain = chain_of(ClaudeWriter().compose(copy).lines)
    assert chain[-1]["message"]["content"][0]["is_error"] is True


def test_thinking_and_its_signature_keep_every_byte() -> None:
    raw = json.dumps(THINKING, ensure_ascii=True).replace(", ", " ,  ")
    log = Log("s")
    log.user("hi", "u1")
    log.assistant(THINKING, "a1")
    log.assistant("so", "a2")
    copy = copy_of(log)
    lines = [*copy.records()]
    strange = lines[1].raw.decode().replace(json.dumps(THINKING), raw)
    assert strange != lines[1].raw.decode()
    piece = copy.nodes[1].pieces[0]
    node = CopyNode(2, (type(piece)(piece.event, type(lines[1])(2, strange.encode())),))
    composed = ClaudeWriter().compose(copy_of(log, lambda nodes: [nodes[0], node, *nodes[2:]]))
    assert raw.encode() in composed.lines[1]


def test_figures_for_another_prompt_stay_out(log: Log) -> None:
    """They would make the agent compact a copy that is small."""

    def usages(changed_from: int) -> list[Any]:
        composed = ClaudeWriter().compose(copy_of(log, changed_from=changed_from))
        chain = chain_of(composed.lines)
        return [r["message"].get("usage") for r in chain if r["type"] == "assistant"]

    assert usages(changed_from=6) == [USAGE] * 4
    assert usages(changed_from=3) == [USAGE, USAGE, USAGE, None]
    assert usages(changed_from=0) == [None] * 4


def test_a_record_with_several_results_is_split_where_one_is_cleared() -> None:
    log = Log("s")
    log.user("hi", "u1")
    log.call("Read", "a1", message="m1")
    log.call("Read", "a2", message="m1")
    results = [
        {"type": "tool_result", "tool_use_id": "call-a1", "content": "one"},
        {"type": "tool_result", "tool_use_id": "call-a2", "content": "two"},
        {"type": "text", "text": "go on"},
    ]
    log.user(results, "r", toolUseResult={"x": 1})
    whole = copy_of(log)
    assert [row["uuid"] for row in chain_of(ClaudeWriter().compose(whole).lines)][-1] == "r"

    def change(nodes: list[CopyNode]) -> list[CopyNode]:
        return [*nodes[:2], receipt("o3", nodes[2], "[Cleared]"), *nodes[3:]]

    copy = copy_of(log, change)
    composed = ClaudeWriter().compose(copy)
    chain = chain_of(composed.lines)
    assert chain[-1]["message"]["content"] == results[1:]
    assert chain[-1]["uuid"] != "r"
    assert "toolUseResult" not in chain[-1]
    assert texts(read_back(composed.lines)[0]) == texts(planned(copy.nodes))


def test_attachments_and_echoes_of_commands_go_along(log: Log) -> None:
    log.add("attachment", "x", attachment={"type": "date", "content": "today"})
    log.system("local_command", "c", content="<local-command-stdout>ok</local-command-stdout>")
    chain = chain_of(ClaudeWriter().compose(copy_of(log)).lines)
    assert [row["uuid"] for row in chain[-3:]] == ["u2", "x", "c"]


def test_what_the_agent_does_not_send_stays_out(log: Log) -> None:
    log.assistant("API Error", "e", isApiErrorMessage=True)
    log.system("api_error", "f", error={"status": 529})
    log.add("progress", "p", data={"type": "hook_progress"})
    log.raw({"type": "last-prompt", "lastPrompt": "x", "leafUuid": "u1", "sessionId": "s"})
    log.raw({"type": "file-history-snapshot", "snapshot": {}})
    log.user("still there?", "u3", "p")
    lines = ClaudeWriter().compose(copy_of(log)).lines
    assert [row["type"] for row in map(json.loads, lines)][-3:] == ["user", "user", "last-prompt"]


def test_records_that_point_to_other_files_lose_the_pointer(log: Log) -> None:
    log.user("more", "u3", forkedFrom={"sessionId": "x", "messageUuid": "y"}, requestRef="z")
    chain = chain_of(ClaudeWriter().compose(copy_of(log)).lines)
    assert chain[-1]["uuid"] == "u3"


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        (
            {"type": "custom-title", "customTitle": "Parser", "sessionId": "s"},
            {"type": "custom-title", "customTitle": "Parser", "sessionId": SESSION},
        ),
        (
            {"type": "summary", "summary": "Parser", "leafUuid": "a4"},
            {"type": "summary", "summary": "Parser", "leafUuid": "u2"},
        ),
    ],
)
def test_the_title_goes_along(log: Log, record: dict[str, Any], wanted: dict[str, Any]) -> None:
    log.raw({"type": "summary", "summary": "of another file", "leafUuid": "elsewhere"})
    log.raw(record)
    composed = ClaudeWriter().compose(copy_of(log))
    check_recipe(composed.lines, SESSION)
    assert json.loads(composed.lines[-2]) == wanted


def test_the_copy_goes_to_the_project_that_the_log_belongs_to(log: Log) -> None:
    log.user("elsewhere now", "u3", cwd="/home/u/my.app")
    beside = copy_of(log, source={"path": Path("/x/-home-u-my-app/s.jsonl")})
    composed = ClaudeWriter().compose(beside)
    assert composed.place == PurePosixPath("-home-u-my-app", f"{SESSION}.jsonl")
    assert composed.folder == "/home/u/my.app"
    assert composed.command == ("claude", "--resume", SESSION)
    # A log that lies anywhere belongs to where it began.
    composed = ClaudeWriter().compose(copy_of(log, source={"path": Path("/tmp/s.jsonl")}))
    assert composed.folder == "/p"


def test_the_same_plan_gives_the_same_bytes(log: Log) -> None:
    change = lambda nodes: [checkpoint("o3", SUMMARY), *nodes[4:]]  # noqa: E731
    assert ClaudeWriter().compose(copy_of(log, change)) == ClaudeWriter().compose(
        copy_of(log, change)
    )


# Refusals


def refused(copy: Any) -> str:
    with pytest.raises(ResumeRefusedError) as caught:
        ClaudeWriter().compose(copy)
    return str(caught.value)


def test_a_plan_without_a_word_is_refused(log: Log) -> None:
    assert "Nothing that was said stands" in refused(copy_of(log, lambda _: []))


def test_a_call_that_may_still_be_answered_is_refused(log: Log) -> None:
    log.call("Bash", "a9")
    call = names(copy_of(log).nodes)[-1]
    assert isinstance(call, int)
    assert f"The call at event {call} of s has no result yet" in refused(copy_of(log))
    assert f"--at {call - 1}" in refused(copy_of(log))


def test_a_call_that_was_given_up_is_the_agents_to_repair(log: Log) -> None:
    log.call("Bash", "a9")
    log.user("never mind", "u9")
    copy = copy_of(log)
    composed = ClaudeWriter().compose(copy)
    assert texts(read_back(composed.lines)[0]) == texts(planned(copy.nodes))
    assert "synthetic" in [block.kind for m in planned(copy.nodes) for block in m.blocks]


def test_a_result_without_its_call_is_refused(log: Log) -> None:
    copy = copy_of(log, lambda nodes: [nodes[0], *nodes[2:]])
    assert "answers a call that does not stand before it" in refused(copy)


def test_a_second_result_of_a_call_is_refused(log: Log) -> None:
    log.result("call-a2", "again", "r9")
    assert "answers a call that was answered before" in refused(copy_of(log))


def test_a_list_that_begins_with_an_answer_is_refused(log: Log) -> None:
    copy = copy_of(log, lambda nodes: nodes[1:])
    assert "begins with an answer" in refused(copy)


def test_a_sub_agents_session_is_refused(log: Log) -> None:
    assert "Claude Code resumes none" in refused(copy_of(log, source={"relation": "subagent"}))


def test_a_log_without_a_project_is_refused() -> None:
    log = Log("s")
    log.user("hi", "u1", cwd=None)
    assert "names no project folder" in refused(copy_of(log))
