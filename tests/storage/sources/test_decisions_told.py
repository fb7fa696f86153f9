"""What a person decided, as each agent's log tells it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compress.events import SessionEvent
from tests.storage.sources.claude_log import Log
from tests.storage.sources.codex_logs import call, events, meta, output, said

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). "
)


def decisions(log: list[SessionEvent]) -> list[Any]:
    return [dict(event.meta) for event in log if event.type == "approval/decision"]


def results(log: list[SessionEvent]) -> list[Any]:
    return [dict(event.meta) for event in log if event.type == "tool/result"]


def test_claude_a_refused_call_has_no_result() -> None:
    log = Log()
    log.user("go", "u1")
    log.call("Bash", "c1")
    log.result("call-c1", REFUSED + "STOP what you are doing.", "r1", is_error=True)
    log.call("Bash", "c2")
    log.result("call-c2", "Exit code 1", "r2", is_error=True)
    assert results(log.events) == [{"declined": True}, {}]
    assert decisions(log.events) == [{"decision": "rejected", "call": "call-c1"}]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("To tell you how to proceed, the user said:\nuse pnpm", "use pnpm"),
        (
            (
                "To tell you how to proceed, the user said:\nuse pnpm\n\nNote: The user's next "
                "message may contain a correction or preference. Pay close attention."
            ),
            "use pnpm",
        ),
        ("The user provided the following reason for the rejection:  not now", "not now"),
        (
            (
                "To tell you how to proceed, the user said:\nThe user wants to clarify these "
                "questions.\n    This means they may have additional information."
            ),
            None,
        ),
    ],
)
def test_claude_the_words_of_a_refusal_are_the_persons_only(said: str, words: str | None) -> None:
    log = Log()
    log.user("go", "u1")
    log.call("Bash", "c1")
    log.result("call-c1", REFUSED + said, "r1", is_error=True)
    assert decisions(log.events)[0].get("message") == words


def test_claude_an_answer_to_a_question_is_a_decision() -> None:
    log = Log()
    log.user("go", "u1")
    log.call("AskUserQuestion", "c1")
    answers = {"Wait or run?": "Wait", "Which port?": "8080"}
    log.result("call-c1", "answered", "r1", toolUseResult={"questions": [], "answers": answers})
    assert decisions(log.events) == [
        {
            "decision": "answered",
            "call": "call-c1",
            "question": "Wait or run?\nWhich port?",
            "message": "Wait or run? Wait\nWhich port? 8080",
        }
    ]


@pytest.mark.parametrize("told", ["Error: cancelled", {"answers": {}}, {"answers": [1]}, None])
def test_claude_a_question_without_an_answer_is_none(told: Any) -> None:
    log = Log()
    log.user("go", "u1")
    log.call("AskUserQuestion", "c1")
    log.result("call-c1", "", "r1", toolUseResult=told)
    assert decisions(log.events) == []


def test_claude_what_the_person_changed_before_it_was_written_is_an_edit() -> None:
    log = Log()
    log.user("go", "u1")
    log.call("Edit", "c1")
    log.result("call-c1", "updated", "r1", toolUseResult={"userModified": True})
    log.call("Edit", "c2")
    log.result("call-c2", "updated", "r2", toolUseResult={"userModified": False})
    assert decisions(log.events) == [{"decision": "edited", "call": "call-c1"}]


@pytest.mark.parametrize("text", ["exec command rejected by user", "patch rejected by user"])
def test_codex_tells_a_refusal_by_the_whole_output(text: str) -> None:
    log = events([meta(), said("user", "go"), call("c1"), output("c1", text)])
    assert decisions(log) == [{"decision": "rejected", "call": "c1"}]
    assert results(log) == [{"declined": True}]
    quoted = events([meta(), said("user", "go"), call("c1"), output("c1", f"grep: {text}")])
    assert decisions(quoted) == []


def test_codex_answers_to_its_questions() -> None:
    asked = {"questions": [{"id": "a", "question": "Which way?", "options": []}]}
    answered = {"answers": {"a": {"answers": ["left", "slowly"]}}}
    log = events(
        [
            meta(),
            said("user", "go"),
            call("c1", "request_user_input", json.dumps(asked)),
            output("c1", json.dumps(answered)),
            call("c2", "request_user_input", json.dumps(asked)),
            output("c2", "request_user_input was cancelled before receiving a response"),
            call("c3"),
            output("c3", json.dumps(answered)),
        ]
    )
    assert decisions(log) == [
        {"decision": "answered", "call": "c1", "question": "Which way?", "message": "left, slowly"}
    ]
