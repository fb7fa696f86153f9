"""What stands beside the summary at the same number of tokens: simple baselines and a ceiling."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tests.benchmarks.fidelity.names import identifiers
from tests.benchmarks.fidelity.scoring import Target

Count = Callable[[str], int]
"""Text → tokens."""

DRAWINGS = 3
RECENCY = 3.0
"""How much more the last node of a region weighs than the first, in the ranked list."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One node of a region: its whole text, and the same with results cleared."""

    text: str
    cleared: str
    own: bool
    """It holds the agent's own words and calls."""


def last_tokens(pieces: Sequence[Piece], budget: int, count: Count) -> str:
    """The end of the region."""
    return _end("\n".join(piece.text for piece in pieces), budget, count)


def head_and_tail(pieces: Sequence[Piece], budget: int, count: Count) -> str:
    """Half of the budget from the start, the rest from the end."""
    text = "\n".join(piece.text for piece in pieces)
    head = _start(text, budget // 2, count)
    tail = _end(text[len(head) :], budget - count(head) - 1, count)
    return f"{head}\n{tail}"


def cleared_results(pieces: Sequence[Piece], budget: int, count: Count) -> str:
    """The end of the region, each tool result put down to one line."""
    return _end("\n".join(piece.cleared for piece in pieces), budget, count)


def random_lines(pieces: Sequence[Piece], budget: int, count: Count) -> list[str]:
    """Lines drawn from the region, in their order; several drawings."""
    lines = [line for piece in pieces for line in piece.text.splitlines() if line.strip()]
    found = []
    for seed in range(DRAWINGS):
        order = list(range(len(lines)))
        random.Random(seed).shuffle(order)
        chosen = _fitting(((n, f"{lines[n]}\n") for n in order), budget, count)
        found.append("\n".join(lines[n] for n in sorted(chosen)))
    return found


def ranked_list(pieces: Sequence[Piece], budget: int, count: Count) -> str:
    """Nothing but identifiers, by how often and how recently they stood; those that the agent
    named itself count double."""
    scores: dict[str, float] = {}
    for place, piece in enumerate(pieces, 1):
        near = 1 + (RECENCY - 1) * place / len(pieces)
        for name in _names(piece.text):
            scores[name] = scores.get(name, 0.0) + near * (2 if piece.own else 1)
    names = sorted(scores, key=lambda name: (-scores[name], name))
    return "\n".join(names[n] for n in _fitting_names(names, budget, count))


def ceiling(wanted: Sequence[Target], budget: int, count: Count) -> str:
    """The identifiers that will be needed, the cheapest first: what no summary can exceed."""
    names = sorted((target.name for target in wanted), key=lambda name: (count(name), name))
    return "\n".join(names[n] for n in _fitting_names(names, budget, count))


@lru_cache(maxsize=4_096)
def _names(text: str) -> tuple[str, ...]:
    return tuple(identifiers(text))


def _fitting_names(names: Sequence[str], budget: int, count: Count) -> list[int]:
    return _fitting(((n, f"{name}\n") for n, name in enumerate(names)), budget, count)


def _fitting(lines: Iterable[tuple[int, str]], budget: int, count: Count) -> list[int]:
    """Takes each line that still fits, until forty in a row do not."""
    chosen, misses = [], 0
    for number, line in lines:
        if len(line) > 16 * budget or (cost := count(line)) > budget:
            misses += 1
            if misses > 40:
                break
            continue
        misses = 0
        budget -= cost
        chosen.append(number)
    return chosen


def _start(text: str, budget: int, count: Count) -> str:
    return text[: _longest(len(text), budget, lambda size: count(text[:size]))]


def _end(text: str, budget: int, count: Count) -> str:
    size = _longest(len(text), budget, lambda size: count(text[len(text) - size :]))
    return text[len(text) - size :]


def _longest(most: int, budget: int, cost: Callable[[int], int]) -> int:
    """The largest number of characters that the budget pays for."""
    low, high = 0, min(most, 8 * max(budget, 0))
    while high < most and cost(high) <= budget:
        low, high = high, min(most, 2 * high + 1)
    if cost(high) <= budget:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    return low
