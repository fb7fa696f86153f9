"""What an export to a lake costs: rows a second of the processor, memory, a second look.

    python -m tests.benchmarks.lake --folder DIR [--events 100000]

Ingests the made Claude Code log of ``large_session`` into a store in DIR once, and exports it
masked and unmasked, each in a process of its own. The baseline of the same run reads every event
with its content from the store, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from time import process_time

from inspector.usecases import UseCases
from storage import lake
from storage.lake import Mark
from tests.benchmarks.large_session import prepared
from tests.inspector.lakes import exported
from tests.inspector.logs import usecases


def main() -> None:
    """Prints one line a run, then all of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--run", choices=("read", "masked", "unmasked"))
    asked = parser.parse_args()
    if asked.run:
        print(json.dumps(_run(asked.folder, asked.events, asked.run)))
        return
    db = prepared(asked.folder, asked.events)
    cases = usecases(db, asked.folder)
    cases.decisions()  # harvested once, as in a store that is in use
    cases.close()
    found = {}
    for name in ("read", "masked", "unmasked"):
        command = [sys.executable, "-m", "tests.benchmarks.lake", "--folder", str(asked.folder)]
        more = ["--events", str(asked.events), "--run", name]
        done = subprocess.run([*command, *more], capture_output=True, check=True)
        found[name] = json.loads(done.stdout)
        print(name, found[name])
    print(json.dumps(found))


def _run(folder: Path, events: int, name: str) -> dict[str, float]:
    cases = usecases(prepared(folder, events), folder)
    rows = sum(found.session.events for found in lake.sessions(cases._store))
    began = process_time()
    if name == "read":
        _read(cases)
        return _figures(rows, process_time() - began)
    place = folder / f"lake-{name}"
    shutil.rmtree(place, ignore_errors=True)
    exported(cases, place, masked=name == "masked")
    spent = process_time() - began
    began = process_time()
    assert exported(cases, place, masked=name == "masked").files == 0
    again = process_time() - began
    size = sum(path.stat().st_size for path in place.rglob("*.parquet"))
    return _figures(rows, spent) | {"again_ms": round(again * 1e3, 1), "bytes": size}


def _read(cases: UseCases) -> None:
    for found in lake.sessions(cases._store):
        for _ in lake.new_events(cases._store, found.session, Mark()):
            pass


def _figures(rows: int, seconds: float) -> dict[str, float]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"rows": rows, "rows_a_second": round(rows / seconds), "peak_mb": peak}


if __name__ == "__main__":
    main()
