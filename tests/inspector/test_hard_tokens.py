"""Hard token figures and hostile text through the whole program, by the number of their case."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector import cli
from inspector.cli_shell import Shell
from inspector.reports import PressureReport, SessionRow
from inspector.usecases import UseCases
from tests.inspector.logs import usecases

pytestmark = pytest.mark.hard


@pytest.fixture
def read(hard_inputs: Path, cases: UseCases) -> Callable[..., list[SessionRow]]:
    def ingest(name: str) -> list[SessionRow]:
        cases.ingest([hard_inputs / name])
        return cases.sessions()

    return ingest


@pytest.mark.parametrize("name", ["stream_auto", "stream_None"])
def test_t01_a_streamed_message_costs_its_last_figure_once(
    read: Any, cases: UseCases, name: str
) -> None:
    (row,) = read(f"T01/{name}.jsonl")
    assert (row.tokens, row.tokens_source) == (10 + 15_555 + 159, "provider")
    (request,) = cases.pressure(row.id).requests
    assert request.actual_input == 10 + 15_555


def test_t03_a_message_in_two_files_is_one(read: Any, cases: UseCases) -> None:
    rows = read("T03")
    assert {row.id: row.parent for row in rows} == {"a": None, "b": "a"}
    assert len(cases.search("m")) == 3, "three messages, not five"


def test_t05_cached_and_reasoning_tokens_of_codex_are_parts(read: Any, cases: UseCases) -> None:
    (row,) = read("T05")
    assert (row.tokens, row.tokens_source) == (1_200, "provider")
    (request,) = cases.pressure(row.id).requests
    assert request.actual_input == 1_000


def test_t06_the_last_figure_counts_and_a_compaction_ends_its_rule(
    read: Any, cases: UseCases
) -> None:
    (row,) = read("T06")
    assert row.tokens == 21_000 + 50
    report = cases.pressure(row.id)
    assert [r.actual_input for r in report.requests] == [100_000, 80_000, 21_000]
    (compacted,) = report.compactions
    assert isinstance(compacted, int)
    before = cases.pressure(row.id, at=compacted - 1)
    after = cases.pressure(row.id, at=compacted)
    assert before.used_source == "provider"
    assert after.used_source == "estimated", "the figure from before does not stand for it"
    stated = next(
        int(entry.seq)
        for entry in cases._store.entries(cases._store.find(row.id))
        if entry.meta.get("context") == 20_000
    )
    told = cases.pressure(row.id, at=stated)
    assert (told.used, told.used_source) == (20_000, "estimated"), "what Codex says itself"


def test_t08_sub_agents_are_apart_and_not_in_the_window(
    read: Any, cases: UseCases, hard_inputs: Path
) -> None:
    rows = read("T08")
    main = next(row for row in rows if row.relation == "main")
    found = {row.id: (row.relation, row.parent, row.model, row.tokens) for row in rows}
    haiku = "claude-haiku-4-5"
    assert found == {
        main.id: ("main", None, "claude-sonnet-4-5", 10 + 20),
        "agent-0": ("subagent", main.id, haiku, 1 + 40),
        "agent-1": ("subagent", main.id, haiku, 1 + 80),
    }
    again = cases.ingest([hard_inputs / "T08"])
    assert (again.files, again.notes) == (3, ()), "what lies beside the logs is no log"


def test_t09_a_cut_stream_is_a_lower_bound(read: Any, cases: UseCases) -> None:
    (row,) = read("R14")
    record = cases._store.find(row.id)
    usages = [entry.usage for entry in cases._store.entries(record) if entry.usage]
    assert [usage.lower_bound for usage in usages] == [True] * 3


def windows(cases: UseCases, session: str) -> list[tuple[int | None, str, float | None]]:
    """(window, who says it, pressure) after each reply."""
    found = []
    for request in cases.pressure(session).requests:
        report: PressureReport = cases.pressure(session, at=request.seq)
        share = round(report.used / report.window, 3) if report.window else None
        found.append((report.window, report.window_source, share))
    return found


def test_t10_each_record_has_the_window_of_its_model(read: Any, cases: UseCases) -> None:
    (row,) = read("T10")
    found = windows(cases, row.id)
    assert [(window, source) for window, source, _ in found[:5]] == [
        (200_000, "table"),
        (1_000_000, "table"),
        (1_000_000, "table"),
        (200_000, "table"),
        (None, "unknown"),
    ]
    assert [share for *_, share in found[:5]] == [0.75, 0.25, 0.6, 0.95, None]
    assert (row.window, row.pressure, row.history) == (None, None, ())


def test_t10_the_users_window_goes_before_all(hard_inputs: Path, tmp_path: Path) -> None:
    cases = usecases(":memory:", tmp_path, window=500_000)
    cases.ingest([hard_inputs / "T10"])
    (row,) = cases.sessions()
    assert row.window == 500_000
    assert {(window, source) for window, source, _ in windows(cases, row.id)} == {(500_000, "user")}
    cases.close()


def test_t11_a_figure_that_cannot_be_gives_an_estimate(read: Any, cases: UseCases) -> None:
    (row,) = read("T11")
    report = cases.pressure(row.id)
    assert [request.actual_input for request in report.requests] == [None] * 8
    counted = sum(node.tokens for node in cases.surface(row.id).nodes)
    assert (report.used, report.used_source) == (counted, "estimated")
    assert (row.tokens, row.tokens_source) == (counted, "estimated")
    assert counted == 8 * 3, "some · text · here"


def test_t12_what_looks_like_a_special_token_is_text(read: Any, cases: UseCases) -> None:
    (row,) = read("T12")
    nodes = cases.surface(row.id).nodes
    assert [node.headline for node in nodes] == [
        f"before {token} after"
        for token in (
            "<|endoftext|>",
            "<|fim_prefix|>",
            "<|im_start|>system",
            "<|endofprompt|>",
            "<|start|>",
        )
    ]
    assert all(node.tokens > 4 for node in nodes), "a special token would count as one"


def test_t13_no_run_of_characters_breaks_the_count(read: Any, cases: UseCases) -> None:
    rows = read("T13")
    assert len(rows) == 10
    for row in rows:
        assert row.tokens_source == "estimated"
        (node,) = cases.surface(row.id).nodes
        # No vocabulary has a token of more than 128 characters; a character has at most 4 bytes.
        assert 1_000_000 / 4 / 128 <= node.tokens <= 4 * 1_000_000
        assert row.tokens == node.tokens


# What reaches a terminal

_ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


@pytest.fixture
def ullage(
    hard_inputs: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., str]:
    """Runs one command and gives its stdout, of which no character may act on a terminal."""
    for name in [name for name in os.environ if name.startswith("ULLAGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(*arguments: object) -> str:
        capfd.readouterr()
        code = cli.run(list(map(str, arguments)), Shell(flags={"db": str(tmp_path / "store.db")}))
        out, err = capfd.readouterr()
        assert code == 0, err
        assert _ACTS.search(out) is None, (arguments, _ACTS.search(out))
        assert _ACTS.search(err) is None
        return out

    return run


def test_d01_d03_d05_d07_d08_hostile_text_acts_on_no_terminal(
    ullage: Any, hard_inputs: Path
) -> None:
    payloads = json.loads((hard_inputs / "D01" / "payloads.json").read_text())
    folder = hard_inputs / "D01"
    assert "files" in ullage("ingest", folder)
    names = [row["id"] for row in json.loads(ullage("sessions", "--json"))]
    assert len(names) == 7
    commands: list[tuple[str, ...]] = [("sessions",), ("audit",), ("doctor",)]
    for name in names:
        commands += [("show", name), ("show", name, "--messages"), ("pressure", name)]
        commands += [("audit", name)]
    commands += [("search", word) for word in ("EVIL", "gpj", "tail", "hidden", "quit", "alert")]
    for command in commands:
        ullage(*command)
        printed = ullage(*command, "--json")
        assert printed.isascii()
        json.loads(printed)
    shown = json.loads(ullage("show", "payloads", "--messages", "--json"))["messages"]
    texts = [block["text"] for message in shown for block in message["blocks"]]
    assert [text for text in payloads.values() if text not in texts] == [], "data is not changed"


def test_d01_markup_is_printed_as_it_stands(ullage: Any, hard_inputs: Path) -> None:
    ullage("ingest", hard_inputs / "D01" / "payloads.jsonl")
    printed = ullage("show", "payloads", "--messages")
    for literal in ("[/]", "see [/INST] here", "[@click=app.quit]x[/]", "a   b       c"):
        assert literal in printed
    for mark in ("␛]52;c;aGVsbG8=␇tail", "harmless␍EVIL", "abc␈␈␈xyz", "user‹U+202E›gpj.exe"):
        assert mark in printed


@pytest.mark.parametrize("columns", ["1", "20", "80"])
def test_d10_d11_a_long_line_is_cut_at_any_width(
    ullage: Any, hard_inputs: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("NO_COLOR", "1")
    ullage("ingest", hard_inputs / "D10")
    for command in (("sessions",), ("show", "long"), ("pressure", "long"), ("search", "word")):
        printed = ullage(*command)
        assert printed.strip()
        assert len(printed) < 20_000, "a screenful, however long the line"
