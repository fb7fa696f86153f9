"""Clocks that jump, and folders that go and come again, while a session is watched (R16, R34)."""

from __future__ import annotations

import itertools
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from inspector.usecases import UseCases
from tests.inspector.logs import NAME, Log, rows, usecases
from tests.waiting import PATIENCE, eventually

NOW = 1_780_000_000.0


@contextmanager
def watching(cases: UseCases, folder: Path) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=cases.watch, args=([folder], stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive(), "what watches ends when it is told to"


def said(cases: UseCases, name: str = NAME) -> list[str]:
    if name not in [row.id for row in cases.sessions()]:
        return []
    return [row.headline for row in rows(cases, name)]


def test_operations_stand_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for number in range(4):
        log.user(f"question {number}")
        log.assistant({"type": "text", "text": f"answer {number}"})
    times = itertools.chain([NOW, NOW - 86_400, NOW + 86_400], itertools.repeat(NOW - 1e9))
    told = {"now": next(times)}
    cases = usecases(tmp_path / "store.db", tmp_path, clock=lambda: told["now"])
    cases.ingest([tmp_path])
    made = []
    for seq in [row.seq for row in rows(cases)][:4]:
        made.append(cases.pin(NAME, [seq]).operation)
        told["now"] = next(times)
    pinned = [row.operation for row in cases.audit(NAME) if row.origin == "user"]
    assert sorted(map(str, pinned)) == sorted(map(str, made))
    assert pinned in (made, made[::-1])
    cases.close()
    again = usecases(tmp_path / "store.db", tmp_path, clock=lambda: NOW - 2e9)
    assert [row.operation for row in again.audit(NAME) if row.origin == "user"] == pinned
    assert again.verify().findings == ()
    again.close()


def test_a_clock_that_jumps_while_watching_keeps_nothing_waiting(tmp_path: Path) -> None:
    jumps = itertools.cycle((0.0, 86_400.0, -86_400.0, 1e9, -1e9))
    cases = usecases(
        tmp_path / "store.db", tmp_path, clock=lambda: time.time() + next(jumps), poll_interval=0.2
    )
    logs = tmp_path / "logs"
    logs.mkdir()
    log = Log(logs)
    log.user("first", timestamp="2126-01-02T03:00:00.000Z")
    with watching(cases, logs):
        for number, stamp in enumerate(("2026-01-02", "1999-01-02", "2199-12-31", "never")):
            log.user(f"message {number}", timestamp=f"{stamp}T03:04:05.000Z")
            os.utime(log.path, (number * 1e8, number * 1e8))
            expected = ["first", *(f"message {n}" for n in range(number + 1))]
            assert eventually(lambda wanted=expected: said(cases) == wanted)
    cases.close()


@pytest.mark.parametrize("ahead", [-3_600.0, 3_600.0], ids=["past", "future"])
def test_a_last_line_without_an_end_is_read_whatever_its_files_time_says(
    tmp_path: Path, ahead: float
) -> None:
    """Written before the clock was set back, a file lies in the future, and is at rest."""
    log = Log(tmp_path)
    log.user("whole")
    log.user("without a newline")
    log.path.write_bytes(log.path.read_bytes().rstrip(b"\n"))
    os.utime(log.path, (NOW + ahead, NOW + ahead))
    cases = usecases(":memory:", tmp_path, clock=lambda: NOW)
    cases.ingest([tmp_path])
    assert said(cases) == ["whole", "without a newline"]
    cases.close()


def test_a_root_that_is_removed_and_made_again_is_watched_on(tmp_path: Path) -> None:
    """The new files may well get the numbers that the old ones had in the file system."""
    cases = usecases(tmp_path / "store.db", tmp_path, poll_interval=0.2)
    root = tmp_path / "logs"
    root.mkdir()
    Log(root, "before").user("before it went")
    with watching(cases, root):
        assert eventually(lambda: said(cases, "before") == ["before it went"])
        for turn in range(2):
            shutil.rmtree(root)
            assert eventually(
                lambda: all(s.gone for s in cases._store.sessions()) and bool(cases.sessions())
            )
            root.mkdir()
            later = Log(root, f"later-{turn}")
            later.user("after it came")
            name = f"later-{turn}"
            assert eventually(lambda wanted=name: said(cases, wanted) == ["after it came"])
            later.user("and it grows")
            assert eventually(lambda wanted=name: len(said(cases, wanted)) == 2)
    assert said(cases, "before") == ["before it went"], "what was read stays"
    cases.close()


def test_a_log_that_is_moved_away_with_its_folder_and_back_is_the_same_session(
    tmp_path: Path,
) -> None:
    cases = usecases(tmp_path / "store.db", tmp_path, poll_interval=0.2)
    root, away = tmp_path / "logs", tmp_path / "away"
    root.mkdir()
    log = Log(root)
    log.user("one")
    with watching(cases, root):
        assert eventually(lambda: said(cases) == ["one"])
        root.rename(away)
        assert eventually(lambda: cases._store.sessions()[0].gone)
        away.rename(root)
        log.user("two")
        assert eventually(lambda: said(cases) == ["one", "two"])
    assert len(cases.sessions()) == 1
    cases.close()
