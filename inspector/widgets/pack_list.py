"""The candidates of a pack, one line each: whether it is in, what it costs, and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType

from compress.beliefs.values import Strategy
from compress.packs.values import Reason
from inspector.pack_reports import PackLineReport
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.line_list import LineList
from inspector.widgets.tones import Cells, pad, width_of

_SIGNS: Mapping[Reason, tuple[str, str]] = {
    "packed": ("●", "calm"),
    "locked": ("◆", "accent"),
    "duplicate": ("≡", "muted"),
    "below_floor": ("·", "muted"),
    "over_budget": ("○", "warm"),
    "excluded": ("✗", "muted"),
    "standing": ("≡", "muted"),
}
_CLASSES = {"fact": "user", "snapshot": "tool_results", "transient": "muted", "unknown": "text"}
_SPEAK = frozenset(("action", "answer", "instruction", "note", "plan_step"))
"""Types whose text says more than their label."""
_RANK = 4
_CLASS = 10
_STRATEGY = 10
_TOKENS = 15
_REASON = 12
_SOURCE = 16
_RENDERED = 8
_WIDE, _FULL, _FAIR = 100, 76, 60
"""Cells from which on there is a column for the source, for why a line is in or out and what it was
shortened from, and for the strategy. The sign says why, too, and the pane has it all."""
_SHORT: Mapping[Strategy, str] = {
    "verbatim": "verbatim",
    "headline": "headline",
    "query_headline": "matching",
    "stub": "stub",
}


class PackList(LineList[PackLineReport]):
    """Candidates by rank, locked ones first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "activate", "To the event", show=False, tooltip="that a line comes from"),
    ]

    by_hand: Collection[str] = frozenset()
    """Lines that a person changed."""
    stale: bool = False

    def dim(self, stale: bool) -> None:
        """Whether what is shown is no longer what was asked for."""
        if self.stale != stale:
            self.stale = stale
            self.repaint()

    def paint(self, row: PackLineReport, index: int, width: int) -> Cells:
        sign, tone = _SIGNS[row.reason]
        body = "text" if row.packed else "muted"
        hand = "*" if row.belief in self.by_hand else " "
        full = width >= _FULL
        tokens = tokens_words(row) if full else figures.tokens(row.tokens_rendered)
        cells: Cells = [
            (f"{sign}{hand}", tone),
            (pad(str(row.rank), _RANK - 1, right=True) + " ", "muted"),
            (pad(row.retention, _CLASS), _CLASSES[row.retention] if row.packed else "muted"),
        ]
        if width >= _FAIR:
            strategy = _SHORT[row.strategy] + "!" * (row.fell_back is not None)
            cells.append((pad(strategy, _STRATEGY), body))
        cells.append((pad(tokens, (_TOKENS if full else _RENDERED) - 1, right=True) + " ", body))
        if full:
            cells.append((pad(reason_words(row), _REASON), tone))
        if width >= _WIDE:
            cells.append((pad(line(source_words(row), _SOURCE - 1), _SOURCE), "muted"))
        room = width - width_of(cells)
        said = row.rendered[:400] if row.type in _SPEAK or not row.label else row.label
        said = said.strip()
        cells.append((line(said, max(room, 0)), body))
        return [(text, "faint") for text, _ in cells] if self.stale else cells


def heading(width: int) -> str:
    """The names of the columns over a list of this width."""
    full = width > _FULL
    names = pad("", 2) + pad("#", _RANK - 1, right=True) + " " + pad("class", _CLASS)
    names += pad("strategy", _STRATEGY) if width > _FAIR else ""
    names += pad("tokens", (_TOKENS if full else _RENDERED) - 1, right=True) + " "
    names += pad("why", _REASON) if full else ""
    names += pad("from", _SOURCE) if width > _WIDE else ""
    return f" {names}what"


def tokens_words(row: PackLineReport) -> str:
    """``1,204 → 88`` · ``88`` where nothing is left out."""
    raw, rendered = figures.tokens(row.tokens_raw), figures.tokens(row.tokens_rendered)
    return raw if row.tokens_raw == row.tokens_rendered else f"{raw} → {rendered}"


def reason_words(row: PackLineReport) -> str:
    """Why a line is in or out."""
    return row.reason.replace("_", " ")


def source_words(row: PackLineReport) -> str:
    """``3f1c2d4e #12``: the session, and the first of the events."""
    seqs = row.source_event_seqs
    first = figures.event_name(seqs[0]) if seqs else ""
    return f"{row.session[:8]} {first}".strip()
