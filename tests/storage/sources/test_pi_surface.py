"""What stands on the surface of a pi session, judged by pi itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compress.events import Rebase, Replace, SessionEvent
from compress.surface import SurfaceFold, fold
from storage.sources.base import Numbering
from tests.derivation import check_surface, messages_report, read, records
from tests.storage.sources.paths import NOWHERE
from tests.storage.sources.pi_logs import (
    ADAPTER,
    HEADER,
    answer,
    call,
    compaction,
    data,
    edit,
    entry,
    events,
    message,
    result,
    texts,
)
from tests.storage.sources.pi_reference import context

NAMES = (
    "made-c_keep",
    "made-e_two",
    "made-f_edit",
    "made-g_branch",
    "pimono-large-session-v1",
    "sandcastle-resumed-v3",
)
START = "The conversation history before this point was compacted into the following summary:\n\n"


def summary(text: str) -> str:
    return f"{START}<summary>\n{text}\n</summary>"


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_messages_are_those_that_pi_sends_on_resume(
    corpus: Path, tmp_path: Path, name: str
) -> None:
    report = messages_report(ADAPTER, corpus / "pi" / f"{name}.jsonl")
    assert check_surface(corpus, "pi", name, report, tmp_path) == ""


@pytest.mark.corpus
def test_each_prefix_stands_as_if_it_were_the_whole(corpus: Path) -> None:
    rows = records((corpus / "pi" / "pimono-large-session-v1.jsonl").read_bytes())
    log, bounds, reader = [], [0], ADAPTER.open(NOWHERE)
    for record in rows:
        for derived in reader.feed(record):
            log.extend(derived.events)
            for event in derived.events:
                assert ADAPTER.blocks(record.value, event.block) == event.blocks
        bounds.append(len(log))
    for end in range(0, len(rows), 131):
        assert read(ADAPTER, NOWHERE, rows[:end])[1].get("", []) == log[: bounds[end]]


@pytest.mark.corpus
def test_the_stream_of_a_run_is_no_session(corpus: Path) -> None:
    path = corpus / "pi" / "sandcastle-stdout-stream-NOT-A-SESSION.jsonl"
    head = [record.value for record in records(path.read_bytes())[:20]]
    assert not ADAPTER.recognises(path, head)


Q1, A1 = message("a1", None, "user", "Q1"), answer("a2", "a1", "A1")
Q2 = message("a3", "a2", "user", "Q2")

# The expected texts are what pi 1.6.0's own loader and transformations gave for these entries.
TREES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "a compaction that keeps a tail": (
        [Q1, A1, Q2, compaction("c1", "a3", "S", "a2"), answer("a4", "c1", "A2")],
        [summary("S"), "A1", "Q2", "A2"],
    ),
    "a compaction that keeps nothing, by its own id": (
        [Q1, A1, compaction("c1", "a2", "S", "c1"), message("a4", "c1", "user", "Q2")],
        [summary("S"), "Q2"],
    ),
    "a second compaction whose tail begins before the first": (
        [
            *(Q1, compaction("c1", "a1", "S1", "a1"), answer("a2", "c1", "A1")),
            compaction("c2", "a2", "S2", "a1"),
        ],
        [summary("S2"), "Q1", "A1"],
    ),
    "a branch from before a compaction": (
        [Q1, A1, Q2, compaction("c1", "a3", "S", "a3"), message("a4", "a2", "user", "other")],
        ["Q1", "A1", "other"],
    ),
    "a label on another branch moves the leaf": (
        [Q1, A1, Q2, entry("label", "l1", "a1", targetId="a1", label="x")],
        ["Q1"],
    ),
    "the newest edit of an entry wins": (
        [Q1, A1, edit("x1", "a2", "a1", None), edit("x2", "x1", "a1", "new")],
        ["new", "A1"],
    ),
    "an edit on a branch that was left is undone": (
        [Q1, A1, edit("x1", "a2", "a1", "new"), message("a3", "a2", "user", "Q2")],
        ["Q1", "A1", "Q2"],
    ),
    "an edited result still answers its call": (
        [
            *(Q1, answer("a2", "a1", call("c"), stop="toolUse"), result("a3", "a2", "c")),
            edit("x1", "a3", "a3", [{"type": "text", "text": "short"}]),
        ],
        ["Q1", "call c", "c: short"],
    ),
    "an edit inside the kept tail of a compaction": (
        [
            *(Q1, A1, Q2, edit("x1", "a3", "a2", "new")),
            compaction("c1", "x1", "S", "a2"),
        ],
        [summary("S"), "new", "Q2"],
    ),
    "an edit from before the kept tail has no effect": (
        [
            *(Q1, A1, edit("x1", "a2", "a3", "new"), message("a3", "x1", "user", "Q2")),
            compaction("c1", "a3", "S", "a3"),
        ],
        [summary("S"), "Q2"],
    ),
    "a compaction restates the system prompt": (
        [
            message("s1", None, "system", "old prompt"),
            *(message("a1", "s1", "user", "Q1"), answer("a2", "a1", "A1")),
            compaction("c1", "a2", "S", "s1", systemMessage={"role": "system", "content": "new"}),
        ],
        ["new", summary("S"), "Q1", "A1"],
    ),
    "an answer that broke off is not sent": (
        [
            Q1,
            answer("a2", "a1", "half", call("c"), stop="aborted"),
            message("a3", "a2", "user", ""),
        ],
        ["Q1", ""],
    ),
    "a call without a result is answered before the next message": (
        [
            *(Q1, answer("a2", "a1", call("c1"), call("c2"), stop="toolUse")),
            *(result("a3", "a2", "c1"), message("a4", "a3", "user", "stop")),
        ],
        ["Q1", "call c1", "call c2", "c1: out", "c2? No result provided", "stop"],
    ),
    "a call without a result is answered at the end too": (
        [Q1, answer("a2", "a1", call("c1"), stop="toolUse")],
        ["Q1", "call c1", "c1? No result provided"],
    ),
    "a system message waits for the results": (
        [
            *(Q1, answer("a2", "a1", call("c1"), stop="toolUse")),
            *(message("s1", "a2", "system", "now"), result("a3", "s1", "c1")),
            answer("a4", "a3", "done"),
        ],
        ["Q1", "call c1", "c1: out", "now", "done"],
    ),
    "thinking of another model is not sent": (
        [
            *(Q1, answer("a2", "a1", {"type": "thinking", "thinking": "old"}, "A1", model="m1")),
            answer("a3", "a2", {"type": "thinking", "thinking": "new"}, "A2", model="m2"),
        ],
        ["Q1", "A1", "new", "A2"],
    ),
    "a parent that is missing ends the path": (
        [Q1, A1, message("a3", "gone", "user", "Q2")],
        ["Q2"],
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_tree_with(name: str) -> None:
    rows, expected = TREES[name]
    assert texts([HEADER, *rows]) == expected


@pytest.mark.hard
def test_r44_the_active_path_leads_from_the_leaf(hard_inputs: Path) -> None:
    folder = hard_inputs / "R44"
    surface = fold(log := read(ADAPTER, folder / "tree.jsonl")[1][""])
    words = {event.seq: event.blocks[0].text for event in log if event.blocks}
    assert [words[seq] for seq in surface.events()] == ["q", "a", "retry", "good"]
    assert [words[seq] for seq in surface.removed_by] == ["dead end", "dead"]
    report = messages_report(ADAPTER, folder / "v1.jsonl")
    assert [m.role for m in report.messages] == ["user", "assistant"]


@pytest.mark.hard
def test_c08_a_tail_that_begins_nowhere_keeps_nothing(hard_inputs: Path) -> None:
    report = messages_report(ADAPTER, hard_inputs / "C08" / "pi.jsonl")
    assert [block.text for m in report.messages for block in m.blocks] == [summary("s")]


def test_a_cycle_of_parents_ends() -> None:
    rows = [HEADER, message("a", "b", "user", "A"), message("b", "a", "user", "B")]
    assert texts(rows) == ["A", "B"]


def test_a_compaction_shadows_what_it_does_not_keep() -> None:
    rows = [HEADER, Q1, A1, Q2, compaction("c1", "a3", "S", "a3")]
    log = events(rows)
    (checkpoint,) = [event for event in log if event.meta.get("checkpoint") == "agent"]
    first, second, third = (e.seq for e in log if e.node == e.seq and e is not checkpoint)
    assert checkpoint.op == Replace(start=first, end=third, keep=(third,))
    assert fold(log).shadowed[checkpoint.seq] == (first, second)
    assert set(checkpoint.source_event_seqs) >= {first, second}


def test_a_change_of_branch_is_a_rebase() -> None:
    log = events([HEADER, Q1, A1, Q2, message("a4", "a1", "user", "other")])
    first = next(event for event in log if event.blocks)
    assert log[-1].op == Rebase(seqs=(first.seq, log[-1].seq))
    moved = events([HEADER, Q1, A1, Q2, entry("label", "l", "a1", targetId="a1")])[-1]
    assert moved.op == Rebase(seqs=(first.seq,))
    assert (moved.blocks, moved.meta) == ((), {"marker": "branch"})


def _v1(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries as pi's first version wrote them."""
    return [{k: v for k, v in row.items() if k not in ("id", "parentId")} for row in rows]


def _migrated(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What pi makes of such a file when it opens it (``migrateV1ToV2`` and ``V2ToV3``)."""
    found: list[dict[str, Any]] = [{**rows[0], "version": 3}]
    for number, row in enumerate(rows[1:], 1):
        parent = found[-1]["id"] if number > 1 else None
        new = {**row, "id": f"{number:08x}", "parentId": parent}
        if "firstKeptEntryIndex" in new:
            new["firstKeptEntryId"] = found[new.pop("firstKeptEntryIndex")]["id"]
        if new.get("message", {}).get("role") == "hookMessage":
            new["message"] = {**new["message"], "role": "custom"}
        found.append(new)
    return found


def _numbered(rows: list[dict[str, Any]], numbering: dict[str, Numbering]) -> list[SessionEvent]:
    reader, found = ADAPTER.open(NOWHERE, numbering), records(data(rows))
    return [event for record in found for d in reader.feed(record) for event in d.events]


def test_a_file_that_pi_rewrote_with_ids_keeps_its_seqs() -> None:
    header = {k: v for k, v in HEADER.items() if k not in ("version", "id")} | {"id": "s"}
    hook = message("", None, "hookMessage", "from a hook", customType="h")
    old = [header, *_v1([Q1, A1, Q1, hook, Q2])]
    tail = {"type": "compaction", "timestamp": HEADER["timestamp"], "summary": "S"}
    old += [{**tail, "firstKeptEntryIndex": 4, "tokensBefore": 9}, *_v1([A1])]
    new = _migrated(old)
    assert texts(old) == texts(new) == [summary("S"), "from a hook", "Q2", "A1"]
    numbering = {"": Numbering()}
    before, after = (_numbered(rows, numbering) for rows in (old, new))
    assert [event.seq for event in before] == [event.seq for event in after]
    assert before[1:] == after[1:]
    grown = [*new, message("ffff", new[-1]["id"], "user", "Q3")]
    assert texts(grown)[-1] == "Q3"


@pytest.mark.corpus
def test_the_corpus_file_of_the_first_version_keeps_its_seqs_too(corpus: Path) -> None:
    path = corpus / "pi" / "pimono-large-session-v1.jsonl"
    old = [record.value for record in records(path.read_bytes())]
    numbering = {"": Numbering()}
    before, after = (_numbered(rows, numbering) for rows in (old, _migrated(old)))
    assert [event.seq for event in before] == [event.seq for event in after]
    assert before[1:] == after[1:]


def _rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A tree with compactions, edits and changes of branch."""
    rows: list[dict[str, Any]] = []
    ids: list[str] = []
    for number in range(draw(st.integers(1, 14))):
        own, text = f"e{number}", f"t{number}"
        parent = ids[-1] if ids else None
        if ids and draw(st.integers(0, 5)) == 0:
            parent = draw(st.sampled_from([*ids, None, "missing"]))
        some = draw(st.sampled_from([own, "nowhere", *ids[-5:]]))
        made = {
            "user": message(own, parent, "user", text),
            "answer": message(own, parent, "assistant", text),
            "result": message(own, parent, "toolResult", text, toolCallId="c"),
            "system": message(own, parent, "system", text),
            "compaction": compaction(own, parent, text, some),
            "prompt": compaction(
                own, parent, text, some, systemMessage={"role": "system", "content": f"s{text}"}
            ),
            "omit": edit(own, parent, some, None),
            "edit": edit(own, parent, some, text),
            "label": entry("label", own, parent),
        }
        rows.append(made[draw(st.sampled_from([*made, "user", "answer", "result"]))])
        ids.append(own)
    return rows


def _bare(text: str) -> str:
    return text.removeprefix(f"{START}<summary>\n").removesuffix("\n</summary>")


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.composite(_rows)())
def test_reading_on_is_deriving_from_scratch(rows: list[dict[str, Any]]) -> None:
    reader, state, words = ADAPTER.open(NOWHERE), SurfaceFold(), {}
    for end, record in enumerate(records(data([HEADER, *rows]))):
        for derived in reader.feed(record):
            for event in derived.events:
                state.apply(event)
                own = ADAPTER.blocks(record.value, event.block)
                assert own == event.blocks or "call_id" in event.meta
                words[event.seq] = _bare("".join(block.text for block in event.blocks))
        standing = [words[seq] for node in state.nodes for seq in state.members[node]]
        assert standing == context(rows[:end])
