"""The list of sessions: one line each, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType

from inspector.reports import SessionRow, SessionState
from inspector.sanitize import clean, line
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
MODEL, LONG_MODEL = 18, 26
PROJECT, LONG_PROJECT = 20, 36
LEAST = 12
"""Cells below which a project or a model says too little to be shown."""
TITLE = 28
"""Cells that the title has before any other column that can be left out."""
ROOMY, VAST = 140, 180
"""Cells from which the pressure bar and the sparkline are long, and from which every column is."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column that gives way; 0 where it is left out."""

    title: int
    bar: int
    spark: int
    project: int = 0
    figure: int = 0
    model: int = 0


def columns(width: int) -> Columns:
    """The title first; then the sparkline, the project, the tokens and the model, while there is
    room for them. Agent, pressure and age are always there."""
    vast = width >= VAST
    bar, spark = (20, 24) if vast else (14, 16) if width >= ROOMY else (8, 8)
    rest = width - 2 - AGENT - 1 - 1 - bar - PERCENT - AGE - 1
    if rest - spark - 2 < TITLE:
        return Columns(max(rest, 8), bar, 0)
    rest -= spark + 2
    project = _fitting(LONG_PROJECT if vast else PROJECT, LEAST, rest - TITLE - 2)
    rest -= project + 2 if project else 0
    figure = _fitting(FIGURE, FIGURE, rest - TITLE) if project else 0
    rest -= figure
    model = _fitting(LONG_MODEL if vast else MODEL, LEAST, rest - TITLE - 3) if figure else 0
    rest -= model + 3 if model else 0
    return Columns(rest, bar, spark, project, figure, model)


def _fitting(most: int, least: int, room: int) -> int:
    return min(most, room) if room >= least else 0


def heading(width: int) -> str:
    """The column titles, to stand above the list."""
    shown = columns(width)
    parts = ["  ", pad("agent", AGENT + 1), pad("title", shown.title)]
    if shown.project:
        parts += ["  ", pad("project", shown.project)]
    if shown.model:
        parts += ["  ", pad("model", shown.model + 1)]
    parts += [" ", pad("pressure", shown.bar + PERCENT)]
    if shown.figure:
        parts.append(pad("tokens/window", shown.figure, right=True))
    if shown.spark:
        parts += ["  ", pad("history", shown.spark)]
    parts.append(pad("age", AGE, right=True))
    return line("".join(parts), width)


class SessionList(LineList[SessionRow]):
    """Sessions with their state, pressure and age."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "activate", "Open", tooltip="look into the session")
    ]

    now: float = 0.0
    """Seconds since 1970; set before rows are shown, ages are counted from it."""

    def paint(self, row: SessionRow, index: int, width: int) -> Cells:
        shown = columns(width)
        dot, tone = STATES[row.state]
        cells: Cells = [(f"{dot} ", tone), (pad(line(row.agent, AGENT), AGENT + 1), "muted")]
        cells += _title(row, shown.title)
        if shown.project:
            project = _tail(row.project, shown.project)
            cells.append(("  " + pad(project, shown.project), "muted"))
        if shown.model:
            model = line(row.model or "–", shown.model)
            cells.append(("  " + pad(model, shown.model + 1), "muted"))
        filled, empty = figures.meter(row.pressure, shown.bar)
        heat = _heat(row)
        cells += [("▲" if row.proposed else " ", heat), (filled, heat), (empty, "rule")]
        cells.append((pad(_share(row), PERCENT, right=True), heat))
        if shown.figure:
            figure = f"{figures.tokens(row.tokens)}/{figures.tokens(row.window)}"
            cells.append((pad(figure, shown.figure, right=True), "muted"))
        if shown.spark:
            spark = figures.sparkline(row.history, shown.spark)
            cells.append(("  " + pad(spark, shown.spark), "muted"))
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


def _tail(path: str | None, width: int) -> str:
    """The end of a path says more than its beginning."""
    if not path:
        return "–"
    end = clean(path, " ")
    if cell_len(end) <= width:
        return end
    end = end[1 - width :] if width > 1 else ""
    while cell_len(end) > width - 1:
        end = end[1:]
    return f"…{end}"
