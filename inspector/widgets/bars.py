"""The lines above and between the panes: titles, notes, refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual import events
from textual.geometry import Size

from inspector.messages import ChoiceTaken
from inspector.sanitize import clean, line, wrap
from inspector.widgets.tones import Cells, Drawn, width_of

CHOICES = 9
"""Ways out that can be offered at once, one a digit."""
BANNER_LINES = 4
REFUSED = ("✗", "hot")
WARNING = ("▲", "warm")
NOTE = ("·", "accent")
QUESTION = ("?", "accent")
SHARE, LEAST, GAP = 40, 24, 1
"""The left part of a title, where it is that long, has this many hundredths of the line, this many
cells at least, and this many between it and the right part."""
"""What a banner is: its sign, and the sign's tone."""


class TitleBar(Drawn):
    """One line: where one is at the left, figures at the right."""

    left: Cells = []  # noqa: RUF012 - replaced as a whole, never changed in place
    right: Cells = []  # noqa: RUF012

    def show(self, left: Cells, right: Cells) -> None:
        """Take new pieces. They must be clean. Where they do not fit, the first pieces at the
        right are left out whole, then the left is cut: what matters most stands last."""
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.refresh_drawing()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1

    def draw(self, width: int, height: int) -> list[Cells]:
        right = list(self.right)
        wanted = min(width_of(self.left), max(width * SHARE // 100, LEAST))
        while right and width_of(right) + wanted + GAP > width:
            del right[0]
        room = width - width_of(right)
        cells: Cells = []
        for text, tone in self.left:
            cut = line(text, room - width_of(cells) - (GAP if right else 0))
            cells.append((cut, tone))
        return [[*cells, (" " * (room - width_of(cells)), "text"), *right]]


class Banner(Drawn):
    """Why something was refused, or is asked, and the ways on as keys. Hidden while there is
    nothing."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.text = ""
        self.choices: Sequence[tuple[str, object]] = ()
        self.sign = REFUSED
        self.display = False

    def show(
        self,
        text: str,
        choices: Sequence[tuple[str, object]] = (),
        sign: tuple[str, str] = REFUSED,
    ) -> None:
        """A sentence, pairs of (what a key does, what it stands for), and a sign with its tone."""
        wanted = (text, tuple(choices[:CHOICES]), sign)
        if wanted == (self.text, self.choices, self.sign):
            return
        self.text, self.choices, self.sign = wanted
        self.display = bool(text)
        self.refresh_drawing(layout=True)

    def take(self, number: int) -> None:
        """Pick the way out with this number, from 1."""
        if self.display and 1 <= number <= len(self.choices):
            self.post_message(ChoiceTaken(self, self.choices[number - 1][1]))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.draw(width, BANNER_LINES))

    def draw(self, width: int, height: int) -> list[Cells]:
        rows = wrap(clean(self.text, " "), max(width - 2, 1))[:BANNER_LINES]
        sign, tone = self.sign
        lines: list[Cells] = [
            [(f"{sign} " if not at else "  ", tone), (row, "text")] for at, row in enumerate(rows)
        ]
        if self.choices:
            cells: Cells = [("  ", "text")]
            for number, (label, _) in enumerate(self.choices, 1):
                cells += [(f" {number} ", "accent"), (f"{line(label, 30)}  ", "text")]
            lines.append(cells)
        return lines

    def on_click(self, event: events.Click) -> None:
        """A click on a way out takes it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y != len(self.draw(self.size.width, BANNER_LINES)) - 1:
            return
        edge = 2
        for number, (label, _) in enumerate(self.choices, 1):
            edge += width_of([(f" {number} {line(label, 30)}  ", "text")])
            if offset.x < edge:
                self.take(number)
                return


class NoteLine(TitleBar):
    """One quiet line under a list."""
