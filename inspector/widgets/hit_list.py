"""Hits of a search, the best first."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from inspector.reports import SearchHit
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.line_list import LineList
from inspector.widgets.surface_list import type_label
from inspector.widgets.tones import Cells, pad

SESSION, SHORT_SESSION = 14, 8
TYPE, SHORT_TYPE = 18, 10
ROOMY = 90
"""Cells from which on a session and a type have their long columns."""


class HitList(LineList[SearchHit]):
    """One line an event: its session, its number, its type, and where in it the words stand."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "activate", "Open", tooltip="the event in its session")
    ]

    def paint(self, row: SearchHit, index: int, width: int) -> Cells:
        roomy = width >= ROOMY
        session, kind = (SESSION, TYPE) if roomy else (SHORT_SESSION, SHORT_TYPE)
        name = row.type if roomy or "/" not in row.type else type_label(row.type)
        room = max(width - session - kind - 12, 0)
        return [
            (" " + pad(line(row.session, session), session + 1), "muted"),
            (pad(figures.event_name(row.seq), 8, right=True) + "  ", "muted"),
            (pad(line(name, kind - 1), kind), "instructions"),
            (line(row.excerpt or row.headline, room), "text"),
        ]
