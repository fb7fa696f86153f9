"""The units that spans are merged of: whole blocks, and the sentences or lines of a large one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import regex

from compress.spans.micro_units import LINES, is_edge, sentence_ends
from compress.spans.values import Cut, SourceBlock

WRAPPED = 120
"""Characters of the longest line of a block that was broken to fit a width."""
IN_BLOCK = 16
"""Weight of a cut within a block; that of a cut between two is at most this."""
_BY_LINE = frozenset({"code", "table_row_group", "unknown"})
_ESCAPED = regex.compile(r"(?:\\r?\\n|\\n)+[ \t]*")


class Unit(NamedTuple):
    """A part of the text that is never cut unless it is above the hard limit by itself."""

    start: int
    end: int
    block: int
    cut: Cut
    """What it begins at."""
    weight: int
    """How much is lost by a cut before it; the less, the better a place it is."""
    opens: bool = False
    """Whether it is the first part of a block that is split."""


def weights(blocks: Sequence[SourceBlock]) -> list[int]:
    """Of a cut before each block: 0 before a heading, more the deeper it stands in items."""
    found: list[int] = []
    for block in blocks:
        if block.kind in ("title", "heading"):
            found.append(0)
            continue
        held = block.parent is not None and blocks[block.parent].kind == "list_item"
        assert block.parent is None or block.parent < block.index
        above = found[block.parent] if held and block.parent is not None else 0
        depth = max(above + 1, block.level if block.kind == "list_item" else 1)
        found.append(min(depth, IN_BLOCK - 1))
    return found


def whole(block: SourceBlock, weight: int) -> Unit:
    """A block as one unit."""
    return Unit(block.range.start, block.range.end, block.index, _cut(block), weight)


def parts(text: str, block: SourceBlock, weight: int) -> Iterator[Unit]:
    """The sentences or lines of a block."""
    start = block.range.start
    cut: Cut = _cut(block)
    by_line = block.kind in _BY_LINE
    places = _lines(text, block) if by_line else _sentences(text, block)
    opens = True
    for place, name, more in places:
        yield Unit(start, place, block.index, cut, weight, opens)
        start, cut, weight, opens = place, name, IN_BLOCK + more, False
    yield Unit(start, block.range.end, block.index, cut, weight, opens)


def _cut(block: SourceBlock) -> Cut:
    return "section" if block.kind in ("title", "heading") else "block"


def _lines(text: str, block: SourceBlock) -> Iterator[tuple[int, Cut, int]]:
    """Places behind lines; the deeper the next one is indented, the worse, a blank line before it
    the better. A line of blanks is left with the one before it."""
    end = block.range.end
    for found in LINES.finditer(text, block.range.start, end):
        at = found.end()
        if at >= end:
            return
        indent = len(found["indent"].expandtabs(4))
        gap = found["gap"] != ""
        yield at - len(found["indent"]), "line", min(40, indent) + (0 if gap else 4)


def _sentences(text: str, block: SourceBlock) -> Iterator[tuple[int, Cut, int]]:
    start, end = block.range.start, block.range.end
    places: dict[int, Cut] = dict.fromkeys(sentence_ends(text, start, end), "sentence")
    found = list(LINES.finditer(text, start, end))
    edges = [start, *(line.end() for line in found), end]
    if any(b - a > WRAPPED for a, b in pairwise(edges)):
        for line in found:
            if line.end() < end and is_edge(text, start, line.end()):
                places.setdefault(line.end(), "line")
        if not found:
            for escaped in _ESCAPED.finditer(text, start, end):
                if escaped.end() < end and is_edge(text, start, escaped.end()):
                    places.setdefault(escaped.end(), "line")
    for place in sorted(places):
        yield place, places[place], 0
