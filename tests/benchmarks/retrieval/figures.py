"""Figures of what was retrieved against what was labelled. Blanks count nowhere."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

from tests.benchmarks.retrieval.splitters import Range

RESAMPLES = 2_000


class Inked:
    """A text in which ranges are measured by their characters that are no blanks."""

    def __init__(self, text: str) -> None:
        self._before = list(accumulate((not c.isspace() for c in text), initial=0))

    def size(self, ranges: Iterable[Range]) -> int:
        """Of ranges that do not overlap."""
        return sum(self._before[end] - self._before[start] for start, end in ranges)

    def same(self, one: int, other: int) -> bool:
        """Whether only blanks stand between two places."""
        return self._before[one] == self._before[other]


def joined(ranges: Iterable[Range]) -> list[Range]:
    """In order, those that touch or overlap as one."""
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def common(one: Sequence[Range], other: Sequence[Range]) -> list[Range]:
    """What two lists of ranges both cover."""
    pairs = ((a, b, c, d) for a, b in joined(one) for c, d in joined(other))
    return [(max(a, c), min(b, d)) for a, b, c, d in pairs if max(a, c) < min(b, d)]


@dataclass(frozen=True, slots=True)
class Answered:
    """One question at one budget."""

    recall: float
    """Share of the labelled characters that was retrieved."""
    precision: float
    """Share of the retrieved characters that is labelled; 0 where nothing was retrieved."""
    iou: float
    """Characters that are both, by those that are either."""
    whole: int
    """References that were retrieved whole."""
    references: int
    repeated: float
    """Share of the retrieved texts that had been retrieved before."""


def answered(
    retrieved: Sequence[tuple[str, Range]],
    corpus: str,
    references: Sequence[Range],
    texts: dict[str, str],
    inked: dict[str, Inked],
) -> Answered:
    """``retrieved``: (corpus, range) in the order of retrieval."""
    here = joined(place for name, place in retrieved if name == corpus)
    elsewhere = sum(
        inked[name].size(joined(place for n, place in retrieved if n == name))
        for name in sorted({name for name, _ in retrieved} - {corpus})
    )
    ink = inked[corpus]
    wanted = ink.size(joined(references))
    found = ink.size(common(here, references))
    got = ink.size(here) + elsewhere
    whole = sum(ink.size(common(here, [one])) == ink.size([one]) for one in references)
    plain = ["".join(texts[name][a:b].split()) for name, (a, b) in retrieved]
    return Answered(
        recall=found / wanted,
        precision=found / got if got else 0.0,
        iou=found / (got + wanted - found),
        whole=whole,
        references=len(references),
        repeated=1 - len(set(plain)) / len(plain) if plain else 0.0,
    )


def recall(answers: Sequence[Answered]) -> float:
    """The mean over questions."""
    return fmean(one.recall for one in answers)


def whole(answers: Sequence[Answered]) -> float:
    """Share of all references that were retrieved whole."""
    return sum(one.whole for one in answers) / sum(one.references for one in answers)


def interval(
    ours: Sequence[Answered], theirs: Sequence[Answered], figure: str
) -> tuple[float, float]:
    """The 95 % interval of ours minus theirs in ``recall`` or ``whole``, by a bootstrap over
    questions, in pairs; the same in every run."""
    chance = random.Random(7)
    pairs = list(zip(ours, theirs, strict=True))
    found = []
    for _ in range(RESAMPLES):
        drawn = chance.choices(pairs, k=len(pairs))
        if figure == "recall":
            found.append(fmean(a.recall - b.recall for a, b in drawn))
        else:
            references = sum(a.references for a, _ in drawn)
            found.append(sum(a.whole - b.whole for a, b in drawn) / references)
    found.sort()
    return found[round(0.025 * RESAMPLES)], found[round(0.975 * RESAMPLES) - 1]


def reciprocal_rank(gains: Sequence[float]) -> float:
    """1 by the rank of the first hit that gains anything."""
    return next((1 / rank for rank, gain in enumerate(gains, 1) if gain > 0), 0.0)


def ndcg(gains: Sequence[float], all_gains: Sequence[float], depth: int = 10) -> float:
    """Discounted gain of the first hits by that of the best possible order of all texts."""

    def discounted(values: Sequence[float]) -> float:
        return sum(value / math.log2(rank + 1) for rank, value in enumerate(values[:depth], 1))

    best = discounted(sorted(all_gains, reverse=True))
    return discounted(gains) / best if best else 0.0


def boundaries(
    cuts: Sequence[Range], references: Sequence[Range], ink: Inked, size: int
) -> tuple[int, int, int, int]:
    """Of one text: cuts that part no reference, all cuts; edges of references that stand at a cut,
    all such edges. The ends of the text are no cuts."""
    places = sorted({place for cut in cuts for place in cut})
    places = [at for at in places if not ink.same(at, 0) and not ink.same(at, size)]
    # The end of one part and the start of the next are one cut.
    apart = [at for n, at in enumerate(places) if n == 0 or not ink.same(places[n - 1], at)]
    kept = sum(
        not any(
            start < at < end and not ink.same(start, at) and not ink.same(at, end)
            for start, end in references
        )
        for at in apart
    )
    edges = sorted({edge for one in references for edge in one})
    edges = [at for at in edges if not ink.same(at, 0) and not ink.same(at, size)]
    met = sum(any(ink.same(edge, at) for at in apart) for edge in edges)
    return kept, len(apart), met, len(edges)
