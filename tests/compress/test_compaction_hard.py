"""Compaction on hard inputs, each test named after its case, and on real logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from compress.compaction.agent import agent_operations
from compress.compaction.micro import preview_micro
from compress.compaction.service import preview_auto, preview_region
from compress.compaction.values import PressureInputs, Preview
from compress.errors import CompressError, StaleNodeError, UnbalancedBoundaryError
from compress.events import NodeId
from compress.operations import OperationDraft
from compress.pairing import pairing
from compress.pins import pin_draft
from compress.undo import undo_draft
from tests.compress.logs import Log, attempt
from tests.compress.sessions import log_of


def halves(log: Log) -> set[str]:
    """The call ids of which just one half stands on the plan."""
    session = log.session()
    calls: set[str] = set()
    results: set[str] = set()
    for node in session.plan.surface.nodes:
        for event in session.content(node).events:
            for block in event.blocks:
                if block.kind == "tool_call":
                    calls.add(block.id or "")
                elif block.kind == "tool_result":
                    results.add(block.id or "")
    return calls ^ results


def _draft(preview: Preview | None) -> OperationDraft | None:
    return None if preview is None else preview.draft


@pytest.mark.hard
def test_c01_no_region_leaves_half_a_pair(hard_inputs: Path) -> None:
    log = log_of(hard_inputs / "C01" / "pairs.jsonl")
    nodes = log.nodes()
    refused = committed = 0
    for start in range(len(nodes)):
        for end in range(start, len(nodes)):
            trial = Log(events=log.events, _entries=log.entries)
            try:
                trial.commit(preview_region(trial.session(), nodes[start], nodes[end]).draft)
                committed += 1
            except UnbalancedBoundaryError:
                refused += 1
            except CompressError:
                continue
            assert halves(trial) == set()
    assert refused > 0
    assert committed > 0


@pytest.mark.hard
def test_c01_neither_do_the_automatic_ways(hard_inputs: Path) -> None:
    log = log_of(hard_inputs / "C01" / "pairs.jsonl")
    total = sum(log.session().tokens(node) for node in log.nodes())
    for window in range(total, 4 * total, 97):
        full = PressureInputs(window, window)
        trial = Log(events=log.events, _entries=log.entries)
        for way in (preview_micro, preview_auto):
            attempt(trial, lambda: _draft(way(trial.session(), full)))  # noqa: B023
            assert halves(trial) == set()


@pytest.mark.hard
def test_c03_pins_survive_three_compactions_byte_for_byte(hard_inputs: Path) -> None:
    log = log_of(hard_inputs / "C03" / "pins.jsonl")
    session = log.session()
    pins: list[NodeId] = [
        node
        for node in session.plan.surface.nodes
        if "PIN-ME" in session.content(node).events[0].blocks[0].text
    ]
    assert len(pins) == 3
    before = [log.bytes_of(node) for node in pins]
    for node in pins:
        log.commit(pin_draft(log.plan(), node))
    for end in (-60, -30, -1):
        nodes = log.nodes()
        log.commit(preview_region(log.session(), nodes[0], nodes[end]).draft)
        standing = log.nodes()
        assert [node for node in standing if node in pins] == pins
        assert [log.bytes_of(node) for node in pins] == before
    log.commit(undo_draft(log.plan()))
    assert [log.bytes_of(node) for node in log.nodes() if node in pins] == before


@pytest.mark.hard
def test_c06_every_orphan_is_found_wherever_it_stands(hard_inputs: Path) -> None:
    log = log_of(hard_inputs / "C06" / "orphans.jsonl")
    state = log.plan()
    found = pairing(state.surface, state.entries)
    assert sorted(found.position(node) for node in found.orphans) == [0, 2, 7]
    assert [problem.kind for problem in found.problems] == ["orphan_result"]
    assert "user" not in found.problems[0].detail
    assert found.open_from == 7


@pytest.mark.hard
def test_c07_a_compaction_that_cannot_gain_stops_with_the_figures(hard_inputs: Path) -> None:
    log = log_of(hard_inputs / "C03" / "pins.jsonl")
    for node in log.nodes()[:100]:
        log.commit(pin_draft(log.plan(), node))
    session = log.session(window=2_000)
    preview = preview_auto(session, PressureInputs(20_000, 2_000))
    if preview is not None:
        assert "Did not converge" in preview.warnings[0]
        assert any("no compaction will get below it" in warning for warning in preview.warnings)
        log.commit(preview.draft)
        again = preview_auto(log.session(window=2_000), PressureInputs(20_000, 2_000))
        assert again is None


@pytest.mark.hard
@pytest.mark.parametrize("name", ["boundary.jsonl", "pi.jsonl"])
def test_c08_a_boundary_to_a_missing_entry_is_no_anchor(hard_inputs: Path, name: str) -> None:
    log = log_of(hard_inputs / "C08" / name)
    nodes = log.nodes()
    assert nodes
    with pytest.raises(StaleNodeError, match="unknown"):
        preview_region(log.session(), nodes[0], len(log.events) + 1)


@pytest.mark.hard
def test_r21_a_second_result_is_an_orphan(hard_inputs: Path) -> None:
    log = log_of(hard_inputs / "R21" / "orphan.jsonl")
    state = log.plan()
    kinds = [problem.kind for problem in pairing(state.surface, state.entries).problems]
    assert kinds == ["orphan_result", "orphan_result"]


@pytest.mark.hard
def test_r22_an_interrupted_call_has_no_result_and_is_not_running(hard_inputs: Path) -> None:
    log = log_of(hard_inputs / "R22" / "interrupted.jsonl")
    state = log.plan()
    found = pairing(state.surface, state.entries)
    assert len(found.unanswered) == 2
    assert found.problems == ()


@pytest.mark.hard
def test_r24_reused_and_empty_ids_pair_with_their_nearest_call(hard_inputs: Path) -> None:
    log = log_of(hard_inputs / "R24" / "dupids.jsonl")
    state = log.plan()
    found = pairing(state.surface, state.entries)
    assert max(found.balance) == 1
    assert {problem.kind for problem in found.problems} == {"reused_call_id", "empty_call_id"}


def real_logs(corpus: Path) -> list[Path]:
    return [
        corpus / "claude" / "entire-2.1.5-apierrors-compact2.jsonl",
        corpus / "claude" / "ccl-2.0.42-queue.jsonl",
        corpus / "codex" / "entire-skills-0.118.0.jsonl",
        corpus / "codex" / "yt-0.106.0.jsonl",
    ]


@pytest.mark.corpus
def test_real_logs_compact_clear_and_come_back(corpus: Path) -> None:
    for path in real_logs(corpus):
        log = log_of(path)
        before = log.nodes()
        total = sum(log.session().tokens(node) for node in before)
        torn = halves(log)
        full = PressureInputs(total, total)
        cleared = preview_micro(log.session(), full)
        assert cleared is not None
        log.commit(cleared.draft)
        assert halves(log) == torn
        automatic = preview_auto(log.session(), full)
        assert automatic is not None
        log.commit(automatic.draft)
        assert halves(log) <= torn
        assert automatic.tokens_after < automatic.tokens_before
        log.commit(undo_draft(log.plan()))
        log.commit(undo_draft(log.plan()))
        assert log.nodes() == before


@pytest.mark.corpus
def test_the_agents_own_compactions_of_a_real_log_are_told(corpus: Path) -> None:
    log = log_of(corpus / "claude" / "entire-2.1.5-apierrors-compact2.jsonl")
    found = [op for op in agent_operations(log.entries.values()) if op.kind == "compact"]
    assert [op.trigger for op in found] == ["auto", "auto"]
    assert all(op.finished and op.tokens_after < op.tokens_before for op in found)
