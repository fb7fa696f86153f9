"""What a browser sends over the websocket, read with distrust: a frame is one of these, or it is
nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

MOST_COLUMNS, MOST_ROWS = 400, 200
LEAST_COLUMNS, LEAST_ROWS = 20, 8
MOST_FRAME = 256 * 1024
"""Bytes of the largest frame: a long paste."""


@dataclass(frozen=True, slots=True)
class Typed:
    """Keys, the mouse, a paste: what a terminal would send."""

    text: str


@dataclass(frozen=True, slots=True)
class Resized:
    """The window's new size, in cells, within bounds."""

    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class Pinged:
    """Wants the same back."""

    what: str | int | float | None


@dataclass(frozen=True, slots=True)
class Focused:
    """The window got or lost the focus."""

    kind: Literal["focus", "blur"]


Frame = Typed | Resized | Pinged | Focused


def frame_of(text: str) -> Frame | None:
    """What a frame means; ``None`` for all that is no frame of the page's."""
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match envelope:
        case ["stdin", str(typed)]:
            return Typed(typed.encode("utf-8", "replace").decode("utf-8"))
        case ["resize", {"width": width, "height": height}]:
            return size_of(width, height)
        case ["ping", (str() | int() | float() | None) as what]:
            return Pinged(what)
        case ["focus" | "blur" as kind, *_]:
            return Focused("focus" if kind == "focus" else "blur")
    return None


def size_of(width: object, height: object) -> Resized | None:
    """A size within bounds; ``None`` for what is no size. Takes numbers and their digits."""
    try:
        columns, rows = int(str(width)[:6]), int(str(height)[:6])
    except ValueError:
        return None
    return Resized(
        min(max(columns, LEAST_COLUMNS), MOST_COLUMNS), min(max(rows, LEAST_ROWS), MOST_ROWS)
    )
