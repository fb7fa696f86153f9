"""What the policy would do now. It only proposes: nothing is committed without a person."""

from __future__ import annotations

from typing import Any

from inspector.reports import PressureReport, Proposed
from inspector.widgets import figures
from inspector.widgets.bars import TitleBar
from inspector.widgets.gauge import heat_of
from inspector.widgets.tones import Cells, width_of

WORDS: dict[Proposed, tuple[str, str]] = {
    "micro": ("the policy would clear old tool results", "clear old results?"),
    "compact": ("the policy would compact all but the newest steps", "compact?"),
}
"""What each proposal is called, where there is room and where there is not."""


class Proposal(TitleBar):
    """One line with the key that opens the ready preview. Hidden while nothing is proposed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.display = False
        self.short: Cells = []

    def propose(self, report: PressureReport | None) -> None:
        """Take the pressure of the plan as it is now; ``None`` for a moment of the past."""
        proposed = report.proposed if report is not None else None
        self.display = proposed is not None
        if report is None or proposed is None or not report.window:
            return
        share = figures.percent(report.used / report.window)
        lead: Cells = [(f" ▲ {share} full: ", heat_of(report, report.used))]
        key: Cells = [("  c", "accent"), (" previews it", "muted")]
        words, short = WORDS[proposed]
        self.short = [*lead, (short, "text"), *key]
        self.show([*lead, (words, "text"), *key], [])

    def draw(self, width: int, height: int) -> list[Cells]:
        return super().draw(width, height) if width_of(self.left) <= width else [self.short]
