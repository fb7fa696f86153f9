"""What leaves the machine of logs that were made to hurt, by the number of their case."""

from __future__ import annotations

import csv
import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inspector import mishaps
from inspector.usecases import UseCases
from tests.inspector.conftest import Ullage
from tests.inspector.lakes import exported, rows
from tests.inspector.logs import usecases

pytestmark = pytest.mark.hard

FORMS = ("jsonl", "csv", "md", "parquet")
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_SECRETS = ("FAKEFAKE", "RkFLRQ")
"""What stands in the planted keys, also in the coded one."""


@pytest.fixture
def read(hard_inputs: Path, tmp_path: Path) -> Iterator[Any]:
    """Use-cases over one hard case."""
    opened: list[UseCases] = []

    def reading(case: str) -> UseCases:
        opened.append(usecases(tmp_path / f"{case}.db", tmp_path))
        opened[-1].ingest([hard_inputs / case])
        return opened[-1]

    yield reading
    for cases in opened:
        cases.close()


def test_e01_no_cell_of_a_spreadsheet_is_a_formula(
    ullage: Ullage, hard_inputs: Path, tmp_path: Path
) -> None:
    db, path = tmp_path / "hard.db", tmp_path / "out.csv"
    assert ullage("ingest", hard_inputs / "D01", db=db).code == 0
    assert ullage("decisions", "--out", path, db=db).code == 0
    with path.open(encoding="utf-8", newline="") as file:
        header, *table = csv.reader(file)
    listed = ullage("decisions", "--json", db=db).value
    assert len(table) == len(listed) > 20
    assert not [cell for cell in header if _FORMULA.match(cell)]
    kept = [cell for row in table for cell in row if "1+1" in cell]
    assert kept, "the payload is shown, and computes nothing"
    for row in table:
        for cell in row:
            for line in re.split(r"[\n\r\v\f\x85\u2028\u2029]", cell):
                figure = re.fullmatch(r"-?\d+(\.\d+)?", line)
                assert figure or not _FORMULA.match(line), line
    tokens = [row[header.index("tokens")] for row in table]
    assert all(figure.isdecimal() for figure in tokens), "figures stay figures"


def test_e07_no_secret_leaves_in_any_form(
    ullage: Ullage, read: Any, hard_inputs: Path, tmp_path: Path
) -> None:
    cases = read("D01")
    db = tmp_path / "D01.db"
    made = []
    for form in FORMS:
        made.append(tmp_path / f"out.{form}")
        assert ullage("decisions", "--out", made[-1], db=db).code == 0
    exported(cases, tmp_path / "lake")
    made += (tmp_path / "lake").rglob("*.parquet")
    assert len(made) > len(FORMS)
    for path in made:
        data = path.read_bytes()
        if path.suffix == ".parquet":
            data = repr(duckdb.sql(f"SELECT * FROM read_parquet('{path}')").fetchall()).encode()
        for secret in _SECRETS:
            assert secret.encode() not in data, path
    # The name stays, with a mark in place of the value.
    assert "FAKE_API_KEY=[masked: " in (tmp_path / "out.jsonl").read_text()
    # What stays on the machine is not masked: a search finds what the log holds.
    assert cases.search("FAKE_API_KEY")


def test_e07_a_crash_or_a_refusal_tells_no_text_of_a_log(
    ullage: Ullage, hard_inputs: Path, tmp_path: Path
) -> None:
    db = tmp_path / "hard.db"
    ullage("ingest", hard_inputs / "D01", db=db)
    for command in (
        ("show", "no-such-session"),
        ("decisions", "payloads", "--out", tmp_path / "out.nothing"),
        ("pack", "payloads", "FAKE_API_KEY", "--budget", "1"),
        ("export", "--lake", db),
    ):
        done = ullage(*command, db=db)
        assert done.code != 0
        assert not [secret for secret in _SECRETS if secret in done.err]


def test_e07_what_an_error_quotes_is_masked_where_it_is_noted(
    hard_generator: Path, tmp_path: Path
) -> None:
    payloads = runpy.run_path(str(hard_generator), run_name="payloads")["PAYLOADS"]
    noted = mishaps.record(KeyError(payloads["secret"] + payloads["pem"]), tmp_path)
    assert noted is not None
    text = noted.read_text(encoding="utf-8")
    assert "KeyError" in text
    assert "FAKE_API_KEY=[masked: " in text
    assert not [secret for secret in _SECRETS if secret in text]


def test_e09_every_form_is_written_and_says_the_same_when_it_is_read_again(
    ullage: Ullage, read: Any, tmp_path: Path
) -> None:
    cases = read("E09")
    (session,) = [row.id for row in cases.sessions()]
    listed = ullage("decisions", "--json", db=tmp_path / "E09.db").value
    for form in FORMS:
        assert (
            ullage("decisions", "--out", tmp_path / f"out.{form}", db=tmp_path / "E09.db").code == 0
        )
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert lines == listed
    csv.field_size_limit(1 << 30)
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [point["id"] for point in listed]
    parquet = f"SELECT id FROM read_parquet('{tmp_path}/out.parquet')"
    assert [row[0] for row in duckdb.sql(parquet).fetchall()] == [p["id"] for p in listed]
    # Of the lake, every text is what the store holds: surrogates, NULs, 200,000 characters.
    exported(cases, tmp_path / "lake", masked=False)
    found = rows(tmp_path / "lake", "events", "seq, content[1].text")
    record = cases._store.find(session)
    expected = {
        int(event.seq): event.blocks[0].text
        for event in cases._store.events(record, [seq for seq, _ in found])
        if event.blocks
    }
    assert {seq: text for seq, text in found if text is not None} == expected
    texts = "".join(expected.values())
    assert "\0" in texts
    assert "\ufffd" in texts
    assert "y" * 200_000 in texts
