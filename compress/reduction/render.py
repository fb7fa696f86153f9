"""The reduced text: a header, the lines that stay, and a mark wherever lines are left out.

All that is ours begins with one sign, a row of ``⋮`` that the input does not hold anywhere. So a
mark cannot be taken for output, and a text that carries the header is known again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compress.reduction.items import Item

_SIGN = "⋮"
_LARGE_GAP = 25
"""Lines of a gap from which on its mark says the total and the pointer too."""

Style = Literal["full", "short", "bare"]
"""``full``: each gap marked. ``short``: a short header, each gap marked. ``bare``: the short
header alone says how much is left out; for budgets of a few dozen tokens."""

_HEADER = re.compile(r"(⋮+) ?(?:ullage: )?(\d+)(?: of |/)\d+\b")


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the lines. ``total``: lines of the input. ``sign``: see above."""

    total: int
    sign: str
    style: Style
    exit_code: int | None = None
    pointer: str | None = None


@dataclass(frozen=True, slots=True)
class Rendering:
    """``shown``: lines of ``text`` that are not ours. ``header``: its first line."""

    text: str
    header: str
    shown: int


def sign_for(text: str) -> str:
    """The shortest row of signs that does not stand in the text."""
    sign = _SIGN
    while sign in text:
        sign += _SIGN
    return sign


def is_reduced(text: str) -> bool:
    """Whether a text is a whole reduction of ours: its header names as many lines as follow."""
    header, _, rest = text.partition("\n")
    match = _HEADER.match(header)
    if match is None:
        return False
    sign = match[1]
    lines = rest.removesuffix("\n").split("\n") if rest else []
    return sum(not line.startswith(sign) for line in lines) == int(match[2])


def render(items: Sequence[Item], kept: Sequence[bool], frame: Frame) -> Rendering:
    """The text of the kept items."""
    sign = frame.sign
    silent = _accounted(items, kept)
    lines: list[str] = []
    shown = 0
    at = 0
    """The first line of the input that is not accounted for."""
    open_line: int | None = None
    """The input's line to which the last one printed belongs, if it may go on."""
    missing = False
    for item, stays in zip(items, kept, strict=True):
        if not stays:
            missing = True
            continue
        if item.part and item.index == open_line:
            # Another piece of the same long line.
            lines[-1] += (f" {sign} " if missing else "") + item.text
            missing = False
            continue
        gap = _gap(at, item.index, silent)
        if gap and frame.style != "bare":
            lines.append(_mark(gap, frame))
        lines.append(_shown(item, sign))
        shown += 1
        at = item.index + 1
        open_line = item.index
        missing = False
    gap = _gap(at, frame.total, silent)
    if gap and frame.style != "bare":
        lines.append(_mark(gap, frame))
    header = _header(shown, frame)
    return Rendering("\n".join([header, *lines]), header, shown)


def _accounted(items: Sequence[Item], kept: Sequence[bool]) -> frozenset[int]:
    """Lines that need no mark: shown, spoken for by a shown one, or blank."""
    found: set[int] = set()
    for item, stays in zip(items, kept, strict=True):
        if stays:
            found.add(item.index)
            found.update(item.absorbed)
        elif item.blank:
            found.add(item.index)
    return frozenset(found)


def _gap(start: int, end: int, silent: frozenset[int]) -> int:
    return sum(line not in silent for line in range(start, end))


def _shown(item: Item, sign: str) -> str:
    return f"{item.text} {sign}{item.note}" if item.note else item.text


def _mark(gap: int, frame: Frame) -> str:
    if frame.style == "short" or gap < _LARGE_GAP:
        return f"{frame.sign}{gap}"
    where = f" in {frame.pointer}" if frame.pointer else ""
    return f"{frame.sign} {gap} of {frame.total} lines{where}"


def _header(shown: int, frame: Frame) -> str:
    code = [] if frame.exit_code is None else [f"exit {frame.exit_code}"]
    if frame.style == "full":
        where = [] if frame.pointer is None else [f"all in {frame.pointer}"]
        return " · ".join([f"{frame.sign} ullage: {shown} of {frame.total} lines", *code, *where])
    where = [] if frame.pointer is None else [frame.pointer]
    return " ".join([f"{frame.sign}{shown}/{frame.total}", *code, *where])
