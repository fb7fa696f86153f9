"""OpenHands: what each event says besides its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compress.events import SessionEvent, Usage
from storage.sources.openhands_events import clipped
from tests.derivation import read
from tests.storage.sources.openhands_logs import (
    ADAPTER,
    SIGNED,
    action,
    answer,
    condensation,
    event,
    events,
    made,
    made_rows,
    reading,
    result,
    state,
    stats,
    user,
)


def types(log: Any) -> list[str]:
    return [e.type for e in log]


def only(log: list[SessionEvent], kind: str) -> SessionEvent:
    (found,) = (e for e in log if e.type == kind)
    return found


# --------------------------------------------------------------------------------------- content


def test_the_actions_of_an_answer_are_one_node_and_each_result_its_own() -> None:
    log = events(made())
    a1, a2, o1, o2 = ([e for e in log if e.native_id == n] for n in ("a1", "a2", "o1", "o2"))
    assert {e.node for e in a1 + a2} == {a1[0].seq}
    assert [b.kind for e in a1 + a2 for b in e.blocks] == [
        "thinking",
        "text",
        "tool_call",
        "tool_call",
    ]
    assert [e.node for e in o1 + o2] == [o1[0].seq, o2[0].seq]
    assert {e.step for e in a1 + a2 + o1 + o2} == {1}
    assert o2[0].blocks[0].text == (
        "[An error occurred during execution.]\ntwo\n[Command finished with exit code 1]"
    )
    assert o2[0].blocks[0].is_error


def test_the_system_prompt_and_what_is_added_to_a_message() -> None:
    log = events(made())
    system = [e for e in log if e.role == "system"]
    assert [e.blocks[0].text for e in system] == ["rules", "where"]
    assert {e.node for e in system} == {system[0].seq}
    said = [e for e in log if e.native_id == "e1"]
    assert [(e.type, e.blocks[0].kind) for e in said] == [
        ("user/message", "text"),
        ("user/message", "context"),
    ]


def test_what_a_browser_and_a_task_show() -> None:
    shot = result("o1", "c1", "page", kind="BrowserObservation", screenshot_data="")
    task = {"task_id": "t", "subagent": "s", "status": "done"}
    done = result("o2", "c2", "x", kind="TaskObservation", **task)
    picture = result("o3", "c3", "", kind="BrowserObservation", screenshot_data="aGk=")
    found = [e.blocks[0] for e in events([shot, done, picture]) if e.type == "tool/result"]
    assert [b.text for b in found] == ["page", "Task ID: t\nSubagent: s\nStatus: donex", ""]
    assert [len(b.images) for b in found] == [0, 0, 1]


def test_a_long_output_is_clipped_as_the_agent_clips_it() -> None:
    note = "<response clipped><NOTE>Due to the max output limit, only part of the full response"
    short = clipped("a" * 500 + "b" * 500, 400)
    assert (len(short), short[:138], short[-137:]) == (400, "a" * 138, "b" * 137)
    assert note in short
    named = clipped("a\n" * 500, 600, "/out", "terminal")
    assert len(named) == 600
    assert "saved to /out/terminal_output_" in named
    assert "truncated part starts around line 123" in named


def test_a_reasoning_of_the_responses_api_is_thinking_that_is_sealed() -> None:
    item = {"id": "rs", "summary": ["one", "two"], "encrypted_content": "sealed"}
    log = events([action("a", "c", "r", responses_reasoning_item=item)])
    thought = log[0].blocks[0]
    assert (thought.kind, thought.text, thought.signature) == ("thinking", "one\ntwo", "sealed")


# ------------------------------------------------------------------------- turns and the session


def test_words_while_the_agent_works_are_steering() -> None:
    rows = [
        user("u1", "a"),
        action("x", "c", "r"),
        user("u2", "b"),
        answer("s", "d"),
        user("u3", "e"),
    ]
    log = events(rows)
    assert [(e.type, e.turn) for e in log if e.role == "user"] == [
        ("user/message", 1),
        ("steering/message", 1),
        ("user/message", 2),
    ]
    assert only(log, "turn/end").meta == {"reason": "completed"}


def test_how_turns_end() -> None:
    begun = [user("u", "a"), action("x", "c", "r")]
    ends = {
        "PauseEvent": "interrupted",
        "InterruptEvent": "interrupted",
        "ConversationErrorEvent": "error",
    }
    for kind, reason in ends.items():
        assert only(events([*begun, event(kind, "p")]), "turn/end").meta == {"reason": reason}
    for status, reason in (
        ("finished", "completed"),
        ("stuck", "error"),
        ("paused", "interrupted"),
    ):
        log = events([*begun, state("s", "execution_status", status)])
        assert only(log, "turn/end").meta == {"reason": reason}
    finish = [action("x", "c", "r", tool_name="finish"), result("o", "c", "ok")]
    finish[1]["tool_name"] = "finish"
    assert only(events([user("u", "a"), *finish]), "turn/end").meta == {"reason": "completed"}


def test_a_call_that_waits_for_its_user_and_what_was_decided() -> None:
    rows = [user("u", "a"), action("x", "c", "r"), action("y", "d", "r")]
    waits = state("s", "execution_status", "waiting_for_confirmation")
    reader, log = reading([*rows, waits])
    assert reader.sessions[""].waiting
    assert [e.meta for e in log if e.type == "approval/request"] == [{"call": "c"}, {"call": "d"}]
    refused = event("UserRejectObservation", "o", tool_call_id="d", rejection_reason="not so")
    log = events([*rows, waits, result("p", "c", "done"), refused])
    assert [e.meta for e in log if e.type == "approval/decision"] == [
        {"call": "c", "decision": "approved"},
        {"call": "d", "decision": "rejected", "message": "Action rejected: not so"},
    ]
    assert [e.meta.get("declined") for e in log if e.type == "tool/result"] == [None, True]


def test_a_task_list_is_an_artifact() -> None:
    assert only(events(made()), "artifact/update").meta == {
        "kind": "todo",
        "items": [{"text": "x", "status": "in_progress"}],
    }


def test_a_condensation_that_was_asked_for() -> None:
    rows = [user("u", "a"), event("CondensationRequest", "q"), condensation("k", ["u"], "S", 0)]
    assert only(events(rows), "compact/start").meta == {"trigger": "manual"}


def test_events_of_no_meaning_to_the_model_give_none_and_are_understood() -> None:
    kinds = ("HookExecutionEvent", "TokenEvent", "ACPToolCallEvent", "SecurityAnalysisEvent")
    reader, log = reading([event(kind, kind) for kind in kinds])
    assert (log, reader.recognised, reader.unknown_types) == ([], 4, {})


def test_an_id_that_comes_twice_counts_once() -> None:
    rows = [user("u", "a"), user("u", "b"), answer("s", "c")]
    log = events(rows)
    assert [(e.native_id, e.op is not None) for e in log if e.blocks] == [
        ("u", True),
        ("u~2", False),
        ("s", True),
    ]


# --------------------------------------------------------------------------------------- figures


def test_what_an_answer_cost_is_the_difference_of_the_sums() -> None:
    rows = [user("u", "a"), stats("s1", 90, 7, 97), action("x", "c", "r"), result("o", "c", "1")]
    rows += [stats("s2", 300, 20, 223), action("y", "d", "q"), result("p", "d", "2")]
    rows += [stats("s3", 900, 90, 5)]
    reader, log = reading(rows)
    told = [e for e in log if e.usage is not None]
    assert [(e.type, e.usage, e.step, e.request == e.seq) for e in told] == [
        ("usage", Usage(input=90, cache_read=0, cache_write=0, output=7), 1, True),
        ("usage", Usage(input=210, cache_read=0, cache_write=0, output=13), 2, True),
    ]
    assert [e.step for e in log if e.type == "assistant/message"] == [1, 2]
    assert (reader.sessions[""].model, reader.sessions[""].window) == ("m", 1000)


def test_rows_of_figures_belong_to_their_answers() -> None:
    reader, log = reading(made_rows(), Path("c0ffee/base_state.json"))
    usage = Usage(input=30, cache_read=20, output=7)
    first = next(e for e in log if e.native_id == "a1")
    third = next(e for e in log if e.native_id == "a4")
    assert (first.usage, first.request) == (usage, first.seq)
    late = only(log, "usage")
    assert (late.usage, late.request, late.model) == (usage, third.seq, "m")
    assert (late.time, late.step) == (third.time, third.step)
    facts = reader.sessions[""]
    assert (facts.native_id, facts.cwd, facts.model) == ("c0ffee", "/repo", "m")
    assert (facts.title, facts.waiting) == ("do it", False)


@pytest.mark.corpus
def test_figures_of_the_corpus_are_told_once_each(corpus: Path) -> None:
    path = corpus / "openhands" / "events.jsonl"
    _, found = read(ADAPTER, path)
    told = [e.usage for e in found[""] if e.usage is not None]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    sums = [
        row["value"]["usage_to_metrics"]["default"]["accumulated_token_usage"]
        for row in rows
        if row.get("key") == "stats"
    ]
    assert sum(usage.total_input or 0 for usage in told) == sums[-1]["prompt_tokens"]
    assert sum(usage.cache_read or 0 for usage in told) == sums[-1]["cache_read_tokens"]
    assert sum(usage.output or 0 for usage in told) == sums[-1]["completion_tokens"]


def test_loops_of_signed_thinking_are_told() -> None:
    rows = [action("a", "c", "r", **SIGNED), result("o", "c", "1"), action("b", "d", "q")]
    log = events([*rows, user("u", "x"), action("e", "f", "s")])
    assert [e.meta.get("loop") for e in log] == [1, 1, 1, 1, None, None]
