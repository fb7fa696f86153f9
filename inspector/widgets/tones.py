"""From words to colour: a piece of text has a *tone*, the theme gives the tone its colour."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

TONES = {
    "text": "foreground",
    "strong": "strong",
    "muted": "muted",
    "faint": "faint",
    "rule": "rule",
    "accent": "accent",
    "calm": "success",
    "warm": "warning",
    "hot": "error",
    "calm-fill": "calm-fill",
    "warm-fill": "warm-fill",
    "hot-fill": "hot-fill",
    "muted-fill": "rule",
    "system_and_tools": "part-system",
    "instructions": "part-instructions",
    "user": "part-user",
    "assistant": "part-assistant",
    "thinking": "part-thinking",
    "tool_calls": "part-calls",
    "tool_results": "part-results",
    "checkpoints": "part-checkpoints",
}
"""Each tone with the theme's variable that holds its colour. Not component classes: styling two
dozen of them on every widget would double the time to the first paint."""

Cells = list[tuple[str, str]]
"""Pieces of one line, each with its tone. The text is clean and holds no newline."""


class Toned(Widget):
    """A widget that draws lines of :data:`Cells`."""

    def __init__(self, *children: Widget, **options: Any) -> None:
        super().__init__(*children, **options)
        self._tones: dict[tuple[str, str], Style] = {}

    def notify_style_update(self) -> None:
        self._tones.clear()
        super().notify_style_update()

    def tone(self, name: str, ground: str = "") -> Style:
        """The style of a tone on the widget's ground, or on one that the theme names."""
        key = (name, ground)
        style = self._tones.get(key)
        if style is None:
            colours = self.app.theme_variables
            style = self.rich_style + Style(
                color=colours[TONES[name]],
                bgcolor=colours[ground] if ground else None,
                bold=name == "strong" or None,
            )
            self._tones[key] = style
        return style

    def strip(self, cells: Iterable[tuple[str, str]], width: int, ground: str = "") -> Strip:
        """One line of exactly ``width`` cells."""
        runs = groupby((cell for cell in cells if cell[0]), key=itemgetter(1))
        segments = [
            Segment("".join(text for text, _ in run), self.tone(tone, ground)) for tone, run in runs
        ]
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
