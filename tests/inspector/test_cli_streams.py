"""What the command line does where its output ends: full disks, closed terminals, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli_shell import ENDING, OutputError, Shell, on_signals, put
from inspector.demo import ENDED, run_live, run_once
from inspector.usecases import UseCases
from tests.conftest import REPOSITORY
from tests.inspector.conftest import SESSION, Ullage

FULL = Path("/dev/full")
Opened = Callable[[Callable[[str], None]], None]


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize(
    "arguments",
    [("schema",), ("schema", "show"), ("show", SESSION, "--messages"), ("sessions", "--json")],
)
def test_a_full_disk_is_one_line(store: Path, arguments: tuple[str, ...]) -> None:
    on_store = () if arguments[0] == "schema" else ("--db", str(store))
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "inspector.cli", *arguments, *on_store],
            cwd=REPOSITORY,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "ullage: the output cannot be written: No space left on device.\n"


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("arguments", [("--help",), ("show", "--help"), ("--version",)])
def test_help_on_a_full_disk_is_one_line(arguments: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "inspector.cli", *arguments],
            cwd=REPOSITORY,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "written: No space left on device" in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this system")
def test_a_refusal_that_cannot_be_printed_is_told_all_the_same() -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "inspector.cli", "show", "none", "--json", "--db", ":memory:"],
            cwd=REPOSITORY,
            env={k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "Exception ignored" not in done.stderr


def test_ctrl_c_is_exit_code_130(ullage: Ullage) -> None:
    def interrupted(_: object) -> UseCases:
        raise KeyboardInterrupt

    outcome = ullage("sessions", opener=interrupted)
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")


def test_a_closed_stdout_is_no_error(store: Path) -> None:
    command = f"{sys.executable} -m inspector.cli sessions --db {store} >&-"
    done = subprocess.run(
        ["bash", "-c", command], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_only_what_is_written_to_the_output_is_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(_: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("builtins.print", no_space)
    with pytest.raises(OutputError, match="No space left on device"):
        put("text")


def test_two_forms_of_output_exclude_each_other(ullage: Ullage, store: Path) -> None:
    outcome = ullage("sessions", "--json", "--jsonl", db=store)
    assert (outcome.code, outcome.out) == (2, "")
    assert "--json and --jsonl exclude each other" in outcome.err


def test_signals_do_what_they_did_again_afterwards() -> None:
    heard: list[str] = []
    with on_signals((signal.SIGTERM,), lambda: heard.append("outer")):
        with on_signals((signal.SIGTERM,), lambda: heard.append("inner")):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
    assert heard == ["inner", "outer"]


def test_who_ignores_the_closing_of_a_terminal_outlives_it() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    heard: list[str] = []
    try:
        with on_signals((signal.SIGTERM,), lambda: heard.append("ended")):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == []


@pytest.mark.parametrize("number", ENDING)
def test_a_demo_whose_terminal_is_closed_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def app(_: UseCases, paths: tuple[Path, ...], opened: Opened) -> None:
        opened(lambda _: None)
        assert paths[0].is_relative_to(tmp_path)
        os.kill(os.getpid(), number)

    with pytest.raises(SystemExit):
        run_live(Shell(), 1.0, app)
    assert not list(tmp_path.iterdir())

    with pytest.raises(SystemExit):
        run_once(Shell(opener=lambda _: os.kill(os.getpid(), number)))  # type: ignore[arg-type, return-value]
    assert not list(tmp_path.iterdir())


def test_the_demo_says_when_its_replay_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told, said = threading.Event(), list[str]()

    def tell(text: str) -> None:
        said.append(text)
        told.set()

    def app(_: UseCases, __: tuple[Path, ...], opened: Opened) -> None:
        opened(tell)
        assert told.wait(60)

    run_live(Shell(), 1000.0, app)
    assert said == [ENDED]
    assert "ullage demo" in ENDED
    assert "Again: ullage demo" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_demo_that_is_left_early_says_nothing_of_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said: list[str] = []
    run_live(Shell(), 0.1, lambda _, __, opened: opened(said.append))
    assert said == []
