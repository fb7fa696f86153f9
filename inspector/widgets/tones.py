"""From words to colour: a piece of text has a *tone*, the theme gives the tone its colour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

TONES = (
    "text",
    "strong",
    "muted",
    "faint",
    "accent",
    "calm",
    "warm",
    "hot",
    "calm-fill",
    "warm-fill",
    "hot-fill",
    "muted-fill",
    "system_and_tools",
    "instructions",
    "user",
    "assistant",
    "thinking",
    "tool_calls",
    "tool_results",
    "checkpoints",
)

Cells = list[tuple[str, str]]
"""Pieces of one line, each with its tone. The text is clean and holds no newline."""


COMPONENTS = {f"tone--{tone}" for tone in TONES} | {"row--cursor", "row--blurred", "row--selected"}
"""The component classes of every toned widget. Textual inherits them through a class's first base
only, so that each family states them."""


class Toned(Widget):
    """A widget that draws lines of :data:`Cells`."""

    COMPONENT_CLASSES = COMPONENTS

    def __init__(self, *children: Widget, **options: Any) -> None:
        super().__init__(*children, **options)
        self._tones: dict[tuple[str, str], Style] = {}

    def notify_style_update(self) -> None:
        self._tones.clear()
        super().notify_style_update()

    def tone(self, name: str, ground: str = "") -> Style:
        """The style of a tone on the widget's ground, or on a row's (``row--…``)."""
        key = (name, ground)
        style = self._tones.get(key)
        if style is None:
            base = self.rich_style
            if ground:
                base += self.get_component_rich_style(ground, partial=True)
            style = base + self.get_component_rich_style(f"tone--{name}", partial=True)
            self._tones[key] = style
        return style

    def strip(self, cells: Iterable[tuple[str, str]], width: int, ground: str = "") -> Strip:
        """One line of exactly ``width`` cells."""
        segments = [Segment(text, self.tone(tone, ground)) for text, tone in cells if text]
        return Strip(segments).adjust_cell_length(width, self.tone("text", ground))


class Drawn(Toned):
    """A small drawing that is made anew whenever its value or its size changes."""

    def draw(self, width: int, height: int) -> list[Cells]:
        """The lines, from the top; may be fewer or more than ``height``."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        lines = self.draw(width, height) if y == 0 or self._lines is None else self._lines
        self._lines = lines
        return self.strip(lines[y] if y < len(lines) else (), width)

    _lines: list[Cells] | None = None

    def refresh_drawing(self, *, layout: bool = False) -> None:
        """The value changed."""
        self._lines = None
        self.refresh(layout=layout)


def width_of(cells: Iterable[tuple[str, str]]) -> int:
    """Cells that these pieces take."""
    return sum(cell_len(text) for text, _ in cells)


def pad(text: str, width: int, right: bool = False) -> str:
    """Blanks added up to ``width`` cells, before the text when ``right``."""
    blanks = " " * (width - cell_len(text))
    return blanks + text if right else text + blanks
