"""What a compaction would gain and cost, before and after on one scale."""

from __future__ import annotations

from textual.geometry import Size

from inspector.reports import CompactionReport
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.tones import Cells, Drawn

LABEL = 8
FIGURES = 20
COMPUTING = "computing the preview …"
REFUSED = "no preview: this was refused, and nothing would change"


class Balance(Drawn):
    """Two bars and a line of figures."""

    report: CompactionReport | None = None
    missing: str = COMPUTING

    def show(self, report: CompactionReport | None, missing: str = COMPUTING) -> None:
        """Take a new report; ``None`` while there is no preview, with the words that say so."""
        self.report, self.missing = report, missing
        self.refresh_drawing()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 3

    def draw(self, width: int, height: int) -> list[Cells]:
        report = self.report
        if report is None:
            return [[(self.missing, "muted")]]
        room = width - LABEL - FIGURES
        scale = max(report.tokens_before, report.tokens_after, 1)
        return [
            _bar("before", report.tokens_before, report.pressure_before, scale, room),
            _bar("after", report.tokens_after, report.pressure_after, scale, room),
            [(line(_costs(report), width), "muted")],
        ]


def _bar(name: str, tokens: int, pressure: float | None, scale: int, room: int) -> Cells:
    share = tokens / scale if pressure is None else min(pressure, 1.0)
    filled, empty = figures.meter(share, room)
    tone = figures.heat(pressure)
    figure = figures.tokens(tokens) + " tokens"
    return [
        (f"{name:<{LABEL}}", "muted"),
        (filled, tone if pressure is not None else "accent"),
        (empty, "faint"),
        (f"{figures.percent(pressure):>6}", tone),
        (f"{figure:>{FIGURES - 6}}", "text"),
    ]


def _costs(report: CompactionReport) -> str:
    gain = report.tokens_before - report.tokens_after
    parts = [f"gains {figures.tokens(gain)}"]
    lost = report.lost
    counts = (
        (max(lost.identifiers_total, len(lost.identifiers)), "identifier"),
        (max(lost.instructions_total, len(lost.instructions)), "instruction"),
        (max(lost.errors_total, len(lost.errors)), "error"),
    )
    gone = ", ".join(figures.counted(count, name) for count, name in counts if count)
    parts.append(f"loses {gone}" if gone else "loses nothing that was named")
    if report.summary is not None:
        parts.append(f"summary {figures.tokens(report.summary.tokens)} counted")
    parts.append(f"cache loses {figures.tokens(report.cache_invalidated_tokens)}")
    parts.append(f"cannot go below {figures.tokens(report.floor)}")
    if report.oversized_units:
        parts.append(f"{figures.counted(len(report.oversized_units), 'unit')} too large")
    return " · ".join(parts)
