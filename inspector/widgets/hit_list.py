"""Hits of a search, the best first."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from inspector.reports import SearchHit
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.line_list import LineList
from inspector.widgets.tones import Cells, pad

SESSION = 14


class HitList(LineList[SearchHit]):
    """One line an event: its session, its number, its type, and where in it the words stand."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "activate", "Open", tooltip="the event in its session")
    ]

    def paint(self, row: SearchHit, index: int, width: int) -> Cells:
        room = max(width - SESSION - 30, 0)
        return [
            (" " + pad(line(row.session, SESSION), SESSION + 1), "muted"),
            (pad(figures.event_name(row.seq), 8, right=True) + "  ", "muted"),
            (pad(line(row.type, 17), 18), "instructions"),
            (line(row.excerpt or row.headline, room), "text"),
        ]
