"""Bars, short numbers, tables: what a line for a person is made of."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from inspector.cli_paint import (
    Cell,
    Column,
    Paint,
    age,
    bar,
    paint_for,
    resampled,
    short,
    sparkline,
    table,
)
from inspector.widgets.figures import percent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "color"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_is_for_terminals_that_want_it(environment: dict[str, str], color: bool) -> None:
    assert paint_for(Terminal(), environment).color is color
    assert paint_for(io.StringIO(), environment).color is False


def test_a_pipe_is_as_wide_as_it_says() -> None:
    assert paint_for(io.StringIO(), {"COLUMNS": "72"}).width == 72
    assert paint_for(io.StringIO(), {"COLUMNS": "2"}).width == 40
    assert paint_for(io.StringIO(), {}).width == 100


def test_without_colour_a_style_changes_nothing() -> None:
    assert Paint()("text", "red") == "text"
    assert Paint(color=True)("text", "red", "bold") == "\x1b[31;1mtext\x1b[0m"


@pytest.mark.parametrize(
    ("fraction", "drawn"),
    [(0, "    "), (0.5, "██  "), (1, "████"), (7, "████"), (-1, "    "), (1 / 32, "▏   ")],
)
def test_a_bar_is_filled_to_its_fraction(fraction: float, drawn: str) -> None:
    assert bar(fraction, 4) == drawn


def test_what_is_there_is_seen_however_small() -> None:
    assert bar(1e-9, 4) == "▏   "


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(None, "–"), (0, "0"), (999, "999"), (1_000, "1.0k"), (999_949, "999.9k"), (10**6, "1.00M")],
)
def test_short_numbers(tokens: int | None, text: str) -> None:
    assert short(tokens) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (-5, "0s"), (59, "59s"), (60, "1m"), (7200, "2h"), (86400 * 12, "12d")],
)
def test_ages(seconds: float | None, text: str) -> None:
    assert age(seconds) == text


def test_percentages() -> None:
    assert (percent(None), percent(0.784), percent(1.2)) == ("–", "78 %", "120 %")
    assert (percent(0.0), percent(0.001), percent(0.005)) == ("0 %", "<1 %", "<1 %")


def test_a_sparkline_shows_the_newest() -> None:
    assert sparkline([1, 0, 0.5, 1], 3) == "▁▅█"
    assert sparkline([1], 0) == ""


def test_a_long_curve_keeps_its_peaks() -> None:
    assert resampled([0, 9, 0, 0, 5, 0], 2) == [9, 5]
    assert resampled([1, 2], 5) == [1, 2]


def test_columns_line_up_whatever_the_width_of_a_letter() -> None:
    columns = (Column("NAME"), Column("N", "right"), Column("REST", flexible=True))
    rows = [("漢字", "1", "a"), ("abc", "22", Cell("b", ("red",))), ("", "333", "")]
    assert list(table(columns, rows, Paint(width=40))) == [
        "NAME    N  REST",
        "漢字    1  a",
        "abc    22  b",
        "      333",
    ]


@given(
    st.lists(st.tuples(st.text(), st.text(), st.text()), max_size=5),
    st.integers(min_value=60, max_value=120),
)
def test_a_table_is_never_wider_than_its_paper(rows: list[tuple[str, ...]], width: int) -> None:
    columns = (Column("A", most=10), Column("B", "right", most=10), Column("C", flexible=True))
    for text in table(columns, rows, Paint(width=width)):
        assert cell_len(text) <= width
        assert "\n" not in text
        assert "\x1b" not in text
