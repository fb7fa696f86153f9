"""Decision points, one line each: what stage, how it ended, in which memory it is."""

from __future__ import annotations

from datetime import tzinfo
from typing import ClassVar

from textual.binding import Binding, BindingType

from compress.decisions.values import DecisionPoint
from inspector.decision_reports import DecisionRow
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.line_list import LineList
from inspector.widgets.tones import Cells, pad

STATES = {
    "success": ("●", "calm"),
    "failure": ("✗", "hot"),
    "retry": ("↻", "warm"),
    "aborted": ("◌", "warm"),
    "unknown": ("○", "muted"),
    "running": ("◐", "accent"),
}
"""How a stage ended: its sign and its tone. The shapes differ, so that they are told apart in
grey."""
_STAGE = 15
_STATE = 9
_LEVEL = 4
_EVENTS = 15
_SESSION = 14
_TIME = 17
_TOKENS = 7
_WIDE = 110
"""Cells from which on there are columns for the time and the weight."""


def stage_words(point: DecisionPoint) -> str:
    """``turn 3`` · ``plan item 2``."""
    return f"{point.stage.kind.replace('_', ' ')} {point.stage.index}"


def events_words(point: DecisionPoint) -> str:
    """``#12 … #48``."""
    first, last = figures.event_name(point.first_seq), figures.event_name(point.last_seq)
    return first if first == last else f"{first} … {last}"


class DecisionList(LineList[DecisionRow]):
    """Records in the order of their sessions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "activate", "Open", show=False, tooltip="the session where it began"),
    ]

    zone: tzinfo | None = None
    of_all: bool = False
    """The rows are of several sessions, which each row names."""

    def paint(self, row: DecisionRow, index: int, width: int) -> Cells:
        point = row.point
        state = point.state
        sign, tone = STATES[state]
        cells: Cells = [
            (f"{sign} ", tone),
            (pad(line(stage_words(point), _STAGE - 1), _STAGE), "text"),
            (pad(state, _STATE), tone),
            (pad(point.level, _LEVEL), "muted" if point.level == "L2" else "checkpoints"),
        ]
        room = width - 2 - _STAGE - _STATE - _LEVEL
        if self.of_all:
            cells.append((pad(line(row.session, _SESSION - 1), _SESSION), "muted"))
            room -= _SESSION
        if not self.of_all or width >= _WIDE:
            cells.append((pad(line(events_words(point), _EVENTS - 1), _EVENTS), "muted"))
            room -= _EVENTS
        if width >= _WIDE:
            when = figures.moment(point.started_at, self.zone)[:16]
            cells.append((pad(when, _TIME), "muted"))
            tokens = figures.tokens(point.stage_tokens)
            cells.append((pad(tokens, _TOKENS - 1, right=True) + "  ", "text"))
            room -= _TIME + _TOKENS + 1
        cells.append((line(point.stage.title, room), "text"))
        return cells


def heading(width: int, of_all: bool) -> str:
    """The names of the columns, for a list of this width."""
    wide = width - 1 >= _WIDE
    text = "   " + pad("stage", _STAGE) + pad("outcome", _STATE) + pad("in", _LEVEL)
    text += pad("session", _SESSION) if of_all else ""
    text += pad("events", _EVENTS) if wide or not of_all else ""
    text += pad("began", _TIME) + pad("tokens", _TOKENS - 1, right=True) + "  " if wide else ""
    return text + "about"
