"""The token meter: one per session, shared by all consumers."""

from __future__ import annotations

from compress.meter.accuracy import Accuracy, accuracy
from compress.meter.forecast import Thresholds, slope, steps_left, thresholds
from compress.meter.meter import Reading, Request, TokenMeter
from compress.meter.window import Window, WindowSource, decide_window

__all__ = [
    "Accuracy",
    "Reading",
    "Request",
    "Thresholds",
    "TokenMeter",
    "Window",
    "WindowSource",
    "accuracy",
    "decide_window",
    "slope",
    "steps_left",
    "thresholds",
]
