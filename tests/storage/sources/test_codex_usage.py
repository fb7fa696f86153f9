"""What requests cost, from ``token_count`` records (T05, T06, T11)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from compress.events import SessionEvent, Usage
from tests.derivation import read
from tests.storage.sources.codex_logs import (
    ADAPTER,
    call,
    compacted,
    events,
    figures,
    meta,
    note,
    output,
    said,
    usage,
)
from tests.storage.sources.test_codex_surface import NAMES


def spent(log: Iterable[SessionEvent]) -> list[Usage]:
    return [event.usage for event in log if event.usage is not None]


@pytest.mark.hard
def test_t05_what_is_cached_or_reasoned_is_counted_once(hard_inputs: Path) -> None:
    path = next((hard_inputs / "T05").rglob("*.jsonl"))
    (found,) = spent(read(ADAPTER, path)[1][""])
    assert found == Usage(input=500, cache_read=500, output=200, reasoning=50)
    assert found.total_input == 1000


@pytest.mark.hard
def test_t06_totals_that_repeat_or_fall_give_no_request_and_no_negative(hard_inputs: Path) -> None:
    path = next((hard_inputs / "T06").rglob("*.jsonl"))
    log = read(ADAPTER, path)[1][""]
    assert [(u.input, u.cache_read, u.output) for u in spent(log)] == [
        (100_000, 0, 500),
        (0, 80_000, 400),  # the record claims 90,000 of them from the cache
        (1_000, 20_000, 50),
    ]
    estimated = [event.meta["context"] for event in log if "estimated" in event.meta]
    assert estimated == [20_000]


@pytest.mark.parametrize("value", [None, -5, "7", 1.5, 10**30, True, []])
def test_t11_a_figure_that_is_none_is_unknown(value: Any) -> None:
    last = {"input_tokens": value, "output_tokens": 3}
    (found,) = spent(events([meta(), said("user", "q"), usage(None, last)]))
    assert found == Usage(input=None, output=3)


@pytest.mark.parametrize("info", [None, 5, "many", [], {}, {"last_token_usage": "x"}])
def test_t11_a_record_without_figures_is_no_request(info: Any) -> None:
    assert spent(events([meta(), note("token_count", info=info)])) == []


def test_a_request_without_its_own_figures_costs_what_the_total_grew_by() -> None:
    first, second = figures(100, 40, 10, 0), figures(250, 90, 30, 5)
    log = events([meta(), usage(first, None), usage(second, None)])
    assert [(u.input, u.cache_read, u.output) for u in spent(log)] == [(60, 40, 10), (100, 50, 20)]


def test_usage_names_the_first_event_of_its_request() -> None:
    rows = [
        *(meta(), said("user", "q"), call("c1"), call("c2")),
        usage(figures(10, 0, 5, 0), figures(10, 0, 5, 0)),
        *(output("c1"), output("c2"), said("assistant", "done")),
        usage(figures(30, 0, 9, 0), figures(20, 0, 4, 0)),
    ]
    log = events(rows)
    asked = {event.request for event in log if event.usage}
    calls = [event.seq for event in log if event.blocks and event.blocks[0].kind == "tool_call"]
    answer = next(event.seq for event in log if event.blocks and event.blocks[0].text == "done")
    assert asked == {calls[0], answer}
    steps = [event.step for event in log if event.type in ("assistant/message", "tool/result")]
    assert steps == [1, 1, 1, 1, 2]


def test_in_old_files_usage_stands_before_what_the_request_produced() -> None:
    rows = [
        *(meta(cli_version="0.34.0"), said("user", "q")),
        usage(figures(10, 0, 5, 0), figures(10, 0, 5, 0)),
        *(call("c1"), output("c1")),
        usage(figures(30, 0, 9, 0), figures(20, 0, 4, 0)),
        said("assistant", "done"),
    ]
    log = events(rows)
    assert [event.request for event in log if event.usage] == [
        event.seq for event in log if event.usage
    ]
    steps = [event.step for event in log if event.type in ("assistant/message", "tool/result")]
    assert steps == [1, 1, 2]


def test_the_request_of_a_compaction_has_no_items() -> None:
    rows = [
        *(meta(), note("task_started", turn_id="1"), said("user", "q"), said("assistant", "a")),
        usage(figures(10, 0, 5, 0), figures(10, 0, 5, 0)),
        usage(figures(30, 0, 9, 0), figures(20, 0, 4, 0)),
        *(compacted("S"), said("assistant", "b")),
        usage(figures(50, 0, 13, 0), figures(20, 0, 4, 0)),
    ]
    log = events(rows)
    paying = [event for event in log if event.usage]
    texts = {event.seq: event.blocks[0].text for event in log if event.blocks}
    assert [texts.get(event.request) for event in paying] == ["a", None, "b"]
    assert paying[1].request == paying[1].seq
    start = next(event for event in log if event.type == "compact/start")
    assert start.meta["pre_tokens"] == 24


def test_the_window_is_what_the_log_says_last() -> None:
    rows = [
        meta(),
        note("task_started", turn_id="1", model_context_window=100_000),
        usage(figures(10, 0, 5, 0), figures(10, 0, 5, 0), window=200_000),
        usage(figures(10, 0, 5, 0), figures(10, 0, 5, 0), window=200_000),
    ]
    headers = [event.meta["window"] for event in events(rows) if event.type == "request/header"]
    assert headers == [100_000, 200_000]


def counted(path: Path) -> tuple[int, int, int, int, int]:
    """(requests, input, cached, output, reasoning) of the raw records: each new total is one."""
    requests, sums, before = 0, [0, 0, 0, 0], None
    for line in path.read_text(encoding="utf-8").split("\n"):
        info = json.loads(line)["payload"].get("info") if '"token_count"' in line else None
        if info and info["total_token_usage"] != before:
            before = info["total_token_usage"]
            requests += 1
            last = info["last_token_usage"]
            for place, name in enumerate(("input", "cached_input", "output", "reasoning_output")):
                sums[place] += last[f"{name}_tokens"]
    return requests, *sums  # type: ignore[return-value]


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_totals_are_those_of_the_raw_records(corpus: Path, name: str) -> None:
    path = corpus / "codex" / f"{name}.jsonl"
    log = read(ADAPTER, path)[1][""]
    paid = spent(log)
    assert counted(path) == (
        len(paid),
        sum(u.total_input or 0 for u in paid),
        sum(u.cache_read or 0 for u in paid),
        sum(u.output or 0 for u in paid),
        sum(u.reasoning or 0 for u in paid),
    )
    assert len({event.request for event in log if event.usage}) == len(paid)
    compactions = path.read_text(encoding="utf-8").count('"type":"compacted"')
    assert sum(event.type == "compact/start" for event in log) == compactions
