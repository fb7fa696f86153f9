"""The figures of retrieval, and the usual splitters, on cases worked by hand."""

from __future__ import annotations

import pytest

from compress.tokens import CharsOverFour
from tests.benchmarks.retrieval import figures, splitters
from tests.benchmarks.retrieval.figures import Answered, Inked

TEXT = "ab cd  ef gh"
INKED = {"one": Inked(TEXT), "two": Inked("xxxx")}
TEXTS = {"one": TEXT, "two": "xxxx"}
COUNTER = CharsOverFour()


def answered(*places: tuple[str, tuple[int, int]]) -> Answered:
    # Labelled: "cd  ef", four characters, and "gh", two.
    return figures.answered(list(places), "one", [(3, 9), (10, 12)], TEXTS, INKED)


def test_blanks_count_nowhere() -> None:
    found = answered(("one", (3, 5)), ("one", (7, 9)))
    assert (found.recall, found.whole, found.references) == (4 / 6, 1, 2)
    assert (found.precision, found.iou) == (1.0, 4 / 6)


def test_what_was_retrieved_elsewhere_lowers_precision_alone() -> None:
    found = answered(("one", (0, 5)), ("two", (0, 4)))
    assert found.recall == 2 / 6
    assert found.precision == 2 / 8
    assert found.iou == 2 / 12
    assert found.whole == 0


def test_nothing_retrieved_is_no_precision() -> None:
    assert answered() == Answered(0.0, 0.0, 0.0, 0, 2, 0.0)


def test_a_text_that_comes_twice_is_a_repetition() -> None:
    assert answered(("one", (3, 5)), ("one", (2, 6)), ("one", (7, 9))).repeated == 1 - 2 / 3


def test_the_share_of_whole_references_is_over_all_of_them() -> None:
    one, three = Answered(1, 1, 1, 1, 1, 0), Answered(0, 0, 0, 0, 3, 0)
    assert figures.whole([one, three]) == 1 / 4
    assert figures.recall([one, three]) == 1 / 2


def test_an_interval_is_of_paired_differences() -> None:
    better = [Answered(n / 10, 0, 0, 1, 1, 0) for n in range(5, 10)]
    worse = [Answered(n / 10 - 0.5, 0, 0, 0, 1, 0) for n in range(5, 10)]
    assert figures.interval(better, worse, "recall") == pytest.approx((0.5, 0.5))
    assert figures.interval(better, worse, "whole") == (1.0, 1.0)


def test_ranking_figures_as_they_are_defined() -> None:
    assert figures.reciprocal_rank([0, 0, 0.2]) == 1 / 3
    assert figures.reciprocal_rank([]) == 0
    assert figures.ndcg([0.5, 0, 0.5], [0.5, 0.5, 0]) == pytest.approx(1.5 / (1 + 0.6309297536))


def test_boundaries_are_met_across_blanks_and_missed_within_a_reference() -> None:
    # Cuts at "ab|cd|ef gh"; the reference "cd  ef" has one edge at a cut, and one cut within.
    cuts = [(0, 2), (3, 5), (7, 12)]
    assert figures.boundaries(cuts, [(3, 9)], INKED["one"], len(TEXT)) == (1, 2, 1, 2)


@pytest.mark.parametrize("name", [n for n in splitters.usual(COUNTER) if "semantic" not in n])
def test_a_usual_splitter_loses_nothing_but_blanks(name: str) -> None:
    text = ("A sentence of some words. Another one? " * 20 + "\n\n" + "x" * 3_000 + "\n") * 2
    found = splitters.trimmed(text, splitters.usual(COUNTER)[name](text))
    assert "".join("".join(text[a:b].split()) for a, b in found) == "".join(text.split())
    size = name.rpartition(" ")[2]
    if size.isdigit():
        assert max(COUNTER.count(text[a:b]) for a, b in found) <= int(size)
