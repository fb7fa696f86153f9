"""Candidates in the order in which a pack takes them.

Reciprocal-rank fusion (Cormack, Clarke, Büttcher 2009): a candidate's score is the sum, over the
signals, of weight ÷ (K + its rank by that signal). The signals are the match with the query, the
matches around it, recency and use; what a person locked comes before all. Ranks instead of figures,
since those of different signals do not compare. Equals share a rank, and stand in log order.

What stands beside a match in the log belongs to it more often than not. So a match spreads over the
candidates of its session, less with each step: a little way for the match itself, farther for what
is around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

from compress.events import NodeId
from compress.packs.values import Candidate

K = 60
"""Of the fusion, as its authors set it."""
_FLOOR = 0.02
"""Of the best match: what has less, of its own and from around it, is below the floor."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts."""

    match: float = 1.0
    around: float = 0.5
    recency: float = 0.2
    uses: float = 0.5
    near: float = 0.7
    """What is left of a match one event, or one part of a content, farther on."""
    far: float = 0.95
    """The same for the matches around."""


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its place."""

    candidate: Candidate
    rank: int
    """From 1."""
    score: float
    around: float
    """The score by the matches around instead of its own."""
    duplicate_of: str | None = None
    """Id of the belief ranked before it that has the same content."""
    is_below_floor: bool = False
    """Nothing of the query is in it, nor around it; or it says nothing."""


def ranked(
    candidates: Sequence[Candidate], *, floor: bool = False, weights: Weights = WEIGHTS
) -> tuple[Ranked, ...]:
    """All candidates, the locked ones first, then by score. ``floor``: the query says something,
    so that what does not match at all is below the floor, and stands last.

    Deterministic, whatever the order in which they are handed in: equals stand in log order, then
    by id. The same content is folded into the best-ranked belief that has it.
    """
    listed = sorted(candidates, key=_place)
    steps = [_step(before, after) for before, after in pairwise(listed)]
    matches = [max(0.0, candidate.match) for candidate in listed]
    spread = _spread(matches, steps, weights.far)
    others = _fused(
        (weights.recency, [-candidate.age for candidate in listed], False),
        (weights.uses, [candidate.uses for candidate in listed], True),
    )
    own = _fused((1.0, _spread(matches, steps, weights.near), True))
    around = _fused((1.0, spread, True))
    scores = [
        weights.match * one + weights.around * two + three
        for one, two, three in zip(own, around, others, strict=True)
    ]
    around = [weights.match * one + two for one, two in zip(around, others, strict=True)]
    least = max(matches, default=0.0) * _FLOOR
    low = [
        not candidate.belief.locked
        and ((floor and value <= least) or not candidate.belief.content.strip())
        for candidate, value in zip(listed, spread, strict=True)
    ]
    best = sorted(
        range(len(listed)), key=lambda at: (not listed[at].belief.locked, low[at], -scores[at], at)
    )
    first: dict[bytes, str] = {}
    found = []
    for rank, at in enumerate(best, 1):
        belief = listed[at].belief
        key = _content_key(belief.content)
        found.append(Ranked(listed[at], rank, scores[at], around[at], first.get(key), low[at]))
        first.setdefault(key, belief.id)
    return tuple(found)


def log_order(nodes: Sequence[NodeId]) -> tuple[int, int]:
    """Where these events stand in their session: the agent's by seq, then the user's."""
    first = nodes[0] if nodes else 0
    if isinstance(first, int):
        return (0, first)
    digits = first[1:]
    return (1, int(digits)) if digits.isascii() and digits.isdecimal() else (2, 0)


def _place(candidate: Candidate) -> tuple[object, ...]:
    belief = candidate.belief
    return (
        belief.session,
        log_order(belief.source_event_seqs),
        belief.part[0] if belief.part else 0,
        belief.id,
        belief.content,
        -candidate.match,
        candidate.age,
        -candidate.uses,
    )


def _fused(*signals: tuple[float, Sequence[float], bool]) -> list[float]:
    """The sum over the signals, (weight, value of each, whether one must be above zero to count);
    a greater value has a lower rank, and equals share the rank of their first."""
    count = len(signals[0][1])
    scores = [0.0] * count
    for weight, values, is_positive in signals:
        rank, before = 0, None
        for place, at in enumerate(sorted(range(count), key=lambda at: -values[at]), 1):
            value = values[at]
            if is_positive and value <= 0:
                break
            if value != before:
                rank, before = place, value
            scores[at] += weight / (K + rank)
    return scores


def _spread(matches: Sequence[float], steps: Sequence[int | None], rate: float) -> list[float]:
    """The matches, each with what all others of its session give to it: the ``rate`` to the power
    of the steps between them."""
    found = list(matches)
    for order, gaps in (
        (range(len(matches)), steps),
        (range(len(matches) - 1, -1, -1), steps[::-1]),
    ):
        given = 0.0
        for at, gap in zip(order, [None, *gaps], strict=False):
            given = 0.0 if gap is None else given * rate**gap
            found[at] += given
            given += matches[at]
    return found


def _step(before: Candidate, after: Candidate) -> int | None:
    """How far two neighbours in log order are apart; ``None``: they are of different strands."""
    one, two = before.belief, after.belief
    strand, first = log_order(one.source_event_seqs)
    other, second = log_order(two.source_event_seqs)
    if one.session != two.session or strand or other or not one.source_event_seqs:
        return None
    return max(1, second - first)


def _content_key(content: str) -> bytes:
    return blake2b(content.strip().encode("utf-8", "surrogatepass"), digest_size=16).digest()
