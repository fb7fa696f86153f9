"""What a reader makes of pi's entries besides their content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compress.events import Usage
from compress.surface import fold
from tests.derivation import read, records
from tests.storage.sources.paths import NOWHERE
from tests.storage.sources.pi_logs import (
    ADAPTER,
    HEADER,
    answer,
    call,
    compaction,
    data,
    entry,
    events,
    message,
    messages,
    result,
    texts,
)


def reading(rows: list[Any]) -> Any:
    return read(ADAPTER, NOWHERE, records(data(rows)))[0]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "/home/u/.pi/agent/sessions"),
        ({"PI_CODING_AGENT_DIR": "/x"}, "/x/sessions"),
        ({"PI_CODING_AGENT_DIR": "~/y"}, "/home/u/y/sessions"),
        ({"PI_CODING_AGENT_SESSION_DIR": "/z", "PI_CODING_AGENT_DIR": "/x"}, "/z"),
    ],
)
def test_sessions_are_where_the_environment_says(
    environment: dict[str, str], expected: str
) -> None:
    (root,) = ADAPTER.roots(environment, Path("/home/u"))
    assert str(root.path) == expected


def test_a_header_needs_an_id_and_a_time() -> None:
    assert ADAPTER.recognises(NOWHERE, [HEADER])
    assert not ADAPTER.recognises(NOWHERE, [])
    assert not ADAPTER.recognises(NOWHERE, [{"type": "session", "version": 0, "id": "x"}])
    assert not ADAPTER.recognises(NOWHERE, [{**HEADER, "id": 5}])
    assert not ADAPTER.recognises(NOWHERE, [HEADER, {"type": "agent_start"}])


# The wrappings are those of pi 1.6.0, taken from its own answers.
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"output": "o", "exitCode": 0}, "Ran `ls`\n```\no\n```"),
        ({"output": "", "exitCode": 0}, "Ran `ls`\n(no output)"),
        ({"output": "o", "exitCode": 2}, "Ran `ls`\n```\no\n```\n\nCommand exited with code 2"),
        (
            {"output": "o", "cancelled": True, "truncated": True, "fullOutputPath": "/f"},
            "Ran `ls`\n```\no\n```\n\n(command cancelled)\n\n[Output truncated. Full output: /f]",
        ),
    ],
)
def test_a_command_of_the_user_is_told_to_the_model(fields: dict[str, Any], expected: str) -> None:
    rows = [HEADER, message("a", None, "bashExecution", None, command="ls", **fields)]
    assert texts(rows) == [expected]
    assert events(rows)[-1].meta == {"source": "bash"}


def test_a_command_that_the_user_kept_apart_is_not_sent() -> None:
    row = message("a", None, "bashExecution", None, command="ls", excludeFromContext=True)
    assert texts([HEADER, row]) == []
    assert events([HEADER, row])[-1].type == "context/message"


def test_summaries_and_extensions_speak_in_the_users_name() -> None:
    rows = [
        HEADER,
        entry("branch_summary", "b1", None, fromId="x", summary="B"),
        entry("branch_summary", "b2", "b1", fromId="x", summary=""),
        entry("custom_message", "c1", "b2", customType="k", content="C", display=False),
        message("h1", "c1", "custom", "H", customType="h"),
    ]
    start = "The following is a summary of a branch that this conversation came back from:\n\n"
    assert texts(rows) == [f"{start}<summary>\nB</summary>", "C", "H"]
    assert {m.role for m in messages(rows)} == {"user"}
    sources = [event.meta["source"] for event in events(rows) if event.blocks]
    assert sources == ["branch_summary", "k", "h"]


@pytest.mark.parametrize(
    "value",
    [
        *([], "str", 42, None, True, {}, {"type": None}, {"type": ["user"]}),
        entry("quantum-snapshot", "q", None),
        message("q", None, "robot", "?"),
        entry("message", "q", None, message="text"),
        entry("message", "q", None, message=None),
    ],
)
def test_r25_what_is_not_understood_is_kept_and_counted(value: Any) -> None:
    rows = [HEADER, value, message("a", "q", "user", "after")]
    reader = reading(rows)
    assert sum(reader.unknown_types.values()) == 1
    assert reader.recognised == 2
    assert [event.type for event in events(rows)].count("unknown") == 1
    assert texts(rows)[-1] == "after"


def test_an_unknown_entry_is_a_link_of_the_chain() -> None:
    rows = [
        *(HEADER, message("a", None, "user", "one"), entry("strange", "b", "a")),
        message("c", "b", "user", "two"),
    ]
    assert texts(rows) == ["one", "two"]


SHAPES = [None, "text", 5, [], {}, True, [None, 7, "bare", [], {}, {"type": "hologram"}]]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("role", ["user", "assistant", "toolResult", "custom", "system"])
def test_r29_odd_content_is_shown_as_far_as_it_goes(role: str, shape: Any) -> None:
    rows = [HEADER, message("a", None, role, shape), message("b", "a", "user", "after")]
    assert texts(rows)[-1] == "after"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("compaction", "summary"),
        ("compaction", "firstKeptEntryId"),
        ("compaction", "systemMessage"),
        ("context_edit", "replacement"),
        ("context_edit", "targetId"),
        ("branch_summary", "summary"),
        ("model_change", "modelId"),
        ("session_info", "name"),
        ("usage", "usage"),
        ("session", "id"),
    ],
)
def test_r29_odd_entries_raise_nothing(kind: str, name: str, shape: Any) -> None:
    odd = {**entry(kind, "x", "a"), name: shape}
    fold(events([HEADER, message("a", None, "user", "q"), odd, message("b", "x", "user", "z")]))


@pytest.mark.parametrize("usage", [{}, None, "many", {"input": 0, "output": 0}, {"input": None}])
def test_t11_usage_that_says_nothing_is_unknown(usage: Any) -> None:
    assert events([HEADER, answer("a", None, "x", usage=usage)])[1].usage is None


@pytest.mark.parametrize("value", [-5, "7", 1.5, 10**30, True])
def test_t11_a_figure_that_is_none_is_unknown(value: Any) -> None:
    row = answer("a", None, "x", usage={"input": value, "output": 3})
    assert events([HEADER, row])[1].usage == Usage(input=None, output=3)


def test_usage_of_an_answer_that_broke_off_is_a_lower_bound() -> None:
    row = answer("a", None, "x", stop="aborted", usage={"input": 5, "output": 3})
    assert events([HEADER, row])[1].usage == Usage(input=5, output=3, lower_bound=True)


def test_steps_and_turns() -> None:
    rows = [
        *(HEADER, message("a", None, "user", "do")),
        answer("b", "a", "I", call("c1"), stop="toolUse"),
        *(result("c", "b", "c1"), message("d", "c", "user", "rather so")),
        *(answer("e", "d", "done"), message("f", "e", "user", "next")),
    ]
    seen = [(event.type, event.turn, event.step) for event in events(rows) if event.blocks]
    assert seen == [
        ("user/message", 1, None),
        ("assistant/message", 1, 1),
        ("assistant/message", 1, 1),
        ("tool/result", 1, 1),
        ("steering/message", 1, None),
        ("assistant/message", 1, 2),
        ("user/message", 2, None),
    ]
    assert reading(rows).sessions[""].turn_open is True
    assert reading(rows[:-1]).sessions[""].turn_open is False


def test_what_the_session_says_of_itself() -> None:
    rows = [
        {**HEADER, "parentSession": "/x/2026-01-01T00-00-00-000Z_parent-id.jsonl"},
        entry("model_change", "m", None, provider="p", modelId="m1"),
        message("a", "m", "user", "first words\nmore"),
        answer("b", "a", "x", provider="p", model="m2"),
    ]
    facts = reading(rows).sessions[""]
    assert (facts.native_id, facts.cwd, facts.model) == ("s", "/p", "m2")
    assert (facts.relation, facts.parent_native_id) == ("fork", "parent-id")
    assert facts.title == "first words"
    headers = [event.meta["model"] for event in events(rows) if event.type == "request/header"]
    assert headers == ["m1", "m2"]
    named = [*rows, entry("session_info", "n", "b", name=" A name ")]
    assert reading(named).sessions[""].title == "A name"


def test_a_failed_request_tells_its_error() -> None:
    rows = [HEADER, answer("a", None, stop="error", errorMessage="overloaded")]
    assert [e.meta["message"] for e in events(rows) if e.type == "error"] == ["overloaded"]


def test_requests_beside_the_conversation_are_counted_apart() -> None:
    usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}
    rows = [
        *(HEADER, message("a", None, "user", "q")),
        compaction("c", "a", "S", "a", usage=usage),
        {**entry("usage", "u", "c", provider="p", model="m", usage=usage), "kind": "title"},
    ]
    spent = [(event.type, event.meta, event.usage) for event in events(rows) if event.usage]
    expected = Usage(input=1, output=2, cache_read=3, cache_write=4)
    assert spent == [
        ("usage", {"kind": "compaction"}, expected),
        ("usage", {"kind": "title"}, expected),
    ]


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["pimono-large-session-v1", "sandcastle-resumed-v3"])
def test_totals_are_those_of_the_raw_records(corpus: Path, name: str) -> None:
    path = corpus / "pi" / f"{name}.jsonl"
    fields = ("input", "cacheRead", "cacheWrite", "output")
    raw = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    told = [row["message"]["usage"] for row in raw if row.get("message", {}).get("usage")]
    told = [usage for usage in told if any(usage[name] for name in fields)]
    paid = [e.usage for e in read(ADAPTER, path)[1][""] if e.usage is not None]
    assert len(paid) == len(told)
    ours = [(u.input, u.cache_read, u.cache_write, u.output) for u in paid]
    assert ours == [tuple(usage[name] for name in fields) for usage in told]
    assert sum(u.total_input or 0 for u in paid) == sum(
        usage["input"] + usage["cacheRead"] + usage["cacheWrite"] for usage in told
    )
