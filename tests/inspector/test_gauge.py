"""The gauge and the forecast: what they say at every width."""

from __future__ import annotations

import pytest

from inspector.reports import Forecast as Outlook
from inspector.widgets.forecast import Forecast
from inspector.widgets.gauge import Gauge
from inspector.widgets.tones import Cells
from tests.inspector.fakes import FakeUseCases


def text(cells: Cells) -> str:
    return "".join(piece for piece, _ in cells)


def test_the_gauge_names_its_one_denominator() -> None:
    gauge = Gauge()
    gauge.show(FakeUseCases().pressure("s1"))
    bar, figure = gauge.draw(100, 2)
    assert text(bar).endswith("76 %")
    assert "152,300 of 200,000 measured" in text(figure)
    assert "window of claude-opus-4-5" in text(figure)


def test_the_gauge_without_a_window_gives_no_percentage() -> None:
    gauge = Gauge()
    report = FakeUseCases().pressure("s1")
    gauge.show(report.model_copy(update={"window": None, "window_source": "unknown"}))
    shown = "".join(text(cells) for cells in gauge.draw(80, 2))
    assert "%" not in shown
    assert "the window of claude-opus-4-5 is unknown" in shown


def test_a_model_without_a_name_is_called_so() -> None:
    gauge = Gauge()
    report = FakeUseCases().pressure("s1").model_copy(update={"model": None})
    gauge.show(report)
    assert "window of an unnamed model, from the" in text(gauge.draw(100, 2)[1])
    gauge.show(report.model_copy(update={"window": None}))
    assert "the window of an unnamed model is unknown" in text(gauge.draw(100, 2)[1])


def test_the_forecast_states_how_far_off_the_meter_was() -> None:
    forecast = Forecast()
    forecast.report = FakeUseCases().pressure("s1")
    assert [text(cells) for cells in forecast.draw(90, 2)] == [
        "Compaction in about 3 steps.",
        "The meter is off by 8.3 % of a step's growth (median, n = 58).",
    ]


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (70, "Micro-compaction in about 6 steps, compaction in about 12 steps."),
        (50, "Micro-compaction in ~6 steps, compaction in ~12."),
        (40, "Micro in ~6 steps, compaction in ~12."),
        (20, "Micro in ~6 steps."),
    ],
)
def test_a_forecast_is_said_in_fewer_words_not_cut(width: int, words: str) -> None:
    report = FakeUseCases().pressure("s1")
    report = report.model_copy(
        update={"used": 90_000, "forecast": Outlook(steps_to_micro=6, steps_to_compact=12)}
    )
    forecast = Forecast()
    forecast.report = report
    assert text(forecast.draw(width, 2)[0]) == words
    gauge = Gauge()
    gauge.report, gauge.foretells = report, True
    # "90,000 of 200,000 measured · " takes 29 cells.
    assert words.rstrip(".") in text(gauge.draw(width + 29, 2)[1])


@pytest.mark.parametrize("width", [50, 31, 24])
def test_above_the_threshold_the_limit_is_always_named(width: int) -> None:
    forecast = Forecast()
    forecast.report = FakeUseCases().pressure("s1").model_copy(update={"used": 170_000})
    above = text(forecast.draw(width, 2)[0])
    assert above.startswith("Above")
    assert "160k" in above
    assert "…" not in above
