"""kill -9, again and again, amid ingests, pins, packs, rebuilds, undos and harvests.

    python -m tests.benchmarks.kills --kills 1000

After every kill the store is checked whole, and no operation may be lost, changed or half there.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path

from tests.inspector.killing import killed, prepared, strand

_FRESH = 40
"""Kills after which another store is begun: a short strand is checked sooner."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
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
    print(json.dumps({"kills": kills, "operations": operations}))


if __name__ == "__main__":
    main()
