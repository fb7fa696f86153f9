"""Tokens of lines, each text counted once."""

from __future__ import annotations

from collections.abc import Sequence

from compress.reduction.items import Item
from compress.tokens import TokenCounter, count_many


class LineCounts:
    """The counts of lines with their line feeds. Outputs repeat themselves: a text that was
    counted is not counted again."""

    def __init__(self, counter: TokenCounter, sign: str) -> None:
        self._counter = counter
        self._sign = sign
        self._known: dict[str, int] = {}

    def costs(self, items: Sequence[Item]) -> list[int]:
        """The tokens of each item as it would be printed, with its note."""
        texts = [f"{i.text} {self._sign}{i.note}\n" if i.note else f"{i.text}\n" for i in items]
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        counts = count_many(self._counter, unknown)
        self._known.update(zip(unknown, counts, strict=True))
        return [self._known[text] for text in texts]

    def total(self, items: Sequence[Item]) -> int:
        """The tokens of all of them."""
        return sum(self.costs(items))
