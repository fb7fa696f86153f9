"""Pressure over the requests of a session, with thresholds and compactions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from compress.events import NodeId
from inspector.reports import PressureReport
from inspector.widgets import figures
from inspector.widgets.gauge import heat_of
from inspector.widgets.tones import Cells, Drawn

_LEVELS = " ▁▂▃▄▅▆▇█"
AXIS = 6
"""Cells for the labels at the left."""


class Curve(Drawn):
    """An area chart: one column a request, or the highest of several where they do not fit."""

    report: PressureReport | None = None

    def show(self, report: PressureReport | None) -> None:
        """Take a new report."""
        self.report = report
        self.refresh_drawing()

    def draw(self, width: int, height: int) -> list[Cells]:
        report = self.report
        if report is None or height < 3 or width < AXIS + 8:
            return []
        if not report.requests:
            return [[("no request yet", "muted")]]
        values = [
            request.predicted_input if request.actual_input is None else request.actual_input
            for request in report.requests
        ]
        columns = resample(values, width - AXIS)
        scale = Scale(max(report.window or 1, *values), height - 2, report)
        lines = [_row(scale, row, columns) for row in range(scale.rows)]
        return [*lines, _axis(report, len(columns)), _labels(report, len(columns))]


class Scale:
    """Tokens to rows."""

    def __init__(self, top: int, rows: int, report: PressureReport) -> None:
        self.top = top
        """Tokens at the upper edge."""
        self.rows = rows
        self.report = report
        self.limits: dict[int, str] = {}
        """Rows on which a threshold lies, with its tone."""
        for tokens, tone in (
            (report.thresholds.micro, "warm"),
            (report.thresholds.compact, "hot"),
        ):
            if tokens is not None and tokens <= top:
                self.limits[min(int((1 - tokens / top) * rows), rows - 1)] = tone

    def fill(self, tokens: int, row: int) -> str:
        """How far the column reaches into a row, in eighths; empty where it does not."""
        eighths = round(tokens / self.top * self.rows * 8) - (self.rows - 1 - row) * 8
        return _LEVELS[min(eighths, 8)] if eighths > 0 else ""


def resample(values: Sequence[int], width: int) -> list[int]:
    """``width`` columns: the highest value of each bucket, or each value widened."""
    count = len(values)
    edges = [at * count // width for at in range(width + 1)]
    return [max(values[at : max(upto, at + 1)]) for at, upto in pairwise(edges)]


def column_of(seq: NodeId, seqs: Sequence[int], columns: int) -> int | None:
    """The column of the first request at or after an event."""
    if not isinstance(seq, int) or not seqs:
        return None
    index = min(bisect_left(seqs, seq), len(seqs) - 1)
    return min(index * columns // len(seqs), columns - 1)


def _row(scale: Scale, row: int, columns: Sequence[int]) -> Cells:
    limit = scale.limits.get(row)
    window = scale.report.window
    label = figures.percent(scale.top / window) if row == 0 and window else ""
    cells: Cells = [(f"{label:>5} ", "faint")]
    empty = ("┄", limit) if limit else (" ", "text")
    for tokens in columns:
        fill = scale.fill(tokens, row)
        cells.append((fill, heat_of(scale.report, tokens) + "-fill") if fill else empty)
    return cells


def _axis(report: PressureReport, columns: int) -> Cells:
    seqs = [request.seq for request in report.requests if isinstance(request.seq, int)]
    marks = {column_of(seq, seqs, columns) for seq in report.compactions}
    line = "".join("▲" if column in marks else "─" for column in range(columns))
    return [
        ("    0 ", "faint"),
        *((char, "checkpoints" if char == "▲" else "rule") for char in line),
    ]


def _labels(report: PressureReport, columns: int) -> Cells:
    left = figures.event_name(report.requests[0].seq)
    count = len(report.requests)
    what = figures.counted(count, "request")
    if report.compactions:
        what += f" · ▲ {len(report.compactions):,} compacted"
    right = figures.event_name(report.requests[-1].seq)
    gap = max(columns - len(left) - len(right) - len(what), 2)
    before = gap // 2
    text = f"{left}{' ' * before}{what}{' ' * (gap - before)}{right}"
    return [(" " * AXIS, "text"), (text, "muted")]
