"""What a reader of one kind of text finds: where blocks begin, before offsets are counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from compress.spans.values import BlockKind

LINE_END = re.compile(r"\r\n|\n|\r")


class Draft(NamedTuple):
    """A block begins at ``start`` and lasts until the next one does."""

    start: int
    kind: BlockKind
    level: int = 0
    parent: int | None = None
    """Index of the draft that it stands in, where that is no heading: those follow from order."""


class Line(NamedTuple):
    """A line without its end."""

    start: int
    end: int
    after: int
    """Where the next one begins."""


def lines(text: str, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """The lines of a text; none behind its last line end."""
    stop = len(text) if end is None else end
    at = start
    for found in LINE_END.finditer(text, start, stop):
        yield Line(at, found.start(), found.end())
        at = found.end()
    if at < stop:
        yield Line(at, stop, stop)
