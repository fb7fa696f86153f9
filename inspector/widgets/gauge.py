"""The pressure gauge. One denominator: the context window in force, named beside the figure."""

from __future__ import annotations

from textual.geometry import Size

from inspector.reports import PressureReport
from inspector.sanitize import clean, line, wrap
from inspector.widgets import figures
from inspector.widgets.forecast import fitting, outlook
from inspector.widgets.tones import Cells, Drawn, width_of

SOURCES = {
    "user": "your setting",
    "log": "from the log",
    "observed": "largest request seen",
    "table": "from the model table",
    "unknown": "unknown",
}
"""How each source of a window's size is named."""


WAITING = "reading …"


class Gauge(Drawn):
    """Bar with the thresholds marked, share, and the figures it is made of. Two lines."""

    report: PressureReport | None = None
    foretells: bool = False
    """Whether the second line also says what comes next."""

    missing: str = WAITING

    def show(self, report: PressureReport | None, missing: str = WAITING) -> None:
        """Take a new report; ``None`` while there is none, with the words that say why."""
        self.report, self.missing = report, missing
        self.refresh_drawing()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 2

    def draw(self, width: int, height: int) -> list[Cells]:
        report = self.report
        if report is None:
            return [[(row, "muted")] for row in wrap(clean(self.missing, " "), width)]
        if not report.window:
            return [
                [(figures.tokens(report.used), "strong"), (" tokens in the window", "text")],
                [(f"no percentage: the window of {_model(report)} is unknown", "muted")],
            ]
        share = report.used / report.window
        tone = heat_of(report, report.used)
        figure = figures.percent(share)
        top = [*_bar(report, share, tone, width - 8), (f"{figure:>7}", tone)]
        figures_part = _figures(report)
        groups = [figures_part, *_details(report)]
        if self.foretells:
            words = fitting(outlook(report), width - width_of(figures_part) - 3)
            groups.insert(1, [(" · ", "muted"), (words.rstrip("."), "text")])
        return [top, _fit(groups, width)]


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
            cells.append(("░", "rule"))
    return cells


def _figures(report: PressureReport) -> Cells:
    return [
        (f"{report.used:,}", "strong"),
        (f" of {report.window:,}", "text"),
        (" estimated" if report.used_source == "estimated" else " measured", "muted"),
    ]


def _details(report: PressureReport) -> list[Cells]:
    return [
        [(f" · window of {_model(report)}", "muted")],
        [(f", {SOURCES[report.window_source]}", "muted")],
    ]


def _model(report: PressureReport) -> str:
    return line(report.model, 32) if report.model else "an unnamed model"


def _fit(groups: list[Cells], width: int) -> Cells:
    """As many whole groups as fit."""
    cells: Cells = []
    for group in groups:
        if cells and width_of(cells) + width_of(group) > width:
            break
        cells += group
    return cells
