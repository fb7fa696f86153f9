"""What reading a rollout costs: a rollback what it takes back, a compaction what is new."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.storage.sources.codex_logs import (
    ADAPTER,
    call,
    compacted,
    meta,
    output,
    rolled_back,
    said,
    summarised,
    turn,
)
from tests.storage.sources.kit import rows_as_records
from tests.storage.sources.paths import NOWHERE
from tests.storage.sources.steps import steps_of

Rows = list[dict[str, Any]]


def _turn(number: int, *between: dict[str, Any]) -> Rows:
    return turn(f"t{number}", f"u{number}", f"a{number}", *between)


def _legacy(turns: int) -> Rows:
    """Each turn is compacted by the older rule and taken back."""
    return [
        row
        for number in range(turns)
        for row in (*_turn(number, summarised(f"L{number}")), summarised("M"), rolled_back(3))
    ]


def _stated(turns: int) -> Rows:
    """Each turn states a history and is taken back, behind one that stays."""
    rows = [*_turn(0, compacted("k", "S"))]
    for number in range(1, turns):
        rows += [*_turn(number, compacted("k", f"S{number}")), rolled_back(1)]
    return rows


def _nested(turns: int) -> Rows:
    """All turns state a history, then one after another is taken back."""
    rows = [row for n in range(turns) for row in _turn(n, compacted("k", f"S{n}"))]
    return [*rows, *([rolled_back(1)] * turns)]


def _in_a_row(turns: int) -> Rows:
    rows = [row for n in range(turns) for row in _turn(n, call(f"c{n}"), output(f"c{n}"))]
    return [*rows, *([rolled_back(1)] * turns)]


def _without_turn_records(turns: int) -> Rows:
    """The whole file is one turn to Codex."""
    return [
        row
        for n in range(turns)
        for row in (
            *(said("user", f"u{n}"), said("assistant", f"a{n}"), said("user", f"v{n}")),
            *(compacted("k", f"S{n}"), summarised(f"L{n}"), rolled_back(3)),
        )
    ]


def _kept(turns: int) -> Rows:
    """Every turn stays, and so do the user's words in each compaction by the older rule."""
    return [row for n in range(turns) for row in _turn(n, summarised(f"L{n}"))]


LOGS = (_legacy, _stated, _nested, _in_a_row, _without_turn_records, _kept)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.__name__.strip("_"))
def test_twice_the_log_takes_twice_the_steps(log: Callable[[int], Rows]) -> None:
    once, twice = (
        steps_of(ADAPTER, NOWHERE, rows_as_records([meta(), *log(turns)])) for turns in (60, 120)
    )
    assert twice < 2.2 * once
