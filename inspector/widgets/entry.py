"""A line to type in, on the ground of a panel; the key bar says what Enter does."""

from __future__ import annotations

from typing import Any

from textual.widgets import Input


class Entry(Input):
    """``done`` is what Enter does, in a word."""

    def __init__(self, *, done: str = "Done", **options: Any) -> None:
        super().__init__(**options)
        self.done = done
