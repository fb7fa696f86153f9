"""Spans in six scripts: whether an answer stays whole, and whether it is found.

    python -m tests.benchmarks.spans_by_script [--folder DIR] [--languages en,ru,ar,hi,th,zh]

Reads the parallel question sets of XQuAD (``xquad.LANGUAGE.json``, SQuAD layout). Every paragraph
is a document, cut into spans of at most 128 tokens. *Intact*: the answer stands whole in one span.
*First, five*: it stands whole in the best hit, or in the best five, hits alone; *restored*: in what
is read of them within 700 tokens, surroundings included (``compress.spans.restore``). The spans
are searched as the store does it, each script by its own pieces, and beside it in one way for all.

Prints a table and one JSON line.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compress.spans.blocks import document
from compress.spans.packer import spans_of
from compress.spans.restore import restored_of, runs
from compress.spans.values import SpanLimits, Spans
from compress.tokens import TokenCounter
from storage import resources
from tests.benchmarks.retrieval.index import Index, routed, single
from tests.benchmarks.retrieval.splitters import Range
from tests.benchmarks.search_scripts import FOLDER, LANGUAGES
from tests.benchmarks.spans import supported

LIMITS = SpanLimits(preferred=128, hard=128)
BUDGET = 700
BEST = 5
FIGURES = ("first", "five", "first restored", "five restored")

Hit = tuple[int, int]
"""A paragraph and the index of a span."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its paragraph, and where its answers stand there."""

    text: str
    paragraph: int
    answers: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """Its paragraphs, cut, and its questions."""

    paragraphs: list[Spans]
    asked: list[Asked]


def language(path: Path, counter: TokenCounter) -> Language:
    """Of one file."""
    found = Language([], [])
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            number = len(found.paragraphs)
            text = document(str(number), paragraph["context"])
            found.paragraphs.append(spans_of(text, LIMITS, counter))
            for one in paragraph["qas"]:
                places = [(a["answer_start"], len(a["text"])) for a in one["answers"]]
                answers = tuple((start, start + size) for start, size in places)
                found.asked.append(Asked(one["question"], number, answers))
    return found


def holds(one: Asked, paragraphs: Sequence[Spans], read: Sequence[Hit]) -> bool:
    """Whether an answer stands whole in a run of what is read."""
    mine = [index for number, index in read if number == one.paragraph]
    return any(
        run.start <= start and end <= run.end
        for run in runs(paragraphs[one.paragraph], mine)
        for start, end in one.answers
    )


def intact(known: Language) -> float:
    """Share of the questions whose answer stands whole in one span."""
    whole = sum(
        any(
            holds(one, known.paragraphs, [(one.paragraph, span.index)])
            for span in known.paragraphs[one.paragraph].spans
        )
        for one in known.asked
    )
    return round(whole / len(known.asked), 3)


def answered(known: Language, index: Index, hits: list[Hit], counter: TokenCounter) -> list[float]:
    """Shares of the questions, one for each of :data:`FIGURES`."""
    sums = [0] * len(FIGURES)
    for one in known.asked:
        scores = [(hits[number], score) for number, score in index.scores(one.text)]
        order = supported(known.paragraphs, scores)
        read = [[order[:many] for many in (1, BEST)]]
        read.append([restored_of(known.paragraphs, some, BUDGET, counter) for some in read[0]])
        for at, chosen in enumerate(chosen for some in read for chosen in some):
            sums[at] += holds(one, known.paragraphs, chosen)
    return [round(found / len(known.asked), 3) for found in sums]


def main() -> None:
    """Runs everything and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    options = parser.parse_args()
    counter = resources.counter()
    print(*FIGURES, sep=" · ")
    table: dict[str, dict[str, object]] = {}
    for name in options.languages.split(","):
        known = language(options.folder / f"xquad.{name}.json", counter)
        hits = [(n, span.index) for n, one in enumerate(known.paragraphs) for span in one.spans]
        payloads = [span.payload for one in known.paragraphs for span in one.spans]
        ways = {"routed": routed(payloads), **single(payloads)}
        found = {way: answered(known, index, hits, counter) for way, index in ways.items()}
        table[name] = {"intact": intact(known), **found}
        shown = (f"{way} {' '.join(f'{v:.3f}' for v in values)}" for way, values in found.items())
        print(f"{name}  intact {table[name]['intact']:.3f}", *shown, sep="   ", flush=True)
    print(json.dumps(table))


if __name__ == "__main__":
    sys.exit(main())
