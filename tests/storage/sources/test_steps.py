"""What reading a long log costs: as much for each record of the second half as of the first.

Bytecodes are counted, and the nodes that operations list. What one bytecode does to all that
stands – a copy, a comparison, ``set``, ``map``, ``in`` – is seen only where an operation lists it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from storage.sources.registry import registry
from tests.storage.sources import codex_logs as codex
from tests.storage.sources import copilot_logs as copilot
from tests.storage.sources import gemini_logs as gemini
from tests.storage.sources import openhands_logs as openhands
from tests.storage.sources import pi_logs as pi
from tests.storage.sources.claude_log import Log
from tests.storage.sources.kit import rows_as_records
from tests.storage.sources.steps import listed, steps, steps_of

Rows = list[dict[str, Any]]


def claude(turns: int) -> Rows:
    """With compactions and rewinds."""
    log = Log()
    for n in range(turns):
        log.user(f"do {n}", f"u{n}")
        log.call("Read", f"a{n}", input={"file_path": "a"})
        log.result(f"call-a{n}", "text", f"r{n}")
        if n % 5 == 4:
            log.system("compact_boundary", f"s{n}", None, compactMetadata={"trigger": "auto"})
            log.user("summary", f"k{n}", isCompactSummary=True)
            log.user("other words", f"x{n}", f"k{n}")
    return log.rows


def gemini_cli(turns: int) -> Rows:
    """With answers that are written again, rewinds and checkpoints."""
    rows: Rows = [gemini.HEADER]
    for n in range(turns):
        first = gemini.answer(f"g{n}", "so")
        rows += [gemini.user(f"u{n}", f"do {n}"), first]
        rows += [{**first, "toolCalls": [gemini.tool(f"c{n}", "text")]}]
        rows += [gemini.user(f"w{n}", "no"), {"$rewindTo": f"w{n}"}]
        if turns // 2 < n and n % 5 == 4:
            rows += [gemini.checkpoint(gemini.user(f"s{n}", "<state_snapshot>S</state_snapshot>"))]
    return rows


def pi_sessions(turns: int) -> Rows:
    """With compactions."""
    rows, last = [pi.HEADER], None
    for n in range(turns):
        rows.append(pi.message(f"u{n}", last, "user", [{"type": "text", "text": "x"}]))
        rows.append(pi.answer(f"a{n}", f"u{n}", pi.call(f"c{n}"), usage={"input": 5}))
        rows.append(pi.result(f"r{n}", f"a{n}", f"c{n}"))
        last = f"r{n}"
        if n % 5 == 4:
            rows.append(pi.compaction(f"k{n}", last, "S", f"u{n}"))
            last = f"k{n}"
    return rows


def copilot_cli(turns: int) -> Rows:
    """With rewinds, each of the second of two turns."""
    rows = [copilot.start()]
    for n in range(turns):
        rows += [copilot.row("session.info", f"{part}{n}", message="so") for part in "abcd"]
        for name in (f"s{n}", f"u{n}"):
            rows += [copilot.user(name, f"x{n}"), copilot.answer(f"r{name}", "so")]
        rows += [copilot.row("session.snapshot_rewind", f"z{n}", upToEventId=f"u{n}")]
    return rows


def codex_rollouts(turns: int) -> Rows:
    """With rollbacks, each of the second of two turns."""
    rows: Rows = [codex.meta()]
    for n in range(turns):
        rows += [*codex.turn(f"s{n}", "q", "so"), *codex.turn(f"u{n}", "no", "so")]
        rows += [codex.rolled_back(1)]
    return rows


def openhands_sdk(turns: int) -> Rows:
    """With condensations."""
    rows: Rows = []
    view: list[str] = []
    for n in range(turns):
        rows += [openhands.user(f"u{n}", "x"), openhands.action(f"a{n}", f"c{n}", f"r{n}", "look")]
        rows += [openhands.result(f"o{n}", f"c{n}", "one", f"a{n}")]
        view += [f"u{n}", f"a{n}", f"o{n}"]
        if n % 5 == 4:
            rows.append(openhands.condensation(f"k{n}", view[1:-3], "S", 1))
            view = [view[0], f"k{n}-summary", *view[-3:]]
    return rows


LOGS: list[tuple[str, str, Callable[[int], Rows]]] = [
    ("claude", "p/session.jsonl", claude),
    ("gemini", "chats/session-1.jsonl", gemini_cli),
    ("codex", "rollout.jsonl", codex_rollouts),
    ("pi", "s.jsonl", pi_sessions),
    ("copilot", "session-state/s/events.jsonl", copilot_cli),
    ("openhands", "c0ffee/events.jsonl", openhands_sdk),
]


@pytest.mark.parametrize(("agent", "path", "log"), LOGS, ids=[agent for agent, _, _ in LOGS])
def test_twice_the_log_takes_twice_the_steps(
    agent: str, path: str, log: Callable[[int], Rows]
) -> None:
    adapter = registry().for_agent(agent)
    # What is loaded at first use is no part of it.
    _, once, twice = (
        steps_of(adapter, Path(path), rows_as_records(log(turns))) for turns in (5, 60, 120)
    )
    assert twice < 2.2 * once


@pytest.mark.parametrize(("agent", "path", "log"), LOGS, ids=[agent for agent, _, _ in LOGS])
def test_operations_on_twice_the_log_list_twice_the_nodes(
    agent: str, path: str, log: Callable[[int], Rows]
) -> None:
    adapter = registry().for_agent(agent)
    once, twice = (listed(adapter, Path(path), rows_as_records(log(turns))) for turns in (60, 120))
    assert twice < 2.2 * once + 10


def _messages(turns: int) -> Rows:
    pairs = (("user", "q"), ("assistant", "a"))
    return [{"role": role, "content": f"{word}{n}"} for n in range(turns) for role, word in pairs]


def _request(turns: int) -> dict[str, Any]:
    body = {"model": "m", "messages": _messages(turns)}
    return {"custom_id": "r", "method": "POST", "url": "/v1/chat/completions", "body": body}


def _document(turns: int) -> dict[str, Any]:
    pairs = [(gemini.user(f"u{n}", "q"), gemini.answer(f"g{n}", "so")) for n in range(turns)]
    return {**gemini.HEADER, "messages": [message for pair in pairs for message in pair]}


RECORDS: list[tuple[str, Callable[[int], dict[str, Any]]]] = [
    ("batch", _request),
    ("chat", lambda turns: {"messages": _messages(turns)}),
    ("codex", lambda turns: codex.compacted(*map(str, range(turns)))),
    ("gemini", _document),
]


@pytest.mark.parametrize(("agent", "record"), RECORDS, ids=[agent for agent, _ in RECORDS])
def test_all_contents_of_a_record_are_read_in_steps_that_grow_with_it(
    agent: str, record: Callable[[int], dict[str, Any]]
) -> None:
    adapter = registry().for_agent(agent)

    def reading(turns: int) -> int:
        value = record(turns)

        def read() -> None:
            contents = adapter.contents(value)
            assert [content for block in range(2 * turns) if (content := contents(block))]

        return steps(read)

    _, once, twice = reading(5), reading(100), reading(200)
    assert twice < 2.2 * once
