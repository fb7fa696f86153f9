"""Counting: what a text and a block weigh, and that nothing in a text can break it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.events import ContentBlock, Image
from compress.tokens import (
    PIECE_CHARACTERS,
    CharsOverFour,
    TiktokenCounter,
    compact_json,
    count_block,
    model_name,
    pieces,
    profile_of,
)
from storage.resources import counter, tiktoken_counter

TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from(" \t\n\r/.-_'s1a漢é\u0301\u00a0😀"), st.characters(codec="utf-8")
    ),
    max_size=300,
)


def words(text: str) -> int:
    return len(text.split())


class Words:
    name = "words"

    def count(self, text: str) -> int:
        return words(text)


@pytest.mark.parametrize("vocabulary", ["o200k_base", "cl100k_base"])
@given(text=TEXTS, limit=st.integers(8, 60))
@settings(max_examples=60, deadline=None)
def test_pieces_cut_at_safe_places_add_up_to_the_whole(
    vocabulary: str, text: str, limit: int
) -> None:
    whole = counter(vocabulary)  # type: ignore[arg-type]
    parts = list(pieces(text, limit))
    assert "".join(parts) == text
    assert all(len(part) <= limit for part in parts)
    if all(safe(left, right) for left, right in pairwise(parts)):
        assert sum(whole.count(part) for part in parts) == whole.count(text)


def safe(left: str, right: str) -> bool:
    """Whether a cut is one of the two kinds that are always a pre-token's border."""
    before_blank = left[-1].isalnum() and right[0].isspace()
    after_line = left[-1] == "\n" and not right[0].isspace() and right[0] != "/"
    return before_blank or after_line


def test_a_long_text_counts_exactly_as_in_one_go() -> None:
    text = "def total(values):\n    return sum(value.amount for value in values)\n" * 2_000
    assert len(text) > 5 * PIECE_CHARACTERS
    exact = len(tiktoken_counter()._encode(text))
    assert tiktoken_counter().count(text) == exact
    assert counter().count(text) == exact


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_no_text_is_refused(text: str) -> None:
    assert counter().count(text) >= (1 if text else 0)


def test_t12_text_that_looks_like_a_special_token_is_text() -> None:
    # As one special token it would count 1; spelled out it is seven.
    assert counter().count("<|endoftext|>") == 7


@pytest.mark.parametrize(
    "run", [" ", "\t ", "\u00a0", "\n", "a", "^", "-", "漢", "\U0001f468\u200d"], ids=ascii
)
def test_t13_a_million_characters_in_one_run_are_counted(run: str) -> None:
    counted = tiktoken_counter()
    before = counted.estimated
    text = (run * 1_000_000)[:1_000_000]
    assert 0 < counted.count(text) <= 4 * len(text)
    assert counted.estimated == before


def test_t13_a_panic_becomes_an_estimate_and_is_told() -> None:
    class PanicException(BaseException):
        pass

    def panics(text: str) -> list[int]:
        raise PanicException(text)

    counted = TiktokenCounter("broken", panics)
    assert counted.count("x" * 9) == 3
    assert counted.estimated == 1


def test_an_interrupt_is_not_swallowed() -> None:
    def interrupted(text: str) -> list[int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TiktokenCounter("x", interrupted).count("text")


def test_lone_surrogates_count() -> None:
    assert counter().count("a\ud800b") > 0


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_characters_over_four_round_up(text: str, tokens: int) -> None:
    assert CharsOverFour().count(text) == tokens


def test_a_call_counts_its_name_and_its_compact_input() -> None:
    block = ContentBlock(kind="tool_call", name="Read", input={"path": "a b", "n": [1, 2]})
    assert compact_json(block.input) == '{"path":"a b","n":[1,2]}'
    assert count_block(block, Words()) == 1 + words('{"path":"a b","n":[1,2]}')


def test_the_input_of_a_free_form_tool_counts_as_it_is() -> None:
    block = ContentBlock(kind="tool_call", name="apply_patch", input="*** Begin Patch")
    assert count_block(block, Words()) == 1 + 3


def test_an_image_costs_its_formula_not_its_bytes() -> None:
    image = Image(width=280, height=280, size=1_000_000)
    assert count_block(ContentBlock(kind="image", images=(image,)), Words()) == 100
    result = ContentBlock(kind="tool_result", text="one two", images=(image,))
    assert count_block(result, Words()) == 102


def test_what_a_reader_cannot_read_counts_nothing_by_itself() -> None:
    assert count_block(ContentBlock(kind="thinking", signature="abc" * 900), Words()) == 0
    assert count_block(ContentBlock(kind="opaque"), Words()) == 0


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("anthropic/Claude-Sonnet-4.5", "claude-sonnet-4.5"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ("us.anthropic.claude-opus-4-1-v1:0", "claude-opus-4-1-v1:0"),
        ("<synthetic>", ""),
        (None, ""),
    ],
)
def test_names_of_models_are_compared_bare(model: str | None, name: str) -> None:
    assert model_name(model) == name


@pytest.mark.parametrize(
    ("model", "vocabulary", "images"),
    [
        ("claude-opus-4-5-20251101", "o200k_base", "anthropic"),
        ("claude-opus-4-7", "o200k_base", "anthropic_high"),
        ("gpt-4-0613", "cl100k_base", "openai_tiles"),
        ("gpt-4.1-mini", "o200k_base", "openai_patches"),
        ("openai/gpt-5-codex", "o200k_base", "openai_tiles"),
        ("gemini-2.5-pro", "o200k_base", "gemini"),
        ("mystery-model-9", "o200k_base", "anthropic"),
    ],
)
def test_each_family_has_its_vocabulary(model: str, vocabulary: str, images: str) -> None:
    found = profile_of(model)
    assert (found.vocabulary, found.images) == (vocabulary, images)
