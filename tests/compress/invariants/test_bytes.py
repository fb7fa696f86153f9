"""Same inputs, same bytes out: in another process, under another seed of the hashes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.compress.invariants.digests import digests

HISTORIES = 25


def test_the_same_bytes_under_any_hash_seed_and_in_any_process() -> None:
    here = list(digests(HISTORIES))
    for seed in ("0", "4242"):
        there = subprocess.run(
            [sys.executable, "-m", "tests.compress.invariants.digests", str(HISTORIES)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[3],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        )
        assert there.stdout.splitlines() == here
