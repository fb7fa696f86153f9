"""The order in which a backlog is read: the newest first, and what changes before all of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from storage.follow import Follower
from storage.ingest import Totals
from storage.watch import Stop

MEGABYTE = 1 << 20
PATIENCE = 60


class Reading:
    """An ingest that only notes what it is asked to read, and in how many batches."""

    def __init__(self, batches: Callable[[Path], int] = lambda _: 1) -> None:
        self.runs: list[list[str]] = []
        self.batches: list[str] = []
        self.between: Callable[[str], None] = lambda _: None
        self._left: dict[Path, int] = {}
        self._batches = batches

    def log_of(self, path: Path) -> Path:
        return path

    def run(
        self,
        paths: Iterable[Path],
        progress: Callable[[int, int, Path], None] | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Totals:
        ordered = list(paths)
        self.runs.append([path.name for path in ordered])
        for done, path in enumerate(ordered, 1):
            left = self._left.setdefault(path, self._batches(path))
            while left:
                left = self._left[path] = left - 1
                self.batches.append(path.name)
                self.between(path.name)
                if stop():
                    break
            if progress is not None:
                progress(done, len(ordered), path)
            if stop():
                break
        return Totals()


def logs(folder: Path, sizes: Iterable[int]) -> list[Path]:
    made = []
    for number, size in enumerate(sizes):
        path = folder / f"{number:03}.jsonl"
        with path.open("wb") as file:
            file.truncate(size)
        made.append(path)
    return made


def read(reading: Any, backlog: list[Path]) -> Follower:
    follower = Follower(reading)
    follower.run(backlog, [], lambda _: True, threading.Event())
    return follower


def test_the_newest_are_read_one_by_one_then_more_and_more_together(tmp_path: Path) -> None:
    reading, backlog = Reading(), logs(tmp_path, [10] * 200)
    follower = read(reading, backlog)
    assert [len(run) for run in reading.runs] == [1, 1, 2, 4, 8, 16, 32, 64, 64, 8]
    assert [name for run in reading.runs for name in run] == [path.name for path in backlog]
    assert follower.progress == (200, 200, "")


def test_no_more_is_read_together_than_eight_megabytes(tmp_path: Path) -> None:
    reading = Reading()
    read(reading, logs(tmp_path, [3 * MEGABYTE] * 9))
    assert [len(run) for run in reading.runs] == [1, 1, 2, 2, 2, 1]


def test_a_file_that_vanished_stops_nothing(tmp_path: Path) -> None:
    reading, backlog = Reading(), logs(tmp_path, [1, 1, 1])
    backlog[1].unlink()
    assert read(reading, backlog).progress == (3, 3, "")


def test_what_changes_is_read_before_the_rest_and_nothing_is_left_out(tmp_path: Path) -> None:
    reading = Reading(lambda path: 3 if path.name == "005.jsonl" else 1)
    backlog = logs(tmp_path, [10] * 12)
    live = tmp_path / "live.jsonl"
    seen, ended = threading.Event(), threading.Event()

    def watching(_: Any, stop: Stop, __: Any) -> Iterable[set[Path]]:
        assert seen.wait(PATIENCE)
        yield {live}
        ended.set()
        yield set()

    def between(name: str) -> None:
        if name == "005.jsonl" and not seen.is_set():  # amid its three batches
            seen.set()
            assert ended.wait(PATIENCE)

    reading.between = between
    stop = threading.Event()
    follower = Follower(reading, watching=watching)  # type: ignore[arg-type]
    runner = threading.Thread(
        target=follower.run, args=(backlog, [tmp_path], lambda _: True, stop), daemon=True
    )
    runner.start()
    until = time.monotonic() + PATIENCE
    while follower.progress[0] < 12 and time.monotonic() < until:
        time.sleep(0.01)
    stop.set()
    runner.join(PATIENCE)
    names = [path.name for path in backlog]
    assert reading.batches == [*names[:6], "live.jsonl", names[5], names[5], *names[6:]]
