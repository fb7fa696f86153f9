"""OpenAI's batch files: requests, results, and preferences for fine-tuning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compress.events import Rebase, SessionEvent, Usage
from compress.messages import derive_messages
from compress.surface import fold
from storage.sources.base import FileReader
from storage.sources.batch import BatchAdapter
from storage.sources.registry import adapter_of, registry
from tests.derivation import content, read
from tests.storage.sources.batch_logs import (
    CALL,
    USAGE,
    USER,
    choice,
    log,
    preference,
    request,
    result,
    said,
)
from tests.storage.sources.kit import rows_as_records

ADAPTER = BatchAdapter()


def feed(*rows: Any) -> tuple[FileReader, dict[str, list[SessionEvent]]]:
    return read(ADAPTER, Path("requests.jsonl"), rows_as_records(rows))


def shape(events: list[SessionEvent]) -> list[tuple[str, list[str]]]:
    """Role and blocks of each message that is sent."""
    messages = derive_messages(content(fold(events), events), "batch")
    return [(str(m.role), [f"{b.kind}:{b.text or b.id or ''}" for b in m.blocks]) for m in messages]


def test_each_request_is_a_session_with_its_own_name() -> None:
    reader, events = feed(request("a", messages=[USER]), request("b", messages=[USER]))
    assert [shape(found) for found in events.values()] == [[("user", ["text:hi"])]] * 2
    told = [(facts.native_id, facts.model, facts.title) for facts in reader.sessions.values()]
    assert told == [("a", "m", "hi"), ("b", "m", "hi")]


def test_a_result_goes_on_with_its_request() -> None:
    _, events = feed(
        request("a", messages=[USER]),
        request("b", messages=[USER]),
        result("b", model="m-1", choices=choice(said("for b")), usage=USAGE),
        result("a", model="m-1", choices=choice(said("so", CALL))),
    )
    first, second = events.values()
    assert shape(first) == [("user", ["text:hi"]), ("assistant", ["text:so", "tool_call:c"])]
    assert shape(second) == [("user", ["text:hi"]), ("assistant", ["text:for b"])]
    answer = second[-1]
    assert (answer.usage, answer.request) == (
        Usage(input=12, cache_read=8, output=5),
        answer.node,
    )
    assert (answer.model, answer.step, answer.turn) == ("m-1", 1, 1)


def test_a_request_stands_in_front_of_a_result_that_came_first() -> None:
    asked = [{"role": "system", "content": "rules"}, {"role": "user", "content": [TEXT, TEXT]}]
    _, events = feed(
        result("a", choices=choice(said("no"))),
        result("a", choices=choice(said("yes"))),
        request("a", messages=asked),
        result("a", choices=choice(said("after all"))),
    )
    assert list(events) == [""]
    assert shape(events[""]) == [
        ("system", ["text:rules"]),
        ("user", ["text:x", "text:x"]),
        ("assistant", ["text:no"]),
        ("assistant", ["text:yes"]),
        ("assistant", ["text:after all"]),
    ]
    # At no moment does it stand behind: until it is whole, only the results do.
    (rebase,) = [at for at, e in enumerate(events[""]) if isinstance(e.op, Rebase)]
    assert shape(events[""][:rebase]) == [
        ("assistant", ["text:no"]),
        ("assistant", ["text:yes"]),
    ]


TEXT = {"type": "text", "text": "x"}


def test_a_second_request_of_the_same_name_is_a_session_of_its_own() -> None:
    again = {"role": "user", "content": "again"}
    lines = [
        request("a", messages=[USER]),
        request("a", messages=[again]),
        result("a", choices=choice(said("one"))),
        result("a", choices=choice(said("two"))),
    ]
    whole = [
        [("user", ["text:hi"]), ("assistant", ["text:one"])],
        [("user", ["text:again"]), ("assistant", ["text:two"])],
    ]
    for order in ((0, 1, 2, 3), (0, 2, 1, 3)):
        _, events = feed(*(lines[at] for at in order))
        assert [shape(found) for found in events.values()] == whole


def test_a_file_of_results_alone_shows_the_answers() -> None:
    reader, events = feed(result("a", choices=choice(said("one"))), result("b", choices=[]))
    assert shape(events[""]) == [("assistant", ["text:one"])]
    assert reader.unknown_types == {"object": 1}


def test_further_choices_are_kept_and_do_not_stand() -> None:
    _, events = feed(result("a", choices=choice(said("one"), said("two"))))
    assert shape(events[""]) == [("assistant", ["text:one"])]
    assert [block.text for event in events[""] for block in event.blocks] == ["one", "two"]


def test_of_a_preference_the_preferred_answer_stands() -> None:
    _, events = feed(preference())
    assert shape(events[""]) == [("user", ["text:hi"]), ("assistant", ["text:good"])]
    assert [block.text for event in events[""] for block in event.blocks] == ["hi", "good", "bad"]


def test_the_responses_endpoint_gives_the_same_messages() -> None:
    _, events = feed(*log())
    assert shape(events["2"]) == [
        ("system", ["text:be good"]),
        ("user", ["text:x"]),
        ("assistant", ["tool_call:d"]),
        ("user", ["tool_result:o"]),
        ("assistant", ["thinking:so", "opaque:", "text:y"]),
    ]
    costs = [event.usage for event in events["2"] if event.usage is not None]
    assert costs == [Usage(input=5, cache_read=4, output=2)]


def test_a_completion_is_a_prompt_and_its_text() -> None:
    _, events = feed(*log())
    assert shape(events["3"]) == [("user", ["text:once"]), ("assistant", ["text: upon"])]


def test_a_request_that_failed_says_why() -> None:
    _, events = feed(*log())
    told = [e.meta["message"] for found in events.values() for e in found if e.type == "error"]
    assert told == ["too late", "status 429"]


def test_what_is_no_conversation_is_kept_and_counted() -> None:
    stranger = {"role": "robot", "content": "?"}
    reader, events = feed(
        request("a", messages=[USER, stranger]), request("b", "/v1/embeddings", input="x")
    )
    unknown = [e.meta["type"] for found in events.values() for e in found if e.type == "unknown"]
    assert unknown == ["robot", "/v1/embeddings"]
    assert reader.unknown_types == {"robot": 1, "/v1/embeddings": 1}


@pytest.mark.parametrize(
    "head",
    [
        [],
        [{"custom_id": "a"}],
        [{"custom_id": 1, "body": {"messages": []}}],
        [{"messages": [USER]}],
        [{"messages": [USER]}, {"messages": [USER]}, request("a", messages=[USER])],
    ],
)
def test_other_logs_are_left_to_others(head: list[Any]) -> None:
    assert not ADAPTER.recognises(Path("x.jsonl"), head)


def test_lines_of_conversations_stay_plain_chat(tmp_path: Path) -> None:
    path = tmp_path / "tuning.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "x"}]}\n' * 2, encoding="utf-8")
    found = adapter_of(registry(), path)
    assert found is not None
    assert found.agent == "chat"
