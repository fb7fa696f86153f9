"""DSH: its log states the surface, so the fold must give exactly DSH's own nodes."""

# Long because: a test for each rule of two vocabularies.

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compress.events import Append, Replace, SessionEvent, Usage
from compress.messages import derive_messages
from compress.surface import fold
from storage.sources.base import FileReader
from storage.sources.dsh import DshAdapter
from tests.derivation import content, read, records

FIXTURES = Path(__file__).parent / "fixtures"
MADE = sorted(FIXTURES.glob("dsh-made-*.jsonl"))
CORPUS = (
    "advanced-toolchain__session",
    "agent-instructions__session",
    "approval-composer__session",
    "compaction-recovery__session",
    "subagent-fork-in-process__session",
)
KINDS = {
    "text": "text",
    "thinking": "reasoning",
    "tool_call": "tool-call",
    "tool_result": "tool-result",
}


def log(*rows: dict[str, Any], version: int = 0, **header: Any) -> bytes:
    head = {"type": "session", "version": version, "id": "s1", "createdAt": 1_783_950_000_000}
    lines = ({**head, **header}, *rows)
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def feed(data: bytes, path: str = "s1/session.jsonl") -> tuple[FileReader, list[SessionEvent]]:
    reader, events = read(DshAdapter(), Path(path), records(data))
    return reader, events.get("", [])


def row(kind: str, data: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "data": data or {}, **more}


def user(text: str, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "source": {"kind": "user"}, "content": [text_part(text)]}
    return row("user/message", message, **{"surfaceOp": "append", **more})


def text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


# ---------------------------------------------------------------------------- DSH's own answers


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.stem)
def test_made_logs_fold_to_the_nodes_of_dshs_own_session_class(path: Path) -> None:
    oracle = json.loads(path.with_suffix(".fold.json").read_text(encoding="utf-8"))
    reader, events = feed(path.read_bytes(), str(path))
    surface = fold(events)
    assert [event.seq for event in events] == list(range(1, oracle["events"] + 1))
    assert [int(node) - 1 for node in surface.nodes] == oracle["nodes"]
    assert surface.replace_generation == oracle["generation"]
    assert [
        [int(checkpoint) - 1, [int(node) - 1 for node in nodes]]
        for checkpoint, nodes in surface.shadowed.items()
    ] == oracle["shadowed"]
    messages = derive_messages(content(surface, events), "dsh")
    assert [[m.role, [KINDS[b.kind] for b in m.blocks]] for m in messages] == oracle["messages"]
    assert reader.unknown_types == {}


@pytest.mark.corpus
@pytest.mark.parametrize("name", CORPUS)
def test_real_logs_fold_strictly_and_number_densely(corpus: Path, name: str) -> None:
    path = corpus / "dsh" / f"{name}.jsonl"
    reader, events = feed(path.read_bytes(), str(path))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    surface = fold(events)
    assert surface.nodes
    assert reader.unknown_types == {}
    assert reader.recognised == len(path.read_bytes().splitlines())


@pytest.mark.corpus
@pytest.mark.parametrize("name", [CORPUS[0], CORPUS[1], CORPUS[3]])
def test_real_logs_fold_to_dshs_own_nodes(corpus: Path, name: str) -> None:
    oracle = json.loads((corpus / "surfaces" / "dsh" / f"{name}.json").read_text("utf-8"))
    _, events = feed((corpus / "dsh" / f"{name}.jsonl").read_bytes())
    by_seq = {event.seq: event for event in events}
    assert len(events) == oracle["events"]
    assert [
        {
            "seq0": int(node) - 1,
            "type": by_seq[node].type,
            "blocks": [
                {
                    "type": KINDS[block.kind],
                    "id": block.id,
                    "chars": len(block.text) if block.kind in ("text", "thinking") else None,
                }
                for block in by_seq[node].blocks
            ],
        }
        for node in fold(events).nodes
    ] == oracle["nodes"]


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.stem)
def test_blocks_from_the_raw_record_alone_are_those_of_the_event(path: Path) -> None:
    adapter = DshAdapter()
    reader = adapter.open(path)
    for record in records(path.read_bytes()):
        for derived in reader.feed(record):
            for event in derived.events:
                assert adapter.blocks(record.value, event.block) == event.blocks


# ------------------------------------------------------------------------------- the vocabularies


def test_the_header_gives_facts_and_no_event() -> None:
    reader, events = feed(log(cwd="/w", parentSession="p1", origin="subagent"))
    facts = reader.sessions[""]
    assert events == []
    assert (facts.native_id, facts.cwd) == ("s1", "/w")
    assert (facts.parent_native_id, facts.relation) == ("p1", "subagent")


def test_a_session_that_was_seeded_from_another_is_a_fork() -> None:
    reader, _ = feed(log(parentSession="p1", seedLength=3))
    assert reader.sessions[""].relation == "fork"


def test_packed_rows_take_one_number_for_each_of_their_chunks() -> None:
    packed = {
        "type": "text-chunks",
        "seq0": 1,
        "time0": 1_783_950_000_000,
        "data": {"turn": 1, "step": 1, "index": 0, "dt": [1, 1], "texts": ["a", "b", "c"]},
    }
    _, events = feed(log(user("q", seq=0), packed, user("r", seq=4)))
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert [event.block for event in events] == [0, 0, 1, 2, 0]
    assert fold(events).nodes == (1, 5)


@pytest.mark.parametrize("keys", [("start", "end"), ("startSeq", "endSeq")])
def test_both_spellings_of_the_replace_are_read(keys: tuple[str, str]) -> None:
    replace = {"op": "replace", keys[0]: 0, keys[1]: 1}
    _, events = feed(
        log(user("a"), user("b"), user("c", surfaceOp=replace, sourceEventSeqs=[0, 1]))
    )
    assert events[2].op == Replace(start=1, end=2)
    assert events[2].source_event_seqs == (1, 2)
    assert fold(events).nodes == (3,)


def test_ranges_among_the_citations_are_expanded() -> None:
    replace = {"op": "replace", "startSeq": 0, "endSeq": 3}
    rows = [user(str(n)) for n in range(4)]
    _, events = feed(log(*rows, user("all", surfaceOp=replace, sourceEventSeqs=[0, [1, 3]])))
    assert events[4].source_event_seqs == (1, 2, 3, 4)
    assert fold(events).nodes == (5,)


def test_a_range_that_reaches_beyond_the_log_costs_nothing() -> None:
    _, events = feed(log(user("a"), user("b", sourceEventSeqs=[[0, 2**52]])))
    assert events[1].source_event_seqs == (1,)


@pytest.mark.parametrize("word", ["compact", "compaction"])
def test_both_vocabularies_of_a_compaction_give_the_same_events(word: str) -> None:
    replace = {"op": "replace", "start": 0, "end": 1}
    source = {"kind": "plugin", "plugin": "compact"}
    summary = {"shadowedRange": {"start": 0, "end": 1}, "shadowedSeqs": [0, 1]}
    checkpoint = {"role": "user", "source": source, "content": [text_part("sum")]}
    _, events = feed(
        log(
            user("a"),
            user("b"),
            row(f"{word}/start", {"compactionId": "c", "turn": None}),
            row(f"{word}/summary", {**summary, "shadowedTokenCount": 99}),
            row("user/message", checkpoint, surfaceOp=replace, sourceEventSeqs=[0, 1, 2, 3]),
            row(f"{word}/end", {"compactionId": "c"}),
        )
    )
    assert [event.type for event in events[2:]] == [
        "compact/start",
        "compact/summary",
        "user/message",
        "compact/end",
    ]
    assert events[2].meta["trigger"] == "manual"
    assert (events[3].meta["start"], events[3].meta["end"]) == (1, 2)
    assert (events[3].meta["shadowed"], events[3].meta["shadowed_tokens"]) == (2, 99)
    assert events[4].meta == {"source": "compact", "checkpoint": "agent"}
    assert fold(events).nodes == (5,)


def test_a_failed_compaction_says_why_and_changes_nothing() -> None:
    _, events = feed(
        log(
            user("a"),
            row("compaction/start", {"compactionId": "c", "turn": 1}),
            row("compaction/end", {"compactionId": "c", "error": {"message": "no summary"}}),
        )
    )
    assert events[2].meta["error"] == "no summary"
    assert fold(events).nodes == (1,)


def test_the_oldest_dialect_has_messages_without_a_wrapper() -> None:
    answer = {"turn": 1, "step": 1, "role": "assistant", "content": [text_part("hi")]}
    steering = {"role": "user", "content": [text_part("wait")]}
    _, events = feed(
        log(
            row("assistant/message", answer, surfaceOp="append"),
            row("steering/message", steering, surfaceOp="append"),
            row("context/message", steering, surfaceOp="append"),
        )
    )
    assert [e.type for e in events] == ["assistant/message", "steering/message", "context/message"]
    assert [e.blocks[0].text for e in events] == ["hi", "wait", "wait"]
    assert fold(events).nodes == (1, 2, 3)


def test_v3_the_system_prompt_is_a_context_message_at_the_head() -> None:
    head = {"message": {"role": "system", "content": [text_part("You are …")]}}
    empty = {"message": {"role": "system", "content": []}}
    replace = {"op": "replace", "startSeq": 0, "endSeq": 0}
    _, events = feed(
        log(
            row("system/message", empty, surfaceOp="append"),
            user("q"),
            row("system/message", head, surfaceOp=replace, sourceEventSeqs=[0]),
            version=3,
        ),
        "s1/session.v3.jsonl",
    )
    assert [event.type for event in events] == [
        "context/message",
        "user/message",
        "context/message",
    ]
    assert events[0].meta["type"] == "system/message"
    before = derive_messages(content(fold(events[:2]), events[:2]), "dsh")
    after = derive_messages(content(fold(events), events), "dsh")
    assert [message.role for message in before] == ["user"]
    assert [message.role for message in after] == ["system", "user"]


def test_a_message_type_of_a_newer_generation_stands_as_context_and_is_counted() -> None:
    reader, events = feed(
        log(
            row("notice/message", {"content": [text_part("new")]}, surfaceOp="append"),
            row("quantum/state", {"x": 1}),
        )
    )
    assert [event.type for event in events] == ["context/message", "unknown"]
    assert [event.meta["type"] for event in events] == ["notice/message", "quantum/state"]
    assert fold(events).nodes == (1,)
    assert reader.unknown_types == {"notice/message": 1, "quantum/state": 1}


@pytest.mark.parametrize(
    "op", [None, "insert", {"op": "replace", "start": True, "end": 0}, {"op": "replace"}, 7, []]
)
def test_an_operation_that_dsh_would_refuse_keeps_the_message_off_the_surface(op: Any) -> None:
    _, events = feed(log(user("a"), user("b", surfaceOp=op)))
    assert events[1].op is None
    assert "problem" in events[1].meta
    assert fold(events).nodes == (1,)


def test_a_lost_line_shifts_what_comes_after_it_and_operations_still_hit() -> None:
    replace = {"op": "replace", "start": 2, "end": 2}
    data = log(
        user("a", seq=0),
        user("lost", seq=1),
        user("c", seq=2),
        user("d", seq=3, surfaceOp=replace, sourceEventSeqs=[2]),
    ).splitlines(keepends=True)
    data[2] = data[2][:20] + b"\n"
    _, events = feed(b"".join(data))
    assert [event.seq for event in events] == [1, 2, 3]
    assert fold(events).nodes == (1, 3)
    assert fold(events).shadowed == {3: (2,)}


def test_a_fork_shares_the_identity_of_the_messages_that_it_was_seeded_with() -> None:
    shared = {"id": "81078e7a-6837-45c2-a6b4-a5a3dfce0d4a", "role": "user", "content": []}
    short = {"id": "m1", "role": "user", "content": []}
    rows = [row("user/message", data, surfaceOp="append") for data in (shared, short)]
    _, parent = feed(log(*rows))
    _, fork = feed(log(*rows, id="s2", parentSession="s1"))
    assert DshAdapter.global_ids
    assert parent[0].native_id == fork[0].native_id
    assert parent[1].native_id != fork[1].native_id


# ------------------------------------------------------------------------------------------ facts


def test_turns_steps_requests_and_usage() -> None:
    usage = {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 30, "reasoningTokens": 1}
    answer = {"role": "assistant", "source": {"kind": "model", "model": "m"}, "content": []}
    reader, events = feed(
        log(
            row("turn/start", {"turn": 1}),
            row("step/start", {"turn": 1, "step": 1}),
            user("q"),
            row("request/context", {"provider": "p", "model": "m", "contextWindow": 64000}),
            row("assistant/chunk", {"chunk": {"type": "text-delta", "text": "x"}}),
            row("assistant/chunk", {"chunk": {"type": "usage", "usage": usage}}),
            row("assistant/message", {"message": answer, "usage": usage}, surfaceOp="append"),
            row("step/end"),
            row("turn/end", {"reason": {"kind": "max-tokens"}}),
        )
    )
    expected = Usage(input=10, output=2, cache_read=30, reasoning=1)
    chunk, message = events[5], events[6]
    assert (chunk.type, chunk.usage, chunk.request) == ("usage", expected, 5)
    assert (message.usage, message.request, message.model) == (expected, 5, "m")
    assert (message.turn, message.step) == (1, 1)
    assert events[3].meta == {
        "type": "request/context",
        "model": "m",
        "provider": "p",
        "window": 64000,
    }
    assert (events[8].meta["reason"], events[8].meta["detail"]) == ("error", "max-tokens")
    facts = reader.sessions[""]
    assert (facts.model, facts.window, facts.turn_open) == ("m", 64000, False)


@pytest.mark.parametrize("bad", [-1, True, "12", 1.5, 2**60, None])
def test_figures_that_cannot_be_are_unknown(bad: Any) -> None:
    usage = {"inputTokens": bad, "outputTokens": 3}
    answer = {"message": {"role": "assistant", "content": []}, "usage": usage}
    _, events = feed(log(row("assistant/message", answer, surfaceOp="append")))
    assert events[0].usage == Usage(output=3)


def test_an_interrupted_answer_has_used_at_least_what_it_says() -> None:
    answer = {"message": {"content": []}, "usage": {"outputTokens": 3}, "interrupted": True}
    _, events = feed(log(row("assistant/message", answer, surfaceOp="append")))
    assert events[0].usage == Usage(output=3, lower_bound=True)


def test_an_open_approval_makes_the_session_wait() -> None:
    asked = row("approval/asked", {"id": "a", "toolName": "bash", "callId": "c", "reason": "r"})
    reader, events = feed(log(row("turn/start", {"turn": 1}), asked))
    assert reader.sessions[""].waiting
    assert events[1].type == "approval/request"
    reader, events = feed(log(asked, row("approval/decided", {"id": "a", "outcome": "denied"})))
    assert not reader.sessions[""].waiting
    assert events[1].meta["outcome"] == "denied"


def test_todos_become_an_artifact() -> None:
    todos = [{"content": "one", "status": "completed"}, {"content": "two", "status": "odd"}]
    _, events = feed(log(row("todo/write", {"todos": todos})))
    assert events[0].type == "artifact/update"
    assert events[0].meta["items"] == [
        {"text": "one", "status": "completed"},
        {"text": "two", "status": "pending"},
    ]


def test_calls_and_results_carry_input_text_and_error() -> None:
    call = {"type": "tool-call", "id": "c", "name": "read", "arguments": '{"path": "f"}'}
    broken = {"type": "tool-call", "id": "d", "name": "read", "arguments": "{not json"}
    result = {"type": "tool-result", "toolCallId": "c", "isError": True}
    parts = [text_part("a"), text_part("b")]
    _, events = feed(
        log(
            row(
                "assistant/message",
                {"message": {"role": "assistant", "content": [call, broken]}},
                surfaceOp="append",
            ),
            row(
                "tool/result",
                {"message": {"role": "user", "content": [{**result, "content": parts}]}},
                surfaceOp="append",
            ),
        )
    )
    assert [block.input for block in events[0].blocks] == [{"path": "f"}, "{not json"]
    (block,) = events[1].blocks
    assert (block.id, block.text, block.is_error) == ("c", "ab", True)


# ------------------------------------------------------------------------------------------ files


def test_of_the_generations_in_one_folder_only_the_highest_counts() -> None:
    names = ["a/session.jsonl.zstd", "a/session.v2.jsonl", "a/session.v10.jsonl.zstd"]
    others = ["b/session.jsonl", "flat.jsonl", "a/session.jsonl.tmp", "a/notes.jsonl.bak"]
    chosen = DshAdapter().select([Path(name) for name in names + others])
    assert {str(path) for path in chosen} == {
        "a/session.v10.jsonl.zstd",
        "b/session.jsonl",
        "flat.jsonl",
    }


def test_pis_header_is_not_taken_for_dshs() -> None:
    adapter = DshAdapter()
    pi = {"type": "session", "version": 3, "id": "x", "timestamp": "2026-01-01T00:00:00Z"}
    assert not adapter.recognises(Path("x.jsonl"), [pi])
    assert adapter.recognises(Path("x.jsonl"), [json.loads(log().decode())])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
odd_rows = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            [
                "session",
                "user/message",
                "assistant/message",
                "tool/result",
                "assistant/chunk",
                "text-chunks",
                "compaction/summary",
                "request/header",
                "request/context",
                "turn/end",
                "todo/write",
                "approval/asked",
                "llm/retry",
            ]
        )
        | json_values,
        "data": json_values
        | st.fixed_dictionaries(
            {},
            optional={
                "message": json_values,
                "content": json_values,
                "usage": json_values,
                "reason": json_values,
                "todos": json_values,
                "chunk": json_values,
                "shadowedRange": json_values,
                "texts": st.lists(st.text(max_size=2), max_size=3),
            },
        ),
        "seq": json_values,
        "seq0": json_values,
        "time": json_values,
        "surfaceOp": json_values | st.just("append"),
        "sourceEventSeqs": json_values,
        "version": json_values,
        "createdAt": json_values,
    },
)


@given(st.lists(odd_rows | json_values, max_size=6))
def test_no_record_whatever_its_shape_raises(rows: list[Any]) -> None:
    adapter = DshAdapter()
    adapter.recognises(Path("x.jsonl"), rows)
    data = b"".join(json.dumps(value).encode() + b"\n" for value in rows)
    _, events = feed(data)
    for event in events:
        SessionEvent.model_validate(event.model_dump())
        assert event.op in (None, Append()) or isinstance(event.op, Replace)
