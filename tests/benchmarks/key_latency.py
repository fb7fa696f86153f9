"""How long a key takes from the keyboard to the terminal, with a million nodes on the surface.

The app runs in a pseudo-terminal of its own; the clock starts when a key's bytes are written and
stops when the first bytes of the answer come back, so that everything is in it: input parsing,
cursor, paint, diff, output. Each key is sent only after the terminal has been silent for a while.

    python -m tests.benchmarks.key_latency [--keys 200] [--json FILE]
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

SIZE = (160, 48)
QUIET = 0.12
"""Seconds of silence that mean that an answer is complete."""
KEYS = {"down": "j", "up": "k", "page down": "\x1b[6~", "page up": "\x1b[5~", "end": "\x1b[F",
        "home": "\x1b[H"}  # fmt: skip

APP = """
from datetime import UTC
from inspector.app import UllageApp
from tests.inspector.fakes import MillionUseCases
UllageApp(MillionUseCases(), session="s1", clock=lambda: 1.79e9, zone=UTC).run()
"""


class Terminal:
    """A process in a pseudo-terminal."""

    def __init__(
        self, command: list[str], cwd: Path, environment: dict[str, str] | None = None
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
        if environment is None:
            environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._process = subprocess.Popen(
            command, cwd=cwd, stdin=slave, stdout=slave, stderr=slave, env=environment
        )
        os.close(slave)

    @property
    def pid(self) -> int:
        return self._process.pid

    def runs(self) -> bool:
        return self._process.poll() is None

    def send(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait(self, seconds: float) -> bytes:
        """The next bytes; nothing where none came in time."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        return os.read(self._master, 1 << 16) if ready else b""

    def drain(self) -> int:
        """Read until the terminal is silent; how many bytes came."""
        size = 0
        while chunk := self.wait(QUIET):
            size += len(chunk)
        return size

    def close(self, patience: float = 10) -> None:
        """Quit; the process ends within so many seconds."""
        self.send("q")
        end = time.perf_counter() + patience
        # What nobody reads would keep the process from ending.
        with suppress(OSError):
            while self._process.poll() is None and time.perf_counter() < end:
                self.wait(0.05)
        self._process.wait(max(end - time.perf_counter(), 1))
        os.close(self._master)


def first_paint(terminal: Terminal, mark: bytes, started: float) -> float:
    """Seconds until ``mark`` stands on the screen."""
    seen = b""
    while mark not in seen:
        seen = (seen + terminal.wait(30))[-200_000:]
    return time.perf_counter() - started


def latency(terminal: Terminal, keys: str) -> tuple[float, int]:
    """Seconds to the first bytes of the answer, and the bytes of all of it."""
    terminal.drain()
    started = time.perf_counter()
    terminal.send(keys)
    first = terminal.wait(5)
    taken = time.perf_counter() - started
    return taken, len(first) + terminal.drain()


def measure(keys: int, report: Callable[[str], None]) -> Iterator[dict[str, object]]:
    """One row a kind of key; times in milliseconds."""
    root = Path(__file__).resolve().parents[2]
    started = time.perf_counter()
    terminal = Terminal([sys.executable, "-c", APP], root)
    try:
        paint = first_paint(terminal, b"#1000000", started)
        report(f"first paint, interpreter start included: {paint:.2f} s")
        yield {"key": "first paint", "n": 1, "p50_ms": paint * 1000, "p95_ms": paint * 1000}
        terminal.drain()
        terminal.send(KEYS["home"])
        terminal.drain()
        for name in ("down", "up", "page down", "page up"):
            samples = [latency(terminal, KEYS[name]) for _ in range(keys)]
            times = sorted(taken * 1000 for taken, _ in samples)
            yield {
                "key": name,
                "n": keys,
                "p50_ms": statistics.median(times),
                "p95_ms": times[min(int(0.95 * len(times)), len(times) - 1)],
                "bytes": statistics.median(size for _, size in samples),
            }
        jumps = [latency(terminal, KEYS[name]) for _ in range(10) for name in ("end", "home")]
        times = sorted(taken * 1000 for taken, _ in jumps)
        yield {
            "key": "end, home",
            "n": len(times),
            "p50_ms": statistics.median(times),
            "p95_ms": times[-2],
            "bytes": statistics.median(size for _, size in jumps),
        }
    finally:
        terminal.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--keys", type=int, default=100, help="keys of each kind")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    asked = parser.parse_args()
    rows = list(measure(asked.keys, lambda text: print(text, file=sys.stderr)))
    print(f"{'key':<12} {'n':>5} {'p50 ms':>8} {'p95 ms':>8} {'bytes':>8}")
    for row in rows:
        print(
            f"{row['key']:<12} {row['n']:>5} {row['p50_ms']:>8.1f} {row['p95_ms']:>8.1f} "
            f"{row.get('bytes', ''):>8}"
        )
    if asked.json:
        figures = {"size": SIZE, "nodes": 1_000_000, "rows": rows}
        asked.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
