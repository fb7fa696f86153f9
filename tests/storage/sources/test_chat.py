"""Plain chat: the list as it stands, in every layout that is met."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compress.events import ContentBlock, Image, SessionEvent, Usage
from compress.messages import Message, derive_messages
from compress.surface import fold
from storage.sources.base import FileReader
from storage.sources.chat import ChatAdapter
from storage.sources.chat_content import usage
from storage.sources.registry import adapter_of, registry
from storage.tail import Tail
from tests.derivation import content, read, records

ADAPTER = ChatAdapter()


def feed(*rows: Any) -> tuple[FileReader, dict[str, list[SessionEvent]]]:
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return read(ADAPTER, Path("chat.jsonl"), records(data))


def messages(events: list[SessionEvent]) -> list[Message]:
    return derive_messages(content(fold(events), events), "chat")


def shape(events: list[SessionEvent]) -> list[tuple[str, str]]:
    """(role, text) of each message, its blocks' texts joined."""
    return [(m.role, "".join(b.text for b in m.blocks)) for m in messages(events)]


def call(arguments: Any, call_id: str = "c") -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    return {"role": "assistant", "tool_calls": [{"id": call_id, "function": function}]}


USER = {"role": "user", "content": "hi"}
ANSWER = {"role": "assistant", "content": "hello"}

# ---------------------------------------------------------------------------------------- layouts


def test_one_message_a_line_is_one_session() -> None:
    reader, events = feed({"role": "system", "content": "s"}, USER, ANSWER)
    assert list(events) == [""]
    assert shape(events[""]) == [("system", "s"), ("user", "hi"), ("assistant", "hello")]
    assert [event.seq for event in events[""]] == [1, 2, 3]
    assert reader.recognised == 3


def test_one_conversation_a_line_is_a_session_each() -> None:
    reader, events = feed({"messages": [USER]}, {"messages": [USER, ANSWER]})
    assert [shape(found) for found in events.values()] == [
        [("user", "hi")],
        [("user", "hi"), ("assistant", "hello")],
    ]
    assert len({facts.native_id for facts in reader.sessions.values()}) == 2


def test_a_request_log_gives_the_list_and_the_model() -> None:
    reader, events = feed(
        {"custom_id": "r-1", "url": "/v1/chat", "body": {"model": "m", "messages": [USER]}},
        {"model": "n", "messages": [USER], "stream": True},
    )
    assert [shape(found) for found in events.values()] == [[("user", "hi")]] * 2
    facts = list(reader.sessions.values())
    assert (facts[0].native_id, facts[0].model, facts[1].model) == ("r-1", "m", "n")


@pytest.mark.parametrize("document", [[USER, ANSWER], {"messages": [USER, ANSWER]}])
def test_a_whole_document_is_one_session(document: Any, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    assert adapter_of(registry(), path) is not None
    _, events = read(ADAPTER, path, Tail(path).read().records)
    assert shape(events[""]) == [("user", "hi"), ("assistant", "hello")]


def test_a_document_of_conversations_is_a_session_each() -> None:
    _, events = feed([{"messages": [USER]}, {"messages": [ANSWER]}])
    assert [shape(found) for found in events.values()] == [
        [("user", "hi")],
        [("assistant", "hello")],
    ]


def test_a_document_that_grew_keeps_the_seqs_of_what_stood() -> None:
    reader, before = feed([USER, ANSWER])
    data = json.dumps([USER, ANSWER, USER]).encode()
    again = ADAPTER.open(Path("chat.jsonl"), {"": reader.numbering("")})
    after = [e for record in records(data) for d in again.feed(record) for e in d.events]
    identity = [(e.seq, e.native_id, e.block) for e in after]
    assert identity[:2] == [(e.seq, e.native_id, e.block) for e in before[""]]
    assert identity[2][0] == 3


def test_a_log_of_completions_anchors_its_usage_at_the_end_of_the_list() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 7}
    usage["prompt_tokens_details"] = {"cached_tokens": 80}  # type: ignore[assignment]
    usage["cache_creation_input_tokens"] = 5
    reader, events = feed(
        {"messages": [USER], "context_window": 64000, "response": {"model": "m", "usage": usage}}
    )
    (message, figures) = events[""]
    assert figures.usage == Usage(input=15, cache_read=80, cache_write=5, output=7)
    assert (figures.type, figures.request) == ("usage", figures.seq)
    assert fold(events[""]).nodes == (message.seq,)
    assert (reader.sessions[""].window, reader.sessions[""].model) == (64000, "m")


# ---------------------------------------------------------------------------------------- content


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a", ["a"]),
        (None, []),
        ("", []),
        ([{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}], ["a", "b"]),
        (["bare"], ["bare"]),
        (5, []),
    ],
)
def test_content_is_a_string_parts_or_nothing(value: Any, texts: list[str]) -> None:
    _, events = feed({"role": "user", "content": value})
    (message,) = messages(events[""])
    assert [block.text for block in message.blocks] == texts


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("{broken", "{broken"),
        ({"a": 1}, {"a": 1}),
        ('"word"', "word"),
        (None, None),
    ],
)
def test_arguments_are_parsed_however_often_they_were_encoded(
    arguments: Any, expected: Any
) -> None:
    _, events = feed(call(arguments))
    (block,) = events[""][0].blocks
    assert (block.kind, block.id, block.name, block.input) == ("tool_call", "c", "f", expected)


def test_results_answer_their_call_by_id_by_list_or_by_the_legacy_name() -> None:
    _, events = feed(
        USER,
        call("{}"),
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "one"}]},
        call("{}", "d"),
        {"role": "tool", "tool_call_ids": ["d"], "content": "two"},
        {"role": "assistant", "content": None, "function_call": {"name": "g", "arguments": "{}"}},
        {"role": "function", "name": "g", "content": "three"},
    )
    results = [event for event in events[""] if event.type == "tool/result"]
    assert [(e.blocks[0].id, e.blocks[0].text, e.step) for e in results] == [
        ("c", "one", 1),
        ("d", "two", 2),
        ("g", "three", 3),
    ]
    calls = [b.id for e in events[""] for b in e.blocks if b.kind == "tool_call"]
    assert calls == ["c", "d", "g"]


def test_anthropics_parts_are_calls_and_results_too() -> None:
    _, events = feed(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": "r", "is_error": True},
                {"type": "text", "text": "and now"},
            ],
        },
    )
    assert [(e.type, e.node == e.seq) for e in events[""]] == [
        ("assistant/message", True),
        ("tool/result", True),
        ("user/message", True),
    ]
    assert events[""][1].blocks == (
        ContentBlock(kind="tool_result", id="c", text="r", is_error=True),
    )


def test_a_call_without_a_result_is_not_repaired() -> None:
    _, events = feed(USER, call("{}"), USER)
    assert [m.role for m in messages(events[""])] == ["user", "assistant", "user"]
    assert all(block.kind != "synthetic" for m in messages(events[""]) for block in m.blocks)


def test_an_image_is_weighed_by_its_own_header() -> None:
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (3).to_bytes(4) + (5).to_bytes(4) + b"\x08\6\0\0\0"
    url = "data:image/png;base64," + b64encode(png).decode()
    _, events = feed(
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    )
    assert events[""][0].blocks[0].images == (
        Image(media_type="image/png", width=3, height=5, size=len(png)),
    )


def test_an_unknown_role_is_kept_as_unknown_and_counted() -> None:
    reader, events = feed({"messages": [USER, {"role": "robot", "content": "?"}, 7]})
    assert [event.type for event in events[""]] == ["user/message", "unknown", "unknown"]
    assert reader.unknown_types == {"robot": 1, "int": 1}


def test_a_turn_begins_with_each_user_message_and_a_step_with_each_answer() -> None:
    _, events = feed(USER, ANSWER, USER, ANSWER)
    assert [(e.turn, e.step) for e in events[""]] == [(1, None), (1, 1), (2, None), (2, 2)]


# ------------------------------------------------------------------------------------ recognition


@pytest.mark.parametrize(
    "head",
    [
        [],
        [42, [], "text"],
        [{"type": "user", "message": {"role": "user", "content": "x"}}],
        [{"sessionId": "s", "messages": [{"type": "user", "content": "x"}]}],
        [{"id": "m", "role": "user", "time": {}}],
        [{"type": "session", "version": 3}, {"type": "agent_start"}, USER],
    ],
)
def test_other_logs_are_left_to_others(head: list[Any]) -> None:
    assert not ADAPTER.recognises(Path("x.jsonl"), head)


def test_it_has_no_place_of_its_own() -> None:
    assert list(ADAPTER.roots({"HOME": "/home/u"}, Path("/home/u"))) == []


@pytest.mark.corpus
def test_real_lists_are_shown_message_for_message(corpus: Path) -> None:
    seen = 0
    for path in sorted((corpus / "openai").glob("openhands_*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        listed = document if isinstance(document, list) else document["messages"]
        _, events = read(ADAPTER, path, Tail(path).read().records)
        roles = [m.role for m in messages(events[""])]
        assert roles == ["user" if m["role"] == "tool" else m["role"] for m in listed]
        texts = ["".join(b.text for b in m.blocks) for m in messages(events[""])]
        assert texts == [
            m["content"]
            if isinstance(m["content"], str)
            else "".join(part["text"] for part in m["content"])
            for m in listed
        ]
        seen += 1
    assert seen == 5


# ------------------------------------------------------------------------------------- properties

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "id", "name", "url"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
odd_messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "function", "system", "x"]) | values,
    },
    optional={
        "content": values,
        "tool_calls": values | st.lists(st.fixed_dictionaries({"id": values, "function": values})),
        "function_call": values,
        "tool_call_ids": values,
        "usage": values,
        "timestamp": values,
        "reasoning_content": values,
    },
)
odd_records = (
    odd_messages
    | values
    | st.fixed_dictionaries({"messages": values | st.lists(odd_messages, max_size=3)})
    | st.lists(odd_messages | values, max_size=3)
)


@given(st.lists(odd_records, max_size=5))
def test_blocks_from_the_record_alone_are_those_of_the_event(rows: list[Any]) -> None:
    ADAPTER.recognises(Path("x.jsonl"), rows)
    reader = ADAPTER.open(Path("x.jsonl"))
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    for record in records(data):
        for derived in reader.feed(record):
            for event in derived.events:
                SessionEvent.model_validate(event.model_dump())
                assert ADAPTER.blocks(record.value, event.block) == event.blocks


@pytest.mark.parametrize(
    "figures",
    [
        {
            "prompt_tokens": 100,
            "completion_tokens": 9,
            "prompt_tokens_details": {"cached_tokens": 80},
            "completion_tokens_details": {"reasoning_tokens": 4},
            "cache_creation_input_tokens": 5,
        },
        {
            "input_tokens": 100,
            "output_tokens": 9,
            "input_tokens_details": {"cached_tokens": 80},
            "output_tokens_details": {"reasoning_tokens": 4},
            "cache_creation_input_tokens": 5,
        },
    ],
)
def test_a_prompt_counts_what_came_from_the_cache_whatever_its_figures_are_called(
    figures: dict[str, Any],
) -> None:
    assert usage(figures) == Usage(input=15, cache_read=80, cache_write=5, output=9, reasoning=4)


def test_anthropics_input_counts_nothing_of_the_cache() -> None:
    figures = {
        "input_tokens": 15,
        "output_tokens": 9,
        "cache_read_input_tokens": 80,
        "cache_creation_input_tokens": 5,
    }
    assert usage(figures) == Usage(input=15, cache_read=80, cache_write=5, output=9)
