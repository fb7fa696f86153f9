"""The pressure gauge. One denominator: the context window in force, named beside the figure."""

from __future__ import annotations

from textual.geometry import Size

from inspector.reports import PressureReport
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.tones import Cells, Drawn, width_of

SOURCES = {
    "user": "your setting",
    "log": "from the log",
    "observed": "largest request seen",
    "table": "from the model table",
    "unknown": "unknown",
}
"""How each source of a window's size is named."""


class Gauge(Drawn):
    """Bar with the thresholds marked, share, and the figures it is made of. Two lines."""

    report: PressureReport | None = None

    def show(self, report: PressureReport | None) -> None:
        """Take a new report."""
        self.report = report
        self.refresh_drawing()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 2

    def draw(self, width: int, height: int) -> list[Cells]:
        report = self.report
        if report is None:
            return [[("reading …", "muted")]]
        if not report.window:
            return [
                [(figures.tokens(report.used), "strong"), (" tokens in the window", "text")],
                [("window unknown, so there is no percentage", "muted")],
            ]
        share = report.used / report.window
        tone = heat_of(report, report.used)
        figure = figures.percent(share)
        top = [*_bar(report, share, tone, width - 8), (f"{figure:>7}", tone)]
        return [top, _fit([_figures(report), *_details(report)], width)]


def heat_of(report: PressureReport, tokens: int) -> str:
    """The tone of so many tokens, by the report's own thresholds."""
    if not report.window:
        return "muted"
    micro, compact = report.thresholds.micro, report.thresholds.compact
    warm = micro / report.window if micro is not None else figures.WARM
    hot = compact / report.window if compact is not None else figures.HOT
    return figures.heat(tokens / report.window, warm, hot)


def _bar(report: PressureReport, share: float, tone: str, width: int) -> Cells:
    """Filled and empty cells, with a tick where a threshold lies ahead."""
    width = max(width, 1)
    full = min(max(round(share * width), 1 if share > 0 else 0), width)
    ticks = {}
    for limit, limit_tone in (
        (report.thresholds.micro, "warm"),
        (report.thresholds.compact, "hot"),
    ):
        if limit is not None and report.window:
            ticks[min(int(limit / report.window * width), width - 1)] = limit_tone
    cells: Cells = []
    for column in range(width):
        if column < full:
            cells.append(("█", f"{tone}-fill"))
        elif column in ticks:
            cells.append(("│", ticks[column]))
        else:
            cells.append(("░", "faint"))
    return cells


def _figures(report: PressureReport) -> Cells:
    return [
        (f"{report.used:,}", "strong"),
        (f" of {report.window:,}", "text"),
        (" estimated" if report.used_source == "estimated" else " measured", "muted"),
    ]


def _details(report: PressureReport) -> list[Cells]:
    details: list[Cells] = []
    if report.model:
        details.append([(f" · window of {line(report.model, 32)}", "muted")])
    details.append([(f", {SOURCES[report.window_source]}", "muted")])
    return details


def _fit(groups: list[Cells], width: int) -> Cells:
    """As many whole groups as fit."""
    cells: Cells = []
    for group in groups:
        if cells and width_of(cells) + width_of(group) > width:
            break
        cells += group
    return cells


class Forecast(Drawn):
    """One line on what comes next, one on how far the figures can be trusted."""

    report: PressureReport | None = None

    def show(self, report: PressureReport | None) -> None:
        """Take a new report."""
        self.report = report
        self.refresh_drawing()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 2

    def draw(self, width: int, height: int) -> list[Cells]:
        report = self.report
        if report is None:
            return []
        return [[(line(_outlook(report), width), "text")], [(line(_trust(report), width), "muted")]]


def _outlook(report: PressureReport) -> str:
    if not report.window:
        return "No forecast without a window."
    compact, micro = report.thresholds.compact, report.thresholds.micro
    if compact is not None and report.used >= compact:
        return f"Above the compaction threshold ({figures.tokens(compact)}): c previews one."
    ahead = report.forecast
    parts = []
    if micro is not None and report.used < micro and ahead.steps_to_micro is not None:
        parts.append(f"micro-compaction in about {_steps(ahead.steps_to_micro)}")
    if ahead.steps_to_compact is not None:
        parts.append(f"compaction in about {_steps(ahead.steps_to_compact)}")
    return ", ".join(parts).capitalize() + "." if parts else "No threshold in sight."


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count:,} steps"


def _trust(report: PressureReport) -> str:
    error = report.error
    if not error.n or error.median_ape_increment is None:
        return "The meter could not be checked against this log."
    off = error.median_ape_increment * 100
    return f"The meter is off by {off:.1f} % of a step's growth (median, n = {error.n:,})."
