"""BM25 of texts in memory, with the weights that the index gave the pieces of a query."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from storage.candidates import Weighed
from storage.pieces import WORD, Piece, folded
from storage.scripts import EDGE, index_text

_SATURATION = 1.2
_LENGTH = 0.75
"""BM25's usual constants, which FTS5 has, too: k1 and b."""


def scores(texts: Sequence[str], pieces: Sequence[Weighed]) -> list[float]:
    """One score for each text, greater is better, 0 where none of the pieces stands in it. Lengths
    are compared among these texts."""
    if not pieces or not texts:
        return [0.0] * len(texts)
    patterns = [(_pattern(weighed.piece), weighed.weight) for weighed in pieces]
    indexed = [folded(index_text(text)) for text in texts]
    mean = sum(map(len, indexed)) / len(indexed) or 1.0
    return [_score(text, len(text) / mean, patterns) for text in indexed]


def rough_scores(texts: Sequence[str], pieces: Sequence[Weighed]) -> list[float]:
    """For each text the weights of those pieces whose first word stands in it, be it within another
    word: enough to choose which of many texts are read."""
    words = {weighed.piece.words[0].strip(EDGE): weighed.weight for weighed in pieces}
    return [
        sum(weight for word, weight in words.items() if word in spelled)
        for spelled in map(folded, texts)
    ]


def _score(text: str, length: float, patterns: Sequence[tuple[regex.Pattern[str], float]]) -> float:
    dampened = _SATURATION * (1 - _LENGTH + _LENGTH * length)
    total = 0.0
    for pattern, weight in patterns:
        count = sum(1 for _ in pattern.finditer(text))
        total += weight * count * (_SATURATION + 1) / (count + dampened)
    return total


def _pattern(piece: Piece) -> regex.Pattern[str]:
    between = rf"(?:(?!{WORD})(?s:.))+"
    ending = "" if piece.is_beginning else f"(?!{WORD})"
    words = between.join(map(regex.escape, piece.words))
    return regex.compile(f"(?<!{WORD}){words}{ending}")
