"""The bundled session: current, exact in format, consistent in its figures; and its replay."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from inspector import cli
from inspector.cli_shell import Shell
from inspector.demo import SHORTEST, bundled_session, demo_home, replay, steps
from storage.resources import counter
from tests.conftest import REPOSITORY
from tests.demo_session.__main__ import files

BUNDLED = REPOSITORY / "assets" / "demo"
WINDOW = 200_000


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    main = next(path for path in BUNDLED.rglob("*.jsonl") if "subagents" not in path.parts)
    return [json.loads(line) for line in main.read_text().splitlines()]


def requests(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The messages of the model, by id, in order."""
    return {r["message"]["id"]: r["message"] for r in records if r["type"] == "assistant"}


def total_input(message: dict[str, Any]) -> int:
    usage = message["usage"]
    return int(
        usage["input_tokens"]
        + usage["cache_read_input_tokens"]
        + usage["cache_creation_input_tokens"]
    )


def test_the_bundled_files_are_what_the_story_writes() -> None:
    for name, text in files().items():
        assert (BUNDLED / name).read_bytes() == text.encode(), "run python -m tests.demo_session"


def test_the_bundled_session_is_small() -> None:
    assert sum(path.stat().st_size for path in BUNDLED.rglob("*.jsonl")) < 700_000


def test_every_record_links_to_one_before_it(records: list[dict[str, Any]]) -> None:
    seen: set[str] = set()
    roots = []
    for record in records:
        if "uuid" in record:
            parent = record["parentUuid"]
            assert parent is None or parent in seen
            roots += [record] if parent is None else []
            assert record["uuid"] not in seen
            seen.add(record["uuid"])
    assert [root.get("subtype") for root in roots] == [None, "compact_boundary"]


def test_every_call_has_one_result_and_some_run_side_by_side(records: list[dict[str, Any]]) -> None:
    calls, results, parallel = [], [], Counter[str]()
    for record in records:
        content = record.get("message", {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_use":
                calls.append(block["id"])
                parallel[record["message"]["id"]] += 1
            elif block["type"] == "tool_result":
                results.append(block["tool_use_id"])
    assert sorted(calls) == sorted(results)
    assert len(set(calls)) == len(calls)
    assert max(parallel.values()) >= 3


def test_times_never_run_backwards(records: list[dict[str, Any]]) -> None:
    times = [record["timestamp"] for record in records if "timestamp" in record]
    assert times == sorted(times)


def test_pressure_rises_to_the_compaction_and_again(records: list[dict[str, Any]]) -> None:
    inputs = [total_input(message) for message in requests(records).values()]
    falls = [index for index, (a, b) in enumerate(itertools.pairwise(inputs)) if b < a]
    assert len(falls) == 1
    assert 0.75 <= inputs[falls[0]] / WINDOW <= 0.85
    assert 0.30 <= inputs[-1] / WINDOW <= 0.40


def test_usage_grows_with_the_content(records: list[dict[str, Any]]) -> None:
    """Between two requests the provider's figure grows by 1.1 to 1.4 times the counted text, plus
    a few tokens a block."""
    count = counter().count
    growth, before, blocks, message = 0, 0, 0, ""
    for record in records:
        if record.get("subtype") == "compact_boundary":
            before = 0
        if record["type"] == "assistant" and record["message"]["id"] != message:
            message, total = record["message"]["id"], total_input(record["message"])
            if before:
                assert growth <= total - before <= 1.4 * growth + 20 * blocks
            before, growth, blocks = total, 0, 0
        for text in texts(record):
            growth, blocks = growth + count(text), blocks + 1


def texts(record: dict[str, Any]) -> list[str]:
    """What a record sends to the model."""
    if record["type"] == "attachment":
        attachment = record["attachment"]
        sent = attachment.get("rendered") or [{"content": t} for t in attachment["content"]]
        return [item["content"] for item in sent]
    content = record.get("message", {}).get("content", [])
    if isinstance(content, str):
        return [content]
    found = []
    for block in content:
        call = json.dumps(block["input"]) if block["type"] == "tool_use" else None
        kinds = ("text", "thinking", "content")
        found.append(call or next(block[kind] for kind in kinds if kind in block))
    return found


def test_the_replay_writes_the_same_bytes_record_by_record(tmp_path: Path) -> None:
    pauses: list[float] = []
    records = steps(bundled_session())
    assert replay(tmp_path, records, rate=4.0, sleep=pauses.append) == len(records)
    for path in bundled_session().rglob("*.jsonl"):
        assert (tmp_path / path.relative_to(bundled_session())).read_bytes() == path.read_bytes()
    assert len(pauses) == len(records)
    assert min(pauses) == SHORTEST / 4
    assert 20 < sum(pauses) * 4 < 120


def test_a_replay_by_the_clock_changes_the_times_and_nothing_else(tmp_path: Path) -> None:
    records = steps(bundled_session())
    replay(tmp_path, records, sleep=lambda _: None, clock=lambda: 1_777_777_777.5)
    for path in bundled_session().rglob("*.jsonl"):
        made = (tmp_path / path.relative_to(bundled_session())).read_text().splitlines()
        for line, own in zip(made, path.read_text().splitlines(), strict=True):
            new, old = json.loads(line), json.loads(own)
            for record in (old, old.get("snapshot", {})):
                if "timestamp" in record:
                    record["timestamp"] = "2026-05-03T03:09:37.500Z"
            assert new == old


def test_a_replay_that_is_stopped_leaves_whole_records(tmp_path: Path) -> None:
    left = iter([False, False, False, True])
    records = steps(bundled_session())
    assert replay(tmp_path, records, sleep=lambda _: None, stopped=lambda: next(left)) == 3
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*.jsonl"))
    assert written == b"".join(step.line for step in records[:3])


def test_the_sub_agent_writes_while_the_main_session_waits() -> None:
    owners = ["subagents" in step.path.parts for step in steps(bundled_session())]
    first, last = owners.index(True), len(owners) - 1 - owners[::-1].index(True)
    assert first > 0
    assert all(owners[first : last + 1])


def test_the_report_needs_no_terminal_and_leaves_nothing(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.run(["demo", "--once"], Shell()) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert not list(tmp_path.iterdir())
    assert "78 %" in out
    assert "33 %" in out
    assert "Never open data/production.db" in out
    assert re.search(r"Gone from its window: \d+ instructions?, .*1,\d{3} identifiers\.", out)


def test_a_demo_home_is_found_by_the_agents_own_variable(tmp_path: Path) -> None:
    home = demo_home(tmp_path)
    assert [path.name for path in home.iterdir()] == ["projects"]
