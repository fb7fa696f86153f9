"""The reduced text: a header, the lines that stay, and a mark wherever lines are left out.

All that is ours begins with one sign, a row of ``⋮`` that the input does not hold anywhere, or of
``…`` where tokens are few. So a mark cannot be taken for output, and a text that carries the header
is known again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compress.reduction.items import Item

_SIGN, _BRIEF = "⋮", "…"
"""``…`` costs one token."""
_LARGE_GAP = 25
"""Lines of a gap from which on its mark says the total and the pointer too."""
TIGHT_BELOW = 200
_SHORT_BELOW = 400
"""Budgets in tokens below which gaps have no marks, and below which header and marks are the
shorter ones."""

Style = Literal["full", "short", "bare", "sign"]
"""``full``: each gap marked. ``short``: a short header, each gap marked. ``bare``: the short
header alone says how much is left out. ``sign``: the sign alone says that something is, and the
exit code stands behind it; for budgets of a few dozen tokens."""

_COUNTED = re.compile(r"((?:⋮+|…+)) ?(?:ullage: )?(\d+)(?: of |/)\d+\b")
_BARE_SIGN = re.compile(r"…+(?: exit -?\d+)?")
_MARK = re.compile(r"(?:⋮+|…+)(?: ?\d+(?: of \d+ lines.*)?)?")


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the lines. ``total``: lines of the input. ``sign``: see above."""

    total: int
    sign: str
    style: Style
    exit_code: int | None = None
    pointer: str | None = None

    @property
    def marks(self) -> bool:
        """Whether each gap has a mark."""
        return self.style in ("full", "short")


@dataclass(frozen=True, slots=True)
class Rendering:
    """``shown``: lines of ``text`` that are not ours. ``header``: its first line."""

    text: str
    header: str
    shown: int


def style_for(limit: int) -> Style:
    """How much a result of at most that many tokens says about itself."""
    if limit < TIGHT_BELOW:
        return "bare"
    return "short" if limit < _SHORT_BELOW else "full"


def sign_for(text: str, style: Style) -> str:
    """The shortest row of the style's signs that does not stand in the text."""
    one = _SIGN if style == "full" else _BRIEF
    sign = one
    while sign in text:
        sign += one
    return sign


def is_reduced(text: str, tokens: int) -> bool:
    """Whether a text of so many tokens is a whole reduction of ours: its header names as many
    lines as follow, or it is as small as one whose header is the sign."""
    header, _, rest = text.partition("\n")
    if _BARE_SIGN.fullmatch(header):
        return tokens < TIGHT_BELOW
    match = _COUNTED.match(header)
    if match is None:
        return False
    sign = match[1]
    lines = rest.removesuffix("\n").split("\n") if rest else []
    marks = sum(line.startswith(sign) and _MARK.fullmatch(line) is not None for line in lines)
    return len(lines) - marks == int(match[2])


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
        if gap and frame.marks:
            lines.append(_mark(gap, frame))
        lines.append(_shown(item, sign))
        shown += 1
        at = item.index + 1
        open_line = item.index
        missing = False
    gap = _gap(at, frame.total, silent)
    if gap and frame.marks:
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
    if frame.style == "sign":
        return " ".join([frame.sign, *code])
    where = [] if frame.pointer is None else [frame.pointer]
    return " ".join([f"{frame.sign}{shown}/{frame.total}", *code, *where])
