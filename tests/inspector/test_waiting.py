"""A large backlog: its newest sessions are listed, and can be opened, before they are read."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.app import UllageApp
from inspector.reports import SessionRow
from inspector.screens.session import SessionScreen
from inspector.usecases import UseCases
from tests.inspector.logs import Log, usecases
from tests.inspector.stage import settle, text_of

PATIENCE = 60
NAMES = [f"{number:08x}-bbbb-cccc-dddd-eeeeeeeeeeee" for number in range(6)]


@pytest.fixture
def cases(tmp_path: Path) -> Iterator[UseCases]:
    """Use-cases to which any backlog is large, over six logs, the last named the newest."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        log = Log(folder, name)
        log.user(f"Task {number}")
        log.step(number)
        os.utime(log.path, (1.7e9 + number, 1.7e9 + number))
    opened = usecases(tmp_path / "store.db", tmp_path)
    opened._reading._large = 1
    yield opened
    opened.close()


class Watch:
    """What is listed the first time that something is told, and whether all was read."""

    def __init__(self, cases: UseCases, folder: Path) -> None:
        self.first: list[SessionRow] = []
        self.opened = ""
        self._cases = cases
        cases.start_watching([folder], self._told)
        until = time.monotonic() + PATIENCE
        while cases.progress()[:2] != (6, 6) and time.monotonic() < until:
            time.sleep(0.01)
        cases.stop_watching()

    def _told(self) -> None:
        if not self.first:  # in the thread that reads, before it begins
            self.first = self._cases.sessions()
            self.opened = self._cases.find(self.first[2].id)
            self.then = self._cases.sessions()


def test_the_newest_are_listed_before_they_are_read(cases: UseCases, tmp_path: Path) -> None:
    watch = Watch(cases, tmp_path / "logs")
    assert [row.title for row in watch.first] == [f"Task {n}" for n in (5, 4, 3, 2, 1, 0)]
    assert {(row.agent, row.note, row.tokens, row.events) for row in watch.first} == {
        ("claude", "not read yet", None, 0)
    }
    assert all(row.id == row.path for row in watch.first)


def test_one_of_them_can_be_opened_before_the_rest(cases: UseCases, tmp_path: Path) -> None:
    watch = Watch(cases, tmp_path / "logs")
    assert watch.opened == NAMES[3]
    assert sorted(row.id for row in watch.then if row.note is None) == [NAMES[3]]
    assert sorted(row.title or "" for row in watch.then) == [f"Task {n}" for n in range(6)]


def test_once_all_is_read_the_list_is_the_stores(cases: UseCases, tmp_path: Path) -> None:
    Watch(cases, tmp_path / "logs")
    assert sorted(row.id for row in cases.sessions()) == NAMES
    assert all(row.tokens and row.note is None for row in cases.sessions())


def test_what_is_read_already_is_not_glimpsed_again(cases: UseCases, tmp_path: Path) -> None:
    logs = [tmp_path / "logs" / f"{name}.jsonl" for name in NAMES]
    cases.ingest(logs[:2])
    glimpse(cases, tmp_path / "logs")
    assert [row.path for row in cases._reading.waiting] == [str(log) for log in logs[:1:-1]]
    cases.ingest(logs[2:])
    cases._reading._glimpsed = ()
    glimpse(cases, tmp_path / "logs")
    assert cases._reading.waiting == ()


def glimpse(cases: UseCases, folder: Path) -> None:
    """As watching begins."""
    reading = cases._reading
    reading._glimpse(reading._locations.files([folder]).paths, threading.Event(), lambda: None)


async def test_enter_on_one_that_is_not_read_reads_and_shows_it(
    cases: UseCases, tmp_path: Path
) -> None:
    glimpse(cases, tmp_path / "logs")
    app = UllageApp(cases, clock=lambda: 1.8e9, rest=0.01)
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        assert "Task 5" in text_of(app)
        await pilot.press("enter")
        until = time.monotonic() + PATIENCE
        while not isinstance(app.screen, SessionScreen) and time.monotonic() < until:
            await pilot.pause(0.05)
        await settle(pilot)
        assert "content of file 5" in text_of(app) or "Looking at file 5" in text_of(app)
