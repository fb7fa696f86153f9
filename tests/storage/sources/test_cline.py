"""Cline: what a task and a session send, and the files that they are read from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compress.events import SessionEvent, Usage
from compress.messages import derive_messages
from compress.surface import fold
from storage.sources.base import FileReader
from storage.sources.cline import ClineAdapter
from storage.sources.cline_sidecar import holds, prefix_hash
from tests.conftest import REPOSITORY
from tests.derivation import content, read
from tests.storage.sources.cline_cases import (
    digested,
    random_session,
    random_task,
    session_as_shown,
    task_as_shown,
)
from tests.storage.sources.cline_logs import (
    SESSION,
    TASK,
    answer,
    call,
    document,
    result,
    row,
    screen,
    session_rows,
    talk,
    task_rows,
    text,
    user,
)
from tests.storage.sources.kit import rows_as_records

ADAPTER = ClineAdapter()
SENT = json.loads((REPOSITORY / "tests/fixtures/cline/sent.json").read_text(encoding="utf-8"))
"""What Cline's own ``ContextManager`` (3.89.2) and ``MessageBuilder`` (4.1.13) make of the
conversations with these seeds: role, and of each block kind, call, length and digest."""
CASES = range(40)


def feed(*rows: Any) -> tuple[FileReader, list[SessionEvent]]:
    path = Path("tasks/t/api_conversation_history.json")
    reader, events = read(ADAPTER, path, rows_as_records(rows))
    return reader, events[""]


def texts(events: list[SessionEvent]) -> list[str]:
    """The texts of each message that is sent."""
    messages = derive_messages(content(fold(events), events), "cline")
    return ["|".join(b.text or b.id or "" for b in message.blocks) for message in messages]


def types(events: list[SessionEvent], *wanted: str) -> list[SessionEvent]:
    return [event for event in events if event.type in wanted]


def messages(*listed: Any) -> list[dict[str, Any]]:
    return [row("message", index, message) for index, message in enumerate(listed)]


# ------------------------------------------------------------------------------ what Cline sends


@pytest.mark.parametrize("seed", CASES)
def test_a_task_is_shown_as_cline_makes_it(seed: int, tmp_path: Path) -> None:
    assert digested(task_as_shown(random_task(seed), tmp_path)) == SENT["tasks"][seed]


@pytest.mark.parametrize("seed", CASES)
def test_a_session_is_shown_as_cline_makes_it(seed: int, tmp_path: Path) -> None:
    assert digested(session_as_shown(random_session(seed), tmp_path)) == SENT["sessions"][seed]


def test_the_digest_of_a_transcript_is_clines_own() -> None:
    odd = '<mode_notice>x</mode_notice><user_input mode="act"> hé "q" </user_input>'
    facts = {"10": 1, "2": 1e-7, "a": 0.000001, "b": [1.5e300, True, None]}
    assert [
        prefix_hash(SESSION[:2]),
        prefix_hash(SESSION),
        prefix_hash([user(text(odd), metadata=facts, id="z")]),
    ] == [
        "sha256:403670d1842d86c28e03efb5886bdfa6f74290d739248e8b9942acfaacdcf646",
        "sha256:86a9536fd2d8f5bb6d09fa226b5964e168688b89e19e6a1192d752eccaf9a29c",
        "sha256:7fa7546b1a7f46bdd50199f52074a4de81730eb5748bac00db77d3713008ec6e",
    ]


def test_an_older_compaction_holds_by_the_key_of_its_last_message() -> None:
    state = {"version": 1, "source_message_count": 2, "messages": []}
    keyed = [user(text("x")), answer(text("y"), id="m2")]
    assert holds({**state, "source_last_message_key": "id:m2"}, keyed)
    assert not holds({**state, "source_last_message_key": "id:m1"}, keyed)
    assert not holds(state, keyed)
    assert not holds({**state, "source_last_message_key": "id:m2"}, keyed[:1])


# ----------------------------------------------------------------------------------------- tasks


def test_a_truncation_is_a_compaction_of_the_agents() -> None:
    spent = {"tokensIn": 90, "cacheReads": 8, "cacheWrites": 2, "tokensOut": 1}
    told = talk(8)
    _, events = feed(
        *messages(*told[:6]),
        row("screen", 0, screen("api_req_started", spent, at=3)),
        row("screen", 1, screen("text", "x", at=5, deleted=[2, 3])),
        *messages(*told)[6:],
    )
    assert texts(events) == [
        "<task>u0</task>",
        "a1",
        "<task>u4</task>",
        "a5",
        "<task>u6</task>",
        "a7",
    ]
    own = [event for event in events if event.type.startswith("compact/")]
    assert [event.type for event in own] == ["compact/start", "compact/summary", "compact/end"]
    assert own[0].meta == {"trigger": "truncation", "pre_tokens": 100}
    (mark,) = types(events, "context/message")
    assert (mark.meta, mark.blocks) == ({"checkpoint": "agent"}, ())


def test_results_whose_calls_were_left_out_go_too() -> None:
    _, events = feed(
        *messages(
            *talk(2),
            user(text("<feedback>x</feedback>")),
            answer(call("c")),
            user(result("c", "r"), text("<feedback>y</feedback>")),
            answer(text("z")),
        ),
        row("task", "", {"conversationHistoryDeletedRange": [2, 3]}),
    )
    assert texts(events) == ["<task>u0</task>", "a1", "<feedback>y</feedback>", "z"]


def test_going_back_to_a_checkpoint_brings_messages_back() -> None:
    rows = [
        *messages(*talk(6)),
        row("screen", 0, screen("text", "x", at=3)),
        row("screen", 1, screen("text", "y", at=5, deleted=[2, 3])),
    ]
    back = [{**rows[-1], "removed": True}, {**rows[5], "removed": True}]
    _, events = feed(*rows, *back)
    assert texts(events) == ["<task>u0</task>", "a1", "<task>u2</task>", "a3", "<task>u4</task>"]
    assert types(events, "context/message")[-1].meta == {"marker": "rewind"}


def test_a_message_that_a_resume_goes_on_with_keeps_its_node() -> None:
    longer = user(text("<task>u0</task>"), text("<feedback>more</feedback>"))
    _, events = feed(*messages(*talk(1)), row("message", 0, longer))
    assert texts(events) == ["<task>u0</task>|<feedback>more</feedback>"]
    assert len({event.node for event in events}) == 1


def test_what_the_user_said_is_told_from_what_cline_added() -> None:
    _, events = feed(*messages(*TASK))
    told = [
        (event.type, event.meta.get("source"), event.turn)
        for event in types(events, "user/message", "context/message", "tool/result")
    ]
    assert told == [
        ("user/message", None, 1),
        ("context/message", "environment", 1),
        ("tool/result", None, 1),
        ("context/message", "environment", 1),
        ("tool/result", None, 1),
        ("tool/result", None, 1),
        ("context/message", "tool", 2),
        ("context/message", "tool", 2),
        ("user/message", None, 2),
    ]


def test_figures_name_what_their_request_produced() -> None:
    _, events = feed(*task_rows())
    told = [(event.usage, event.request) for event in events if event.usage is not None]
    answers = types(events, "assistant/message")
    assert told == [
        (Usage(input=30, cache_read=5, cache_write=2, output=4), answers[0].node),
        (Usage(input=40, cache_read=5, output=3), told[1][1]),
    ]
    assert [b.text for e in events if e.seq == told[1][1] for b in e.blocks] == ["done"]


def test_lists_errors_questions_and_ends_are_told() -> None:
    reader, events = feed(*task_rows())
    lists = [[i["status"] for i in e.meta["items"]] for e in types(events, "artifact/update")]
    assert lists == [["completed", "pending"], ["completed", "completed"]]
    assert [e.meta for e in types(events, "error")] == [{"message": "no"}]
    assert [e.meta["attempt"] for e in types(events, "retry")] == [2]
    asked = [e.meta for e in types(events, "approval/request")]
    assert asked == [{"tool": "tool", "text": "{}"}, {"tool": "followup", "text": "why?"}]
    assert [e.meta for e in types(events, "turn/end")] == [{"reason": "completed"}]
    facts = reader.sessions[""]
    assert (facts.native_id, facts.title, facts.model) == ("t", "do it", "m")


# -------------------------------------------------------------------------------------- sessions


def test_a_compacted_list_stands_for_the_beginning_and_keeps_nodes() -> None:
    rows = session_rows()[:9]
    reader, events = feed(*rows)
    assert texts(events)[:4] == ["be good", "in short", "done", "more|" + FILE]
    kept = [e for e in types(events, "assistant/message") if e.blocks[0].text == "done"]
    assert len(kept) == 1
    own = [event.type for event in events if event.type.startswith("compact/")]
    assert own == ["compact/start", "compact/summary", "compact/end"]
    assert types(events, "compact/start")[0].meta == {"pre_tokens": 77}
    shadowed = fold(events).shadowed
    assert [len(nodes) for nodes in shadowed.values()] == [3]
    facts = reader.sessions[""]
    assert (facts.native_id, facts.title, facts.cwd) == ("s-1", "a title", "/p")
    assert (facts.relation, facts.parent_native_id) == ("fork", "s-0")


FILE = '<file_content path="/p/x">\nin it\n</file_content>'


def test_a_compacted_list_that_holds_no_more_gives_way_to_the_transcript() -> None:
    _, events = feed(*session_rows()[:11])
    assert texts(events)[1] == "do it"
    assert types(events, "context/message")[-1].meta == {"marker": "branch"}


def test_figures_of_a_session_are_made_disjoint() -> None:
    _, events = feed(*session_rows())
    costs = [event.usage for event in events if event.usage is not None]
    assert costs == [Usage(input=30, cache_read=60, cache_write=10, output=7)] * 2


def test_a_question_and_its_answer_are_told() -> None:
    asked = answer(call("q", "ask_question", question="why?", options=["a", "b"]))
    reader, events = feed(row("item", 0, SESSION[0]), row("item", 1, asked))
    assert reader.sessions[""].waiting
    reader, events = feed(
        row("item", 0, SESSION[0]), row("item", 1, asked), row("item", 2, user(result("q", "a")))
    )
    told = [event.meta for event in types(events, "approval/request", "approval/decision")]
    assert told == [
        {"tool": "ask_question", "call": "q", "text": "why?"},
        {"call": "q", "decision": "answered", "question": "why?", "message": "a"},
    ]
    assert not reader.sessions[""].waiting


def test_a_result_says_itself_that_it_failed() -> None:
    failed = user(result("c", [{"query": "q", "result": "", "error": "no", "success": False}]))
    text_form = user(result("c", '{"query":"q","result":"","success":false}'))
    for told in (failed, text_form):
        (event,) = feed(row("item", 0, told))[1]
        assert event.blocks[0].is_error


def test_new_ids_of_a_message_that_says_the_same_are_nothing_new() -> None:
    again = {**SESSION[2], "id": "m3_tool_c1"}
    _, before = feed(row("item", 0, SESSION[2]))
    _, events = feed(row("item", 0, SESSION[2]), row("item", 0, again))
    assert events == before


def test_a_sub_agent_names_the_session_of_its_folder() -> None:
    path = Path("sessions/s-1/helper.messages.json")
    told = {**document(SESSION[:1]), "agent": "subagent", "sessionId": "s-1__helper"}
    reader, _ = read(ADAPTER, path, rows_as_records([told]))
    facts = reader.sessions[""]
    assert (facts.native_id, facts.relation, facts.parent_native_id) == (
        "s-1__helper",
        "subagent",
        "s-1",
    )


class Unwalked(list[Any]):
    """A list that is asked for single elements only."""

    def __iter__(self) -> Any:
        raise AssertionError("walked")


@pytest.mark.parametrize("as_task", [True, False])
def test_a_message_of_a_document_is_looked_up_without_the_others(as_task: bool) -> None:
    told = talk(40)
    whole: Any = told if as_task else {"sessionId": "s", "messages": told}
    _, events = feed(whole)
    unwalked: Any = Unwalked(told)
    kept = unwalked if as_task else {"sessionId": "s", "messages": unwalked}
    said = [event for event in events if event.blocks]
    assert len(said) == 40
    assert [ADAPTER.blocks(kept, e.block) for e in said] == [e.blocks for e in said]
