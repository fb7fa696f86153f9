"""Operations, one line each: who did what to which nodes, when, what it gained, what became of
it."""

from __future__ import annotations

from datetime import tzinfo
from typing import ClassVar

from textual.binding import Binding, BindingType

from inspector.reports import AuditRow
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.compacting import region_words
from inspector.widgets.line_list import LineList
from inspector.widgets.tones import Cells, pad

_STATES = {
    "standing": ("●", "calm"),
    "undone": ("○", "muted"),
    "superseded": ("◌", "warm"),
}
ORIGINS = {"agent": "instructions", "user": "accent", "policy": "warm"}
_LEAD = 25
_SESSION = 14
_TIME = 20
_NODES = 7
_GAIN = 23
_STATE = 20
_SHORT_GAIN = 15
_WIDE, _FAIR = 110, 76
"""Cells from which on there are columns for the time, the nodes and the state, and the gain is
given as a share, too."""


class AuditList(LineList[AuditRow]):
    """Operations of the user, the policy and the agent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "activate", "Open", show=False, tooltip="the session at this operation"),
    ]

    zone: tzinfo | None = None
    of_all: bool = False
    """The rows are of several sessions, which each row names."""

    def paint(self, row: AuditRow, index: int, width: int) -> Cells:
        dot, tone = _STATES[row.state]
        dim = "text" if row.state == "standing" else "muted"
        wide = width >= _WIDE
        cells: Cells = [
            (f"{dot} ", tone),
            (pad(figures.event_name(row.operation), 7), "muted"),
            (pad(line(row.kind, 8), 9), dim),
            (pad(row.origin, 7), ORIGINS[row.origin]),
        ]
        fair = width >= _FAIR
        room = width - _LEAD - (_GAIN if fair else _SHORT_GAIN)
        if self.of_all:
            cells.append((pad(line(row.session or "", _SESSION - 1), _SESSION), "muted"))
            room -= _SESSION
        if wide:
            nodes = f"{len(row.shadowed_seqs):,}" if row.shadowed_seqs else ""
            cells.append((pad(figures.moment(row.at, self.zone), _TIME), "muted"))
            cells.append((pad(nodes, _NODES - 1, right=True) + " ", dim))
            room -= _TIME + _NODES + _STATE
        what = what_words(row, wide)
        cells.append((pad(line(what, room - 1), room), dim))
        gain = gain_words(row, share=fair)
        cells.append((pad(gain, _GAIN if fair else _SHORT_GAIN, right=True), dim))
        if wide:
            cells.append((pad("  " + line(state_words(row), _STATE - 2), _STATE), tone))
        return cells


def heading(width: int, of_all: bool) -> str:
    """The names of the columns, for a list of this width."""
    wide = width >= _WIDE
    gain = _GAIN if width > _FAIR else _SHORT_GAIN
    room = width - 1 - _LEAD - gain - (_SESSION if of_all else 0)
    text = "   " + pad("op", 7) + pad("kind", 9) + pad("by", 7)
    text += pad("session", _SESSION) if of_all else ""
    if wide:
        room -= _TIME + _NODES + _STATE
        text += pad("when", _TIME) + pad("nodes", _NODES - 1, right=True) + " "
    text += pad("what, by which rule", room) if room > 20 else pad("what", room)
    text += pad("tokens, as counted" if gain == _GAIN else "tokens counted", gain, right=True)
    return text + ("  state" if wide else "")


def what_words(row: AuditRow, wide: bool) -> str:
    """Where, by which rule, and what is to be said of it."""
    parts = [] if wide or row.state == "standing" else [state_words(row)]
    if row.region is not None:
        parts.append(region_words(row.region.start, row.region.end))
    if row.shadowed_seqs and not wide:
        parts.append(figures.counted(len(row.shadowed_seqs), "node"))
    parts += [words for words in (row.rule, row.note) if words]
    return " · ".join(parts)


def state_words(row: AuditRow) -> str:
    """``standing`` · ``undone by o3`` · ``superseded by #41``."""
    if row.state == "standing" or row.superseded_by is None:
        return row.state
    return f"{row.state} by {figures.event_name(row.superseded_by)}"


def gain_words(row: AuditRow, *, share: bool = True) -> str:
    """``152k → 89.0k -42 %``, or without the share; nothing where it is unknown."""
    before, after = row.tokens_before, row.tokens_after
    if before is None or after is None:
        return ""
    gained = f" {(after - before) / before * 100:+.0f} %" if before and share else ""
    return f"{figures.tokens(before)} → {figures.tokens(after)}{gained}"
