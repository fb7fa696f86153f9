"""What all requests cost: each once, whatever was copied, cut or told twice."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from storage.schema import migrations
from storage.sources.registry import registry
from storage.store import Store
from storage.totals import _USED, Spending, SpentRequest, spending
from tests.storage.sources.codex_logs import data, figures, meta, said, turn, usage
from tests.storage.sources.test_claude_totals import BUCKETS, counted_from_raw
from tests.storage.sources.test_codex_usage import counted
from tests.storage.test_ingest import ingest


def read(store: Store, *paths: Path) -> Spending:
    ingest(store, *paths)
    return spending(store)


def outputs(spent: Sequence[SpentRequest]) -> dict[str, list[int | None]]:
    """session → the outputs of its requests."""
    found: dict[str, list[int | None]] = {}
    for request in spent:
        found.setdefault(request.session.name, []).append(request.usage.output)
    return found


def reply(number: int, output: int, *, message: str | None = None, **more: Any) -> dict[str, Any]:
    """One record of a Claude Code message; ``stop`` ends its stream."""
    stop = more.pop("stop", "end_turn")
    return {
        "type": "assistant",
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s",
        "timestamp": f"2026-01-02T00:00:{number:02}.000Z",
        "isSidechain": False,
        "version": "2.1.200",
        "cwd": "/p",
        "message": {
            "id": message or f"msg_{number}",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": f"word {number}"}],
            "stop_reason": stop,
            "usage": {"input_tokens": 10, "output_tokens": output},
        },
        **more,
    }


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.corpus
def test_the_sum_over_all_sessions_is_that_of_independent_counts(
    store: Store, corpus: Path
) -> None:
    logs = sorted((corpus / "claude").glob("*.jsonl"))
    spent = read(store, *logs).requests
    by_path: dict[str, list[SpentRequest]] = {}
    for request in spent:
        by_path.setdefault(request.session.path, []).append(request)
    for log in logs:
        own = by_path.get(str(log.resolve()), [])
        sums = [sum(getattr(r.usage, name) or 0 for r in own) for name in BUCKETS[1:]]
        expected = counted_from_raw(log)
        assert [len(own), *sums] == [expected[name] for name in BUCKETS], log.name


@pytest.mark.corpus
def test_a_rollout_and_an_early_copy_of_it_cost_what_the_rollout_cost(
    store: Store, corpus: Path
) -> None:
    log = corpus / "codex" / "yt-0.106.0.jsonl"
    spent = read(store, log, log.with_name("yt-0.106.0-early-snapshot.jsonl")).requests
    requests, input_, cached, output, _ = counted(log)
    assert len(spent) == requests
    sums = [sum(getattr(r.usage, name) or 0 for r in spent) for name in BUCKETS[1:]]
    assert sums == [input_ - cached, cached, 0, output]


@pytest.mark.hard
def test_t01_a_streamed_message_counts_once_with_its_largest_output(
    store: Store, hard_inputs: Path
) -> None:
    (request,) = read(store, hard_inputs / "T01" / "stream_auto.jsonl").requests
    assert request.usage[:4] == (10, 15_555, 0, 159)
    assert not request.usage.lower_bound


@pytest.mark.hard
def test_t03_a_message_in_two_files_counts_once(store: Store, hard_inputs: Path) -> None:
    spent = read(store, *(hard_inputs / "T03").rglob("*.jsonl")).requests
    assert sum(request.usage.output or 0 for request in spent) == 60
    assert outputs(spent) == {"a": [20, 20], "b": [20]}


@pytest.mark.hard
def test_t08_sub_agents_count_below_the_session_that_started_them(
    store: Store, hard_inputs: Path
) -> None:
    spent = read(store, *(hard_inputs / "T08").rglob("*.jsonl")).requests
    found = {r.session.name: (r.session.relation, r.usage.output, r.main.name) for r in spent}
    main = next(request.main.name for request in spent)
    assert found == {
        main: ("main", 20, main),
        "agent-0": ("subagent", 40, main),
        "agent-1": ("subagent", 80, main),
    }


@pytest.mark.hard
def test_t09_a_cut_stream_is_told_as_a_lower_bound(store: Store, hard_inputs: Path) -> None:
    spent = read(store, hard_inputs / "R14" / "split.jsonl").requests
    assert [request.usage.lower_bound for request in spent] == [True]


@pytest.mark.parametrize("copy_first", [True, False])
def test_a_copy_that_was_made_while_a_message_streamed_adds_nothing(
    store: Store, tmp_path: Path, copy_first: bool
) -> None:
    """The fork holds the first records of the message only, and says too little of it."""
    rows = [reply(n, size, message="m", stop=None) for n, size in ((0, 3), (1, 9))]
    last = reply(2, 159, message="m")
    original = written(tmp_path / "a.jsonl", *rows, last)
    fork = written(tmp_path / "b.jsonl", *rows, reply(3, 7, parentUuid="u1"))
    logs = (fork, original) if copy_first else (original, fork)
    for log in logs:
        spent = read(store, log).requests
    assert sorted(request.usage.output or 0 for request in spent) == [7, 159]


def test_a_fork_of_an_agent_without_global_ids_counts_what_it_adds(
    store: Store, tmp_path: Path
) -> None:
    """Codex writes the history again, with new times."""
    first, second = figures(100, 40, 10, 0), figures(250, 90, 30, 0)
    history = [*turn("1", "u", "a"), usage(first, first)]
    copied = [{**row, "timestamp": "2026-02-02T00:00:00.000Z"} for row in history]
    original = tmp_path / "rollout-2026-01-01T00-00-00-one.jsonl"
    fork = tmp_path / "rollout-2026-02-02T00-00-00-two.jsonl"
    original.write_bytes(data([meta(id="one"), *history]))
    more = [said("assistant", "b"), usage(second, figures(150, 50, 20, 0))]
    fork.write_bytes(data([meta(id="two", forked_from_id="one"), *copied, *more]))
    spent = read(store, fork, original).requests
    assert outputs(spent) == {"one": [10], "two": [20]}
    (at,) = (request.time for request in spent if request.session.name == "one")
    assert at == 1_767_225_600.0, "when it was made, not when it was copied"


def test_sessions_that_are_no_relatives_may_hold_the_same_words(
    store: Store, tmp_path: Path
) -> None:
    spent = figures(100, 40, 10, 0)
    for name in ("one", "two"):
        rows = [meta(id=name), *turn("1", "u", "a"), usage(spent, spent)]
        (tmp_path / f"rollout-2026-01-01T00-00-00-{name}.jsonl").write_bytes(data(rows))
    assert outputs(read(store, *sorted(tmp_path.glob("*.jsonl"))).requests) == {
        "one": [10],
        "two": [10],
    }


def test_a_file_that_was_written_anew_counts_as_it_stands(store: Store, tmp_path: Path) -> None:
    log = written(tmp_path / "a.jsonl", reply(0, 5), reply(1, 6))
    read(store, log)
    written(log, reply(7, 8, parentUuid=None))
    assert [r.usage.output for r in read(store, log).requests] == [8]


def test_what_was_read_of_a_file_that_is_gone_still_counts(store: Store, tmp_path: Path) -> None:
    log = written(tmp_path / "a.jsonl", reply(0, 5))
    read(store, log)
    log.unlink()
    assert [r.usage.output for r in read(store, log).requests] == [5]


def test_errors_and_fillers_are_no_requests(store: Store, tmp_path: Path) -> None:
    failed = reply(1, 0, isApiErrorMessage=True)
    filler = reply(2, 0)
    failed["message"]["model"] = filler["message"]["model"] = "<synthetic>"
    found = read(store, written(tmp_path / "a.jsonl", reply(0, 5), failed, filler))
    assert [r.usage.output for r in found.requests] == [5]
    assert [f.time for f in found.failures] == [1_767_312_001.0]


def test_logs_that_name_each_other_as_parents_are_read_to_the_end(
    store: Store, tmp_path: Path
) -> None:
    for name, parent, output in (("one", "two", 10), ("two", "one", 11)):
        spent = figures(100, 40, output, 0)
        rows = [meta(id=name, parent_thread_id=parent), *turn("1", name, "a"), usage(spent, spent)]
        (tmp_path / f"rollout-2026-01-01T00-00-00-{name}.jsonl").write_bytes(data(rows))
    found = outputs(read(store, *sorted(tmp_path.glob("*.jsonl"))).requests)
    assert found == {"one": [10], "two": [11]}


def test_the_same_figures_behind_a_forks_own_first_request_are_its_own(
    store: Store, tmp_path: Path
) -> None:
    first, other, same = (figures(100, 0, n, 0) for n in (10, 11, 12))
    for name, parent, own in (("one", None, first), ("two", "one", other)):
        rows = [meta(id=name, forked_from_id=parent), *turn("1", "u", name), usage(own, own)]
        rows += [*turn("2", "u", name), usage(same, same)]
        (tmp_path / f"rollout-2026-01-01T00-00-00-{name}.jsonl").write_bytes(data(rows))
    found = outputs(read(store, *sorted(tmp_path.glob("*.jsonl"))).requests)
    assert found == {"one": [10, 12], "two": [11, 12]}


def test_the_figures_are_found_without_a_look_at_other_events(store: Store) -> None:
    with store.connections.read() as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {_USED}").fetchall()
    assert [row[-1] for row in plan] == ["SCAN events USING COVERING INDEX events_with_usage"]


def test_a_store_of_the_first_format_gets_the_index(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    log = written(tmp_path / "a.jsonl", reply(0, 5))
    made = Store(path, registry())
    read(made, log)
    made.close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP INDEX events_with_usage")
        connection.execute("DROP INDEX errors")
        connection.execute("DELETE FROM _sqlite_migrations WHERE name = 'm0002_usage'")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert [m.name for m in migrations.pending(Database(path))] == ["m0002_usage"]
    opened = Store(path, registry())
    assert [r.usage.output for r in spending(opened).requests] == [5]
    with opened.connections.read() as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall()
    opened.close()
    assert {("events_with_usage",), ("errors",)} <= set(names)
