"""What a compaction would gain and cost, before and after on one scale."""

from __future__ import annotations

from textual.geometry import Size

from inspector.reports import CompactionReport
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.tones import Cells, Drawn

LABEL = 8
FIGURES = 20


class Balance(Drawn):
    """Two bars and a line of figures."""

    report: CompactionReport | None = None

    def show(self, report: CompactionReport | None) -> None:
        """Take a new report; ``None`` while there is no preview."""
        self.report = report
        self.refresh_drawing()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 3

    def draw(self, width: int, height: int) -> list[Cells]:
        report = self.report
        if report is None:
            return [[("no preview", "muted")]]
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
    if report.summary is not None:
        parts.append(f"summary {figures.tokens(report.summary.tokens)}")
    parts.append(f"prompt cache loses {figures.tokens(report.cache_invalidated_tokens)}")
    parts.append(f"cannot go below {figures.tokens(report.floor)}")
    lost = report.lost
    counts = (
        (len(lost.identifiers), "identifiers"),
        (len(lost.instructions), "instructions"),
        (len(lost.errors), "errors"),
    )
    gone = ", ".join(f"{count:,} {name}" for count, name in counts if count)
    parts.append(f"loses {gone}" if gone else "loses nothing that was named")
    if report.oversized_units:
        parts.append(f"{len(report.oversized_units):,} units too large")
    return " · ".join(parts)
