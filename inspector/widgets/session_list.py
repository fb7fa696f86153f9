"""The list of sessions: one line each, newest first."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType

from inspector.reports import SessionRow, SessionState
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.line_list import LineList
from inspector.widgets.tones import Cells, pad

STATES: dict[SessionState, tuple[str, str]] = {
    "running": ("●", "calm"),
    "waiting": ("◐", "warm"),
    "idle": ("○", "muted"),
    "ended": ("·", "faint"),
}
"""A state's dot and its tone; the shapes differ, so that they can be told apart in grey."""

AGENT = 9
AGE = 5
PERCENT = 6
FIGURE = 15
MODEL = 18
PROJECT = 20
WIDE = 110
"""Cells from which project, model and the token figures have columns of their own."""


def columns(width: int) -> tuple[int, int, int]:
    """Cells for the title, the pressure bar and the sparkline."""
    bar, spark = (14, 16) if width >= WIDE else (8, 8)
    extra = 2 + PROJECT + 2 + MODEL + 1 + FIGURE if width >= WIDE else 0
    rest = width - 2 - AGENT - 1 - 1 - bar - PERCENT - 2 - spark - AGE - 1 - extra
    return max(rest, 8), bar, spark


def heading(width: int) -> str:
    """The column titles, to stand above the list."""
    title, bar, spark = columns(width)
    parts = ["  ", pad("agent", AGENT + 1), pad("title", title)]
    if width >= WIDE:
        parts += ["  ", pad("project", PROJECT), "  ", pad("model", MODEL + 1)]
    parts += [" ", pad("pressure", bar + PERCENT)]
    if width >= WIDE:
        parts.append(pad("tokens/window", FIGURE, right=True))
    parts += ["  ", pad("history", spark), pad("age", AGE, right=True)]
    return line("".join(parts), width)


class SessionList(LineList[SessionRow]):
    """Sessions with their state, pressure and age."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "activate", "Open")]

    now: float = 0.0
    """Seconds since 1970; set before rows are shown, ages are counted from it."""

    def paint(self, row: SessionRow, index: int, width: int) -> Cells:
        title_width, bar, spark = columns(width)
        dot, tone = STATES[row.state]
        cells: Cells = [(f"{dot} ", tone), (pad(line(row.agent, AGENT), AGENT + 1), "muted")]
        cells += _title(row, title_width)
        if width >= WIDE:
            cells.append(("  " + pad(line(_tail(row.project), PROJECT), PROJECT), "muted"))
            cells.append(("  " + pad(line(row.model or "–", MODEL), MODEL + 1), "muted"))
        filled, empty = figures.meter(row.pressure, bar)
        heat = _heat(row)
        cells += [("▲" if row.proposed else " ", heat), (filled, heat), (empty, "faint")]
        cells.append((pad(_share(row), PERCENT, right=True), heat))
        if width >= WIDE:
            figure = f"{figures.tokens(row.tokens)}/{figures.tokens(row.window)}"
            cells.append((pad(figure, FIGURE, right=True), "muted"))
        cells.append(("  " + pad(figures.sparkline(row.history, spark), spark), "muted"))
        since = None if row.last_event_at is None else max(self.now - row.last_event_at, 0)
        cells.append((pad(figures.age(since), AGE, right=True), "muted"))
        return cells


def _title(row: SessionRow, width: int) -> Cells:
    lead = {"main": "", "subagent": "↳ ", "fork": "⑂ "}[row.relation]
    text = line(row.title or row.id, width - len(lead))
    cells: Cells = [(lead, "faint"), (text, "text" if row.title else "muted")]
    used = len(lead) + cell_len(text)
    room = width - used - 2
    if row.note and room > 8:
        note = line(row.note, room)
        cells.append(("  " + note, "warm"))
        used += 2 + cell_len(note)
    cells.append((" " * (width - used), "text"))
    return cells


def _heat(row: SessionRow) -> str:
    if row.pressure is None:
        return "muted"
    return {"compact": "hot", "micro": "warm", None: "calm"}[row.proposed]


def _share(row: SessionRow) -> str:
    mark = "~" if row.pressure is not None and row.tokens_source == "estimated" else ""
    return mark + figures.percent(row.pressure)


def _tail(path: str | None) -> str:
    """The end of a path says more than its beginning."""
    if not path:
        return "–"
    return path if len(path) <= PROJECT else "…" + path[-(PROJECT - 1) :]
