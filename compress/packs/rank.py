"""Candidates in the order in which a pack takes them.

Reciprocal-rank fusion (Cormack, Clarke, Büttcher 2009): a candidate's score is the sum, over the
signals, of weight ÷ (K + its rank by that signal). The signals are the match with the query,
recency and use; what a person locked comes before all. Ranks instead of figures, since those of
different signals do not compare. Equals share a rank, and stand in log order.

What stands beside a match in the log belongs to it more often than not, so that a match spreads to
its neighbours among the candidates, less with the distance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from compress.events import NodeId
from compress.packs.values import Candidate

K = 60
"""Of the fusion, as its authors set it."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts, beside the match."""

    match: float = 1.0
    recency: float = 0.1
    uses: float = 0.1
    spread: float = 0.5
    """What a neighbour at distance 1 gives of its match; at distance d, the d-th power of it."""
    reach: int = 3
    """Events of the log, or parts of one content, beyond which nothing is a neighbour."""


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its place."""

    candidate: Candidate
    rank: int
    """From 1."""
    score: float
    duplicate_of: str | None = None
    """Id of the belief ranked before it that has the same content."""
    is_below_floor: bool = False
    """Nothing of the query is in it, nor near it."""


def ranked(
    candidates: Sequence[Candidate], *, floor: bool = False, weights: Weights = WEIGHTS
) -> tuple[Ranked, ...]:
    """All candidates, the locked ones first, then by score. ``floor``: the query says something,
    so that what does not match at all is below the floor, and stands last.

    Deterministic, whatever the order in which they are handed in: equals stand in log order, then
    by id. The same content is folded into the best-ranked belief that has it.
    """
    order = sorted(range(len(candidates)), key=lambda at: _place(candidates[at]))
    listed = [candidates[at] for at in order]
    matches = _spread(listed, weights)
    scores = [0.0] * len(listed)
    for at, rank in _ranks(listed, lambda at: -matches[at]):
        if matches[at] > 0:
            scores[at] += weights.match / (K + rank)
    for at, rank in _ranks(listed, lambda at: listed[at].age):
        scores[at] += weights.recency / (K + rank)
    for at, rank in _ranks(listed, lambda at: -listed[at].uses):
        if listed[at].uses > 0:
            scores[at] += weights.uses / (K + rank)
    low = [floor and matches[at] <= 0 for at in range(len(listed))]
    best = sorted(
        range(len(listed)), key=lambda at: (not listed[at].belief.locked, low[at], -scores[at], at)
    )
    first: dict[bytes, str] = {}
    found = []
    for rank, at in enumerate(best, 1):
        belief = listed[at].belief
        same = first.setdefault(_content_key(belief.content), belief.id)
        duplicate = same if same != belief.id else None
        below = low[at] and not belief.locked
        found.append(Ranked(listed[at], rank, scores[at], duplicate, below))
    return tuple(found)


def log_order(nodes: Sequence[NodeId]) -> tuple[int, int]:
    """Where these events stand in their session: the agent's by seq, then the user's."""
    first = nodes[0] if nodes else 0
    if isinstance(first, int):
        return (0, first)
    digits = first[1:]
    return (1, int(digits)) if digits.isascii() and digits.isdecimal() else (2, 0)


def _place(candidate: Candidate) -> tuple[str, tuple[int, int], int, str, str]:
    belief = candidate.belief
    part = belief.part[0] if belief.part else 0
    return (
        belief.session,
        log_order(belief.source_event_seqs),
        part,
        belief.id,
        belief.content,
    )


def _ranks(listed: Sequence[Candidate], key: Callable[[int], float]) -> Iterator[tuple[int, int]]:
    """(index, rank) of all, by rising key; equals share the rank of their first."""
    rank, before = 0, None
    for place, at in enumerate(sorted(range(len(listed)), key=lambda at: (key(at), at)), 1):
        value = key(at)
        if value != before:
            rank, before = place, value
        yield at, rank


def _spread(listed: Sequence[Candidate], weights: Weights) -> list[float]:
    """The matches, each with what its neighbours give to it. ``listed`` is in log order."""
    own = [max(0.0, candidate.match) for candidate in listed]
    found = list(own)
    for at, candidate in enumerate(listed):
        for other in range(at + 1, min(len(listed), at + 1 + 4 * weights.reach)):
            distance = _distance(candidate, listed[other])
            if distance is None or distance > weights.reach:
                break
            if distance:
                found[other] += own[at] * weights.spread**distance
                found[at] += own[other] * weights.spread**distance
    return found


def _distance(before: Candidate, after: Candidate) -> int | None:
    """Between two neighbours in log order; ``None`` where they are of different strands. Parts of
    one content are as far apart as their numbers."""
    one, two = before.belief, after.belief
    strand, first = log_order(one.source_event_seqs)
    other, second = log_order(two.source_event_seqs)
    if one.session != two.session or strand or other or not one.source_event_seqs:
        return None
    if first == second:
        parts = (one.part or (0, 1))[0], (two.part or (0, 1))[0]
        return abs(parts[1] - parts[0])
    return second - first


def _content_key(content: str) -> bytes:
    return blake2b(content.strip().encode("utf-8", "surrogatepass"), digest_size=16).digest()
