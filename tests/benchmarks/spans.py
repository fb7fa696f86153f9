"""Spans against the usual splitters: what of the labelled text comes back within a budget.

    python -m tests.benchmarks.spans [--folder DIR] [--apart] [--without-semantic]
    python -m tests.benchmarks.spans --speed

Reads the chunking evaluation of Chroma (``corpora/*.md``; ``questions.csv``, whose references are
exact ranges). Every arm is searched with the same index and query, in one index of all corpora, or
(``--apart``) each corpus by itself. Of a usual splitter the best chunks are retrieved that fit the
budget; one that does not fit is passed over. *Spans* retrieves the same way; *spans, restored* by
``compress.spans.restore``: ranked with their neighbours' support, what is left of the budget used
for their surroundings, all of it counted as it is read.

``--speed``: spans of the corpora and of twice as much, beside one count of the same text, in
processor time. Prints a table and one JSON line.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from compress.spans.blocks import document
from compress.spans.metadata import headings
from compress.spans.packer import spans_of
from compress.spans.restore import SEARCHED, ranked, restored_of, runs
from compress.spans.values import Spans
from compress.tokens import TokenCounter
from storage import resources
from tests.benchmarks.retrieval import figures, splitters
from tests.benchmarks.retrieval.figures import Answered, Inked
from tests.benchmarks.retrieval.index import Index, routed
from tests.benchmarks.retrieval.splitters import Range

FOLDER = Path(os.environ.get("ULLAGE_CHROMA", "../shared/eval/chroma"))
BUDGETS = (500, 1_000, 2_000)

Place = tuple[str, Range]
"""A corpus and a range of its text."""
Retrieve = Callable[["Question", int], list[Place]]


@dataclass(frozen=True, slots=True)
class Question:
    """With the ranges of its corpus that answer it."""

    text: str
    corpus: str
    references: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Arm:
    """A way to cut and to retrieve."""

    cuts: dict[str, list[Range]]
    hits: Callable[[Question], list[Place]]
    """All that match, the best first."""
    retrieve: Retrieve


def questions(folder: Path) -> list[Question]:
    """Of the corpora that are there."""
    known = {path.stem for path in (folder / "corpora").glob("*.md")}
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as file:
        return [
            Question(
                row["question"],
                row["corpus_id"],
                tuple(
                    (one["start_index"], one["end_index"]) for one in json.loads(row["references"])
                ),
            )
            for row in csv.DictReader(file)
            if row["corpus_id"] in known
        ]


class Searched:
    """Texts of several corpora, searched together or apart."""

    def __init__(self, places: Sequence[Place], texts: Sequence[str], *, apart: bool) -> None:
        self._numbers: dict[str, list[int]] = {}
        for number, (corpus, _) in enumerate(places):
            self._numbers.setdefault(corpus if apart else "", []).append(number)
        self._indexes: dict[str, Index] = {
            name: routed([texts[number] for number in numbers])
            for name, numbers in self._numbers.items()
        }
        self._apart = apart
        self._found: dict[Question, list[tuple[int, float]]] = {}

    def scores(self, question: Question) -> list[tuple[int, float]]:
        """(number, score) of all that match, the best first."""
        if question not in self._found:
            name = question.corpus if self._apart else ""
            numbers = self._numbers[name]
            found = self._indexes[name].scores(question.text)
            self._found[question] = [(numbers[at], score) for at, score in found]
        return self._found[question]


def filled(order: Sequence[int], sizes: Sequence[int], budget: int) -> list[int]:
    """The best that fit, one after the other."""
    chosen = []
    for number in order:
        if sizes[number] <= budget:
            chosen.append(number)
            budget -= sizes[number]
    return chosen


def plain(
    texts: dict[str, str], split: splitters.Splitter, counter: TokenCounter, apart: bool
) -> Arm:
    """A usual splitter: the text of a chunk is what is searched and what is retrieved."""
    cuts = {name: splitters.trimmed(text, split(text)) for name, text in texts.items()}
    places = [(name, cut) for name, found in cuts.items() for cut in found]
    parts = [texts[name][a:b] for name, (a, b) in places]
    sizes = [counter.count(part) for part in parts]
    searched = Searched(places, parts, apart=apart)

    def order(question: Question) -> list[int]:
        return [number for number, _ in searched.scores(question)]

    return Arm(
        cuts,
        lambda question: [places[number] for number in order(question)],
        lambda question, budget: [places[n] for n in filled(order(question), sizes, budget)],
    )


def of_spans(texts: dict[str, str], counter: TokenCounter, apart: bool, *, restore: bool) -> Arm:
    """Spans: searched with their headings, retrieved as the text of the source."""
    cut = [
        spans_of(document(name, text), SEARCHED, counter, metadata=headings)
        for name, text in texts.items()
    ]
    names = list(texts)
    numbers = [(n, span.index) for n, one in enumerate(cut) for span in one.spans]
    spans = [cut[n].spans[index] for n, index in numbers]
    places = [
        (names[n], (span.range.start, span.range.end))
        for (n, _), span in zip(numbers, spans, strict=True)
    ]
    sizes = [counter.count(texts[name][a:b].strip()) for name, (a, b) in places]
    searched = Searched(places, [span.payload for span in spans], apart=apart)

    def order(question: Question) -> list[tuple[int, int]]:
        found = [(numbers[number], score) for number, score in searched.scores(question)]
        return supported(cut, found) if restore else [pair for pair, _ in found]

    def alone(question: Question, budget: int) -> list[Place]:
        found = [number for number, _ in searched.scores(question)]
        return [places[number] for number in filled(found, sizes, budget)]

    def with_context(question: Question, budget: int) -> list[Place]:
        chosen = restored_of(cut, order(question), budget, counter)
        return [
            (names[n], (where.start, where.end))
            for n, one in enumerate(cut)
            for where in runs(one, [index for m, index in chosen if m == n])
        ]

    at = dict(zip(numbers, places, strict=True))
    return Arm(
        {
            name: splitters.trimmed(text, [where for n, where in places if n == name])
            for name, text in texts.items()
        },
        lambda question: [at[pair] for pair in order(question)],
        with_context if restore else alone,
    )


def supported(
    cut: Sequence[Spans], found: Sequence[tuple[tuple[int, int], float]]
) -> list[tuple[int, int]]:
    """Hits of several documents, ranked with the support of their neighbours."""
    scores: dict[int, dict[int, float]] = {}
    for (n, index), score in found:
        scores.setdefault(n, {})[index] = score
    lists = [
        (-score, n, index) for n, some in scores.items() for index, score in ranked(cut[n], some)
    ]
    return [(n, index) for _, n, index in sorted(lists)]


def judged(
    arm: Arm, asked: Sequence[Question], texts: dict[str, str], inked: dict[str, Inked]
) -> dict[int, list[Answered]]:
    """By budget, one for each question."""
    return {
        budget: [
            figures.answered(arm.retrieve(one, budget), one.corpus, one.references, texts, inked)
            for one in asked
        ]
        for budget in BUDGETS
    }


def of_ranking(arm: Arm, asked: Sequence[Question], inked: dict[str, Inked]) -> tuple[float, float]:
    """(nDCG of the first ten hits, mean reciprocal rank). A hit gains the share of the labelled
    characters that it holds."""

    def gain(question: Question, place: Place) -> float:
        if place[0] != question.corpus:
            return 0.0
        ink = inked[question.corpus]
        found = ink.size(figures.common([place[1]], question.references))
        return found / ink.size(figures.joined(question.references))

    discounted, first = [], []
    for one in asked:
        gains = [gain(one, hit) for hit in arm.hits(one)]
        best = [gain(one, (one.corpus, cut)) for cut in arm.cuts[one.corpus]]
        discounted.append(figures.ndcg(gains, best))
        first.append(figures.reciprocal_rank(gains))
    return fmean(discounted), fmean(first)


def of_cuts(
    arm: Arm, asked: Sequence[Question], texts: dict[str, str], inked: dict[str, Inked]
) -> tuple[float, float]:
    """(share of the cuts that part no reference, share of the references' edges at a cut)."""
    sums = [0, 0, 0, 0]
    for name, text in texts.items():
        references = [place for one in asked if one.corpus == name for place in one.references]
        found = figures.boundaries(arm.cuts[name], references, inked[name], len(text))
        sums = [a + b for a, b in zip(sums, found, strict=True)]
    return sums[0] / max(1, sums[1]), sums[2] / max(1, sums[3])


def speed(texts: dict[str, str], counter: TokenCounter) -> dict[str, float]:
    """MB/s of spans and of one count, and how much longer twice the text takes."""
    text = "\n\n".join(texts.values())
    text *= max(1, 1_000_000 // len(text))
    size = len(text.encode()) / 1e6
    counter.count(text[:1000])

    def taken(work: Callable[[], object]) -> float:
        begun = time.process_time()
        work()
        return time.process_time() - begun

    once = taken(lambda: spans_of(document("", text), SEARCHED, counter))
    twice = taken(lambda: spans_of(document("", text * 2), SEARCHED, counter))
    counted = taken(lambda: counter.count(text))
    return {
        "spans_mb_s": round(size / once, 2),
        "count_mb_s": round(size / counted, 2),
        "times_a_count": round(once / counted, 1),
        "twice_the_text": round(twice / once, 2),
    }


def main() -> None:
    """Runs everything and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--apart", action="store_true", help="search each corpus by itself")
    parser.add_argument("--without-semantic", action="store_true")
    parser.add_argument("--speed", action="store_true", help="throughput only")
    options = parser.parse_args()
    corpora = sorted((options.folder / "corpora").glob("*.md"))
    texts = {path.stem: path.read_text(encoding="utf-8") for path in corpora}
    counter = resources.counter()
    if options.speed:
        print(json.dumps(speed(texts, counter)))
        return
    asked = questions(options.folder)
    inked = {name: Inked(text) for name, text in texts.items()}
    ways = {
        name: (lambda split=split: plain(texts, split, counter, options.apart))
        for name, split in splitters.usual(counter).items()
        if not (options.without_semantic and name.startswith("semantic"))
    }
    ways["spans"] = lambda: of_spans(texts, counter, options.apart, restore=False)
    ways["spans, restored"] = lambda: of_spans(texts, counter, options.apart, restore=True)
    print(
        f"{len(asked)} questions; R/whole at {BUDGETS} tokens; P, IoU, repeated at the middle one"
    )
    found: dict[str, dict[int, list[Answered]]] = {}
    table: dict[str, dict[str, object]] = {}
    for name, way in ways.items():
        arm = way()
        answers = found[name] = judged(arm, asked, texts, inked)
        discounted, first = of_ranking(arm, asked, inked)
        kept, met = of_cuts(arm, asked, texts, inked)
        middle = answers[BUDGETS[1]]
        table[name] = {
            "recall": [round(figures.recall(answers[b]), 3) for b in BUDGETS],
            "whole": [round(figures.whole(answers[b]), 3) for b in BUDGETS],
            "precision": round(fmean(one.precision for one in middle), 3),
            "iou": round(fmean(one.iou for one in middle), 3),
            "repeated": round(fmean(one.repeated for one in middle), 3),
            "ndcg": round(discounted, 3),
            "mrr": round(first, 3),
            "boundaries": [round(kept, 3), round(met, 3)],
            "chunks": sum(map(len, arm.cuts.values())),
        }
        print(f"{name:28}", *(f"{key} {value}" for key, value in table[name].items()), flush=True)
    print(json.dumps({"arms": table, "differences": differences(found)}))


def differences(found: dict[str, dict[int, list[Answered]]]) -> list[dict[str, object]]:
    """Restored spans against the best usual arm of each budget and figure, with the interval."""
    ours = found["spans, restored"]
    usual = {name: one for name, one in found.items() if not name.startswith("spans")}
    rows: list[dict[str, object]] = []
    for figure, of in (("recall", figures.recall), ("whole", figures.whole)):
        for budget in BUDGETS:
            best = max(usual, key=lambda name: of(usual[name][budget]))
            low, high = figures.interval(ours[budget], usual[best][budget], figure)
            mine, theirs = of(ours[budget]), of(usual[best][budget])
            print(
                f"{figure:7} {budget:5}  {mine:.3f}  best usual {theirs:.3f} ({best})  "
                f"difference {mine - theirs:+.3f} ({low:+.3f} to {high:+.3f})"
            )
            rows.append(
                {
                    "figure": figure,
                    "budget": budget,
                    "ours": round(mine, 3),
                    "best": best,
                    "theirs": round(theirs, 3),
                    "interval": [round(low, 3), round(high, 3)],
                }
            )
    return rows


if __name__ == "__main__":
    sys.exit(main())
