"""What the stages hand on: lines with what is known of them, and what stands behind them."""

from __future__ import annotations

from dataclasses import dataclass

from compress.reduction.critical import Marks


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the result to be.

    ``index``, ``part``: where it stands in the input. ``absorbed``: further lines of the input
    that it speaks for. ``note``: how it says so, printed behind the text after the sign.
    """

    index: int
    part: int
    text: str
    marks: Marks
    absorbed: tuple[int, ...] = ()
    note: str = ""

    @property
    def blank(self) -> bool:
        """Whether nothing stands in the line."""
        return not self.text or self.text.isspace()
