"""What an event states, as beliefs: told by its type and by the structure of calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.beliefs.classes import sources
from compress.beliefs.harvest import belief_of_decision, beliefs_of
from compress.beliefs.parts import PART_LIMITS, parts_of
from compress.beliefs.values import Belief
from compress.decisions.values import DecisionPoint, Stage
from compress.events import ContentBlock, SessionEvent
from compress.packs.fit import pack
from compress.packs.values import Candidate, PackRequest
from storage.ingest import Ingest
from storage.sources.registry import registry
from storage.store import Store
from tests.compress.packs.made import counter


def event(kind: str, *blocks: ContentBlock, **fields: Any) -> SessionEvent:
    return SessionEvent(seq=7, type=kind, native_id="r7", blocks=blocks, **fields)


def text(words: str, kind: str = "text") -> ContentBlock:
    return ContentBlock(kind=kind, text=words)


def call(value: Any, name: str = "tool") -> ContentBlock:
    return ContentBlock(kind="tool_call", id="c1", name=name, input=value)


def harvested(one: SessionEvent, asked: ContentBlock | None = None) -> tuple[Belief, ...]:
    return beliefs_of(one, native="n1", counter=counter(), session="s1", call=asked)


def told(found: tuple[Belief, ...]) -> list[tuple[str, str, str]]:
    return [(one.source_kind, one.label, one.content) for one in found]


@pytest.mark.parametrize(
    ("kind", "source"), [("user/message", "user"), ("steering/message", "steering")]
)
def test_the_persons_words_are_facts(kind: str, source: str) -> None:
    (found,) = harvested(event(kind, text("Use tabs.")))
    assert told((found,)) == [(source, "", "Use tabs.")]
    assert (found.retention_class, found.belief_type) == ("fact", "instruction")
    assert (found.source_event_seqs, found.session, found.part) == ((7,), "s1", None)


def test_what_a_program_put_beside_them_is_context() -> None:
    found = harvested(
        event("user/message", text("<reminder>Be brief.</reminder>"), text("Use tabs."))
    )
    assert told(found) == [
        ("user", "", "Use tabs."),
        ("context", "", "<reminder>Be brief.</reminder>"),
    ]


def test_the_agents_words_are_answers_and_its_thinking_is_none() -> None:
    found = harvested(event("assistant/message", text("Hm.", "thinking"), text("It is done.")))
    assert told(found) == [("answer", "", "It is done.")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"command": "make test"}, [("action", "tool", "make test")]),
        ({"file_path": "a.py", "content": "x = 1\n"}, [("file_written", "a.py", "x = 1\n")]),
        (
            {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"},
            [("file_written", "a.py", "x = 2")],
        ),
        (
            "*** Begin Patch\n*** Update File: a.py\n@@\n a\n-b\n+c\n*** End Patch",
            [("file_written", "a.py", "a\nc")],
        ),
        ({"file_path": "a.py"}, []),
        ({"pattern": "needle"}, []),
        ({"prompt": "Look for the place in which tabs are read first."}, [("action", "tool", ...)]),
        (None, []),
    ],
)
def test_a_call_states_what_its_result_does_not_tell(
    value: Any, expected: list[tuple[Any, ...]]
) -> None:
    found = told(harvested(event("assistant/message", call(value))))
    assert len(found) == len(expected)
    for one, wanted in zip(found, expected, strict=True):
        assert all(w in (..., f) for f, w in zip(one, wanted, strict=True))


@pytest.mark.parametrize(
    ("value", "source", "label", "retention"),
    [
        ({"file_path": "src/a.py"}, "file_read", "src/a.py", "snapshot"),
        ({"pattern": "needle", "path": "src"}, "found", "needle", "snapshot"),
        ({"url": "https://a.example"}, "found", "https://a.example", "snapshot"),
        ({"command": "make  test"}, "command", "make test", "transient"),
        (
            {"file_path": "a.py", "old_string": "x", "new_string": "y"},
            *("progress", "a.py", "transient"),
        ),
        ({"x": 1}, "tool", "tool", "unknown"),
        (None, "tool", "", "unknown"),
    ],
)
def test_a_result_is_what_its_call_asked_for(
    value: Any, source: str, label: str, retention: str
) -> None:
    block = ContentBlock(kind="tool_result", id="c1", text="some output")
    asked = None if value is None else call(value)
    (found,) = harvested(event("tool/result", block), asked)
    assert (found.source_kind, found.label, found.retention_class) == (source, label, retention)
    assert found.content == "some output"


def test_a_result_of_another_call_stays_unknown() -> None:
    block = ContentBlock(kind="tool_result", id="other", text="some output")
    (found,) = harvested(event("tool/result", block), call({"command": "make"}))
    assert found.source_kind == "tool"


def test_a_checkpoint_is_a_snapshot_whoever_made_it() -> None:
    one = event("context/message", text("The summary."), meta={"checkpoint": "agent"})
    assert told(harvested(one)) == [("checkpoint", "", "The summary.")]
    made = "<checkpoint>\nThis is a checkpoint, not a request. It stands for 3."
    assert told(harvested(event("user/message", text(made)))) == [("checkpoint", "", made)]


def test_a_pack_that_was_committed_is_a_note() -> None:
    (said,) = harvested(event("user/message", text("Use tabs.")))
    committed = pack([Candidate(said)], PackRequest("", 500), counter()).text
    (found,) = harvested(event("context/message", text(committed)))
    assert (found.source_kind, found.retention_class) == ("note", "fact")
    assert harvested(event("user/message", text(committed)))[0].source_kind == "note"


def test_each_item_of_a_plan_is_a_step_with_its_status() -> None:
    items = [
        {"text": "Read it", "status": "completed"},
        {"text": "Write it", "status": "in_progress"},
        "no item",
    ]
    found = harvested(event("artifact/update", meta={"kind": "todo", "items": items}))
    assert told(found) == [
        ("plan_step", "completed", "Read it"),
        ("plan_step", "in progress", "Write it"),
    ]


def test_the_persons_words_at_a_refused_call_are_steering() -> None:
    one = event("approval/decision", meta={"call": "c1", "decision": "rejected", "message": "No."})
    assert told(harvested(one)) == [("steering", "", "No.")]


@pytest.mark.parametrize("kind", ["usage", "turn/start", "compact/start", "unknown", "pin/add"])
def test_what_says_nothing_is_no_belief(kind: str) -> None:
    assert harvested(event(kind)) == ()


def test_a_decision_point_is_one_belief_with_all_of_its_events() -> None:
    point = DecisionPoint(
        id="d1",
        agent="a",
        session="n1",
        project=None,
        stage=Stage(kind="turn", title="Fix the parser", index=3),
        summary="Tabs are read now.",
        outcome="success",
        source_event_seqs=(4, 5, 9),
        first_seq=4,
        last_seq=9,
        open=False,
        revision=9,
    )
    found = belief_of_decision(point, native="n1", session="s1")
    assert found.content == "turn 3: Fix the parser [success]\ndid: Tabs are read now."
    assert (found.retention_class, found.belief_type) == ("fact", "decision")
    assert found.source_event_seqs == (4, 5, 9)


def test_a_changed_table_changes_the_class() -> None:
    one = event("user/message", text("Use tabs."))
    (found,) = beliefs_of(
        one, native="n1", counter=counter(), sources=sources({"user": "transient"}), locked=True
    )
    assert found.retention_class == "transient"
    assert found.locked


# -- parts and ids ------------------------------------------------------------------------------


def test_a_long_content_is_cut_into_parts_that_are_the_content() -> None:
    long = "\n\n".join(f"Paragraph {n} says something about tabs. It ends here." for n in range(99))
    block = ContentBlock(kind="tool_result", id="c1", text=long)
    found = harvested(event("tool/result", block), call({"file_path": "a.md"}))
    assert len(found) > 3
    assert "".join(one.content for one in found) == long
    assert [one.part for one in found] == [(n, len(found)) for n in range(len(found))]
    assert all(counter().count(one.content) <= PART_LIMITS.hard for one in found)
    assert len({one.id for one in found}) == len(found)


def test_an_id_follows_from_session_record_place_and_content() -> None:
    one = event("user/message", text("Use tabs."))
    (found,) = harvested(one)
    renumbered = one.model_copy(update={"seq": 99})
    assert harvested(renumbered)[0].id == found.id
    others = [
        beliefs_of(one, native="n2", counter=counter()),
        harvested(one.model_copy(update={"native_id": "r8"})),
        harvested(one.model_copy(update={"block": 1})),
        harvested(event("user/message", text("Use blanks."))),
    ]
    ids = {found.id, *(other[0].id for other in others)}
    assert len(ids) == 5


@settings(max_examples=60)
@given(st.text(max_size=3_000) | st.text(alphabet="ab .\n#`|é漢", max_size=3_000))
def test_the_parts_of_any_content_are_the_content(content: str) -> None:
    parts = parts_of(content, counter())
    assert "".join(parts) == content
    assert all(parts) or parts == ("",)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=50),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["command", "file_path", "content", "edits", "old_string", "items", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=80)
@given(
    st.sampled_from(["user/message", "assistant/message", "tool/result", "context/message"]),
    st.lists(
        st.builds(
            ContentBlock,
            kind=st.sampled_from(["text", "thinking", "tool_call", "tool_result", "opaque"]),
            text=st.text(max_size=80),
            id=st.sampled_from([None, "", "c1"]),
            input=_VALUES,
        ),
        max_size=4,
    ),
    st.dictionaries(st.sampled_from(["items", "checkpoint", "message", "title"]), _VALUES),
    _VALUES,
)
def test_it_never_raises_for_what_an_event_holds(
    kind: str, blocks: list[ContentBlock], meta: dict[str, Any], value: Any
) -> None:
    for one in harvested(event(kind, *blocks, meta=meta), call(value)):
        assert one.content.strip()
        assert "\n" not in one.label
        assert len(one.label) <= 120


@pytest.mark.corpus
def test_beliefs_of_real_sessions_have_ids_of_their_own_and_stand_in_their_events(
    corpus: Path,
) -> None:
    store = Store(":memory:", registry())
    ingest = Ingest(store)
    names = ("claude/ccl-1.0.24-summaries.jsonl", "codex/entire-skills-0.118.0.jsonl")
    ingest.run([corpus / name for name in names], final=True)
    ingest.close()
    for record in store.sessions():
        seqs = [int(entry.seq) for entry in store.entries(record)]
        found = [b for e in store.events(record, seqs) for b in harvested(e)]
        assert len(found) > len(seqs) // 3
        assert len({b.id for b in found}) == len(found)
        again = [b for e in store.events(record, seqs) for b in harvested(e)]
        assert again == found
    store.close()
