"""The meter's parts: window, thresholds, forecast, error, whole tokens, the fit."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.meter import (
    Window,
    accuracy,
    decide_window,
    slope,
    steps_left,
    thresholds,
)
from compress.meter.accuracy import quantile
from compress.meter.composition import apportion
from compress.meter.fit import RecursiveFit
from compress.meter.priors import prior_of, ratio_of


def test_t10_who_says_the_window() -> None:
    assert decide_window(setting=1, logged=2, observed=9, table=3) == Window(1, "user")
    assert decide_window(logged=2, observed=9, table=3) == Window(2, "log")
    assert decide_window(observed=9, table=3) == Window(9, "observed")
    assert decide_window(observed=3, table=3) == Window(3, "table")
    assert decide_window(observed=9) == Window(None, "unknown")
    assert decide_window(setting=0, logged=-1, table=0) == Window(None, "unknown")


def test_thresholds_are_shares_of_the_window() -> None:
    found = thresholds(200_000)
    assert (found.micro, found.compact) == (140_000, 160_000)
    assert thresholds(None).micro is None


def test_the_slope_does_not_bend_to_one_giant_result() -> None:
    assert slope([0, 100, 200, 300, 400]) == 100
    assert slope([0, 100, 200, 90_000, 90_100, 90_200, 90_300]) < 30_000  # type: ignore[operator]
    assert slope([0, 100, 200, 300, 400, 500, 9_000]) == 100
    assert slope([1, 2]) is None


def test_the_slope_starts_anew_after_a_compaction() -> None:
    assert slope([150_000, 160_000, 30_000, 30_500, 31_000]) == 500
    assert slope([150_000, 160_000, 30_000, 30_500]) is None


def test_steps_left_to_a_threshold() -> None:
    assert steps_left(100, 1_000, 300.0) == 3
    assert steps_left(1_000, 1_000, 300.0) == 0
    assert steps_left(100, 1_000, 0.0) is None
    assert steps_left(100, 1_000, None) is None
    assert steps_left(100, None, 300.0) is None


@dataclass
class Row:
    actual_input: int | None
    predicted_input: int


def test_the_error_is_judged_on_increments_above_twenty() -> None:
    rows = [
        Row(1_000, 5),  # the first request has no increment
        Row(1_100, 1_110),  # off by 10 of 100
        Row(1_120, 9_999),  # an increment of 20 is not judged
        Row(None, 7),  # nor one whose usage is unknown
        Row(1_320, 1_260),  # off by 60 of 200
        Row(900, 0),  # nor a shrinking one
    ]
    found = accuracy(rows)
    assert found.n == 2
    assert found.median_of_increment == pytest.approx(0.2)
    assert found.p90_of_increment == pytest.approx(0.28)
    assert found.median_of_total == pytest.approx((10 / 1_100 + 60 / 1_320) / 2)
    assert accuracy([]).n == 0


def test_quantiles_interpolate() -> None:
    assert quantile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert quantile([1.0], 0.9) == 1.0
    with pytest.raises(ValueError, match="nothing"):
        quantile([], 0.5)


@given(
    st.integers(0, 10**7),
    st.dictionaries(st.text(max_size=3), st.floats(0, 1e7), min_size=1, max_size=9),
)
@settings(max_examples=100, deadline=None)
def test_whole_tokens_add_up(total: int, shares: dict[str, float]) -> None:
    parts = apportion(total, shares)
    assert sum(parts.values()) == total
    assert all(value >= 0 for value in parts.values())
    assert list(parts) == list(shares)


def test_the_largest_remainder_gets_the_odd_token() -> None:
    assert apportion(10, {"a": 1, "b": 1, "c": 1}) == {"a": 4, "b": 3, "c": 3}
    assert apportion(0, {"a": 0.0}) == {"a": 0}
    assert apportion(7, {}) == {}


def flat_prior(feature: str) -> tuple[float, float]:
    return (1.0, 0.5)


def test_the_fit_finds_the_weights_that_made_the_data() -> None:
    fit = RecursiveFit(flat_prior)
    for step in range(60):
        features = {"result": 100.0 + 37 * (step % 7), "user": 40.0 + 11 * (step % 5)}
        fit.observe(features, 1.5 * features["result"] + 0.8 * features["user"])
    assert fit.weight("result") == pytest.approx(1.5, abs=0.03)
    assert fit.weight("user") == pytest.approx(0.8, abs=0.08)


def test_the_fit_shrugs_at_an_outlier() -> None:
    fit = RecursiveFit(flat_prior)
    for _ in range(20):
        fit.observe({"result": 200.0}, 240.0)
    before = fit.weight("result")
    fit.observe({"result": 200.0}, 40_000.0)
    assert fit.weight("result") == pytest.approx(before, rel=0.05)


def test_a_tool_that_differs_is_told_apart() -> None:
    fit = RecursiveFit(prior_of("gpt-5"))
    for _ in range(12):
        fit.observe({"result": 100.0, "results": 1.0, "result:A": 100.0, "results:A": 1.0}, 112.0)
        fit.observe({"result": 100.0, "results": 1.0, "result:B": 100.0, "results:B": 1.0}, 212.0)
    a = fit.predict({"result": 100.0, "results": 1.0, "result:A": 100.0, "results:A": 1.0})
    b = fit.predict({"result": 100.0, "results": 1.0, "result:B": 100.0, "results:B": 1.0})
    assert a == pytest.approx(112, abs=12)
    assert b == pytest.approx(212, abs=20)


def test_families_start_where_public_logs_put_them() -> None:
    # Platform notes: +8–26 % up to 4.6, +23–58 % from 4.7, above o200k.
    assert 1.08 <= ratio_of("claude-sonnet-4-20250514") <= 1.26
    assert 1.23 <= ratio_of("anthropic/claude-opus-4-7") <= 1.58
    assert ratio_of("gpt-5-codex") == 1.0
    assert prior_of("gpt-5")("dropped")[0] == -1.0
    assert prior_of("claude-opus-4-5-20251101")("dropped")[0] == 0.0
