"""Availability: which identifiers count, and what share of them stands in a text.

Availability is necessary, not sufficient: a name that stands may still say nothing useful.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.benchmarks.fidelity.names import identifiers, stands

BOOTSTRAPS = 1_000


@dataclass(frozen=True, slots=True)
class Target:
    """An identifier that the agent needed after a cut. ``weight``: 1 ÷ the number of nodes of the
    region in which it stands."""

    name: str
    kind: str
    weight: float


@dataclass(frozen=True, slots=True)
class Later:
    """The text of one event after a cut; ``own``: the agent's own words and calls."""

    own: bool
    text: str


def targets(region: Sequence[str], kept: str, later: Iterable[Later]) -> list[Target]:
    """The identifiers that the agent used after the cut, that stood in the region, and that no
    later result or message brought back first. ``region``: the text of each node that goes;
    ``kept``: the text of those that stay, whose identifiers every arm has."""
    seen: set[str] = set()
    brought: list[str] = []
    found: list[Target] = []
    for event in later:
        if not event.own:
            brought.append(event.text)
            continue
        for name, kind in identifiers(event.text).items():
            if name in seen:
                continue
            seen.add(name)
            count = sum(1 for text in region if stands(name, text))
            if count and not any(stands(name, text) for text in (kept, *brought)):
                found.append(Target(name, kind, 1 / count))
    return found


@dataclass(frozen=True, slots=True)
class Score:
    """What stands of a case's targets, plain and by weight, and by class (hits, of)."""

    hits: float
    of: int
    weighted_hits: float
    weighted_of: float
    by_class: Mapping[str, tuple[float, int]]

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.hits / self.of if self.of else 0.0


def score(wanted: Sequence[Target], texts: Sequence[str]) -> Score:
    """The score of an arm; of several drawings of it, their mean."""
    hits = weighted = 0.0
    by_class: dict[str, tuple[float, int]] = {}
    for target in wanted:
        hit = sum(stands(target.name, text) for text in texts) / len(texts) if texts else 0.0
        hits += hit
        weighted += hit * target.weight
        had, of = by_class.get(target.kind, (0.0, 0))
        by_class[target.kind] = had + hit, of + 1
    return Score(hits, len(wanted), weighted, sum(t.weight for t in wanted), by_class)


@dataclass(frozen=True, slots=True)
class Pooled:
    """Micro: all identifiers alike. Macro: all cases alike. With the bounds of 95 % of the
    bootstrap over sessions, since the cases of one session are not independent."""

    cases: int
    sessions: int
    targets: int
    micro: float
    micro_low: float
    micro_high: float
    macro: float
    macro_low: float
    macro_high: float
    weighted: float


def pooled(scores: Sequence[tuple[str, Score]]) -> Pooled | None:
    """The averages over (session, score); ``None`` where no identifier counts."""
    counted = [(session, each) for session, each in scores if each.of]
    if not counted:
        return None
    by_session: dict[str, list[Score]] = {}
    for session, each in counted:
        by_session.setdefault(session, []).append(each)
    groups = list(by_session.values())
    draw = random.Random(20)
    samples = [
        [each for group in draw.choices(groups, k=len(groups)) for each in group]
        for _ in range(BOOTSTRAPS)
    ]
    every = [each for _, each in counted]
    return Pooled(
        len(every),
        len(groups),
        sum(each.of for each in every),
        _micro(every),
        *_bounds(samples, _micro),
        _macro(every),
        *_bounds(samples, _macro),
        sum(e.weighted_hits for e in every) / sum(e.weighted_of for e in every),
    )


def _micro(scores: Sequence[Score]) -> float:
    return sum(each.hits for each in scores) / sum(each.of for each in scores)


def _macro(scores: Sequence[Score]) -> float:
    return sum(each.share for each in scores) / len(scores)


def _bounds(
    samples: Sequence[Sequence[Score]], figure: Callable[[Sequence[Score]], float]
) -> tuple[float, float]:
    figures = sorted(figure(sample) for sample in samples)
    return figures[int(0.025 * len(figures))], figures[int(0.975 * len(figures)) - 1]


def by_class(scores: Iterable[Score]) -> dict[str, tuple[float, int]]:
    """Class → (share, number of identifiers), over all cases."""
    sums: dict[str, tuple[float, int]] = {}
    for each in scores:
        for kind, (hits, of) in each.by_class.items():
            had, before = sums.get(kind, (0.0, 0))
            sums[kind] = had + hits, before + of
    return {kind: (hits / of, of) for kind, (hits, of) in sorted(sums.items())}
