"""Which commands make a store, and what the others say where there is none."""

from __future__ import annotations

import os
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
    assert f"There is no store at {db}, which --db names: check it." in outcome.err
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
    monkeypatch.setenv("ULLAGE_DB", str(tmp_path / "other.db"))
    assert cli.run(["sessions"], Shell()) == 1
    assert "other.db, which ULLAGE_DB names: check it." in capfd.readouterr().err


def test_a_log_that_is_named_makes_the_store_that_it_is_read_into(
    ullage: Ullage, tmp_path: Path
) -> None:
    log = next(demo_home(tmp_path).rglob(f"{SESSION}.jsonl"))
    db = tmp_path / "new.db"
    missing = ullage("show", f"{log}x", db=db)
    assert missing.code == 1
    assert f"There is no file {log}x, and no store at {db}" in missing.err
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


def test_an_empty_store_is_not_told_as_one_that_was_looked_through(
    ullage: Ullage, tmp_path: Path
) -> None:
    for words in (("sessions",), ("search", "harbour")):
        assert "No session yet: ullage ingest reads the logs" in ullage(*words).out
    for words in (("pack", "harbour"), ("export", "--lake", tmp_path / "lake")):
        assert "No session yet: ullage ingest reads the logs" in ullage(*words).err
    assert ullage("search", "harbour", "--json").value == []


def test_an_ingest_that_finds_no_log_leads_on(
    ullage: Ullage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in [name for name in os.environ if name.endswith(("_HOME", "_DIR"))]:
        if name not in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.delenv(name)
    done = ullage("ingest")
    assert done.code == 0
    assert "No log was found where agents keep theirs" in done.out
    assert "ullage doctor lists the places" in done.out
    assert "ullage ingest PATH" in done.out
