"""The watcher: hints are taken, and nothing is missed where there are none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from storage.watch import Stop, Watcher, files_below, watch


class Moves:
    """A stop that is set after the given moves; each ``is_set`` and each sleep makes the next."""

    def __init__(self, *moves: Callable[[], object]) -> None:
        self._moves = list(moves)

    def step(self) -> None:
        if self._moves:
            self._moves.pop(0)()

    def is_set(self) -> bool:
        return not self._moves


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def relative(sets: list[set[Path]], root: Path) -> list[list[str]]:
    return [sorted(str(path.relative_to(root)) for path in paths) for paths in sets if paths]


def no_events(folders: list[Path], stop: Stop, timeout: int) -> Iterator[set[Path]]:
    raise OSError("OS file watch limit reached")
    yield set()


def write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_r36_without_events_the_sweep_sees_each_change_and_a_note_says_so(tmp_path: Path) -> None:
    write(tmp_path / "old.jsonl")
    moves = Moves(
        lambda: write(tmp_path / "new" / "a.jsonl"),
        lambda: write(tmp_path / "old.jsonl", "longer"),
        (tmp_path / "old.jsonl").unlink,
    )
    watcher = Watcher([tmp_path], events=no_events, sleep=lambda _: moves.step())
    assert relative(list(watcher.changes(moves)), tmp_path) == [
        ["new/a.jsonl"],
        ["old.jsonl"],
        ["old.jsonl"],
    ]
    assert watcher.note is not None
    assert "OS file watch limit reached" in watcher.note


def test_events_are_hints_and_stat_is_the_truth(tmp_path: Path) -> None:
    touched = tmp_path / "same.jsonl"
    write(touched)

    def events(folders: list[Path], stop: Stop, timeout: int) -> Iterator[set[Path]]:
        yield {touched}  # nothing about it has changed
        write(touched, "more")
        yield {touched}
        yield {tmp_path / "never-was.jsonl"}

    moves = Moves(lambda: None)
    watcher = Watcher([tmp_path], events=events)
    changes = watcher.changes(moves)
    assert [next(changes) for _ in range(3)] == [set(), {touched}, set()]


def test_a_hint_of_a_folder_stands_for_the_files_in_it(tmp_path: Path) -> None:
    def events(folders: list[Path], stop: Stop, timeout: int) -> Iterator[set[Path]]:
        write(tmp_path / "new" / "a.jsonl")
        yield {tmp_path / "new"}

    changes = Watcher([tmp_path], events=events).changes(Moves(lambda: None))
    assert next(changes) == {tmp_path / "new" / "a.jsonl"}


def test_r39_a_sweep_runs_only_when_it_is_due(tmp_path: Path) -> None:
    sweeps: list[Path] = []

    def sweep(root: Path) -> Iterator[Path]:
        sweeps.append(root)
        return files_below(root)

    clock = Clock()

    def events(folders: list[Path], stop: Stop, timeout: int) -> Iterator[set[Path]]:
        for _ in range(100):
            yield set()
        clock.now += 5
        write(tmp_path / "unnoticed.jsonl")
        yield set()

    watcher = Watcher([tmp_path], sweep=sweep, events=events, clock=clock, sweep_seconds=3)
    changes = watcher.changes(Moves(lambda: None))
    quiet = [next(changes) for _ in range(100)]
    assert (quiet, len(sweeps)) == ([set()] * 100, 1)
    assert next(changes) == {tmp_path / "unnoticed.jsonl"}
    assert len(sweeps) == 2


def test_a_root_may_come_late_and_go_again(tmp_path: Path) -> None:
    root = tmp_path / "late"
    watched: list[list[Path]] = []

    def events(folders: list[Path], stop: Stop, timeout: int) -> Iterator[set[Path]]:
        watched.append(folders)
        (root / "a.jsonl").unlink()
        root.rmdir()
        yield set()

    moves = Moves(lambda: None, lambda: write(root / "a.jsonl"), lambda: None, lambda: None)
    watcher = Watcher([root], events=events, sleep=lambda _: moves.step())
    assert relative(list(watcher.changes(moves)), root) == [["a.jsonl"], ["a.jsonl"]]
    assert watched == [[root]]
    assert watcher.note is None


def test_r37_a_folder_that_links_back_to_itself_is_looked_at_once(tmp_path: Path) -> None:
    write(tmp_path / "p" / "s.jsonl")
    (tmp_path / "p" / "loop").symlink_to("..")
    (tmp_path / "self").symlink_to("self")
    assert list(files_below(tmp_path)) == [tmp_path / "p" / "s.jsonl"]


def test_real_events_arrive(tmp_path: Path) -> None:
    stop = threading.Event()
    log = tmp_path / "s.jsonl"

    def keep_writing() -> None:
        while not stop.wait(0.05):
            with log.open("a", encoding="utf-8") as file:
                file.write("x")

    writer = threading.Thread(target=keep_writing)
    writer.start()
    found: set[Path] = set()
    for paths in watch([tmp_path], stop):
        found |= paths
        if log in found:
            stop.set()
    writer.join()
    assert found == {log}


@pytest.mark.parametrize("roots", [[], ["missing"]])
def test_without_a_root_it_waits_instead_of_failing(tmp_path: Path, roots: list[str]) -> None:
    moves = Moves(lambda: None, lambda: None)
    watcher = Watcher([tmp_path / root for root in roots], sleep=lambda _: moves.step())
    assert list(watcher.changes(moves)) == [set(), set()]
