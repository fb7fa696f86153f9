"""kill -9 amid exports: a file is whole or not there, a lake loses and doubles no row (S03)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KILLS = "5"
ROOT = Path(__file__).parents[2]


def test_s03_a_file_of_decision_points_is_whole_or_not_there(tmp_path: Path) -> None:
    _kill("decisions", tmp_path)


def test_s03_a_lake_holds_every_row_once_whenever_its_exports_were_killed(tmp_path: Path) -> None:
    _kill("lake", tmp_path)


def _kill(kind: str, folder: Path) -> None:
    program = [sys.executable, "-m", "tests.inspector.killing_exports", kind, str(folder), KILLS]
    done = subprocess.run(
        program, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
