"""The one door between text from a log and anything that is drawn, printed or exported.

A log holds whatever a tool or a web page printed: escape sequences that retitle the terminal or
fill the clipboard, carriage returns that hide what stood before, bidirectional overrides that make
one file name look like another, invisible characters that only a model reads, markup. All of it is
shown, none of it is obeyed. The data itself is never changed; only its picture is.

What passes unchanged: every printing character, right-to-left letters included. What is replaced:

* C0 controls and DEL by their control pictures (``␛``, ``␀``, ``␍`` …), C1 by ``‹U+009B›``;
* bidirectional controls, zero-width and tag characters, other invisible format characters,
  lone surrogates and noncharacters by ``‹U+202E›``;
* combining marks beyond the fourth on one letter by their number, ``‹+12›``;
* tabs by blanks up to the next stop, measured in cells;
* newlines by what the caller says; ``\\r\\n`` is one newline.

A single emoji or text variation selector only picks a glyph, and terminals disagree on the width
of what it makes, so it is left out; a second one in a row carries data and is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells, set_cell_size

if TYPE_CHECKING:
    from rich.text import Text

NEWLINE_MARK = "↵"
"""Stands for a newline where text must stay on one line."""

CUT_MARK = "…"
TAB_CELLS = 4
MARKS_PER_LETTER = 4
PAGE_CHARS = 16_384
"""Characters of the source on one page of :func:`page`; bounds what one paint can cost."""

_INVISIBLE = (
    "\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_COMBINING = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0730-\u074a"
    "\u08d3-\u08e1\u08e3-\u0902\u093c\u0941-\u0948\u094d\u0951-\u0957\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f7e\u0f80-\u0f84\u0f8d-\u0fbc"
    "\u135d-\u135f\u1ab0-\u1aff\u1b34\u1b6b-\u1b73\u1cd0-\u1ce8\u1dc0-\u1dff\u20d0-\u20f0"
    "\u302a-\u302d\u3099\u309a\ua66f-\ua67d\ufe20-\ufe2f\U0001d165-\U0001d169"
    "\U0001d16d-\U0001d172\U0001d17b-\U0001d182\U0001d185-\U0001d18b"
)
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{_INVISIBLE}]|[{_COMBINING}]{{5,}}")
_UNSAFE_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SELECTORS = frozenset("\ufe0e\ufe0f")


@dataclass(frozen=True, slots=True)
class Page:
    """A clean piece of a long text."""

    text: str
    """Lines are separated by ``\\n``; every other character is printable."""
    number: int
    """From 0."""
    count: int
    """How many pages there are, at least 1."""
    total: int
    """Characters of the whole text."""


def clean(text: str, newline: str = "\n") -> str:
    """The whole text with everything that could act on a terminal made visible.

    ``newline`` is what a newline becomes: ``"\\n"`` keeps lines apart, :data:`NEWLINE_MARK` puts
    all on one line.
    """

    unsafe = _UNSAFE_ASCII if text.isascii() else _UNSAFE
    cleaned = unsafe.sub(_visible, text.replace("\r\n", "\n"))
    if "\t" in cleaned:
        cleaned = "\n".join(map(_expand_tabs, cleaned.split("\n")))
    return cleaned if newline == "\n" else cleaned.replace("\n", newline)


def line(text: str, width: int, newline: str = NEWLINE_MARK) -> str:
    """The beginning of the text on one line of at most ``width`` cells, ``…`` where it is cut.

    Costs what ``width`` costs, however long the text is.
    """
    if width <= 0:
        return ""
    head = text[: width * (MARKS_PER_LETTER + 2) + 16]
    cleaned = clean(head, newline)
    if len(head) == len(text) and cell_len(cleaned) <= width:
        return cleaned
    if cell_len(cleaned) < width:
        return cleaned + CUT_MARK
    return set_cell_size(cleaned, width - 1).rstrip() + CUT_MARK


def path_line(text: str, width: int) -> str:
    """As :func:`line`, but a text that ends in a path is cut in its middle, where paths are alike:
    the name of the file stays, and what stands behind it."""
    shown = line(text, width)
    room = width * 2 // 3
    if room <= 0 or shown == clean(text[: width * 8], NEWLINE_MARK):
        return shown
    end = text[-room:]
    slash = end.find("/")
    if slash < 0:
        name = text[-8 * width :].rpartition("/")
        if not name[1] or " " in name[2]:
            return shown
        slash = 0  # a name so long that it is cut itself
    tail = clean(end[slash:], NEWLINE_MARK)
    return shown if cell_len(tail) > room else line(text, width - cell_len(tail)) + tail


def page(text: str, number: int = 0, size: int = PAGE_CHARS) -> Page:
    """The ``number``-th piece of ``size`` characters, newlines kept. A number outside the text is
    moved to the nearest page."""
    count = max(1, -(-len(text) // size))
    number = min(max(number, 0), count - 1)
    return Page(clean(text[number * size : (number + 1) * size]), number, count, len(text))


def wrap(text: str, width: int) -> list[str]:
    """The lines of a *clean* text, folded at ``width`` cells. At least one line."""
    width = max(width, 1)
    folded: list[str] = []
    for row in text.split("\n"):
        if row.isascii() and len(row) <= width:
            folded.append(row)
        else:
            folded.extend(_fold(row, width))
    return folded


def safe(text: str, style: str = "", newline: str = NEWLINE_MARK) -> Text:
    """The text as a value that widgets take as it is: nothing in it is read as markup, a link or
    an action."""
    from rich.text import Text  # noqa: PLC0415 - 0.1 s that the command line need not pay

    return Text(clean(text, newline), style=style, end="")


def _visible(match: re.Match[str]) -> str:
    found = match.group()
    if len(found) > 1:
        return f"{found[:MARKS_PER_LETTER]}‹+{len(found) - MARKS_PER_LETTER}›"
    if found in _SELECTORS and _picks_a_glyph(match):
        return ""
    code = ord(found)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"‹U+{code:04X}›"


def _picks_a_glyph(selector: re.Match[str]) -> bool:
    at = selector.start()
    return at > 0 and selector.string[at - 1] not in _SELECTORS


def _expand_tabs(row: str) -> str:
    if row.isascii():
        return row.expandtabs(TAB_CELLS)
    head, *fields = row.split("\t")
    parts = [head]
    column = cell_len(head)
    for text in fields:
        blanks = TAB_CELLS - column % TAB_CELLS
        parts.append(" " * blanks + text)
        column += blanks + cell_len(text)
    return "".join(parts)


def _fold(row: str, width: int) -> list[str]:
    """Folds at the last blank of a line where there is one in its second half, else anywhere."""
    narrow = row.isascii()
    folded: list[str] = []
    start = 0
    while True:
        # Four marks can stand on one letter, so this many characters fill a line for sure.
        ahead = row[start : start + width * (MARKS_PER_LETTER + 1) + 1]
        fits = width if narrow else _fitting(ahead, width)
        if fits >= len(row) - start:
            folded.append(row[start:])
            return folded
        blank = row.rfind(" ", start + fits // 2, start + fits + 1)
        if row.startswith(" %", blank):  # a figure and its unit stay together
            blank = row.rfind(" ", start + fits // 2, blank)
        end = start + fits if blank <= start else blank
        folded.append(row[start:end])
        start = end if blank <= start else blank + 1


def _fitting(text: str, width: int) -> int:
    """Characters at the beginning that fit into ``width`` cells; at least one."""
    return len(next((chunk for chunk in chop_cells(text, width) if chunk), text[:1]))
