"""The command line as a function, and a store that holds the bundled session."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from inspector import cli
from inspector.cli_shell import Opener, Shell
from inspector.demo import demo_home
from inspector.usecases import UseCases
from tests.inspector.logs import usecases

SESSION = "7c1de4a2-3b5f-4d0e-9a68-52f0c7b91e34"
BEFORE_COMPACTION = 122
"""The newest event before the bundled session's own compaction."""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        return json.loads(self.out)


Ullage = Callable[..., Outcome]


@pytest.fixture
def cases(tmp_path: Path) -> Iterator[UseCases]:
    """Use-cases over an empty store in memory."""
    opened = usecases(":memory:", tmp_path)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that holds the bundled session; read only."""
    folder = tmp_path_factory.mktemp("store")
    db = folder / "store.db"
    shell = Shell(flags={"db": str(db)})
    assert cli.run(["ingest", str(demo_home(folder)), "--json"], shell) == 0
    return db


@pytest.fixture
def ullage(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Ullage:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("ULLAGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")

    def run(
        *arguments: object, db: Path | str = ":memory:", opener: Opener | None = None
    ) -> Outcome:
        capfd.readouterr()
        words = [str(word) for word in arguments]
        shell = Shell(flags={"db": str(db)}, now=lambda: 1_777_300_000.0)
        shell.opener = opener or shell.opener
        code = cli.run(words, shell)
        out, err = capfd.readouterr()
        return Outcome(code, out, err)

    return run
