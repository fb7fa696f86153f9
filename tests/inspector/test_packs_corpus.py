"""Packs of real sessions: whole below the budget, pointing to what is there, the same again."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.pack_reports import PackReport
from storage import resources
from tests.inspector.logs import usecases

LOGS = (
    "claude/ccl-2.1.114-main",
    "claude/entire-2.0.76-compact",
    "codex/entire-skills-0.118.0",
    "dsh/advanced-toolchain__session",
    "pi/made-g_branch",
)


@pytest.mark.corpus
@pytest.mark.parametrize("log", LOGS)
def test_packs_of_a_real_session(corpus: Path, tmp_path: Path, log: str) -> None:
    cases = usecases(":memory:", tmp_path)
    session = cases.find(str(corpus / f"{log}.jsonl"))
    surface = cases.surface(session, track="plan").nodes
    asked = [node.headline for node in surface if node.type == "user/message"][-1:]
    for query in (*asked, "error in file", ""):
        for budget in (200, 2_000):
            report = cases.pack(session, query, budget=budget).report
            _check(report, budget, cases.events(session))
    assert report == cases.pack(session, "", budget=2_000, kept=False).report
    pinned = next((node.seq for node in surface if node.type == "user/message"), surface[0].seq)
    cases.pin(session, [pinned])
    words = {block.text for block in cases.detail(session, pinned).blocks if block.text.strip()}
    lines = cases.pack(session, "zzz", budget=90_000).report.lines
    locked = [line for line in lines if line.locked]
    told = "\n".join(line.rendered for line in locked)
    assert all(line.packed and line.strategy == "verbatim" for line in locked)
    assert all(text in told for text in words)
    cases.close()


def _check(report: PackReport, budget: int, newest: int) -> None:
    counter = next(
        made
        for made in map(resources.counter_for, ("gpt-4o", "gpt-4"))
        if made.name == report.counter
    )
    assert report.tokens == counter.count(report.text) <= budget
    assert len({line.belief for line in report.lines}) == len(report.lines)
    for line in report.lines:
        assert line.tokens_rendered <= line.tokens_raw
        assert line.tokens_rendered == counter.count(line.rendered)
        assert all(isinstance(seq, int) and 0 < seq <= newest for seq in line.source_event_seqs)
        assert not line.packed or line.rendered.strip() in report.text
