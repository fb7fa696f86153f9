"""Damaged logs by seed: nothing is raised, nothing lost, and pieces give what the whole gives.

A few dozen of what ``tests.benchmarks.fuzz`` runs by the million.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.fuzzing import logs, rows

FOODS = logs.foods()
AGENTS = sorted({food.adapter.agent for food in FOODS})


@pytest.mark.parametrize("agent", AGENTS)
def test_a_damaged_log_is_read_folded_and_rendered(agent: str) -> None:
    own = [food for food in FOODS if food.adapter.agent == agent]
    lines = sum(logs.read(own, Random(seed), logs.Clock()) for seed in range(6))
    assert lines >= 6


def test_a_file_that_grows_by_any_bytes_gives_the_same_lines(tmp_path: Path) -> None:
    for seed in range(20):
        logs.tailed(FOODS, tmp_path, Random(seed))


def test_logs_that_grow_give_the_same_store(tmp_path: Path) -> None:
    for seed in range(8):
        logs.ingested(FOODS, tmp_path, Random(seed))


@pytest.mark.parametrize("way", [rows.database, rows.tree])
def test_opencodes_rows_change_to_odd_things_while_they_are_read(
    tmp_path: Path, way: Callable[[Path, Random], int]
) -> None:

    for seed in range(8):
        way(tmp_path, Random(seed))
