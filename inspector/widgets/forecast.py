"""What comes next and how far it can be trusted, in as many words as there is room for."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from inspector.reports import PressureReport
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.tones import Cells, Drawn


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
        return [
            [(fitting(outlook(report), width), "text")],
            [(fitting(_trust(report), width), "muted")],
        ]


def fitting(forms: Sequence[str], width: int) -> str:
    """The first of these forms that fits, else the last one, cut."""
    return next((form for form in forms if len(form) <= width), line(forms[-1], width))


def outlook(report: PressureReport) -> Sequence[str]:
    """What comes next: the same in fewer and fewer words."""
    if not report.window:
        return ("No forecast without a window.", "no forecast")
    compact, micro, ahead = report.thresholds.compact, report.thresholds.micro, report.forecast
    if compact is not None and report.used >= compact:
        limit = figures.tokens(compact)
        return (
            f"Above the compaction threshold ({limit}): c previews one.",
            f"Above the compaction threshold ({limit}).",
            f"Above {limit}: compaction.",
            f"above {limit}",
        )
    to_micro = ahead.steps_to_micro if micro is not None and report.used < micro else None
    to_compact = ahead.steps_to_compact
    if to_micro is not None and to_compact is not None:
        soon, late = figures.counted(to_micro, "step"), figures.counted(to_compact, "step")
        return (
            f"Micro-compaction in about {soon}, compaction in about {late}.",
            f"Micro-compaction in ~{soon}, compaction in ~{to_compact:,}.",
            f"Micro in ~{soon}, compaction in ~{to_compact:,}.",
            f"Micro in ~{soon}.",
        )
    if to_micro is not None:
        steps = figures.counted(to_micro, "step")
        return (f"Micro-compaction in about {steps}.", f"Micro in ~{steps}.")
    if to_compact is not None:
        steps = figures.counted(to_compact, "step")
        return (f"Compaction in about {steps}.", f"Compaction in ~{steps}.")
    return ("No threshold in sight.",)


def _trust(report: PressureReport) -> Sequence[str]:
    error = report.error
    if not error.n or error.median_ape_increment is None:
        return (
            "The meter could not be checked against this log.",
            "Meter not checked on this log.",
        )
    off = f"{error.median_ape_increment * 100:.1f} %"
    return (
        f"The meter is off by {off} of a step's growth (median, n = {error.n:,}).",
        f"The meter is off by {off} of a step's growth.",
        f"Meter off by {off} of a step.",
    )
