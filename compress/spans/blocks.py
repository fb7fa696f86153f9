"""A text's structure: its blocks, in order and without a gap, with exact offsets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from compress.spans import code, diff, log, markdown, plain, table
from compress.spans.draft import Draft
from compress.spans.values import Document, SourceBlock, SourceRange, TextKind

READERS: dict[TextKind, Callable[[str], list[Draft]]] = {
    "markdown": markdown.read,
    "plain": plain.read,
    "code": code.read,
    "diff": diff.read,
    "log": log.read,
    "table": table.read,
}


def document(id: str, text: str) -> Document:  # noqa: A002 - the field's name
    """A text with the digest of its bytes."""
    return Document(id, text, hashlib.sha256(encoded(text)).hexdigest())


def encoded(text: str) -> bytes:
    """The bytes of a text, which digests and offsets are of; a lone surrogate is three of them."""
    return text.encode("utf-8", "surrogatepass")


class Ranges:
    """Ranges of a text with their bytes, asked for in order: each character is encoded once or
    twice, however many ranges there are."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ascii = text.isascii()
        self._at = 0
        self._bytes = 0

    def range(self, start: int, end: int) -> SourceRange:
        """The range of the scalars from ``start`` to ``end``."""
        if self._ascii:
            return SourceRange(start, end, start, end)
        if start < self._at:
            self._bytes -= len(encoded(self._text[start : self._at]))
        else:
            self._bytes += len(encoded(self._text[self._at : start]))
        self._at = start
        first = self._bytes
        self._bytes += len(encoded(self._text[start:end]))
        self._at = end
        return SourceRange(start, end, first, self._bytes)


def read(text: str, kind: TextKind) -> tuple[SourceBlock, ...]:
    """The blocks of a text that is read as ``kind``; none of an empty one."""
    if not text:
        return ()
    drafts = READERS[kind](text) or [Draft(0, "unknown")]
    # What stands before the first block, blanks, belongs to it.
    drafts[0] = drafts[0]._replace(start=0)
    if drafts[0].kind == "heading" and drafts[0].level == 1:
        drafts[0] = drafts[0]._replace(kind="title")
    parents = _parents(drafts)
    ranges = Ranges(text)
    blocks = []
    for index, draft in enumerate(drafts):
        end = drafts[index + 1].start if index + 1 < len(drafts) else len(text)
        blocks.append(
            SourceBlock(
                index, draft.kind, ranges.range(draft.start, end), draft.level, parents[index]
            )
        )
    return tuple(blocks)


def _parents(drafts: Sequence[Draft]) -> list[int | None]:
    """What each block stands in: its item, else the heading of its section."""
    parents: list[int | None] = []
    open_headings: list[int] = []
    for index, draft in enumerate(drafts):
        if draft.kind in ("heading", "title") and draft.parent is None:
            while open_headings and drafts[open_headings[-1]].level >= draft.level:
                open_headings.pop()
        heading = open_headings[-1] if open_headings else None
        parents.append(heading if draft.parent is None else draft.parent)
        if draft.kind in ("heading", "title") and draft.parent is None:
            open_headings.append(index)
    return parents
