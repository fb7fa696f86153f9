"""Exports that are killed: whatever they leave, the next one loses nothing and doubles nothing."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.pins import PinError
from inspector.usecases import UseCases
from tests.conftest import REPOSITORY
from tests.inspector.lakes import exported, files, rows, stored, views
from tests.inspector.logs import NAME, Log, usecases

_WRITING = {"open", "os.link", "os.remove", "os.mkdir"}


class Killed(BaseException):
    """Ends an export as a kill does: nothing of the program's own can catch it."""


class _Fuse:
    """Raises before a step on files below a folder; a hook, once added, stays for good."""

    def __init__(self) -> None:
        self.folder = ""
        self.left = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.folder or event not in _WRITING or (event == "open" and not _writes(arguments)):
            return
        if str(arguments[0]).startswith(self.folder):
            self.left -= 1
            if self.left < 0:
                self.folder = ""
                raise Killed

    @contextmanager
    def burning(self, folder: Path, steps: int) -> Iterator[None]:
        self.folder, self.left = str(folder), steps
        try:
            yield
        finally:
            self.folder = ""


def _writes(arguments: tuple[Any, ...]) -> bool:
    return bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


FUSE = _Fuse()
sys.addaudithook(FUSE)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    log = Log(tmp_path)
    for day in range(1, 3):
        log.user(f"question {day}", timestamp=f"2026-01-0{day}T12:00:00.000Z")
        log.assistant(
            {"type": "text", "text": f"answer {day}"}, timestamp=f"2026-01-0{day}T12:00:01.000Z"
        )
    return log


def test_an_export_that_ends_before_any_step_is_finished_by_the_next(
    log: Log, tmp_path: Path
) -> None:
    cases = usecases(tmp_path / "own.db", tmp_path)
    cases.ingest([log.path])
    cases.pin(NAME, [2])
    exported(cases, tmp_path / "whole", rows=6)
    expected = plain_rows(tmp_path / "whole")
    lake, steps, killed = tmp_path / "lake", 0, True
    while killed:
        shutil.rmtree(lake, ignore_errors=True)
        killed = False
        with FUSE.burning(lake, steps):
            try:
                exported(cases, lake, rows=6)
            except Killed:
                killed = True
        exported(cases, lake, rows=6)
        assert plain_rows(lake) == expected, steps
        assert not list((lake / "_ullage" / "staging").iterdir()), steps
        if killed and steps % 5 == 0:
            before = files(lake)
            assert exported(cases, lake, rows=6).files == 0
            assert files(lake) == before
        steps += 1
    assert steps > 20
    cases.close()


def plain_rows(folder: Path) -> list[tuple[str, str]]:
    """Each row with its partition; not by a query, which takes longer, since it is done often."""
    found = []
    for path in folder.rglob("*.parquet"):
        with path.open("rb") as file:
            table = pq.ParquetFile(file).read(use_threads=False)
        found += [(str(path.parent.relative_to(folder)), repr(row)) for row in table.to_pylist()]
    return sorted(found)


ACTIONS = st.lists(
    st.sampled_from(["grow", "restart", "pin", "export", "killed", "killed"]),
    min_size=3,
    max_size=7,
)


@settings(max_examples=8)
@given(actions=ACTIONS, steps=st.lists(st.integers(0, 40), min_size=7, max_size=7))
def test_whatever_happens_between_exports_what_stands_in_a_lake_stands_in_the_store(
    actions: list[str], steps: list[int]
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        log = Log(folder)
        log.user("begin")
        cases = usecases(folder / "own.db", folder)
        cases.ingest([log.path])
        for number, (action, step) in enumerate(zip(actions, steps, strict=False)):
            if action == "grow":
                log.step(number, size=1)
            elif action == "restart":
                _begin_anew(log)
            elif action == "pin":
                with suppress(PinError):  # twice the same
                    cases.pin(NAME, [2])
            cases.ingest([log.path])
            if action in ("export", "killed"):
                with (
                    FUSE.burning(folder / "lake", step if action == "killed" else 1_000_000),
                    suppress(Killed),
                ):
                    exported(cases, folder / "lake", rows=3)
        exported(cases, folder / "lake", rows=3)
        with views(folder / "lake") as connection:
            found = connection.sql("SELECT session, generation, seq FROM events").fetchall()
            points = connection.sql("SELECT id, revision, open FROM decisions").fetchall()
        assert sorted(found, key=repr) == stored(cases)
        now = [row.point for row in cases.decisions(NAME).rows]
        assert sorted(points) == sorted((p.id, p.revision, p.open) for p in now)
        keys = rows(folder / "lake", "events", "session, generation, seq, revision")
        assert len(keys) == len(set(keys))
        cases.close()


def _begin_anew(log: Log) -> None:
    """The log is written again without its last record, if it has more than one."""
    lines = log.path.read_bytes().splitlines(keepends=True)
    log.path.write_bytes(b"".join(lines[: max(1, len(lines) - 1)]))


_EXPORT = """
import sys
from pathlib import Path
from tests.inspector.lakes import exported
from tests.inspector.logs import usecases
import inspector.lake_files, pyarrow, pyarrow.parquet
inspector.lake_files.columns()
folder = Path(sys.argv[1])
cases = usecases(folder / "own.db", folder)
print("ready", flush=True)
while True:
    exported(cases, folder / "lake", rows=20)
    sys.stdin.readline()
    print("done", flush=True)
"""


def test_exports_that_are_killed_while_the_store_grows_give_every_row_once(
    log: Log, tmp_path: Path
) -> None:
    cases = usecases(tmp_path / "own.db", tmp_path)
    chance = random.Random(5)
    for step in range(4):
        for number in range(8):
            log.step(100 * step + number, size=30)
        cases.ingest([log.path])
        _killed_after(tmp_path, chance.uniform(0.0, 0.25))
    exported(cases, tmp_path / "lake", rows=20)
    _same_rows(cases, tmp_path)
    cases.close()


def _killed_after(folder: Path, seconds: float) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _EXPORT, str(folder)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)


def _same_rows(cases: UseCases, folder: Path) -> None:
    exported(cases, folder / "fresh")
    found = rows(folder / "lake", "events", "session, generation, seq")
    assert found == stored(cases)
    assert rows(folder / "lake", "events") == rows(folder / "fresh", "events")
    versions = rows(folder / "lake", "decisions", "session, id, version")
    assert len(versions) == len(set(versions))
