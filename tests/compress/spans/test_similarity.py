"""Similarity: what is taken for scores, what is refused, and what a drop does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.spans.blocks import document
from compress.spans.errors import SimilarityError, SimilarityUnavailableError
from compress.spans.packer import spans_of
from compress.spans.similarity import LEXICAL, checked
from compress.spans.values import SpanLimits, Spans
from tests.compress.spans.test_spans_of import Scalars, parts

PARAGRAPHS = [f"Paragraph number {n}, alone.\n\n" for n in range(8)]


@dataclass(frozen=True)
class Given:
    """Scores that were made up."""

    values: Sequence[object]
    name: str = "given"

    def scores(self, units: Sequence[str]) -> Sequence[float]:
        return self.values  # type: ignore[return-value]


@dataclass(frozen=True)
class Absent:
    name: str = "absent"

    def scores(self, units: Sequence[str]) -> Sequence[float]:
        raise SimilarityUnavailableError("No model here.")


def cut(similarity: object) -> Spans:
    text = "".join(PARAGRAPHS)
    size = 4 * len(PARAGRAPHS[0])
    return spans_of(
        document("d", text),
        SpanLimits(size, size),
        Scalars(),
        similarity=similarity,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    "values",
    [
        [0.5] * 6,
        [0.5] * 8,
        [],
        [0.5] * 6 + [math.nan],
        [math.inf] + [0.5] * 6,
        [0.5] * 6 + [None],
        [0.5] * 6 + ["0.5"],
        [True] + [0.5] * 6,
    ],
)
def test_what_are_no_scores_is_refused(values: list[object]) -> None:
    with pytest.raises(SimilarityError) as refused:
        cut(Given(values))
    assert "given" in str(refused.value)
    assert "Paragraph" not in str(refused.value)


def test_a_span_ends_where_similarity_drops() -> None:
    drop = Given([0.9, 0.9, 0.1, 0.9, 0.9, 0.9, 0.9])
    assert [part.count("\n\n") for part in parts(cut(drop))] == [3, 4, 1]


def test_a_drop_at_once_leaves_no_crumb() -> None:
    drop = Given([0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9])
    assert [part.count("\n\n") for part in parts(cut(drop))] == [4, 4]


@pytest.mark.parametrize("similarity", [None, Absent()])
def test_without_similarity_structure_decides_and_the_result_says_so(similarity: object) -> None:
    spans = cut(similarity)
    assert spans.boundary_mode == "structure_only"
    assert [part.count("\n\n") for part in parts(spans)] == [4, 4]


def test_with_it_the_result_says_so_too() -> None:
    assert cut(LEXICAL).boundary_mode == "similarity"


def test_like_is_scored_above_unlike_in_any_script() -> None:
    for one, other, else_ in (
        ("The harbour froze early.", "All winter the harbour froze.", "Taxes doubled."),
        ("港の水は早く凍った。", "冬の間、港の水は凍った。", "税金が倍になった。"),
        ("الميناء تجمد مبكرا", "تجمد الميناء طوال الشتاء", "تضاعفت الضرائب"),
    ):
        near, far = LEXICAL.scores([other, one, else_])
        assert near > far


@given(st.lists(st.text(max_size=60), max_size=8))
@settings(max_examples=80, deadline=None)
def test_lexical_scores_are_scores_of_any_text(units: list[str]) -> None:
    scores = checked(LEXICAL, units)
    assert len(scores) == max(0, len(units) - 1)
    assert all(0 <= score <= 1 for score in scores)
