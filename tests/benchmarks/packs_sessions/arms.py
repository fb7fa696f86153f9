"""What stands beside packs and rebuilt contexts at the same number of tokens."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from tests.benchmarks.fidelity import arms
from tests.benchmarks.packs_sessions.cuts import Cut

_WORD = re.compile(r"\w+")
_K1, _B = 1.2, 0.75
"""Of BM25, as most engines set them."""
_MISSES = 40


def last_tokens(cut: Cut, budget: int) -> str:
    """The end of the history."""
    pieces = [arms.Piece(text, "", own=False) for text in cut.history]
    return arms.last_tokens(pieces, budget, cut.count)


def ceiling(cut: Cut, budget: int) -> str:
    """The identifiers that will be needed, the cheapest first."""
    return arms.ceiling(cut.wanted, budget, cut.count)


def best_events(cut: Cut, budget: int) -> str:
    """The events that BM25 finds for the message, whole, each that fits; where the message says
    nothing, and among equals, the newest first."""
    texts = cut.history
    words = [Counter(_words(text)) for text in texts]
    scores = _scores(_words(cut.query), words)
    order = sorted(range(len(texts)), key=lambda at: (-scores[at], -at))
    taken: list[int] = []
    left, misses = budget, 0
    for at in order:
        text = texts[at]
        if not text.strip():
            continue
        if len(text) > 16 * left or (cost := cut.count(f"{text}\n")) > left:
            misses += 1
            if misses > _MISSES:
                break
            continue
        misses = 0
        left -= cost
        taken.append(at)
    return "\n".join(texts[at] for at in sorted(taken))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _scores(query: Sequence[str], texts: Sequence[Counter[str]]) -> list[float]:
    sizes = [sum(words.values()) for words in texts]
    mean = sum(sizes) / max(1, len(sizes))
    scores = [0.0] * len(texts)
    for word in dict.fromkeys(query):
        holders = sum(1 for words in texts if word in words)
        weight = math.log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
        for at, words in enumerate(texts):
            count = words[word]
            if count:
                norm = _K1 * (1 - _B + _B * sizes[at] / mean)
                scores[at] += weight * count * (_K1 + 1) / (count + norm)
    return scores
