"""Text of any length: only one page of it is ever cleaned, folded and painted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from inspector.sanitize import PAGE_CHARS, clean, line, wrap
from inspector.widgets.tones import Cells, Toned, pad

_OVERHEAD = 80
"""Characters that a section counts for beyond its text, so that many small ones fill a page."""


SPLIT = 110
"""Cells from which on two texts stand beside each other unless a section says otherwise."""
GUTTER = " │ "


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of text with one tone, under a title where it has one. With ``beside``: two texts,
    next to each other where there are ``split`` cells, else the second below the first, unless
    both are the same."""

    text: str
    tone: str = "text"
    title: str = ""
    beside: str | None = None
    beside_tone: str = "text"
    split: int = SPLIT

    @property
    def size(self) -> int:
        """Characters of the longer text."""
        return max(len(self.text), len(self.beside or ""))


@dataclass(frozen=True, slots=True)
class _Leaf:
    section: Section
    start: int
    stop: int


class TextPane(ScrollView, Toned, can_focus=True):
    """Sections, page by page; the arrows scroll, ``[`` and ``]`` turn pages."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
        Binding("home", "scroll_home", "Top", show=False),
        Binding("end", "scroll_end", "Bottom", show=False),
        Binding("left_square_bracket", "turn(-1)", "Previous page", show=False),
        Binding("right_square_bracket", "turn(1)", "Next page", show=False),
    ]

    stale: bool = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._pages: list[list[_Leaf]] = [[]]
        self._total = 0
        self._number = 0
        self._lines: list[Cells] = []
        self._folded_at = -1

    def show(self, sections: Iterable[Section]) -> None:
        """Take a new text, from its beginning."""
        kept = list(sections)
        self._pages = _paginate(kept)
        self._total = sum(len(section.text) + len(section.beside or "") for section in kept)
        self._number = 0
        self._refold()
        self.scroll_to(y=0, animate=False, immediate=True, force=True)

    def dim(self, stale: bool) -> None:
        """Whether what is shown is no longer what was asked for."""
        if self.stale != stale:
            self.stale = stale
            self.refresh()

    @property
    def place(self) -> str:
        """``page 2 of 306 · 5,000,000 characters``; empty where all is on one page."""
        if len(self._pages) < 2:
            return ""
        return f"page {self._number + 1} of {len(self._pages):,} · {self._total:,} characters"

    def action_turn(self, by: int) -> None:
        number = min(max(self._number + by, 0), len(self._pages) - 1)
        if number != self._number:
            self._number = number
            self._refold()
            self.scroll_to(y=0, animate=False, immediate=True, force=True)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        cells = self._lines[index] if 0 <= index < len(self._lines) else []
        if self.stale:
            cells = [(text, "faint") for text, _ in cells]
        return self.strip(cells, width)

    def on_resize(self, event: events.Resize) -> None:
        if self.scrollable_content_region.width != self._folded_at:
            self._refold()

    def action_scroll_up(self) -> None:
        self.scroll_relative(y=-1, animate=False)

    def action_scroll_down(self) -> None:
        self.scroll_relative(y=1, animate=False)

    def _refold(self) -> None:
        # One cell is left for a scrollbar that may come, so that its coming folds nothing anew.
        self._folded_at = self.scrollable_content_region.width
        width = max(self.content_region.width - 1, 1)
        self._lines = list(_fold(self._pages[self._number], width))
        if self.place:
            self._lines += [[], [(line(f"— {self.place} · [ ] to turn", width), "accent")]]
        self.border_subtitle = self.place
        self.virtual_size = Size(1, len(self._lines))
        self.refresh()


def _paginate(sections: Sequence[Section]) -> list[list[_Leaf]]:
    pages: list[list[_Leaf]] = [[]]
    room = PAGE_CHARS
    for section in sections:
        start, size = 0, section.size
        while True:
            if room <= _OVERHEAD:
                pages.append([])
                room = PAGE_CHARS
            stop = min(size, start + room - _OVERHEAD)
            pages[-1].append(_Leaf(section, start, stop))
            room -= stop - start + _OVERHEAD
            start = stop
            if start >= size:
                break
    return pages


def _fold(leaves: Sequence[_Leaf], width: int) -> Iterable[Cells]:
    for leaf in leaves:
        section = leaf.section
        if section.title:
            more = " (continued)" if leaf.start else ""
            title = line(section.title, max(width - 5 - len(more), 4))
            yield []
            yield [(line(f"── {title}{more} ".ljust(width, "─"), width), "muted")]
        text = section.text[leaf.start : leaf.stop]
        if section.beside is None:
            yield from ([(row, section.tone)] for row in wrap(clean(text), width))
            continue
        beside = section.beside[leaf.start : leaf.stop]
        if width >= section.split:
            yield from _columns(text, beside, section, width)
            continue
        if text:
            yield from ([(row, section.tone)] for row in wrap(clean(text), width))
        if beside and beside != text:
            yield from ([(row, section.beside_tone)] for row in wrap(clean(beside), width))


def _columns(text: str, beside: str, section: Section, width: int) -> Iterable[Cells]:
    half = (width - len(GUTTER)) // 2
    left, right = (wrap(clean(part), half) if part else [] for part in (text, beside))
    for one, other in zip_longest(left, right, fillvalue=""):
        yield [(pad(one, half), section.tone), (GUTTER, "rule"), (other, section.beside_tone)]
