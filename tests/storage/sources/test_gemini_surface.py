"""Gemini CLI: what would be sent again is what the CLI's own loader and history give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.events import Rebase
from compress.surface import fold
from storage.tail import Tail
from tests.derivation import read
from tests.storage.sources.gemini_logs import (
    ADAPTER,
    CONTEXT,
    HEADER,
    answer,
    called,
    checkpoint,
    events,
    message,
    random_log,
    response,
    sent,
    told,
    tool,
    user,
)
from tests.storage.sources.gemini_reference import Line, resumed


def blocks(log: Any) -> list[Line]:
    return [
        (
            message.role,
            block.kind,
            block.id,
            f"{block.name} {json.dumps(block.input, sort_keys=True)}"
            if block.kind == "tool_call"
            else block.text,
        )
        for message in sent(log)
        for block in message.blocks
        if block.kind != "context"
    ]


@settings(max_examples=25)
@given(seed=st.integers(0, 1_000_000))
def test_at_every_moment_the_surface_is_what_the_agent_would_load(seed: int) -> None:
    rows = random_log(seed)
    for end in range(1, len(rows) + 1):
        assert blocks(events(rows[:end])) == resumed(rows[:end])


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name",
    [
        "own_0.61_rewind_resumed.jsonl",
        "agent-sessions_jsonl_v040.jsonl",
        "agent-sessions_large.json",
        "letta_tool-calls.json",
    ],
)
def test_logs_of_the_corpus(corpus: Path, name: str) -> None:
    with Tail(corpus / "gemini" / name) as tail:
        records = tail.read(final=True).records
    log = read(ADAPTER, Path(name), records)[1][""]
    assert blocks(log) == resumed(record.value for record in records)


@pytest.mark.corpus
def test_a_bare_list_of_contents_is_the_list_as_it_stands(corpus: Path) -> None:
    path = corpus / "gemini" / "gemini-cli_trajectory_contents.json"
    contents = json.loads(path.read_bytes())
    with Tail(path) as tail:
        reader, found = read(ADAPTER, path, tail.read(final=True).records)
    log = [event for event in found[""] if event.blocks]
    parts = [part for content in contents for part in content["parts"]]
    assert len(log) == len(parts)
    assert not reader.unknown_types
    kinds = [event.blocks[0].kind for event in log]
    assert kinds.count("tool_call") == sum("functionCall" in part for part in parts)
    assert kinds.count("tool_result") == sum("functionResponse" in part for part in parts)
    summary = next(event for event in log if event.meta.get("checkpoint"))
    assert summary.blocks[0].text.startswith("<state_snapshot>")
    assert sum(event.type == "user/message" for event in log) == sum(
        content["role"] == "user"
        and "functionResponse" not in content["parts"][0]
        and not content["parts"][0]["text"].startswith(("<session_context>", "<state_snapshot>"))
        for content in contents
    )


def test_a_message_that_is_written_again_stands_once_with_all_that_was_added() -> None:
    first = answer("g1", "so")
    rows = [
        HEADER,
        user("u1", "do it"),
        first,
        {**first, "toolCalls": [tool("c1")]},
        {**first, "toolCalls": [tool("c1", "text")]},
    ]
    assert told(rows) == [
        ("user", ["do it"]),
        ("assistant", ["so", "tool_call c1"]),
        ("user", ["text"]),
    ]
    log = events(rows)
    assert len({event.node for event in log if event.type == "assistant/message"}) == 1
    # Nothing that was told is told again.
    assert [event.blocks[0].text for event in log if event.blocks] == ["do it", "so", "", "text"]


def test_a_result_that_changed_takes_the_place_of_the_old_one() -> None:
    first = answer("g1", "", toolCalls=[tool("c1", "half")])
    rows = [HEADER, first, user("u2", "more"), {**first, "toolCalls": [tool("c1", "whole")]}]
    assert told(rows)[1:] == [("user", ["whole", "more"])]


def test_results_that_are_in_the_log_twice_are_sent_twice_by_a_resume_alone() -> None:
    rows = [
        HEADER,
        answer("g1", "", toolCalls=[tool("c1", "one"), tool("c2", "two")]),
        user("u2", response("c1", "one"), response("c2", "two")),
        answer("g2", "done"),
    ]
    call = ("assistant", ["tool_call c1", "tool_call c2"])
    done = ("assistant", ["done"])
    assert told(rows) == [call, ("user", ["one", "two", "one", "two"]), done]
    assert told(rows, "live") == [call, ("user", ["one", "two"]), done]


def test_after_a_checkpoint_the_running_agent_has_the_results_of_its_turns() -> None:
    asked = answer("g1", [called("c1")], toolCalls=[tool("c1", "one")])
    rows = [HEADER, asked, checkpoint(asked, user("g1_response", response("c1", "one")))]
    call = ("assistant", ["tool_call c1"])
    assert told(rows) == [call, ("user", ["one", "one"])]
    assert told(rows, "live") == [call, ("user", ["one"])]


def test_a_checkpoint_brings_back_one_for_one_what_another_left_out() -> None:
    one, two = checkpoint(user("a", "one")), checkpoint(user("b", "two"))
    for end, words in enumerate(("one", "two", "one", "two"), 2):
        rows = [HEADER, one, two, one, two][:end]
        assert told(rows) == [("user", [words])]


def test_a_rewind_tells_what_stays_by_the_last_node_of_both_views() -> None:
    hidden = user("h", "/compress")
    rows = [HEADER, user("u1", "one"), answer("g1", "so"), hidden, user("u2", "two")]
    rows.append({"$rewindTo": "u2"})
    assert told(rows) == told(rows[:4]) != told(rows, "live") == told(rows[:4], "live")
    _, second, third = fold(events(rows[:4]), "live").nodes
    assert events(rows)[-1].op == Rebase(seqs=(third,), after=second)


def test_of_an_id_that_a_checkpoint_has_twice_the_last_content_counts() -> None:
    # The CLI writes so when a session is resumed for the second time.
    asked = answer("g1", [called("c1")], toolCalls=[tool("c1", "one")])
    result, both = response("c1", "one"), user("r", response("c1", "one"), "and")
    rows = [HEADER, asked, user("r", result), answer("g2", "b")]
    rows.append(checkpoint(asked, both, user("r", result), answer("g2", "b")))
    assert told(rows) == told(rows[:-1])
    assert told(rows) == [
        ("assistant", ["tool_call c1"]),
        ("user", ["one", "one"]),
        ("assistant", ["b"]),
    ]


@pytest.mark.parametrize("text", ["/compress", "?", " /x", "<hook_context>h</hook_context>"])
def test_what_a_resume_drops_the_running_agent_had_sent(text: str) -> None:
    rows = [HEADER, user("u1", text), user("u2", "go")]
    assert told(rows) == [("user", ["go"])]
    assert told(rows, "live") == [("user", [text, "go"])]


def test_a_rewind_takes_back_the_message_and_all_after_it() -> None:
    rows = [HEADER, user("u1", "a"), answer("g1", "b"), user("u2", "c"), {"$rewindTo": "g1"}]
    assert told(rows) == [("user", ["a"])]
    marker = events(rows)[-1]
    assert (marker.type, marker.meta, marker.blocks) == (
        "context/message",
        {"marker": "rewind"},
        (),
    )


def test_a_rewind_to_an_unknown_message_takes_back_everything() -> None:
    assert told([HEADER, user("u1", "a"), {"$rewindTo": "nowhere"}, user("u2", "b")]) == [
        ("user", ["b"])
    ]


def test_a_message_that_was_rewound_can_come_again_at_the_end() -> None:
    rows = [HEADER, user("u1", "a"), user("u2", "b"), {"$rewindTo": "u1"}, user("u3", "c")]
    assert told([*rows, user("u1", "a")]) == [("user", ["c", "a"])]


def test_a_compression_is_told_with_its_summary_and_keeps_the_nodes_of_its_tail() -> None:
    # The CLI gives all messages of the new list new ids.
    rows = [
        HEADER,
        user("u1", "old"),
        answer("g1", "older"),
        user("u2", "kept"),
        answer("g2", "also", thoughts=[{"description": "not sent"}]),
    ]
    before = events(rows)
    rows.append(
        checkpoint(
            user("n1", "<state_snapshot>S</state_snapshot>"),
            answer("n2", [{"text": "Got it."}]),
            user("n3", "kept"),
            answer("n4", [{"text": "also"}]),
        )
    )
    assert told(rows) == [
        ("user", ["<state_snapshot>S</state_snapshot>"]),
        ("assistant", ["Got it."]),
        ("user", ["kept"]),
        ("assistant", ["also"]),
    ]
    new = events(rows)[len(before) :]
    assert [event.type for event in new] == [
        "compact/start",
        "compact/summary",
        "assistant/message",
        "context/message",
        "compact/end",
    ]
    summary = new[3]
    assert summary.meta["checkpoint"] == "agent"
    kept = [event.seq for event in before if event.blocks and event.blocks[0].text == "kept"]
    assert summary.op is not None
    assert summary.op.op == "rebase"
    assert summary.op.seqs[2] == kept[0]


def test_masked_results_take_the_place_of_the_whole_ones() -> None:
    def asked(output: str) -> dict[str, Any]:
        return answer("g1", [called("c1")], toolCalls=[tool("c1", output)])

    rows = [HEADER, asked("long"), user("u2", "go"), checkpoint(asked("masked"), user("u2", "go"))]
    assert told(rows)[1:] == [("user", ["masked", "go"])]
    op = events(rows)[-1].op
    assert op is not None
    assert op.op == "replace"


def test_a_resume_within_the_minute_brings_back_the_nodes_that_it_first_left_out() -> None:
    rows = [HEADER, user("x", CONTEXT), user("u1", "a"), answer("g1", "b")]
    wiped = [*rows, HEADER, checkpoint(user("x", CONTEXT))]
    back = [*wiped, checkpoint(user("x", CONTEXT), user("u1", "a"), answer("g1", [{"text": "b"}]))]
    assert told(wiped) == [("user", [CONTEXT])]
    assert told(back) == told(rows)
    assert len([event for event in events(back) if event.blocks]) == 3


def test_an_answer_with_an_empty_part_is_not_sent_nor_what_stands_beside_it() -> None:
    empty = [{"text": ""}, {"text": "x"}]
    rows = [HEADER, user("u1", "a"), answer("g1", "b"), answer("g2", empty), user("u2", "c")]
    assert told(rows) == [("user", ["a", "c"])]


def test_notes_to_the_user_are_not_sent_but_what_a_tool_gave_under_their_type_was() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    rows = [HEADER, message("i1", "info", "note"), message("i2", "info", [image])]
    assert told(rows) == []
    assert told(rows, "live") == [("user", ["image None"])]


def test_ids_go_without_the_tools_name() -> None:
    rows = [HEADER, answer("g1", "", toolCalls=[tool("read_file__fc-1", "x")])]
    assert [block.id for m in sent(events(rows)) for block in m.blocks] == ["fc-1", "fc-1"]
    (result,) = [event for event in events(rows) if event.type == "tool/result"]
    assert result.blocks[0].id == "read_file__fc-1"
