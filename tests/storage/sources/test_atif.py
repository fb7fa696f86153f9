"""ATIF: the steps are the list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.events import Usage
from storage.sources.registry import adapter_of, registry
from storage.tail import Tail
from tests.derivation import read
from tests.storage.sources.atif_logs import (
    ADAPTER,
    call,
    events,
    made,
    random_trajectory,
    reading,
    sent,
    step,
    trajectory,
)
from tests.storage.sources.kit import rows_as_records


def test_a_step_is_a_message_and_what_came_of_it() -> None:
    log = events(made())
    assert [(e.type, e.turn, e.step) for e in log] == [
        ("session/start", None, None),
        ("request/header", None, None),
        ("context/message", None, None),
        ("user/message", 1, None),
        ("user/message", 1, None),
        ("user/message", 1, None),
        ("assistant/message", 1, None),
        ("assistant/message", 1, 1),
        ("assistant/message", 1, 1),
        ("assistant/message", 1, 1),
        ("assistant/message", 1, 1),
        ("tool/result", 1, 1),
        ("tool/result", 1, 1),
        ("context/message", 1, None),
        ("context/message", 1, None),
        ("assistant/message", 1, 1),
        ("request/header", 1, None),
        ("assistant/message", 1, 2),
    ]
    assert sent(log) == [
        ("system", "text", None, "rules"),
        ("user", "text", None, "do it"),
        ("user", "image", None, ""),
        ("user", "opaque", None, ""),
        ("assistant", "text", None, "as before"),
        ("assistant", "thinking", None, "so"),
        ("assistant", "text", None, "look"),
        ("assistant", "tool_call", "c1", ""),
        ("assistant", "tool_call", "c2", ""),
        ("user", "tool_result", "c1", "one"),
        ("user", "tool_result", "c2", ""),
        ("user", "text", None, "what the terminal shows"),
        ("user", "text", None, "summarized"),
        ("assistant", "text", None, "by rule"),
        ("assistant", "text", None, "done"),
    ]
    assert [len(e.blocks[0].images) for e in log if e.type == "tool/result"] == [1, 0]


@settings(max_examples=40)
@given(seed=st.integers(0, 1_000_000))
def test_the_steps_stand_in_their_order_at_every_moment(seed: int) -> None:
    whole = random_trajectory(seed)
    steps = whole["steps"]
    for end in range(len(steps) + 1):
        wanted = [line for one in steps[:end] for line in _lines(one)]
        assert sent(events({**whole, "steps": steps[:end]})) == wanted


def test_figures_are_disjoint_and_a_sum_over_requests_is_no_prompt() -> None:
    log = events(made())
    assert [(e.usage, e.request == e.seq) for e in log if e.usage is not None] == [
        (Usage(input=50, cache_read=40, output=7), True),
        (Usage(output=7), True),
    ]
    more = {
        "prompt_tokens": 90,
        "extra": {"cache_creation_input_tokens": 30, "reasoning_tokens": 2},
    }
    found = events(trajectory(step("agent", "x", metrics=more)))[-1].usage
    assert found == Usage(input=60, cache_write=30, reasoning=2)
    odd = {"prompt_tokens": -1, "completion_tokens": 2.5, "cached_tokens": True}
    assert events(trajectory(step("agent", "x", metrics=odd)))[-1].usage is None


def test_a_sub_agent_in_the_document_is_a_session_of_its_own() -> None:
    reader, found = reading(made())
    assert set(found) == {"", "1"}
    parent, child = reader.sessions[""], reader.sessions["1"]
    assert (parent.native_id, parent.title, parent.ended) == ("t-1", "do it", True)
    assert (child.native_id, child.relation, child.parent_native_id, child.parent_call_id) == (
        "sub-1",
        "subagent",
        "t-1",
        "c2",
    )
    assert sent(found["1"]) == [
        ("user", "text", None, "look closer"),
        ("assistant", "text", None, "looked"),
    ]
    told = [e.meta.get("agent") for e in found[""] if e.type == "tool/result"]
    assert told == [None, "sub-1"]


class Unwalked(list[Any]):
    """A list that is asked for single elements only."""

    def __iter__(self) -> Any:
        raise AssertionError("walked")


def test_a_step_of_a_document_is_looked_up_without_the_others() -> None:
    one = made()
    inner = one["subagent_trajectories"][0]
    kept = {
        **one,
        "steps": Unwalked(one["steps"]),
        "subagent_trajectories": [{**inner, "steps": Unwalked(inner["steps"])}],
    }
    for found in reading(one)[1].values():
        assert [ADAPTER.blocks(kept, e.block) for e in found] == [e.blocks for e in found]


def test_a_sub_agent_in_a_file_is_named_by_it() -> None:
    result = {"source_call_id": "c", "subagent_trajectory_ref": {"trajectory_path": "s/conf.json"}}
    calls = [call("c")]
    one = step("agent", "", tool_calls=calls, observation={"results": [result]})
    assert events(trajectory(one))[-1].meta == {"agent": "conf"}


def test_each_line_of_a_file_of_trajectories_is_a_session() -> None:
    one = trajectory(step("user", "x"), session_id="a")
    reader, found = reading(one, trajectory(step("user", "y"), session_id="b"))
    assert {key: facts.native_id for key, facts in reader.sessions.items()} == {
        "": "a",
        "line-2": "b",
    }
    assert sent(found["line-2"]) == [("user", "text", None, "y")]


def test_a_document_that_grows_keeps_its_numbers() -> None:
    whole = made()
    short = {**whole, "steps": whole["steps"][:4], "subagent_trajectories": []}
    short["steps"] = [*whole["steps"][:3], {**whole["steps"][3], "observation": {"results": []}}]
    first, before = reading(short)
    again = ADAPTER.open(Path("trajectory.json"), {"": first.numbering("")})
    derived = [d for record in rows_as_records([whole]) for d in again.feed(record)]
    numbers = {(e.native_id, e.block): e.seq for e in derived[0].events}
    assert {(e.native_id, e.block): e.seq for e in before[""]}.items() <= numbers.items()


def test_what_is_no_step_is_counted_and_kept() -> None:
    reader, found = reading(trajectory(step("user", "x"), step("oracle", "y"), {"x": 1}))
    assert reader.unknown_types == {"oracle": 1, "object": 1}
    assert [e.meta["type"] for e in found[""] if e.type == "unknown"] == ["oracle", "object"]


def test_the_made_trajectory_is_one_by_the_formats_own_models() -> None:
    atif = pytest.importorskip("atif", reason="pip install atif")
    atif.Trajectory.model_validate(made())


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["letta_tool-calls", "converted_sweagent_function_calling"])
def test_logs_of_the_corpus_hold_their_steps(corpus: Path, name: str) -> None:
    path = corpus / "atif" / f"{name}.json"
    found_by = adapter_of(registry(), path)
    assert found_by is not None
    assert found_by.agent == "atif"
    with Tail(path) as tail:
        reader, found = read(ADAPTER, path, tail.read(final=True).records)
    assert (reader.unknown_types, set(found)) == ({}, {""})
    assert sent(found[""]) == [
        line for one in json.loads(path.read_text())["steps"] for line in _lines(one)
    ]


def _lines(one: dict[str, Any]) -> list[tuple[str, str, str | None, str]]:
    """The blocks of a step, read a second time."""
    role = {"agent": "assistant"}.get(one["source"], one["source"])

    def parts(found: Any) -> list[tuple[str, str]]:
        if isinstance(found, str):
            return [("text", found)] if found else []
        return [(p["type"], p.get("text", "")) for p in found or ()]

    thought = one.get("reasoning_content")
    lines = [(role, "thinking", None, thought)] if thought else []
    lines += [(role, kind, None, text) for kind, text in parts(one["message"])]
    lines += [(role, "tool_call", c["tool_call_id"], "") for c in one.get("tool_calls", ())]
    for result in one.get("observation", {}).get("results", ()):
        text = "".join(text for _, text in parts(result.get("content")))
        call_id = result.get("source_call_id")
        lines.append(("user", "tool_result" if call_id else "text", call_id, text))
    return lines
