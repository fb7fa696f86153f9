"""The words of a person: which blocks of a message they are, and what to call them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compress.decisions.span import IntSeqs, Told
from compress.events import ContentBlock
from compress.markup import is_wrapped, without_tags

WORDS = 2_000
"""Characters of a person's words in a record."""


def text_of(blocks: Iterable[ContentBlock]) -> str:
    """The text of a message's blocks."""
    return "\n".join(b.text for b in blocks if b.kind in ("text", "context") and b.text.strip())


def title(words: Sequence[tuple[str, int]]) -> Told:
    """The first line of the first block that is a person's own; of what is left without tags,
    where none is."""
    own = [(text, seq) for text, seq in words if not is_wrapped(text)]
    for text, seq in own:
        if line := _first_line(text):
            return line, (seq,)
    for text, seq in words:
        if line := _first_line(without_tags(text)):
            return line, (seq,)
    return "", ()


def said(words: Sequence[tuple[str, int]]) -> Told:
    """A person's own words in a message; empty where a program wrote all of it."""
    own = [(text.strip(), seq) for text, seq in words if text.strip() and not is_wrapped(text)]
    seqs: IntSeqs = tuple(seq for _, seq in own)
    return "\n".join(text for text, _ in own)[:WORDS], seqs


def _first_line(text: str) -> str:
    lines = (" ".join(line.lstrip("# ").split()) for line in text[:10_000].split("\n"))
    return next((line for line in lines if line), "")
