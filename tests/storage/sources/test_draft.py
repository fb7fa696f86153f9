"""What the readers share: identities, turns, marks, and what a request cost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.events import Rebase, Usage
from storage.sources.draft import (
    Identities,
    Turns,
    digest_of,
    mark,
    rebase,
    text_block,
    usage_of_prompt,
)
from tests.storage.sources.kit import rows_as_records


def test_an_id_that_comes_again_is_told_apart() -> None:
    identities = Identities()
    names = ["a", "b", "a", "a", "b"]
    assert [identities.own(name) for name in names] == ["a", "b", "a~2", "a~3", "b~2"]


@pytest.mark.parametrize(
    ("names", "given"),
    [
        (["a", "a", "a~2"], ["a", "a~2", "a~2~2"]),
        (["a", "a~2", "a", "a"], ["a", "a~2", "a~3", "a~4"]),
        (["a~2", "a~3", "a", "a", "a~3"], ["a~2", "a~3", "a", "a~4", "a~3~2"]),
        (["a", "a", "a~2", "a~2", "a~2~2"], ["a", "a~2", "a~2~2", "a~2~3", "a~2~2~2"]),
    ],
)
def test_an_id_that_looks_like_one_that_was_made_is_told_apart(
    names: list[str], given: list[str]
) -> None:
    identities = Identities()
    assert [identities.own(name) for name in names] == given


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["", "a", "a~1", "a~2", "a~2~2", "a~3", "~2", "b"]), max_size=12))
def test_no_two_records_have_one_identity(names: list[str]) -> None:
    identities = Identities()
    found = [identities.own(name) for name in names]
    assert len(set(found)) == len(names)
    # The first with an id keeps it, where nothing else was given it before.
    for at, name in enumerate(names):
        assert found[at].startswith(name)
        assert (found[at] == name) == (name not in found[:at])


def test_a_record_without_an_id_is_named_by_its_content_and_how_often_it_came() -> None:
    identities = Identities()
    first, other, again = rows_as_records([{"x": 1}, {"x": 2}, {"x": 1}])
    names = [identities.of(record, record.value) for record in (first, other, again)]
    assert [name.partition("#")[2] for name in names] == ["0", "0", "1"]
    assert names[0].partition("#")[0] == names[2].partition("#")[0] != names[1].partition("#")[0]


def test_what_is_nested_too_deep_to_be_written_has_a_digest_all_the_same() -> None:
    deep: list[object] = []
    for _ in range(300):
        deep = [deep]
    assert digest_of(deep) == digest_of(deep) != digest_of([deep])


@pytest.mark.parametrize(
    ("prompt", "output", "read", "written", "fresh"),
    [
        (100, 7, 60, 10, 30),
        (100, 7, None, None, 100),
        (100, None, 100, None, 0),
        # A log that claims more from the cache than was sent at all.
        (100, 7, 90, 20, 0),
        (None, 7, 60, None, None),
    ],
)
def test_buckets_of_a_prompt_do_not_overlap(
    prompt: int | None, output: int | None, read: int | None, written: int | None, fresh: int | None
) -> None:
    found = usage_of_prompt(prompt, output, read=read, written=written, reasoning=3)
    assert found == Usage(
        input=fresh, cache_read=read, cache_write=written, output=output, reasoning=3
    )


def test_figures_without_prompt_and_output_are_none() -> None:
    assert usage_of_prompt(None, None, read=5) is None
    assert usage_of_prompt(0, None) == Usage(input=0)


def test_a_mark_says_what_stands_and_stays_off_the_surface() -> None:
    made = mark(9, "n", 4, rebase(iter([3, 5]), 2), turn=0, time=None, meta={"marker": "rewind"})
    assert made.op == Rebase(seqs=(3, 5), after=2)
    assert (made.seq, made.node, made.type, made.role) == (9, 9, "context/message", None)
    assert (made.native_id, made.block, made.turn, made.blocks) == ("n", 4, None, ())


def test_a_result_belongs_to_the_request_that_made_its_call() -> None:
    turns = Turns()
    said, call = (text_block("text", "hi"),), text_block("tool_call", id="c")
    answer, stray = (text_block("tool_result", id="c"),), (text_block("tool_result", id="d"),)
    turns.begin("user/message")
    assert (turns.turn, turns.step_of("user/message", said)) == (1, None)
    # Nothing was asked of a model yet.
    assert turns.step_of("tool/result", answer) is None
    turns.begin("assistant/message")
    assert turns.step_of("assistant/message", (call,)) == 1
    turns.begin("assistant/message")
    assert turns.step_of("assistant/message", said) == 2
    assert turns.step_of("tool/result", answer) == 1
    # One whose call was never seen: the newest.
    assert turns.step_of("tool/result", stray) == 2
