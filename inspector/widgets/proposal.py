"""What the policy would do now. It only proposes: nothing is committed without a person."""

from __future__ import annotations

from typing import Any

from inspector.reports import PressureReport, Proposed
from inspector.widgets import figures
from inspector.widgets.bars import TitleBar
from inspector.widgets.gauge import heat_of

WORDS: dict[Proposed, str] = {
    "micro": "the policy would clear old tool results",
    "compact": "the policy would compact all but the newest steps",
}


class Proposal(TitleBar):
    """One line with the key that opens the ready preview. Hidden while nothing is proposed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.display = False

    def propose(self, report: PressureReport | None) -> None:
        """Take the pressure of the plan as it is now; ``None`` for a moment of the past."""
        proposed = report.proposed if report is not None else None
        self.display = proposed is not None
        if report is None or proposed is None or not report.window:
            return
        share = figures.percent(report.used / report.window)
        left = [
            (f" ▲ {share} full: ", heat_of(report, report.used)),
            (WORDS[proposed], "text"),
            ("  c", "accent"),
            (" previews it", "muted"),
        ]
        self.show(left, [])
