"""Hard files and folders through the whole program, by the number of their case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.usecases import UseCases
from storage.sources.registry import registry
from storage.store import Store
from tests.conftest import REPOSITORY
from tests.inspector.logs import Log, rows
from tests.storage.store_dump import dump

pytestmark = pytest.mark.hard


def test_r28_files_without_a_session_are_listed_with_a_reason(
    cases: UseCases, hard_inputs: Path
) -> None:
    reasons = {}
    for note in cases.ingest([hard_inputs / "R28"]).notes:
        path, _, why = note.partition(": ")
        reasons[Path(path).name] = why
    empty = "empty: no record yet"
    assert reasons.pop("session-y.json").startswith("not a whole document")
    assert reasons == {"zero.jsonl": empty, "nl.jsonl": empty, "session-x.json": empty}
    (stub,) = cases.sessions()
    assert (stub.title, stub.note) == ("t", "no event yet")
    assert sum(len(source.notes) for source in cases.doctor().sources) == 4, "and they stay"


def test_r28_a_file_that_fills_late_is_read_then(cases: UseCases, tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.path.touch()
    assert "empty" in cases.ingest([tmp_path]).notes[0]
    log.user("here at last")
    assert cases.ingest([tmp_path]).notes == ()
    assert [row.headline for row in rows(cases)] == ["here at last"]
    assert all(not source.notes for source in cases.doctor().sources)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_r37_traps_are_named_and_real_projects_shown(cases: UseCases, hard_inputs: Path) -> None:
    report = cases.ingest([hard_inputs / "R37/projects"])
    why = {Path(note.partition(": ")[0]).name: note.partition(": ")[2] for note in report.notes}
    assert why["dangling"] == "is a link to nothing"
    assert why["self"] == "is a link that cannot be followed"
    assert why["pipe.jsonl"] == "is a named pipe, not a file"
    projects = {Path(row.path).parent.name for row in cases.sessions()}
    assert {"-p-one", "-p-two"} <= projects
    assert len(cases.sessions()) == report.files, "no file twice by its links"


def test_r36_without_events_of_the_system_the_watching_says_so(
    cases: UseCases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: object, **__: object) -> Iterator[object]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr("watchfiles.watch", exhausted)
    log = Log(tmp_path)
    log.user("before")
    stop = threading.Event()
    thread = threading.Thread(target=cases.watch, args=([tmp_path], stop))
    thread.start()
    try:
        deadline = time.monotonic() + 60
        while not all(cases.progress()):  # files done, files in all, the note
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        stop.set()
        thread.join()
    assert "OS file watch limit reached" in cases.progress()[2]
    assert [row.headline for row in rows(cases)] == ["before"]


def test_r39_all_of_many_files_are_listed_and_closed(cases: UseCases, hard_inputs: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("needs /proc")
    cases.ingest([hard_inputs / "R44"])
    before = len(list(descriptors.iterdir()))
    report = cases.ingest([hard_inputs / "R39"])
    assert report.files >= 200
    assert len(cases.sessions()) == report.files + 2
    assert len(list(descriptors.iterdir())) <= before


def test_r42_a_session_in_both_stores_of_opencode_is_shown_once_from_the_newer(
    cases: UseCases, hard_inputs: Path
) -> None:
    for _ in range(2):
        notes = cases.ingest([hard_inputs / "R42"]).notes
        stores = {row.id: Path(row.path).name for row in cases.sessions()}
        assert stores == {
            "ses_both": "opencode.db",
            "ses_new": "opencode.db",
            "ses_old": "ses_old.json",
        }
        assert [note.rpartition("/")[2] for note in notes] == [
            "ses_both.json: its session stands in opencode.db, which is read instead"
        ]


def test_r41_no_text_depends_on_the_locale(hard_inputs: Path, tmp_path: Path) -> None:
    def ullage(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        # The library regex asks for the locale with each pattern, for a flag that nobody sets.
        passed = "ignore::EncodingWarning:regex._main"
        flags = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning", "-W", passed]
        store = ["--db", str(tmp_path / "store.db")]
        return subprocess.run(
            [sys.executable, *flags, "-m", "inspector.cli", *arguments, *store],
            cwd=REPOSITORY,
            env=os.environ | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
            capture_output=True,
            check=False,
        )

    commands = (
        ("ingest", str(hard_inputs / "R40")),
        ("sessions",),
        ("show", "last"),
        ("search", "question"),
        ("doctor",),
    )
    for command in commands:
        done = ullage(*command)
        assert (done.returncode, done.stderr) == (0, b""), command
    assert b"\\u4f60\\u597d" in ullage("sessions", "--json").stdout


def test_ctrl_c_leaves_a_store_that_a_later_run_completes(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(12):
        log = Log(logs, f"session-{number:02}")
        for step in range(60):
            log.step(step, size=200)
        os.utime(log.path, (1_767_312_000 + number, 1_767_312_000 + number))
    broken, whole = tmp_path / "broken.db", tmp_path / "whole.db"

    def command(db: Path) -> list[str]:
        return [sys.executable, "-m", "inspector.cli", "ingest", str(logs), "--db", str(db)]

    with subprocess.Popen(command(broken), cwd=REPOSITORY, stderr=subprocess.PIPE) as process:
        while not broken.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert b"Traceback" not in err
    for db in (broken, whole):
        subprocess.run(command(db), cwd=REPOSITORY, check=True, capture_output=True)
    contents = []
    for db in (broken, whole):
        store = Store(db, registry())
        contents.append(dump(store))
        store.close()
    assert contents[0] == contents[1]
