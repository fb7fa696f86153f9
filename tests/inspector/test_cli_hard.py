"""Whatever a log holds, a command prints clean text or refuses in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector import cli
from inspector.cli_shell import Shell
from inspector.sanitize import clean

COMMANDS = (["show"], ["pressure"], ["show", "--messages"], ["audit"], ["compact", "--micro"])
MOST_EVENTS = 5_000
"""Sessions above this are the business of the tests of size."""


@pytest.mark.hard
@pytest.mark.slow
def test_hard_inputs_are_printed_clean_or_refused(
    hard_inputs: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    flags = {"db": str(tmp_path / "hard.db")}

    def run(*words: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = cli.run(words, Shell(flags=dict(flags)))
        return (code, *capfd.readouterr())

    assert run("ingest", str(hard_inputs))[0] == 0
    rows = json.loads(run("sessions", "--json")[1])
    assert len(rows) > 100
    wrong = []
    for number, row in enumerate(row for row in rows if row["events"] < MOST_EVENTS):
        command = COMMANDS[number % len(COMMANDS)]
        code, out, err = run(command[0], row["id"], *command[1:])
        refused = code == 1 and out == "" and "unexpected" not in err
        if not (refused or code == 0) or out != clean(out) or err != clean(err):
            wrong.append((row["id"], command, code, err))
    assert wrong == []
