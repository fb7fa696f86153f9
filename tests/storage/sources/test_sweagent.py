"""SWE-agent: the list is the history, as its processors passed it to the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.events import Usage
from compress.surface import fold
from storage.sources.registry import adapter_of, registry
from storage.tail import Tail
from tests.derivation import read
from tests.storage.sources import kit
from tests.storage.sources.sweagent_logs import (
    ADAPTER,
    answer,
    document,
    events,
    extra,
    item,
    made,
    made_mini,
    mini,
    observation,
    random_run,
    reading,
    sent,
    step,
)


def texts(message: dict[str, Any]) -> str:
    found = message["content"]
    return found if isinstance(found, str) else "".join(part["text"] for part in found)


def said(log: Any) -> list[str]:
    """The texts that would be sent, calls left out."""
    return [text for _, kind, _, text in sent(log) if kind in ("text", "tool_result")]


@settings(max_examples=25)
@given(seed=st.integers(0, 1_000_000))
def test_what_stands_is_what_the_newest_request_held_and_what_came_after(seed: int) -> None:
    for one in random_run(seed):
        good = [s for s in one["trajectory"] if not s["response"].startswith("bad")]
        query = good[-1]["query"] if good else []
        if query and query[-1]["content"] == "again":
            # With the failed try at its end it is no beginning of the history.
            continue
        wanted = [*query, *one["history"][len(query) :]]
        assert said(events(one)) == [texts(m) for m in wanted if texts(m) or m["role"] == "tool"]


@settings(max_examples=10)
@given(seed=st.integers(0, 1_000_000))
def test_a_document_that_grows_keeps_what_it_said(seed: int) -> None:
    """It is written whole at each step; read again, with its numbers known, no message has
    another seq."""
    before: dict[str, list[Any]] = {"": []}
    reader = None
    for one in random_run(seed):
        known = {} if reader is None else {"": reader.numbering("")}
        reader = ADAPTER.open(Path("task-1.traj"), known)
        found = [e for r in kit.rows_as_records([one]) for d in reader.feed(r) for e in d.events]
        seqs = {event.seq for event in found}
        assert {event.seq for event in before[""]} <= seqs
        before[""] = found


def test_a_message_that_a_processor_shortened_is_replaced() -> None:
    history = [
        item("system", "rules", "system_prompt"),
        observation("solve it"),
        answer("look", "c1"),
        observation("1\n2", "c1"),
        answer("again", "c2"),
        observation("3", "c2"),
    ]
    short = [*history[:3], observation("Old environment output: (2 lines omitted)", "c1")]
    log = events(document(history, [step(history[2], history[:2]), step(history[4], short)]))
    old, new = (e for e in log if e.type == "tool/result" and e.blocks[0].id == "c1")
    assert new.op is not None
    assert (new.op.op, new.source_event_seqs) == ("replace", (old.seq, new.seq))
    assert said(log)[3:5] == ["Old environment output: (2 lines omitted)", "again"]
    assert [e.step for e in log if e.type == "tool/result"] == [1, 1, 2]


def test_marks_for_the_prompt_cache_change_nothing() -> None:
    history = [item("system", "rules", "system_prompt"), observation("solve it"), answer("a")]
    marked = [{"type": "text", "text": "solve it", "cache_control": {"type": "ephemeral"}}]
    query = [history[0], {**history[1], "content": marked}]
    plain, with_marks = (
        events(document([history[0], first, history[2]], [step(history[2], query)]))
        for first in (history[1], query[1])
    )
    assert [e.op.op for e in plain if e.op is not None] == ["append"] * 3
    assert [(e.native_id, e.seq) for e in plain] == [(e.native_id, e.seq) for e in with_marks]


def test_an_answer_that_was_asked_for_again_is_told_and_not_sent() -> None:
    history = [item("system", "r", "system_prompt"), observation("solve it"), answer("good")]
    log = events(document(history, [step(answer("bad"), history[:2]), step(history[2], ())]))
    assert [e.type for e in log if e.type == "retry"] == ["retry"]
    assert "bad" not in said(log)


def test_what_is_the_users_and_what_the_commands() -> None:
    log = events(made())
    assert [e.type for e in log if e.type != "assistant/message"] == [
        "session/start",
        "request/header",
        "context/message",
        "context/message",
        "user/message",
        "retry",
        "tool/result",
        "tool/result",
        "context/message",
        "context/message",
        "turn/end",
    ]
    assert [e.meta["source"] for e in log if "source" in e.meta] == [
        "system",
        "demonstration",
        "history_processor",
        "observation",
        "observation",
    ]
    assert "for another agent" not in said(log)
    reader, _ = reading(made())
    facts = reader.sessions[""]
    assert (facts.native_id, facts.cwd, facts.model) == ("task-1", "/repo", "m")
    assert (facts.title, facts.ended, facts.agent_version) == ("solve it", True, "1.1.0")


def test_each_attempt_is_a_session() -> None:
    one, two = made(), document([item("system", "r", "system_prompt"), observation("solve it")])
    whole = {**one, "attempts": [one, two]}
    reader, found = reading(whole)
    assert set(reader.sessions) == set(found) == {"attempt-1", "attempt-2"}
    assert said(found["attempt-1"]) == said(events(one))
    blocks = [ADAPTER.blocks(whole, e.block) for e in found["attempt-2"]]
    assert blocks == [e.blocks for e in found["attempt-2"]]


def test_a_document_of_mini_swe_agent() -> None:
    log = events(made_mini(), Path("last_mini_run.traj.json"))
    assert [(e.type, e.step) for e in log if e.type not in ("session/start", "request/header")] == [
        ("context/message", None),
        ("user/message", None),
        ("assistant/message", 1),
        ("assistant/message", 1),
        ("tool/result", 1),
        ("context/message", None),
        ("usage", 2),
        ("assistant/message", 3),
        ("assistant/message", 3),
        ("assistant/message", 3),
        ("tool/result", 3),
        ("steering/message", None),
        ("approval/decision", None),
        ("context/message", None),
        ("user/message", None),
        ("turn/end", None),
    ]
    assert [e.usage for e in log if e.usage is not None] == [Usage(input=50, output=7)] * 3
    thought = next(b for e in log for b in e.blocks if b.kind == "thinking")
    assert (thought.text, thought.signature) == ("so", "rs1")
    assert {e.time for e in log if e.type == "tool/result"} == {1_780_000_000.5, None}
    assert log[-1].meta == {"reason": "completed"}


def test_how_a_run_ended() -> None:
    run = mini([{"role": "user", "content": "x"}, extra("exit", "LimitsExceeded", {})])
    assert events(run)[-1].meta == {"reason": "error", "message": "LimitsExceeded"}
    ended = events(document([observation("x")], exit_status="exit_cost"))[-1]
    assert ended.meta == {"reason": "error", "message": "exit_cost"}


def test_a_chat_is_not_taken_for_a_run() -> None:
    own, chat = registry(), [{"role": "user", "content": "x"}]
    assert own.recognise(Path("chat.json"), [chat]) is own.for_agent("chat")
    assert own.recognise(Path("a.traj.json"), [chat]) is own.for_agent("sweagent")
    assert own.recognise(Path("chat.json"), [{"messages": chat}]) is own.for_agent("chat")
    assert own.recognise(Path("a.json"), [mini(chat)]) is own.for_agent("sweagent")


def test_a_command_that_openhands_has_a_word_for_makes_no_log_of_its() -> None:
    own, pushes = registry(), {**answer("so"), "action": "push"}
    run = document([item("system", "x", "system_prompt"), pushes])
    assert own.recognise(Path("a.traj"), [run]) is own.for_agent("sweagent")


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name", ["eps.traj", "function_calling_simple.traj", "mini_github_issue.traj.json"]
)
def test_logs_of_the_corpus_hold_their_history(corpus: Path, name: str) -> None:
    path = corpus / "sweagent" / name
    whole = json.loads(path.read_text())
    history = whole["history"] if isinstance(whole, dict) else whole
    assert adapter_of(registry(), path) is not None
    with Tail(path) as tail:
        reader, found = read(ADAPTER, path, tail.read(final=True).records)
    assert reader.unknown_types == {}
    wanted = []
    for message in history:
        calls = message.get("tool_calls") or []
        ids = message.get("tool_call_ids") or [None]
        role = "user" if message["role"] == "tool" else message["role"]
        kind = "tool_result" if message["role"] == "tool" else "text"
        wanted.append((role, kind, ids[0], message["content"]))
        wanted += [(role, "tool_call", call["id"], "") for call in calls]
    assert sent(found[""]) == wanted
    answers = [m for m in history if m["role"] == "assistant"]
    assert max(e.step or 0 for e in found[""]) == len(answers)
    assert len(fold(found[""]).nodes) == len(history)
