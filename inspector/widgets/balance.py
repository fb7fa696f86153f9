"""What a compaction would gain and cost, before and after on one scale, which is named."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len
from textual.geometry import Size

from inspector.reports import CompactionReport, LostReport
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.tones import Cells, Drawn

LABEL = 8
FIGURES = 20
ROWS = 3
"""Lines for what it costs, at the most."""
SEPARATOR = " · "
COMPUTING = "computing the preview …"
RECOMPUTING = "recomputing …"
REFUSED = "no preview: this was refused, and nothing would change"


class Balance(Drawn):
    """Two bars and the figures below them."""

    report: CompactionReport | None = None
    missing: str = COMPUTING
    stale: bool = False
    """The figures are those of an earlier wish; new ones are on their way."""

    def show(self, report: CompactionReport | None, missing: str = COMPUTING) -> None:
        """Take a new report; ``None`` while there is no preview, with the words that say so."""
        height = self._height
        self.report, self.missing, self.stale = report, missing, False
        # A new layout of the whole screen costs more than all that is drawn here.
        self.refresh_drawing(layout=self._height != height)

    def dim(self) -> None:
        """What is shown is no longer what was asked for."""
        if not self.stale:
            self.stale = True
            self.refresh_drawing()

    @property
    def _height(self) -> int:
        return len(self.draw(self.size.width, 0))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(len(self.draw(width, 0)), 3)

    def draw(self, width: int, height: int) -> list[Cells]:
        report = self.report
        if report is None:
            return [[(COMPUTING if self.stale else self.missing, "muted")]]
        room = width - LABEL - FIGURES
        scale = max(report.tokens_before, report.tokens_after, 1)
        bars = [
            _bar("before", report.tokens_before, report.pressure_before, scale, room),
            _bar("after", report.tokens_after, report.pressure_after, scale, room),
        ]
        # Folded as if the words for the computing stood there, so that their coming moves nothing.
        rows = _flow(costs(report), width, width - len(RECOMPUTING) - 1)
        if not self.stale:
            return [*bars, *([(row, "muted")] for row in rows)]
        dimmed: list[Cells] = [[(text, "faint") for text, _ in cells] for cells in bars]
        first, *rest = rows
        return [
            *dimmed,
            [(RECOMPUTING + " ", "accent"), (first, "faint")],
            *([(row, "faint")] for row in rest),
        ]


def _bar(name: str, tokens: int, pressure: float | None, scale: int, room: int) -> Cells:
    share = tokens / scale if pressure is None else min(pressure, 1.0)
    filled, empty = figures.meter(share, room)
    tone = figures.heat(pressure)
    figure = figures.tokens(tokens) + " tokens"
    return [
        (f"{name:<{LABEL}}", "muted"),
        (filled, tone if pressure is not None else "accent"),
        (empty, "rule"),
        (f"{figures.percent(pressure):>6}", tone),
        (f"{figure:>{FIGURES - 6}}", "text"),
    ]


def costs(report: CompactionReport) -> list[str]:
    """The denominator, then what is gained and what is paid for it."""
    gain = report.tokens_before - report.tokens_after
    of = f"of a {report.window:,}-token window" if report.window else "window unknown"
    parts = [of, f"gains {figures.tokens(gain)}"]
    parts.append(f"cannot go below {figures.tokens(report.floor)}")
    parts.append(f"cache loses {figures.tokens(report.cache_invalidated_tokens)}")
    if report.summary is not None:
        parts.append(f"summary {figures.tokens(report.summary.tokens)} counted")
    parts.append(loses(report.lost))
    if report.oversized_units:
        parts.append(f"{figures.counted(len(report.oversized_units), 'unit')} too large")
    return parts


def loses(lost: LostReport) -> str:
    """How much of what kind, in words."""
    counts = (
        (max(lost.instructions_total, len(lost.instructions)), "instruction"),
        (max(lost.errors_total, len(lost.errors)), "error"),
        (max(lost.identifiers_total, len(lost.identifiers)), "identifier"),
    )
    gone = ", ".join(figures.counted(count, name) for count, name in counts if count)
    return f"loses {gone}" if gone else "loses nothing that was named"


def _flow(parts: Iterable[str], width: int, first: int) -> list[str]:
    """The parts on as few lines as hold them, none broken over two: the first of ``first`` cells,
    the others of ``width``."""
    rows = [""]
    for part in parts:
        joined = f"{rows[-1]}{SEPARATOR}{part}" if rows[-1] else part
        if cell_len(joined) <= (first if len(rows) == 1 else width) or len(rows) == ROWS:
            rows[-1] = joined
        else:
            rows.append(part)
    return [line(row, width) for row in rows]
