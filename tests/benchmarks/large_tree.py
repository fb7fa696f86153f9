"""A large tree of logs: what a person waits for at the start, and how long all of it takes.

    python -m tests.benchmarks.large_tree --folder DIR [--megabytes 370] [--peer agentsview]

Makes, once, a home in DIR whose agents' folders hold salted copies of the corpus (every id and
text its own), each as old as what it says last, so that the newest sessions lie in the newest
files. Then, each in processes of its own:

- the app in a pty on an empty store, all of the tree before it: seconds from the start of the
  process until the screen stands, until the newest session's line is drawn, and until the lines of
  ten sessions are; meanwhile and until the whole is read, the longest times for which the screen's
  loop did not turn, and the memory of the process with all its children;
- cold ingest on the command line, by the fast counter where it is installed and by tiktoken; and
  of the peer, where it is found: ``agentsview sync``, which keeps messages and a full-text index;
- with that store: a rescan that finds nothing new (after imports), the app on the screen, and from
  a line that is appended until it is in the store.

Prints a table and one JSON line. ``--only`` names the parts to run: app, ingest, peer, full.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyte

from tests.benchmarks.append_latency import last_uuid, quantile, record
from tests.benchmarks.ingest import resident, tree_of
from tests.benchmarks.key_latency import SIZE, Terminal
from tests.benchmarks.trees import environment, make_tree

LINE = re.compile(r"\b(claude|codex|pi)\b")
"""What every session's line on the screen holds."""
TICK = 0.005
PATIENCE = 300.0

APP = """
import sys
from inspector.cli import main
sys.argv = ["ullage", "--db", {db!r}]
main()
"""
HEARTBEAT = """
import asyncio, json, sys, time
from inspector import app
class Beating(app.UllageApp):
    def on_mount(self):
        super().on_mount()
        self.run_worker(self.beat(), group="beat")
    async def beat(self):
        late, own, begun = [], [], time.perf_counter()
        while True:
            then, before = time.perf_counter(), time.process_time()
            await asyncio.sleep({tick})
            now, worked = time.perf_counter(), time.process_time() - before
            late.append(round((now - then - {tick}) * 1000, 1))
            own.append(min(late[-1], round(worked * 1000, 1)))
            done, total, _ = self.inquiry.progress()
            if total and done == total and now - begun > {least}:
                break
        beat = {{"seconds": now - begun, "late": sorted(late), "own": sorted(own)}}
        with open({result!r}, "w") as file:
            json.dump(beat, file)
        self.exit()
app.UllageApp = Beating
from inspector.cli import main
sys.argv = ["ullage", "--db", {db!r}]
main()
"""
INGEST = """
import sys
if {slow}: sys.modules["splintr"] = None
from inspector.cli import main
sys.argv = ["ullage", "ingest", "--json", "--db", {db!r}]
main()
"""
RESCAN = """
import json, time
import inspector.usecases
from inspector.settings import load_settings
from inspector.usecases import open_usecases
loaded = load_settings({{"db": {db!r}}})
begun = time.perf_counter()
usecases = open_usecases(loaded)
report = usecases.ingest()
taken = time.perf_counter() - begun
usecases.close()
print(json.dumps([taken, report.files, report.records]))
"""
WATCH = """
import sys
from inspector.cli import main
sys.argv = ["ullage", "watch", "--db", {db!r}]
main()
"""


class Peak:
    """The largest memory of a process with all its children, while it runs."""

    def __init__(self, pid: int) -> None:
        self.megabytes = 0.0
        self._pid = pid
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._stop.wait(0.05):
            held = sum(resident(pid) for pid in tree_of(self._pid)) / 2**20
            self.megabytes = max(self.megabytes, held)

    def end(self) -> float:
        self._stop.set()
        self._thread.join()
        return round(self.megabytes, 1)


def fresh(folder: Path, name: str) -> Path:
    """A place for a store where none is."""
    for old in folder.glob(f"{name}*"):
        old.unlink()
    return folder / name


class Screen:
    """A program in a pty, and what stands on its screen."""

    def __init__(self, script: str, home: Path) -> None:
        root = Path(__file__).resolve().parents[2]
        self.begun = time.perf_counter()
        self.terminal = Terminal([sys.executable, "-c", script], root, environment(home))
        self._screen = pyte.Screen(*SIZE)
        self._stream = pyte.ByteStream(self._screen)

    def until(self, there: Callable[[list[str]], bool]) -> float:
        """Seconds since the start of the process when this stood on the screen."""
        end = time.perf_counter() + PATIENCE
        while time.perf_counter() < end:
            data = self.terminal.wait(1)
            arrived = time.perf_counter() - self.begun
            if data:
                self._stream.feed(data)
                if there(self._screen.display):
                    return arrived
        raise TimeoutError("\n".join(self._screen.display))

    def leave(self) -> None:
        with suppress(OSError):  # it has ended by itself
            self.terminal.close(patience=60)


def lines(display: list[str]) -> int:
    """How many sessions' lines stand on the screen."""
    return sum(LINE.search(line) is not None for line in display[2:-2])


def app_starts(home: Path, folder: Path) -> dict[str, Any]:
    """The first seconds of the app on an empty store."""
    screen = Screen(APP.format(db=str(fresh(folder, "start.db"))), home)
    try:
        return {
            "screen_s": round(
                screen.until(lambda shown: any("sessions" in s for s in shown[:2])), 2
            ),
            "first_line_s": round(screen.until(lambda shown: lines(shown) >= 1), 2),
            "ten_lines_s": round(screen.until(lambda shown: lines(shown) >= 10), 2),
        }
    finally:
        screen.leave()


class Beats(NamedTuple):
    """How the screen's loop turned."""

    seconds: float
    late: list[float]
    """Milliseconds for which it did not turn, sorted."""
    own: list[float]
    """At most as many as the program itself worked meanwhile: what an idle machine would see."""
    peak_mb: float


def beats(home: Path, folder: Path, db: Path, least: float = 0) -> Beats:
    """The app until all is read, and at least so many seconds."""
    result = folder / "beat.json"
    result.unlink(missing_ok=True)
    script = HEARTBEAT.format(db=str(db), slow=False, result=str(result), tick=TICK, least=least)
    screen = Screen(script, home)
    peak = Peak(screen.terminal.pid)
    with suppress(OSError):  # it has ended
        while screen.terminal.runs() and time.perf_counter() - screen.begun < PATIENCE:
            screen.terminal.wait(0.2)
    memory = peak.end()
    screen.leave()
    beat = json.loads(result.read_text())
    return Beats(beat["seconds"], beat["late"], beat["own"], memory)


def _stalls(name: str, beat: Beats) -> dict[str, Any]:
    """On the clock, and of that what is this program's doing."""
    n = len(beat.late)
    late, own = (sum(ms > 100 for ms in stalls) for stalls in (beat.late, beat.own))
    return {
        f"{name}_worst_ms": f"{beat.late[-1]:g}, own {beat.own[-1]:g}",
        f"{name}_p99_ms": f"{beat.late[int(n * 0.99)]:g}, own {beat.own[int(n * 0.99)]:g}",
        f"{name}_above_100_ms": f"{late}, own {own} of {n}",
    }


def app_reads_all(home: Path, folder: Path, size: int) -> dict[str, Any]:
    """The app while it reads all: how late its loop was, how much memory it took."""
    beat = beats(home, folder, fresh(folder, "beat.db"))
    return {
        "app_reads_all_s": round(beat.seconds, 1),
        "app_reads_mb_s": round(size / 2**20 / beat.seconds, 1),
        **_stalls("stall", beat),
        "app_peak_mb": beat.peak_mb,
    }


def app_rests(home: Path, folder: Path, db: Path) -> dict[str, Any]:
    """The same while there is nothing to read: what the machine itself does to the loop."""
    return _stalls("stall_at_rest", beats(home, folder, db, least=10))


class Ran(NamedTuple):
    """What a program took."""

    seconds: float
    processor: float
    """Seconds, of all threads and of its children."""
    peak_mb: float
    out: str


def run(command: list[str], environ: dict[str, str]) -> Ran:
    """A program, to its end."""
    root = Path(__file__).resolve().parents[2]
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        command, cwd=root, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    peak = Peak(process.pid)
    out, _ = process.communicate(timeout=PATIENCE)
    taken, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(taken, processor, peak.end(), out)


def ingests(home: Path, db: Path, size: int, *, slow: bool) -> dict[str, Any]:
    """All of the tree into an empty store, interpreter start included."""
    name = "tiktoken" if slow else "fast"
    ran = run([sys.executable, "-c", INGEST.format(db=str(db), slow=slow)], environment(home))
    return _figures(f"ingest_{name}", ran, size)


def _figures(name: str, ran: Ran, size: int) -> dict[str, Any]:
    return {
        f"{name}_s": round(ran.seconds, 1),
        f"{name}_mb_s": round(size / 2**20 / ran.seconds, 1),
        f"{name}_processor_s": round(ran.processor, 1),
        f"{name}_peak_mb": ran.peak_mb,
    }


def peer(program: str, home: Path, folder: Path, size: int) -> dict[str, Any]:
    """The same tree into the peer's store, by its own command."""
    place = folder / "peer"
    shutil.rmtree(place, ignore_errors=True)
    environ = environment(home) | {"AGENTSVIEW_DATA_DIR": str(place), "AGENTSVIEW_NO_DAEMON": "1"}
    ran = run([program, "sync"], environ)
    held = sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) / 2**20
    said = " ".join(ran.out.split())[-80:]
    return _figures("peer", ran, size) | {"peer_store_mb": round(held), "peer_said": said}


def nothing_new(home: Path, db: Path) -> dict[str, Any]:
    """A look at everything that finds nothing."""
    seconds = []
    for _ in range(3):
        ran = run([sys.executable, "-c", RESCAN.format(db=str(db))], environment(home))
        taken, files, records = json.loads(ran.out.splitlines()[-1])
        assert not records, "a rescan found something"
        seconds.append(taken)
    return {"rescan_s": round(statistics.median(seconds), 3), "rescan_files": files}


def app_opens(home: Path, db: Path) -> dict[str, Any]:
    """The app on a store that holds all."""
    seconds = []
    for _ in range(3):
        screen = Screen(APP.format(db=str(db)), home)
        seconds.append(screen.until(lambda shown: lines(shown) >= 10))
        screen.leave()
    return {"full_store_lines_s": round(statistics.median(seconds), 2)}


def appends(home: Path, db: Path, logs: list[Path], count: int = 20) -> dict[str, Any]:
    """From a line at the end of the newest log of Claude Code until it is committed, while all of
    the tree is watched."""
    log = next(path for path in logs if ".claude" in path.parts)
    whole = log.read_bytes()
    root = Path(__file__).resolve().parents[2]
    watching = subprocess.Popen(
        [sys.executable, "-c", WATCH.format(db=str(db))],
        cwd=root,
        env=environment(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    taken = []
    parent = last_uuid(log)
    try:
        with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as store:
            time.sleep(5)
            for number in range(count):
                row = record(number, f"word{number:04}x", parent, log.stem)
                before = _records(store)
                begun = time.perf_counter()
                with log.open("ab", buffering=0) as file:
                    file.write(row)
                while _records(store) == before and time.perf_counter() - begun < 30:
                    time.sleep(0.002)
                taken.append(time.perf_counter() - begun)
                parent = f"bench-{number}"
                time.sleep(0.3)
    finally:
        watching.terminate()
        watching.wait(60)
        stamp = log.stat().st_mtime_ns
        log.write_bytes(whole)
        os.utime(log, ns=(stamp, stamp))
    return {
        "append_stored_ms_p50": round(quantile(taken, 0.5) * 1000),
        "append_stored_ms_p95": round(quantile(taken, 0.95) * 1000),
    }


def _records(store: sqlite3.Connection) -> int:
    return int(store.execute("SELECT max(id) FROM records").fetchone()[0])


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--megabytes", type=int, default=370)
    parser.add_argument("--peer", default=shutil.which("agentsview"))
    parser.add_argument("--only", nargs="*", choices=["app", "ingest", "peer", "full"])
    asked = parser.parse_args()
    parts = set(asked.only or ("app", "ingest", "peer", "full"))
    folder = asked.folder.resolve()
    home = folder / "home"
    logs, size = make_tree(home, asked.megabytes)
    figures: dict[str, Any] = {"files": len(logs), "mb": round(size / 2**20, 1)}

    def tell(found: dict[str, Any]) -> None:
        for name, value in found.items():
            print(f"{name:24} {value!s:>12}", flush=True)
        figures.update(found)

    tell(dict(figures))
    if "app" in parts:
        tell(app_starts(home, folder))
        tell(app_reads_all(home, folder, size))
    if "peer" in parts and asked.peer:
        tell(peer(asked.peer, home, folder, size))
    if "ingest" in parts:
        tell(ingests(home, fresh(folder, "slow.db"), size, slow=True))
        tell(ingests(home, fresh(folder, "full.db"), size, slow=False))
    if "full" in parts and (folder / "full.db").exists():
        tell(nothing_new(home, folder / "full.db"))
        tell(app_opens(home, folder / "full.db"))
        tell(app_rests(home, folder, folder / "full.db"))
        tell(appends(home, folder / "full.db", logs))
    for name in ("fast", "tiktoken"):
        if {"peer_s", f"ingest_{name}_s"} <= figures.keys():
            tell({f"{name}_to_peer": round(figures[f"ingest_{name}_s"] / figures["peer_s"], 2)})
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
