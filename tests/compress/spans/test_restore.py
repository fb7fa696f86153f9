"""From hits to what is read: neighbours lend support, and a budget is kept."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.spans.blocks import document
from compress.spans.packer import spans_of
from compress.spans.restore import ranked, restored, restored_of, runs
from compress.spans.values import SpanLimits, Spans
from compress.tokens import TokenCounter
from storage.resources import counter
from tests.compress.spans.test_spans_of import Scalars

TEXT = "# One\n" + "".join(f"The {n}th sentence of it.\n\n" for n in range(6)) + "# Two\nEnd.\n"


def made(text: str = TEXT, size: int = 34) -> Spans:
    """Spans 0 to 5 are a paragraph each, the heading with the first; span 6 is the other
    section."""
    spans = spans_of(document("d", text), SpanLimits(size, size), Scalars(), similarity=None)
    if text is TEXT:
        assert [span.blocks[1] for span in spans.spans] == [1, 2, 3, 4, 5, 6, 8]
    return spans


def size(spans: Spans, chosen: tuple[int, ...], by: TokenCounter) -> int:
    text = spans.document.text
    return sum(by.count(text[run.start : run.end]) for run in runs(spans, chosen))


def test_a_hit_among_hits_is_ranked_above_a_lone_one() -> None:
    found = ranked(made(), {0: 1.0, 3: 0.9, 4: 0.9})
    assert [index for index, _ in found][:3] == [3, 4, 0]


def test_a_span_between_two_hits_is_ranked_without_a_match_of_its_own() -> None:
    order = [index for index, _ in ranked(made(), {1: 1.0, 3: 1.0})]
    assert order.index(2) == 2


def test_support_is_less_across_the_border_of_a_section() -> None:
    scores = dict(ranked(made(), {5: 1.0}))
    assert 0 < scores[6] < scores[4]


def test_equals_stand_in_document_order() -> None:
    order = [index for index, _ in ranked(made(), dict.fromkeys(range(7), 0.0))]
    assert order == list(range(7))


def test_neighbours_are_restored_within_the_section_and_its_beginning() -> None:
    assert restored(made(), [5], 10_000, Scalars()) == (0, 3, 4, 5)
    assert restored(made(), [6], 10_000, Scalars()) == (6,)


def test_hits_come_before_any_neighbour_and_what_does_not_fit_is_passed_over() -> None:
    spans = made()
    one, last = (spans.spans[n].range for n in (2, 6))
    budget = one.end - one.start + last.end - last.start
    assert restored(spans, [2, 4, 6], budget, Scalars()) == (2, 6)
    assert restored(spans, [2], budget - 1, Scalars()) == (2,)
    assert restored(spans, [2], 3, Scalars()) == ()


def test_adjacent_spans_are_one_run() -> None:
    spans = made()
    found = runs(spans, (4, 1, 2))
    text = spans.document.text
    assert [text[run.start : run.end].count("sentence") for run in found] == [2, 1]
    data = text.encode()
    assert [data[run.byte_start : run.byte_end].count(b"sentence") for run in found] == [2, 1]


def test_what_overlaps_is_read_once() -> None:
    spans = spans_of(document("d", "x" * 100), SpanLimits(20, 20, 4), Scalars())
    assert [(run.start, run.end) for run in runs(spans, range(len(spans.spans)))] == [(0, 100)]
    assert restored(spans, range(len(spans.spans)), 100, Scalars()) == tuple(range(6))


def test_several_documents_share_one_budget() -> None:
    one, other = made(), made("Alone.")
    assert restored_of([one, other], [(1, 0), (0, 6)], 10_000, Scalars()) == ((0, 6), (1, 0))
    assert restored_of([one, other], [(1, 0), (0, 6)], 6, Scalars()) == ((1, 0),)


@pytest.mark.parametrize("by", [Scalars(), counter()], ids=["scalars", "o200k"])
@given(
    hits=st.lists(st.integers(0, 6), max_size=7),
    budget=st.integers(0, 220),
)
@settings(max_examples=80, deadline=None)
def test_the_budget_is_never_exceeded(by: TokenCounter, hits: list[int], budget: int) -> None:
    spans = made()
    chosen = restored(spans, hits, budget, by)
    assert list(chosen) == sorted(set(chosen))
    assert size(spans, chosen, by) <= budget
