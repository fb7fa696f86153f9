"""OpenHands before its SDK: actions, observations, delegates."""

from __future__ import annotations

from pathlib import Path

from compress.events import Usage
from tests.derivation import read
from tests.storage.sources.kit import rows_as_records
from tests.storage.sources.openhands_logs import ADAPTER, Json, events, reading
from tests.storage.sources.openhands_old_logs import made_old, of, old, response, seen
from tests.storage.sources.test_openhands_records import only


def test_an_answer_stands_whole_in_each_of_its_actions_and_is_told_once() -> None:
    log = events(made_old())
    first = [e for e in log if e.native_id in ("4", "6") and e.blocks]
    assert [[b.kind for b in e.blocks] for e in first] == [["text"], ["tool_call"], ["tool_call"]]
    assert {e.node for e in first} == {first[0].seq}
    assert [e.usage for e in first] == [Usage(input=60, output=5), None, None]
    assert first[0].model == "m"


def test_a_delegate_works_in_a_session_of_its_own() -> None:
    reader, found = read(ADAPTER, Path("old.jsonl"), rows_as_records(made_old()))
    assert set(found) == {"", "delegate-12"}
    facts = reader.sessions["delegate-12"]
    assert (facts.native_id, facts.relation, facts.parent_native_id, facts.parent_call_id) == (
        "old.delegate-12",
        "subagent",
        "old",
        "c3",
    )
    assert [b.text for e in found["delegate-12"] for b in e.blocks] == ["the delegate speaks"]
    told = next(e for e in found[""] if e.meta.get("agent"))
    assert (told.meta["agent"], told.blocks[0].text) == ("old.delegate-12", "inner")


def test_an_export_without_the_models_answers_pairs_by_cause() -> None:
    rows = [old(1, "run", command="ls", thought="look"), seen(2, "run", "out", 1)]
    log = events(rows)
    assert [(b.kind, b.id, b.text) for e in log for b in e.blocks] == [
        ("text", None, "look"),
        ("tool_call", "1", ""),
        ("tool_result", "1", "out"),
    ]
    assert log[1].blocks[0].input == {"command": "ls"}


def test_runs_of_a_benchmark_are_sessions_one_a_line() -> None:
    """Their events come in pairs of action and observation in the oldest."""
    pair = [old(1, "run", command="ls"), seen(2, "run", "out", 1)]
    one = {"instance_id": "a__b-1", "history": [[old(0, "message", "user", content="x")], pair]}
    two = {"instance_id": "a__b-2", "history": [old(0, "message", "user", content="y")]}
    reader, found = read(ADAPTER, Path("output.jsonl"), rows_as_records([one, two]))
    assert {key: facts.native_id for key, facts in reader.sessions.items()} == {
        "": "a__b-1",
        "line-2": "a__b-2",
    }
    assert [b.text for e in found[""] for b in e.blocks] == ["x", "", "out"]
    assert [ADAPTER.blocks(one, e.block) for e in found[""]] == [e.blocks for e in found[""]]


def test_states_of_the_agent_before_the_sdk() -> None:
    one = response("r", "c")
    rows = [old(0, "message", "user", content="x"), of(old(1, "run", command="ls"), one, "c")]
    waits = seen(2, "agent_state_changed", "", 0, agent_state="awaiting_user_confirmation")
    asks = seen(3, "agent_state_changed", "", 0, agent_state="awaiting_user_input")
    reader, log = reading([*rows, waits])
    assert (reader.sessions[""].waiting, only(log, "approval/request").meta) == (
        True,
        {"call": "c"},
    )
    assert only(events([*rows, asks]), "turn/end").meta == {"reason": "completed"}


def test_what_an_answer_without_calls_cost_is_the_difference_of_the_sums() -> None:
    def sums(row: Json, prompt: int, output: int, newest: int) -> Json:
        usage = {"prompt_tokens": prompt, "completion_tokens": output, "per_turn_token": newest}
        return {**row, "llm_metrics": {"accumulated_token_usage": usage}}

    one = response("r1", "c1")
    rows = [
        old(0, "message", "user", content="x"),
        sums(of(old(1, "run", command="ls"), one, "c1"), 60, 5, 65),
        of(seen(2, "run", "out", 1), one, "c1"),
        sums(old(3, "message", content="so"), 160, 12, 107),
        sums(old(4, "message", content="and"), 900, 90, 7),
        of(old(5, "finish", thought="done"), response("r2", "c2"), "c2"),
    ]
    assert [e.usage for e in events(rows) if e.usage is not None] == [
        Usage(input=60, output=5),
        Usage(input=100, cache_read=0, cache_write=0, output=7),
        Usage(input=60, output=5),
    ]
