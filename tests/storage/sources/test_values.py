"""Foreign values: read where they make sense, unknown where they do not, never an exception."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.sources.values import (
    count,
    epoch_milliseconds,
    epoch_seconds,
    listing,
    mapping,
    parsed,
    string,
    timestamp,
)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ('{"a": [1]}', {"a": [1]}),
        ('"1"', "1"),
        ("null", None),
        ("{", "{"),
        ("ls -l", "ls -l"),
        ("", ""),
        ("\ud800", "\ud800"),
        ({"a": 1}, {"a": 1}),
        (None, None),
    ],
)
def test_text_of_json_is_what_it_holds_and_all_else_is_itself(given: Any, found: Any) -> None:
    assert parsed(given) == found


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-01-02T00:00:00Z", 1_767_312_000.0),
        ("2026-01-02T00:00:00", 1_767_312_000.0),
        ("2026-01-02T14:00:00+14:00", 1_767_312_000.0),
        ("2026-01-02T00:00:00.250Z", 1_767_312_000.25),
        (1_767_312_000, 1_767_312_000.0),
        ("", None),
        ("yesterday", None),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-14:00", None),
        (1_767_312_000_000, None),
        (True, None),
        (10**400, None),
        (float("nan"), None),
        (None, None),
    ],
)
def test_r16_times_are_read_or_unknown(value: Any, seconds: float | None) -> None:
    assert timestamp(value) == seconds


@pytest.mark.parametrize(
    ("value", "tokens"),
    [(0, 0), (7, 7), (2**53, 2**53), (2**53 + 1, None), (-1, None), (True, None), ("7", None)],
)
def test_counts_are_whole_and_not_negative(value: Any, tokens: int | None) -> None:
    assert count(value) == tokens


def test_milliseconds_are_not_taken_for_seconds() -> None:
    assert epoch_milliseconds(1_767_312_000_500) == 1_767_312_000.5
    assert epoch_milliseconds(1_767_312_000) is None
    assert epoch_seconds(1_767_312_000_500) is None


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()))
def test_no_value_raises(value: Any) -> None:
    times = (epoch_seconds, epoch_milliseconds, timestamp)
    for read in (*times, count, mapping, listing, string, parsed):
        read(value)
