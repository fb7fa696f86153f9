"""What holds for every log: pieces are the whole, every step stands once, done stays done."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from compress.artifacts.chunks import in_context, in_full, pointer_line
from compress.artifacts.harvest import ArtifactHarvest, wanted
from compress.artifacts.standing import standing_items
from compress.artifacts.values import FINISHED
from tests.compress.artifacts.test_harvest import Log

_TEXTS = st.sampled_from(["lesen", "書く", "run\n2. not a step", "- [ ] x", "テスト", "اختبار", ""])
_ITEM = st.tuples(st.sampled_from(["", ">", "+"]), _TEXTS).map("".join)
_PLAN = st.lists(
    st.sampled_from(["## 1. Eins\n", "## 2. 二\n", "- [ ] a\n", "- [x] b\n", "```\n", "text\n"]),
    max_size=8,
).map(lambda parts: "# P\n" + "".join(parts))
_STEP = st.one_of(
    st.tuples(st.just("todo"), st.lists(_ITEM, max_size=5)),
    st.tuples(st.just("plan"), st.lists(_ITEM, max_size=5)),
    st.tuples(st.just("propose"), _PLAN),
    st.tuples(st.just("decide"), st.sampled_from(["approved", "rejected", "edited"])),
    st.tuples(st.just("write"), _PLAN),
    st.tuples(st.just("edit"), st.sampled_from(["[ ]", "Eins", "# P"])),
)


def log_of(story: list[tuple[str, object]]) -> Log:
    log, call = Log(), ""
    for what, value in story:
        if what in ("todo", "plan") and isinstance(value, list):
            log.todo(*value, kind=what)
        elif what == "propose":
            call = log.propose(str(value), "plans/p.md")
        elif what == "decide":
            log.decide(call, str(value))
        elif what == "write":
            log.write("plans/p.md", str(value))
        else:
            log.edit("plans/p.md", str(value), "new")
    return log


LOGS = st.lists(_STEP, max_size=12).map(log_of)


@settings(max_examples=80, deadline=None)
@given(LOGS, st.integers(min_value=0, max_value=40))
def test_in_pieces_with_looks_between_or_whole_is_the_same(log: Log, cut: int) -> None:
    entries = log.entries()
    harvest = ArtifactHarvest("an agent", "s")
    asked = set(wanted(entries))
    for piece in (entries[:cut], entries[cut:]):
        for entry in piece:
            blocks = log.events[int(entry.seq) - 1].blocks
            harvest.feed(entry, blocks if entry.seq in asked else ())
        harvest.artifacts()
    every = ArtifactHarvest("an agent", "s")
    for entry, event in zip(entries, log.events, strict=True):
        every.feed(entry, event.blocks)
    assert every.artifacts() == log.artifacts() == harvest.artifacts()


@settings(max_examples=80, deadline=None)
@given(LOGS)
def test_every_step_stands_in_context_exactly_once(log: Log) -> None:
    for artifact in log.artifacts():
        _title, *lines = in_context(artifact).split("\n")
        full = in_full(artifact)
        assert len(full) <= 3
        if artifact.current_step is not None:
            assert artifact.current_step in full
        numbers = [int(m[1]) for line in lines if (m := re.match(r"(\d+)\. ", line + " "))]
        assert numbers == list(range(1, len(artifact.steps) + 1))
        pointers = [pointer_line(artifact, s) for s in artifact.steps if s.number not in full]
        assert [line for line in lines if re.search(r" step \d+\]$", line)] == pointers


@settings(max_examples=80, deadline=None)
@given(LOGS)
def test_a_finished_item_never_comes_back_as_open(log: Log) -> None:
    entries = log.entries()
    newest = next(
        (e for e in reversed(entries) if "items" in e.meta and "document" not in e.meta), None
    )
    open_items = [i for i in standing_items(reversed(entries)) if i.status != "completed"]
    if newest is not None:
        states = {(i["text"], i["status"]) for i in newest.meta["items"]}
        assert all((item.text, item.status) in states for item in open_items)
    for artifact in log.artifacts():
        step = artifact.current_step
        if step is not None:
            assert artifact.steps[step - 1].status != "completed"
            assert artifact.status not in FINISHED


@settings(max_examples=60, deadline=None)
@given(LOGS)
def test_every_source_is_an_event_and_ids_are_one_to_one(log: Log) -> None:
    found = log.artifacts()
    assert len({artifact.id for artifact in found}) == len(found)
    for artifact in found:
        seqs = [*artifact.source_event_seqs]
        assert seqs == sorted(set(seqs))
        assert all(1 <= seq <= len(log.events) for seq in seqs)
        for step in artifact.steps:
            assert set(step.source_event_seqs) <= set(seqs)
        assert artifact.summary.strip()
        assert artifact.title.strip()
