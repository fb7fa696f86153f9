"""Usage and compactions, against a count over the raw JSON that shares no code with the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compress.events import SessionEvent
from storage.sources.claude import ClaudeAdapter
from tests.conftest import CORPUS
from tests.derivation import read

NAMES = sorted(p.stem for p in (CORPUS / "claude").glob("*.jsonl")) if CORPUS else []
BUCKETS = ("requests", "input", "cache_read", "cache_write", "output")
FIELDS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


def counted_from_raw(path: Path) -> dict[str, int]:
    """One message an id, its record with the largest output; errors and side chains apart."""
    best: dict[str, dict[str, Any]] = {}
    compactions = 0
    sub_agent_file: bool | None = None
    for line in path.read_bytes().split(b"\n"):
        if not line.strip():
            continue
        row = json.loads(line)
        if sub_agent_file is None and "uuid" in row:
            sub_agent_file = row["isSidechain"]
        if row.get("isSidechain") and not sub_agent_file:
            continue
        compactions += row.get("subtype") == "compact_boundary"
        if row["type"] != "assistant" or row.get("isApiErrorMessage"):
            continue
        message = row["message"]
        if message["model"] == "<synthetic>":
            continue
        old = best.get(message["id"])
        if old is None or message["usage"]["output_tokens"] >= old["output_tokens"]:
            best[message["id"]] = message["usage"]
    sums = [sum(usage.get(field) or 0 for usage in best.values()) for field in FIELDS]
    return dict(zip(BUCKETS, [len(best), *sums], strict=True)) | {"compactions": compactions}


def gathered(events: list[SessionEvent]) -> dict[str, int]:
    """As every consumer does: a request's newest usage among those with the largest output."""
    best: dict[Any, Any] = {}
    for event in events:
        if event.usage is None:
            continue
        old = best.get(event.request)
        if old is None or (event.usage.output or 0) >= (old.output or 0):
            best[event.request] = event.usage
    totals = {
        "requests": len(best),
        **{name: sum(getattr(u, name) or 0 for u in best.values()) for name in BUCKETS[1:]},
    }
    return totals | {"compactions": sum(event.type == "compact/end" for event in events)}


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_totals_equal_an_independent_count(corpus: Path, name: str) -> None:
    path = corpus / "claude" / f"{name}.jsonl"
    _, events = read(ClaudeAdapter(), path)
    assert gathered(events[""]) == counted_from_raw(path)


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_steps_count_requests_and_a_result_has_the_step_of_its_call(
    corpus: Path, name: str
) -> None:
    path = corpus / "claude" / f"{name}.jsonl"
    _, events = read(ClaudeAdapter(), path)
    steps = [e.step for e in events[""] if e.type == "assistant/message"]
    assert set(steps) == set(range(1, counted_from_raw(path)["requests"] + 1))
    made: dict[str, int | None] = {}
    for event in events[""]:
        for block in event.blocks:
            if block.kind == "tool_call" and event.type == "assistant/message":
                made[block.id or ""] = event.step
            elif block.kind == "tool_result" and not event.meta.get("receipt"):
                assert event.step == made.get(block.id or "")
