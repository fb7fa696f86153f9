"""kill -9 amid exports: a file is whole or not there, a lake loses and doubles no row (S03)."""

from __future__ import annotations

import random
from pathlib import Path

from tests.inspector.killing_exports import (
    decisions_killed,
    lake_is_whole,
    lake_killed,
    prepared,
)

KILLS = 5


def test_s03_a_file_of_decision_points_is_whole_or_not_there(tmp_path: Path) -> None:
    db = prepared(tmp_path)
    chance = random.Random(20261130)
    assert sum(decisions_killed(db, tmp_path, chance) for _ in range(KILLS)) == KILLS


def test_s03_a_lake_holds_every_row_once_whenever_its_exports_were_killed(tmp_path: Path) -> None:
    db = prepared(tmp_path)
    chance = random.Random(20261130)
    assert sum(lake_killed(db, tmp_path, chance) for _ in range(KILLS)) == KILLS
    lake_is_whole(db, tmp_path)
