"""Copilot CLI: what its log tells, and what is assumed where it tells too little."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.events import Rebase, SessionEvent, Usage
from compress.messages import derive_messages
from compress.surface import fold
from storage.sources.base import FileReader
from storage.sources.copilot import CopilotAdapter
from storage.sources.registry import adapter_of, registry
from tests.derivation import content, read
from tests.storage.sources.copilot_logs import answer, log, result, row, start, user
from tests.storage.sources.copilot_reference import Entry, sent
from tests.storage.sources.kit import rows_as_records

ADAPTER = CopilotAdapter()
PATH = Path("session-state/s/events.jsonl")


def feed(*rows: Any) -> tuple[FileReader, dict[str, list[SessionEvent]]]:
    return read(ADAPTER, PATH, rows_as_records(rows))


def entries(events: list[SessionEvent]) -> list[Entry]:
    """The messages, in the form of the second derivation."""
    found = []
    for message in derive_messages(content(fold(events), events), "copilot"):
        texts = []
        for block in message.blocks:
            if block.kind == "tool_call":
                texts.append(f"{block.name}:{block.id}")
            elif block.kind == "tool_result":
                texts.append(f"{block.id}:{block.text}")
            elif block.text:
                texts.append(block.text)
        if texts:
            found.append((str(message.role), "|".join(texts)))
    return found


def types(events: list[SessionEvent], *wanted: str) -> list[SessionEvent]:
    return [event for event in events if event.type in wanted]


# -------------------------------------------------------------------------------------- the list


def test_the_model_sees_the_transformed_words_and_the_result_that_was_meant_for_it() -> None:
    _, events = feed(
        start(),
        user("u", "do it", transformedContent="<now>do it</now>"),
        answer("a", "I look", "c", reasoningText="hm"),
        result("r", "c", "one"),
    )
    assert entries(events[""]) == [
        ("user", "<now>do it</now>"),
        ("assistant", "hm|I look|view:c"),
        ("user", "c:one"),
    ]


def test_a_record_whose_id_looks_like_one_that_was_made_stands_too() -> None:
    rows = [start(), user("a", "one"), user("a", "two"), user("a~2", "three")]
    assert [text for _, text, *_ in entries(feed(*rows)[1][""])] == ["one", "two", "three"]


def test_messages_of_one_request_are_one_node() -> None:
    _, events = feed(
        user("u", "x"), answer("a", "one", apiCallId="r"), answer("b", "two", "c", apiCallId="r")
    )
    assert entries(events[""]) == [("user", "x"), ("assistant", "one|two|view:c")]
    assert {event.step for event in types(events[""], "assistant/message")} == {1}


def test_instructions_stand_first_and_a_new_one_takes_the_place_of_the_old() -> None:
    system = {"role": "system", "content": "be good"}
    _, events = feed(
        user("u", "x"),
        row("system.message", "s1", **system),
        row("system.message", "s2", **system),
        answer("a", "y"),
        row("system.message", "s3", role="system", content="be better"),
    )
    assert entries(events[""]) == [("system", "be better"), ("user", "x"), ("assistant", "y")]
    assert len(types(events[""], "context/message")) == 2


def test_a_compaction_leaves_the_users_words_and_what_came_since_it_began() -> None:
    _, events = feed(
        row("system.message", "s", role="system", content="be good"),
        user("u", "old"),
        answer("a", "also old"),
        row("session.compaction_start", "k1", trigger="threshold", currentTokens=99),
        user("v", "meanwhile"),
        row("session.compaction_complete", "k2", success=True, summaryContent="in short"),
        user("w", "new"),
    )
    told = entries(events[""])
    assert told == [
        ("system", "be good"),
        ("user", "in short"),
        ("user", "old"),
        ("user", "meanwhile"),
        ("user", "new"),
    ]
    own = [event for event in events[""] if event.type.startswith("compact/")]
    assert [event.type for event in own] == ["compact/start", "compact/summary", "compact/end"]
    assert own[0].meta == {"trigger": "threshold", "pre_tokens": 99}
    (summary,) = types(events[""], "context/message")[1:]
    assert summary.meta == {"checkpoint": "agent"}


def test_a_compaction_that_failed_changes_nothing() -> None:
    _, events = feed(
        user("u", "old"),
        row("session.compaction_start", "k1"),
        row("session.compaction_complete", "k2", success=False, error="too long"),
    )
    assert entries(events[""]) == [("user", "old")]
    (end,) = types(events[""], "compact/end")
    assert end.meta == {"error": "too long"}


def test_a_rewind_names_no_more_than_the_last_that_stays() -> None:
    rows = [start(), row("system.message", "s", role="system", content="be good")]
    rows += [user("a", "one"), user("b", "two"), answer("r", "so")]
    _, events = feed(*rows, row("session.snapshot_rewind", "z", upToEventId="b"))
    assert entries(events[""]) == [("system", "be good"), ("user", "one")]
    first, second = fold(events[""]).nodes
    assert (first, events[""][-1].op) == (events[""][1].seq, Rebase(seqs=(), after=second))


def test_a_rewind_takes_an_instruction_with_it_which_then_is_new_again() -> None:
    told = row("system.message", "s", role="system", content="be good")
    rows = [start(), user("a", "one"), told, user("b", "two")]
    rows += [row("session.snapshot_rewind", "z", upToEventId="s"), {**told, "id": "s2"}]
    assert entries(feed(*rows)[1][""]) == [("system", "be good"), ("user", "one")]


def test_a_rewind_finds_what_a_summary_came_to_stand_before() -> None:
    """All went while it was made: what came meanwhile stands behind it."""
    rows = [start(), user("a", "one"), row("session.compaction_start", "k")]
    rows += [row("session.context_cleared", "c"), user("b", "two")]
    done = row("session.compaction_complete", "d", success=True, summaryContent="S")
    rows += [done, user("e", "three"), row("session.snapshot_rewind", "z", upToEventId="d")]
    assert [text for _, text in entries(feed(*rows)[1][""])] == ["two"]


def test_a_clear_leaves_the_instructions_and_the_first_message() -> None:
    _, events = feed(
        row("system.message", "s", role="system", content="be good"),
        user("u", "old"),
        row("session.context_cleared", "k", messagesCleared=1, initialMessage="again"),
    )
    assert entries(events[""]) == [("system", "be good"), ("user", "again")]


LOREM = st.sampled_from(["x", "some words", "y z"])


@st.composite
def logs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A log of any course: turns, results, compactions, truncations, rewinds, sub-agents."""
    rows = [start()]
    for number in range(draw(st.integers(1, 14))):
        name, text = f"n{number}", draw(LOREM)
        kind = draw(st.sampled_from("uuaarsktzwx"))
        if kind == "u":
            rows.append(user(name, text))
        elif kind == "a":
            calls = [f"c{number}"] if draw(st.booleans()) else []
            # Several messages of one request follow each other.
            same = rows[-1]["data"].get("apiCallId")
            request = {"apiCallId": draw(st.sampled_from([same or f"r{number}", f"r{number}"]))}
            rows.append(answer(name, text, *calls, **request))
        elif kind == "r":
            rows.append(result(name, f"c{draw(st.integers(0, 5))}", text))
        elif kind == "s":
            rows.append(row("system.message", name, role="system", content=text))
        elif kind == "k":
            rows.append(row("session.compaction_start", name))
        elif kind == "t":
            told = {"success": draw(st.booleans()), "summaryContent": f"in short {text}"}
            if draw(st.booleans()):
                counts = {"preCompactionMessagesLength": 6, "messagesRemoved": 3}
                told |= counts
            rows.append(row("session.compaction_complete", name, **told))
        elif kind == "z":
            removed = draw(st.integers(0, 4))
            rows.append(row("session.truncation", name, messagesRemovedDuringTruncation=removed))
        elif kind == "w":
            # To what a person wrote, never into an answer.
            written = [r["id"] for r in rows if r["type"] == "user.message"] or ["none"]
            target = draw(st.sampled_from(written))
            rows.append(row("session.snapshot_rewind", name, upToEventId=target))
        else:
            rows.append(row("assistant.message", name, "A", content=text, toolRequests=[]))
    return rows


@settings(max_examples=60)
@given(logs())
def test_the_list_is_that_of_a_second_derivation(rows: list[dict[str, Any]]) -> None:
    _, events = feed(*rows)
    assert entries(events[""]) == sent(rows)


# ---------------------------------------------------------------------------------- facts beside


def test_a_sub_agent_is_a_session_of_its_own_which_names_its_call() -> None:
    reader, events = feed(*log())
    assert set(events) == {"", "agent:A"}
    facts = reader.sessions["agent:A"]
    assert (facts.relation, facts.parent_native_id, facts.parent_call_id) == (
        "subagent",
        "s-1",
        "c1",
    )
    assert (facts.title, facts.ended) == ("helper", True)
    assert entries(events["agent:A"]) == [("user", "sub it"), ("assistant", "sub")]
    assert events["agent:A"][0].type == "user/message"


def test_the_session_says_who_it_is() -> None:
    facts = feed(*log())[0].sessions[""]
    assert (facts.native_id, facts.agent_version, facts.cwd) == ("s-1", "1.0", "/p")
    assert (facts.title, facts.model, facts.window) == ("do it", "m", 128)
    assert facts.ended
    assert not facts.turn_open


def test_buckets_of_a_request_are_disjoint_and_name_what_it_produced() -> None:
    _, events = feed(*log())
    answered = types(events[""], "assistant/message")[0]
    assert answered.usage == Usage(output=9)
    (cost,) = types(events[""], "usage")
    assert cost.usage == Usage(input=30, cache_read=20)
    assert cost.request == answered.request == answered.node


def test_what_a_person_decided() -> None:
    _, events = feed(*log())
    decided = [event.meta for event in types(events[""], "approval/decision")]
    assert decided == [
        {"call": "c2", "decision": "rejected", "message": "no"},
        {"decision": "approved"},
        {"call": "c9", "decision": "answered", "message": "so"},
    ]
    refused = [e for e in types(events[""], "tool/result") if e.blocks[0].id == "c2"]
    assert [event.meta for event in refused] == [{"declined": True}]


def test_words_while_a_turn_runs_steer_and_injected_ones_are_context() -> None:
    _, events = feed(
        user("u", "x"), user("v", "quick", delivery="steering"), user("w", "s", source="skill-pdf")
    )
    told = [(event.type, event.turn) for event in events[""]]
    assert told == [("user/message", 1), ("steering/message", 1), ("context/message", 1)]


def test_a_turn_ends_with_an_answer_that_calls_nothing() -> None:
    end = row("assistant.turn_end", "t", turnId="0")
    reader, events = feed(user("u", "x"), answer("a", "", "c"), end)
    assert reader.sessions[""].turn_open
    assert not types(events[""], "turn/end")
    reader, events = feed(user("u", "x"), answer("a", "done"), end)
    assert not reader.sessions[""].turn_open
    assert [event.meta for event in types(events[""], "turn/end")] == [{"reason": "completed"}]


# ------------------------------------------------------------------------------------ where it is


def test_its_folder_is_its_own_variables_else_in_the_home(tmp_path: Path) -> None:
    (root, _) = ADAPTER.roots({"COPILOT_HOME": "/c"}, tmp_path)
    assert (root.path, root.pattern, root.source) == (
        Path("/c/session-state"),
        "*/events.jsonl",
        "COPILOT_HOME",
    )
    (root, _) = ADAPTER.roots({}, tmp_path)
    assert root.path == tmp_path / ".copilot" / "session-state"


@pytest.mark.corpus
def test_the_log_of_the_corpus_is_read_whole_and_in_order(corpus: Path) -> None:
    path = corpus / "copilot" / "letta_tool-calls.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert adapter_of(registry(), path) is not None
    reader, events = read(ADAPTER, path)
    assert (reader.recognised, reader.unknown_types) == (len(rows), {})
    spoken = next(r["data"] for r in rows if r["type"] == "assistant.message")
    given = next(r["data"] for r in rows if r["type"] == "tool.execution_complete")
    (call,) = spoken["toolRequests"]
    assert entries(events[""]) == [
        (
            "assistant",
            f"{spoken['reasoningText']}|{spoken['content']}|{call['name']}:{call['toolCallId']}",
        ),
        ("user", f"{given['toolCallId']}:{given['result']['content']}"),
    ]
