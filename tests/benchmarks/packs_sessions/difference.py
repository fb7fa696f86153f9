"""The difference of two arms over the same cuts, with its interval."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmarks.fidelity.scoring import BOOTSTRAPS, Score

Pair = tuple[str, Score, Score]
"""Session, and the scores of both arms at one cut."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Of micro averages: in points and relative to the second arm, each with the bounds of 95 % of
    the bootstrap over sessions, both arms drawn together."""

    points: float
    low: float
    high: float
    relative: float
    relative_low: float
    relative_high: float


def difference(pairs: Sequence[Pair]) -> Difference | None:
    """``None`` where no identifier counts."""
    by_session: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair[1].of:
            by_session.setdefault(pair[0], []).append(pair)
    groups = list(by_session.values())
    if not groups:
        return None
    draw = random.Random(20)
    samples = [
        [pair for group in draw.choices(groups, k=len(groups)) for pair in group]
        for _ in range(BOOTSTRAPS)
    ]
    one, two = _averages([pair for group in groups for pair in group])
    drawn = [_averages(sample) for sample in samples]
    low, high = _bounds([a - b for a, b in drawn])
    relative_low, relative_high = _bounds([_ratio(a, b) for a, b in drawn])
    return Difference(one - two, low, high, _ratio(one, two), relative_low, relative_high)


def _averages(pairs: Sequence[Pair]) -> tuple[float, float]:
    of = sum(one.of for _, one, _ in pairs)
    return sum(one.hits for _, one, _ in pairs) / of, sum(two.hits for _, _, two in pairs) / of


def _ratio(one: float, two: float) -> float:
    return one / two - 1 if two else 0.0


def _bounds(figures: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(figures)
    return ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered)) - 1]
