"""Damaged and odd lines: each costs itself, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from storage.sources.base import Record
from storage.tail import Tail

pytestmark = pytest.mark.hard


@pytest.fixture
def taken(hard_inputs: Path) -> Any:
    """The records of one generated file, taken as a file at rest; offsets checked."""

    def take(name: str) -> list[Record]:
        path = hard_inputs / name
        with Tail(path) as tail:
            found = list(tail.read(final=True).records)
        data = path.read_bytes()
        for record in found:
            assert data[record.offset : record.offset + record.size] == record.raw
            assert data[: record.offset].count(b"\n") == record.line - 1
        return found

    return take


def good(found: list[Record]) -> list[Record]:
    return [record for record in found if record.value is not None]


def damaged(found: list[Record]) -> list[tuple[int, bool]]:
    return [(record.line, record.value is None) for record in found if record.damage]


def said(record: Record) -> Any:
    return record.value["message"]["content"]


def test_r01_the_half_written_last_line_is_pending(hard_inputs: Path) -> None:
    with Tail(hard_inputs / "R01" / "half.jsonl") as tail:
        batch = tail.read(final=True)
    assert [record.damage for record in batch.records] == [None] * 3
    assert batch.pending == 90


def test_r03_bad_lines_in_the_middle_hide_nothing(taken: Any) -> None:
    found = taken("R03/mid.jsonl")
    assert len(good(found)) == 6
    assert damaged(found) == [(3, True), (5, True)]  # the line between them is blank


def test_r04_a_run_of_nul_bytes_is_one_damaged_line(taken: Any) -> None:
    found = taken("R04/nul.jsonl")
    assert len(good(found)) == 6
    (nul,) = [record for record in found if record.value is None]
    assert (nul.line, nul.damage) == (4, "a run of 512 NUL bytes")


def test_r06_lone_surrogates_become_replacement_characters(taken: Any) -> None:
    found = taken("R06/sur.jsonl")
    assert len(good(found)) == 6
    assert [said(record) for record in found[:5]] == [
        "x",
        "cut \ufffd here",
        "\ufffd low first",
        "ok \U0001f600",
        "k",
    ]
    assert found[4].value["message"]["\ufffdkey"] == "v\ufffd"
    assert found[5].value["cwd"] == "/home/u/\ufffd"
    for record in found:
        json.dumps(record.value, ensure_ascii=False).encode("utf-8")


def test_r07_bad_utf8_is_replaced_and_flagged(taken: Any) -> None:
    found = taken("R07/badutf8.jsonl")
    assert len(good(found)) == 5
    assert damaged(found) == [(2, False), (3, False), (4, False)]
    assert said(found[3]) == "caf\ufffd 0"
    assert all(record.damage.startswith("invalid UTF-8") for record in found[1:4])


def test_r08_only_newlines_end_lines(taken: Any) -> None:
    found = taken("R08/seps.jsonl")
    assert [said(record) for record in found] == ["a\u2028b\u2029c\x85d", "lit \u2028 end", "z"]


@pytest.mark.parametrize("name", ["bom", "crlf", "blank", "rawctl"])
def test_r09_marks_blank_lines_and_control_characters_are_tolerated(taken: Any, name: str) -> None:
    found = taken(f"R09/{name}.jsonl")
    assert len(good(found)) == 4
    assert damaged(found) == ([(1, False)] if name == "rawctl" else [])


def test_r11_after_a_line_above_the_cap_the_next_is_reached(hard_inputs: Path) -> None:
    path = hard_inputs / "R11" / "bigline.jsonl"
    with Tail(path, max_line=100_000) as tail:
        stub, after = tail.read().records
        pieces = tail.pieces(stub.offset, stub.size)
        assert sum(map(len, pieces)) == stub.size > 1_000_000
    assert (stub.raw, stub.value) == (b"", None)
    assert said(after) == "after the big line"
