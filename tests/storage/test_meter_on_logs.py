"""The meter through the adapters: real logs, and the hard cases of token accounting."""

from __future__ import annotations

from pathlib import Path

import pytest

from compress.entries import LogEntry
from compress.events import SessionEvent
from compress.meter import TokenMeter, decide_window
from storage.resources import table_window, tiktoken_counter
from storage.sources.base import SourceAdapter
from storage.sources.claude import ClaudeAdapter
from storage.sources.codex import CodexAdapter
from tests.benchmarks.meter_error import entries_of, measure, pooled
from tests.derivation import read


def metered(adapter: SourceAdapter, path: Path) -> tuple[TokenMeter, list[LogEntry]]:
    events: list[SessionEvent] = read(adapter, path)[1].get("", [])
    entries = entries_of(events)
    return TokenMeter().feed_all(entries), entries


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "sessions", "median", "p90"),
    [("claude", 15, 0.08, 0.35), ("codex", 5, 0.02, 0.05), ("pi", 1, 0.03, 0.10)],
)
def test_the_next_request_is_predicted_closely(
    corpus: Path, agent: str, sessions: int, median: float, p90: float
) -> None:
    found = measure(corpus, agent)
    assert len(found) == sessions
    figures = pooled(found)
    assert figures["meter"][0] <= median
    assert figures["meter"][1] <= p90
    # Beside it, what adding up counts would say.
    assert figures["plain"][0] > figures["meter"][0]
    assert figures["chars"][0] > figures["meter"][0]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("adapter", "name"),
    [
        (ClaudeAdapter(), "claude/entire-2.1.7-compact3-interrupts.jsonl"),
        (ClaudeAdapter(), "claude/entire-2.1.12-microcompact.jsonl"),
        (CodexAdapter(), "codex/entire-0.125.0-prefix.jsonl"),
    ],
    ids=["compactions", "micro-compaction", "codex"],
)
def test_the_overhead_is_shown_and_the_parts_are_the_whole(
    corpus: Path, adapter: SourceAdapter, name: str
) -> None:
    meter, _ = metered(adapter, corpus / name)
    now = meter.reading()
    assert now.used_source == "provider"
    assert now.overhead > 2_000
    assert sum(now.composition.values()) == now.used
    assert sum(now.tool_results_by_tool.values()) == now.composition["tool_results"]
    last = [r.actual_input for r in meter.requests if r.actual_input][-1]
    assert now.used == pytest.approx(last, rel=0.05)


@pytest.mark.corpus
def test_the_agents_own_figure_before_a_compaction_is_met(corpus: Path) -> None:
    # Claude Code logs what stood before each compaction (preTokens); the meter, fed up to there,
    # must say about the same.
    path = corpus / "claude" / "entire-2.1.7-compact3-interrupts.jsonl"
    _, entries = metered(ClaudeAdapter(), path)
    meter, told = TokenMeter(), []
    for entry in entries:
        if entry.type == "compact/start" and entry.meta.get("pre_tokens"):
            told.append((entry.meta["pre_tokens"], meter.reading().used))
        meter.feed(entry)
    assert len(told) == 3
    for agent, ours in told:
        assert ours == pytest.approx(agent, rel=0.05)


@pytest.mark.hard
def test_t05_cached_tokens_of_codex_are_part_of_its_input(hard_inputs: Path) -> None:
    meter, _ = metered(CodexAdapter(), next((hard_inputs / "T05").rglob("*.jsonl")))
    assert [r.actual_input for r in meter.requests] == [1_000]
    # The log holds no reply, so nothing of one stands on the surface.
    assert meter.reading().used == 1_000


@pytest.mark.hard
def test_t06_the_last_figure_counts_and_never_the_cumulative_one(hard_inputs: Path) -> None:
    path = next((hard_inputs / "T06").rglob("*.jsonl"))
    meter, _ = metered(CodexAdapter(), path)
    actual = [r.actual_input for r in meter.requests if r.actual_input is not None]
    assert max(actual) == 100_000
    assert actual[-1] == 21_000
    assert 180_000 not in actual
    assert meter.reading().used == pytest.approx(21_050, abs=60)


@pytest.mark.hard
def test_t10_each_model_has_its_window(hard_inputs: Path) -> None:
    meter = TokenMeter()
    windows = {}
    for entry in metered(ClaudeAdapter(), hard_inputs / "T10" / "switch.jsonl")[1]:
        meter.feed(entry)
        now = meter.reading()
        windows[now.model] = decide_window(observed=now.observed, table=table_window(now.model))
    assert windows["claude-sonnet-4-5[1m]"].tokens == 1_000_000
    assert windows["mystery-model-9"].tokens is None
    assert windows["claude-haiku-4-5"].source in ("table", "observed")
    for model, window in windows.items():
        inputs = [r.actual_input or 0 for r in meter.requests if r.model == model]
        used = max(inputs, default=0)
        assert window.tokens is None or used <= window.tokens


@pytest.mark.hard
def test_t11_figures_that_cannot_be_are_unknown(hard_inputs: Path) -> None:
    meter, _ = metered(ClaudeAdapter(), hard_inputs / "T11" / "usage.jsonl")
    for request in meter.requests:
        assert request.actual_input is None or 0 < request.actual_input < 2**53
        assert request.predicted_input >= 0
    assert meter.reading().used >= 0


@pytest.mark.hard
@pytest.mark.parametrize("case", ["T12", "T13"])
def test_t12_t13_strings_that_break_tokenizers_are_counted(hard_inputs: Path, case: str) -> None:
    before = tiktoken_counter().estimated
    for path in sorted((hard_inputs / case).glob("*.jsonl")):
        meter, entries = metered(ClaudeAdapter(), path)
        assert sum(entry.tokens for entry in entries) > 0
        assert meter.reading().counted > 0
    assert tiktoken_counter().estimated == before
