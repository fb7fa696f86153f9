"""kill -9, again and again, amid ingests, pins, packs, rebuilds, undos, harvests and exports.

    python -m tests.benchmarks.kills --kills 1000 --decisions 200 --lakes 200

After every kill the store is checked whole, and no operation may be lost, changed or half there; a
file of decision points is whole or not there, a lake holds every row once.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.inspector import killing_exports as exports
from tests.inspector.killing import killed, prepared, strand

_FRESH = 40
"""Kills after which another store is begun: a short strand is checked sooner."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--decisions", type=int, default=0)
    parser.add_argument("--lakes", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    files = _exports(asked.decisions, exports.decisions_killed, lambda *_: None, chance)
    lakes = _exports(asked.lakes, exports.lake_killed, exports.lake_is_whole, chance)
    kills = operations = 0
    while kills < asked.kills:
        with tempfile.TemporaryDirectory(prefix="kills-") as name:
            folder = Path(name)
            db = prepared(folder)
            before = strand(db, folder)
            for _ in range(min(_FRESH, asked.kills - kills)):
                kills += killed(db, folder, chance)
                after = strand(db, folder)
                assert after[: len(before)] == before, f"lost behind {len(before)} events"
                before = after
            operations += len({row.operation for row in before})
        print(f"{kills} kills, {operations} operations stand", flush=True)
    told = {"kills": kills, "operations": operations, "decisions": files, "lakes": lakes}
    print(json.dumps(told))


def _exports(
    wanted: int,
    kill: Callable[[Path, Path, random.Random], bool],
    check: Callable[[Path, Path], None],
    chance: random.Random,
) -> int:
    """How often an export was killed."""
    kills = 0
    while kills < wanted:
        with tempfile.TemporaryDirectory(prefix="kills-") as name:
            folder = Path(name)
            db = exports.prepared(folder)
            for _ in range(min(_FRESH, wanted - kills)):
                kills += kill(db, folder, chance)
            check(db, folder)
        print(f"{kills} {kill.__name__}", flush=True)
    return kills


if __name__ == "__main__":
    main()
