"""Whatever a log of Codex or pi went through, a copy of any plan on it says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.resume.base import CopyNode, PlanCopy, ResumeRefusedError, Writer
from storage.resume.codex import CodexWriter
from storage.resume.pi import PiWriter
from storage.sources.base import SourceAdapter
from tests.storage.resume.copies import checkpoint, receipt
from tests.storage.resume.raw_copies import copy_of, planned, read_back
from tests.storage.sources import codex_logs as codex
from tests.storage.sources import pi_logs as pi
from tests.storage.sources.made_logs import PI
from tests.storage.sources.test_codex_pi_damage import ROLLOUT, damaged
from tests.storage.sources.test_codex_surface import _rows as codex_rows
from tests.storage.sources.test_pi_surface import _rows as pi_rows

Change = Callable[[list[CopyNode]], list[CopyNode]]
ROUNDS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def changes(draw: st.DrawFn) -> Change:
    """Receipts in the place of results, and a summary in the place of any run of nodes."""
    picked = draw(st.lists(st.integers(0, 40), max_size=3))
    span = draw(st.none() | st.tuples(st.integers(0, 12), st.integers(1, 12)))

    def change(nodes: list[CopyNode]) -> list[CopyNode]:
        results = [at for at, node in enumerate(nodes) if node.type == "tool/result"]
        for number, pick in enumerate(picked if results else (), 1):
            at = results[pick % len(results)]
            nodes[at] = receipt(f"o{number}", nodes[at], "[Cleared] half a pair: \ud83d")
        if span is None:
            return nodes
        start, size = min(span[0], len(nodes)), span[1]
        return [*nodes[:start], checkpoint("o9", "what was before"), *nodes[start + size :]]

    return change


def check(writer: Writer, adapter: SourceAdapter, rows: list[Any], change: Change) -> None:
    copy = copy_of(adapter, rows, change)
    why = refusal(writer, copy)
    if why is not None:
        said = any(node.type in ("user/message", "assistant/message") for node in copy.nodes)
        assert not said or "which the provider refuses" in why
        return
    composed = writer.compose(copy)
    for line in composed.lines:
        json.loads(line.decode())
    assert whole(read_back(adapter, composed.lines)) == whole(planned(copy, adapter.agent))
    assert composed == writer.compose(copy)


def refusal(writer: Writer, copy: PlanCopy) -> str | None:
    try:
        writer.compose(copy)
    except ResumeRefusedError as error:
        return str(error)
    return None


def whole(lines: list[tuple[object, ...]]) -> list[str]:
    """Half a surrogate pair cannot be sent by anyone."""
    return [repr(line).replace("\\ud83d", "\ufffd") for line in lines]


@ROUNDS
@given(st.composite(codex_rows)(), changes())
def test_a_codex_copy_holds_exactly_the_plan(rows: list[Any], change: Change) -> None:
    check(CodexWriter(), codex.ADAPTER, rows, change)


@ROUNDS
@given(st.composite(pi_rows)(), changes())
def test_a_pi_copy_holds_exactly_the_plan(rows: list[Any], change: Change) -> None:
    check(PiWriter(), pi.ADAPTER, [pi.HEADER, *rows], change)


@ROUNDS
@given(damaged(ROLLOUT), changes())
def test_damaged_codex_records_are_copied_as_they_read(rows: list[Any], change: Change) -> None:
    check(CodexWriter(), codex.ADAPTER, rows, change)


@ROUNDS
@given(damaged(PI), changes())
def test_damaged_pi_entries_are_copied_as_they_read(rows: list[Any], change: Change) -> None:
    check(PiWriter(), pi.ADAPTER, [pi.HEADER, *rows], change)
