"""Which commands make a store, and what the others say where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector import cli
from inspector.cli_shell import Shell
from inspector.demo import demo_home
from tests.inspector.conftest import SESSION, Ullage


@pytest.mark.parametrize(
    "arguments",
    [
        ("sessions",),
        ("show", "last"),
        ("pressure", "last"),
        ("artifacts", "last"),
        ("search", "harbour"),
        ("compact", "last"),
        ("pin", "last", "3"),
        ("unpin", "last", "3"),
        ("undo", "last"),
        ("redo", "last"),
        ("audit",),
        ("audit", "--verify"),
        ("decisions",),
        ("decisions", "--out", "new.csv"),
        ("export", "--lake", "lake"),
        ("pack", "harbour"),
        ("pack", "last", "harbour"),
        ("rebuild", "last"),
        ("resume", "last"),
        ("raw",),
        ("raw", "3f9a04c1"),
        ("raw", "last:3"),
        ("usage",),
    ],
)
def test_what_only_reads_makes_no_store_of_a_mistyped_name(
    ullage: Ullage, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    db = tmp_path / "mistyped.db"
    outcome = ullage(*arguments, db=db)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.count("\n") == 1
    assert f"There is no store at {db}: check the name." in outcome.err
    assert f"ullage ingest --db {db}" in outcome.err
    assert not list(tmp_path.glob("*.db*"))
    assert not list(tmp_path.glob("lake*"))


def test_the_usual_store_that_is_not_there_yet_leads_to_ingest(
    ullage: Ullage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert cli.run(["sessions"], Shell()) == 1
    said = capfd.readouterr().err
    assert "There is no store at" in said
    assert "yet. ullage ingest makes one" in said
    assert not (tmp_path / "data").exists()


def test_a_log_that_is_named_makes_the_store_that_it_is_read_into(
    ullage: Ullage, tmp_path: Path
) -> None:
    log = next(demo_home(tmp_path).rglob(f"{SESSION}.jsonl"))
    db = tmp_path / "new.db"
    missing = ullage("show", f"{log}x", db=db)
    assert missing.code == 1
    assert f"and no file {log}x" in missing.err
    assert not db.exists()
    assert ullage("show", log, db=db).code == 0
    assert ullage("sessions", "--json", db=db).value[0]["id"] == SESSION


def test_the_doctor_tells_of_a_store_that_is_not_there_and_makes_none(
    ullage: Ullage, tmp_path: Path
) -> None:
    db = tmp_path / "none.db"
    told = ullage("doctor", "--json", db=db).value
    assert told["store"] == {"path": str(db), "state": "not there yet: ullage ingest makes it"}
    assert told["settings"]["db"] == {"value": str(db), "from": "--db"}
    assert "not there yet" in ullage("doctor", db=db).out
    assert not db.exists()


@pytest.mark.parametrize(
    "arguments", [("sessions", "--db", ""), ("install", "claude", "--dry-run", "--db", " ")]
)
def test_an_empty_name_is_no_store(ullage: Ullage, arguments: tuple[str, ...]) -> None:
    outcome = ullage(*arguments)
    assert outcome.code == 2
    assert "--db" in outcome.err
    assert "the name is empty" in outcome.err
