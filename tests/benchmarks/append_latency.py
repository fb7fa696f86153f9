"""From an append to a log until it can be seen in a terminal.

    python -m tests.benchmarks.append_latency [--appends 60]

Starts the app in a pty on a copy of a corpus session (or a made one), opens the session, appends
records with a word of their own, and waits for the word to be drawn. Baseline in the same run:
the same append noticed by a bare ``watchfiles`` loop that does nothing else. Also prints the time
from the start of the process to the first drawn session, with a store that is full already.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import pexpect
from watchfiles import watch

CORPUS = Path(os.environ.get("ULLAGE_CORPUS", "../shared/corpus"))
SIZE = (48, 160)


def record(number: int, word: str, parent: str, session: str) -> bytes:
    """A user's message of one word."""
    row = {
        "type": "user",
        "uuid": f"bench-{number}",
        "parentUuid": parent,
        "sessionId": session,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        "isSidechain": False,
        "message": {"role": "user", "content": word},
    }
    return json.dumps(row).encode() + b"\n"


def last_uuid(log: Path) -> str:
    """The uuid of the last record that has one."""
    found = ""
    for line in log.read_bytes().splitlines():
        found = json.loads(line).get("uuid", found)
    return found


def start(log: Path, db: Path) -> tuple[pexpect.spawn, float]:
    """The app in a pty, and the seconds until it has drawn the session's line."""
    begun = time.perf_counter()
    child = pexpect.spawn(
        sys.executable,
        ["-m", "inspector.cli", "--db", str(db), str(log)],
        dimensions=SIZE,
        env={**os.environ, "TEXTUAL_ANIMATIONS": "none", "TERM": "xterm-256color"},
        timeout=60,
    )
    child.expect("claude")
    return child, time.perf_counter() - begun


def append_and_wait(child: pexpect.spawn, log: Path, row: bytes, word: str) -> float:
    """Seconds from the write until the word is drawn."""
    with log.open("ab", buffering=0) as file:
        begun = time.perf_counter()
        file.write(row)
    child.expect_exact(word)
    return time.perf_counter() - begun


def bare(folder: Path, appends: int) -> list[float]:
    """The same with a loop that only watches."""
    log = folder / "bare.jsonl"
    log.touch()
    seen, stop, ready = threading.Event(), threading.Event(), threading.Event()

    def run() -> None:
        ready.set()
        for _ in watch(folder, debounce=100, step=20, stop_event=stop):
            seen.set()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait()
    time.sleep(1)
    found = []
    for number in range(appends):
        seen.clear()
        begun = time.perf_counter()
        with log.open("ab", buffering=0) as file:
            file.write(b"%d\n" % number)
        seen.wait(10)
        found.append(time.perf_counter() - begun)
        time.sleep(0.3)
    stop.set()
    thread.join()
    return found


def quantile(values: list[float], share: float) -> float:
    """Nearest rank."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, round(share * (len(ranked) - 1)))]


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--appends", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = CORPUS / "claude" / "entire-skills-2.1.108-long.jsonl"
        logs = folder / "logs"
        logs.mkdir()
        log = logs / source.name
        shutil.copy(source, log)
        db = folder / "store.db"
        child, cold = start(log, db)
        child.send("\r")
        child.expect("surface")
        time.sleep(3)
        parent, latencies = last_uuid(log), []
        for number in range(options.appends):
            word = f"word{number:04}x"
            row = record(number, word, parent, source.stem)
            latencies.append(append_and_wait(child, log, row, word))
            parent = f"bench-{number}"
            time.sleep(0.3)
        child.sendcontrol("q")
        child.expect(pexpect.EOF)
        child, warm = start(log, db)
        child.sendcontrol("q")
        child.expect(pexpect.EOF)
        watching = bare(folder / "logs", options.appends)
    figures = {
        "appends": len(latencies),
        "append_to_visible_ms_p50": round(quantile(latencies, 0.5) * 1000),
        "append_to_visible_ms_p95": round(quantile(latencies, 0.95) * 1000),
        "bare_watch_ms_p50": round(quantile(watching, 0.5) * 1000),
        "bare_watch_ms_p95": round(quantile(watching, 0.95) * 1000),
        "first_paint_cold_s": round(cold, 2),
        "first_paint_full_store_s": round(warm, 2),
    }
    for key, value in figures.items():
        print(f"{key:28} {value:>8}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
