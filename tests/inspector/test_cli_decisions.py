"""Decision points on the command line: listed, chosen, graduated, exported."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest

from inspector.schemas import schema_text
from tests.inspector.conftest import SESSION, Outcome, Ullage
from tests.inspector.logs import NAME, Log
from tests.inspector.test_decision_exports import PLAIN, tokens_of

KEY = "sk-" + "ant-" + "FAKEFAKEFAKEFAKEFAKE0000"


@pytest.fixture
def db(store: Path, tmp_path: Path) -> Path:
    """The bundled session, in a store of its own."""
    path = tmp_path / "own.db"
    shutil.copy(store, path)
    return path


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Three turns: one goes well, one fails, one holds a key; of different days."""
    log = Log(tmp_path)

    def run(number: int, title: str, code: int, day: str) -> None:
        when = {"timestamp": f"{day}T12:00:00.000Z"}
        call, command = f"toolu_{number}", {"command": "pytest -q"}
        log.user(title, **when)
        log.assistant({"type": "tool_use", "id": call, "name": "Bash", "input": command}, **when)
        flag = {"toolUseResult": {"stdout": "", "stderr": ""}} if not code else {}
        text = "1 passed in 0.1s" if not code else f"Exit code {code}\n1 failed in 0.1s"
        block = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": text,
            "is_error": bool(code),
        }
        log._write("user", {"role": "user", "content": [block]}, **flag, **when)
        log.assistant({"type": "text", "text": f"Ended: {title}."}, **when)

    run(1, "make it work", 0, "2026-03-01")
    run(2, "make it faster", 1, "2026-03-02")
    run(3, f"use the key {KEY}", 0, "2026-03-03")
    return log


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def titles(outcome: Outcome) -> list[str]:
    assert outcome.code == 0, outcome.err
    return [point["stage"]["title"] for point in outcome.value if point["stage"]["kind"] == "turn"]


def test_each_stage_is_a_line(ullage: Ullage, log: Log) -> None:
    outcome = ullage("decisions", log.path)
    assert outcome.code == 0
    head, first, second, third = outcome.out.splitlines()[:4]
    assert head.split() == ["EVENTS", "STAGE", "OUTCOME", "LEVEL", "TOKENS", "TITLE"]
    assert "turn 1" in first
    assert "success" in first
    assert "failure" in second
    assert "make it faster" in second
    assert "[masked: key]" in third


def test_the_document_is_a_list_of_records(ullage: Ullage, log: Log) -> None:
    outcome = ullage("decisions", log.path, "--json")
    jsonschema.validate(outcome.value, json.loads(schema_text("decisions")))
    assert titles(outcome) == ["make it work", "make it faster", "use the key [masked: key]"]
    assert {point["session"] for point in outcome.value} == {NAME}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--outcome", "failure"], ["make it faster"]),
        (
            ["--outcome", "failure", "--outcome", "success", "--until", "2026-03-01"],
            ["make it work"],
        ),
        (["--since", "2026-03-02", "--until", "2026-03-02", "--zone", "UTC"], ["make it faster"]),
        (["--stage", "compaction"], []),
        (["--level", "L3"], []),
    ],
)
def test_records_are_chosen(
    ullage: Ullage, log: Log, options: list[str], expected: list[str]
) -> None:
    assert titles(ullage("decisions", log.path, *options, "--json")) == expected


def test_where_no_record_is_like_that_it_is_said(ullage: Ullage, log: Log) -> None:
    assert "No decision point is like" in ullage("decisions", log.path, "--level", "L3").out
    nothing = ullage("decisions", "--db", ":memory:").out
    assert "read logs with: ullage ingest" in nothing


@pytest.mark.parametrize(
    ("folder", "count"),
    [("/home/u/demo", 3), ("/home/u", 3), ("/home/u/demo/../demo", 3), ("/home/u/dem", 0)],
)
def test_a_project_is_a_folder_and_what_is_below(
    ullage: Ullage, log: Log, tmp_path: Path, folder: str, count: int
) -> None:
    db = tmp_path / "p.db"
    assert ullage("ingest", log.path, db=db).code == 0
    assert len(titles(ullage("decisions", "--project", folder, "--json", db=db))) == count


def test_a_project_may_also_be_that_of_a_session_or_of_the_folder_one_is_in(
    ullage: Ullage, log: Log, tmp_path: Path
) -> None:
    db = tmp_path / "p.db"
    assert ullage("ingest", log.path, db=db).code == 0
    assert len(titles(ullage("decisions", NAME, "--project", "--json", db=db))) == 3
    assert titles(ullage("decisions", "--project", "--json", db=db)) == []
    assert "the name is empty" in ullage("decisions", "--project", "", db=db).err


def test_what_weighs_too_much_graduates_in_sight_of_the_audit(
    ullage: Ullage, log: Log, tmp_path: Path
) -> None:
    db = tmp_path / "g.db"
    before = ullage("decisions", log.path, "--json", db=db).value
    small = ("decisions", NAME, "--set", "memory_tokens=60")
    levels = ullage(*small, "--json", db=db).value
    assert [p | {"level": "L2"} for p in levels] == before, "nothing is lost"
    assert levels[0]["level"] == "L3"
    older = ullage(*small, "--level", "L3", "--json", db=db).value
    assert older == [point for point in levels if point["level"] == "L3"]
    assert ullage("audit", NAME, "--json", db=db).value == [], "looking appends no operation"
    assert ullage(*small, "--out", tmp_path / "kept.jsonl", db=db).code == 0
    assert ullage("decisions", NAME, "--json", db=db).value == levels, "which stays so"
    rows = ullage("audit", NAME, "--json", db=db).value
    (row,) = [row for row in rows if row["kind"] == "graduate"]
    assert row["origin"] == "policy"
    assert row["rule"].endswith("tokens")
    assert ullage("audit", "--verify", db=db).code == 0
    refused = ullage("undo", NAME, row["operation"], db=db)
    assert refused.code == 1
    assert "nothing to undo" in refused.err


def test_older_ones_of_a_projects_memory_wait_for_all(
    ullage: Ullage, log: Log, tmp_path: Path
) -> None:
    db = tmp_path / "h.db"
    small = ["--set", "memory_tokens=0", "--set", "project_memory_tokens=1"]
    shown = ullage("decisions", log.path, *small, db=db)
    assert "make it work" not in shown.out
    assert "1 older record of the project's memory not shown" in shown.err
    assert "make it work" in ullage("decisions", NAME, *small, "--all", db=db).out
    assert "make it work" in ullage("decisions", NAME, *small, "--format", "md", db=db).out


def test_every_form_is_written_and_masked(ullage: Ullage, log: Log, tmp_path: Path) -> None:
    for suffix in ("jsonl", "csv", "md", "parquet"):
        path = tmp_path / f"out.{suffix}"
        outcome = ullage("decisions", log.path, "--out", path)
        assert outcome.code == 0
        assert outcome.out == ""
        assert f"records written to {path}" in outcome.err
        assert "masked; --unmasked" in outcome.err
        assert KEY.encode() not in path.read_bytes()
        again = ullage("decisions", log.path, "--out", path)
        assert again.code == 1
        assert "--force" in again.err
        assert ullage("decisions", log.path, "--out", path, "--force", "--unmasked").code == 0
    assert KEY in (tmp_path / "out.csv").read_text()
    rows = rows_of(tmp_path / "out.csv")
    assert rows[1]["outcome"] == "failure"


def test_lines_and_tables_can_be_piped(ullage: Ullage, log: Log) -> None:
    lines = ullage("decisions", log.path, "--format", "jsonl").out.splitlines()
    assert lines == ullage("decisions", log.path, "--jsonl").out.splitlines()
    assert json.loads(lines[0])["stage"]["kind"] == "turn"
    assert ullage("decisions", log.path, "--format", "csv").out.startswith('"id","revision"')
    assert ullage("decisions", log.path, "--format", "md").out.startswith("# Decision points")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--json", "--format", "csv"], "exclude each other"),
        (["--out", "x.json", "--json"], "not json"),
        (["--force"], "--force needs --out"),
        (["--since", "2026-03-02", "--until", "2026-03-01"], "later day"),
    ],
)
def test_mixtures_are_wrong_usage(ullage: Ullage, options: list[str], why: str) -> None:
    outcome = ullage("decisions", *options)
    assert outcome.code == 2
    assert why in outcome.err


def test_a_name_without_a_form_is_refused(ullage: Ullage, log: Log, tmp_path: Path) -> None:
    outcome = ullage("decisions", log.path, "--out", tmp_path / "out.xlsx")
    assert outcome.code == 1
    assert "end it in .jsonl, .csv, .md or .parquet" in outcome.err


def test_the_bundled_session_in_full(ullage: Ullage, db: Path) -> None:
    outcome = ullage("decisions", SESSION, "--full", db=db)
    assert outcome.code == 0
    assert "turn 1: " in outcome.out
    assert "evidence: " in outcome.out


@pytest.mark.hard
@pytest.mark.parametrize("case", ["D01", "E04", "E09"])
def test_hard_inputs_come_out_in_every_form(
    ullage: Ullage, hard_inputs: Path, tmp_path: Path, case: str
) -> None:
    db = tmp_path / "hard.db"
    assert ullage("ingest", hard_inputs / case, db=db).code == 0
    listed: list[Any] = ullage("decisions", "--json", db=db).value
    validator = jsonschema.Draft202012Validator(json.loads(schema_text("decision")))
    for suffix in ("jsonl", "csv", "md", "parquet"):
        path = tmp_path / f"out.{suffix}"
        assert ullage("decisions", "--out", path, db=db).code == 0
        assert b"FAKEFAKE" not in path.read_bytes()
        assert b"RkFLRQ" not in path.read_bytes()
    for line in (tmp_path / "out.jsonl").read_text().splitlines():
        validator.validate(json.loads(line))
    rows = rows_of(tmp_path / "out.csv")
    assert len(rows) == len(listed)
    assert not [c for row in rows for c in row.values() if c.lstrip()[:1] in ("=", "+", "@", "-")]
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("out")) == [
        *("out.csv", "out.jsonl", "out.md", "out.parquet")
    ]


@pytest.mark.corpus
def test_real_sessions_come_out_in_every_form(ullage: Ullage, corpus: Path, tmp_path: Path) -> None:
    """All formats hold the same records, and nothing but what the exporter writes is markup."""
    db = tmp_path / "real.db"
    assert ullage("ingest", corpus / "codex", corpus / "pi", db=db).code == 0
    listed = ullage("decisions", "--json", db=db).value
    assert len(listed) > 50
    for suffix in ("jsonl", "csv", "md", "parquet"):
        assert ullage("decisions", "--out", tmp_path / f"out.{suffix}", db=db).code == 0
    validator = jsonschema.Draft202012Validator(json.loads(schema_text("decision")))
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert lines == listed
    for line in lines:
        validator.validate(line)
    weight = sum(line["tokens"] for line in lines)
    for name in ("out.csv", "out.parquet", "out.jsonl"):
        found = duckdb.sql(f"SELECT count(*), sum(tokens) FROM '{tmp_path / name}'").fetchall()
        assert found == [(len(lines), weight)]
    text = (tmp_path / "out.md").read_text()
    assert {token.type for token in tokens_of(text)} <= PLAIN
