"""How alike neighbouring units are, by what they are written with; no model, no language."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from compress.spans.errors import SimilarityError
from compress.spans.values import Similarity

_REACH = 160
"""Characters on either side of a border that are compared."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """The share of the smaller side's character n-grams that both sides have (overlap
    coefficient), of the text next to the border, in one case."""

    size: int = 4
    reach: int = _REACH

    @property
    def name(self) -> str:
        return f"lexical/{self.size}-grams/{self.reach}"

    def scores(self, units: Sequence[str]) -> list[float]:
        """One score from 0 to 1 for each pair of neighbours."""
        return [self._score(left, right) for left, right in pairwise(units)]

    def _score(self, left: str, right: str) -> float:
        # Pair by pair, so that few sets are alive at a time.
        last = self._grams(left[-self.reach :].casefold())
        first = self._grams(right[: self.reach].casefold())
        return len(last & first) / max(1, min(len(last), len(first)))

    def _grams(self, text: str) -> set[str]:
        size = self.size
        return {text[at : at + size] for at in range(len(text) - size + 1)}


LEXICAL = Lexical()


def checked(similarity: Similarity, units: Sequence[str]) -> list[float]:
    """The scores of a similarity, if they are scores.

    Raises:
        SimilarityError: their number is wrong, or one is no finite number.
        SimilarityUnavailableError: the similarity itself says so.
    """
    scores = list(similarity.scores(units))
    wanted = max(0, len(units) - 1)
    if len(scores) != wanted:
        raise SimilarityError(
            f"Similarity {similarity.name} gave {len(scores)} scores for {len(units)} units, "
            f"which have {wanted} borders; leave it out, or mend it."
        )
    for number, score in enumerate(scores):
        is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
        if not is_number or not math.isfinite(score):
            raise SimilarityError(
                f"Similarity {similarity.name} gave no finite number for border {number + 1} of "
                f"{wanted}; leave it out, or mend it."
            )
    return scores
