"""The pressure pane: gauge, composition, curve and forecast of one report."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from inspector.reports import PressureReport
from inspector.widgets.composition import CompositionBar
from inspector.widgets.curve import Curve
from inspector.widgets.forecast import Forecast
from inspector.widgets.gauge import Gauge


class PressurePane(Vertical):
    """Everything about how full the window is."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="figures"):
            yield Gauge()
            yield CompositionBar()
        with Vertical(classes="course"):
            yield Curve()
            yield Forecast()

    def refuse(self, why: str) -> None:
        """There is no report, and why."""
        self.query_one(Gauge).show(None, why)

    def show(self, report: PressureReport) -> None:
        """Take a new report."""
        self.query_one(Gauge).show(report)
        self.query_one(CompositionBar).show(report)
        self.query_one(Curve).show(report)
        self.query_one(Forecast).show(report)
