"""Contexts of real sessions: within their budget, at any moment, nothing of what came after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.usecases import UseCases
from tests.inspector.logs import usecases

LOGS = (
    "claude/entire-2.1.14-micro-compact.jsonl",
    "claude/ccl-2.0.37-main-with-agents.jsonl",
    "codex/yt-0.106.0.jsonl",
    "pi/made-g_branch.jsonl",
)
CITED = re.compile(r"^- \[event (\d+)\]", re.MULTILINE)


@pytest.fixture(scope="module")
def cases(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[UseCases]:
    folder = tmp_path_factory.mktemp("rebuilt")
    opened = usecases(folder / "store.db", folder)
    opened.ingest([corpus / name for name in LOGS if (corpus / name).is_file()])
    yield opened
    opened.close()


@pytest.mark.corpus
def test_every_session_is_rebuilt_within_its_budget_at_any_moment(cases: UseCases) -> None:
    looked_at = 0
    for row in cases.sessions():
        last = cases.events(row.id)
        for at in {max(1, last // 2), last}:
            for budget, on in ((700, True), (3_000, False)):
                report = cases.rebuild(row.id, budget=budget, at=at, compression=on).report
                assert report.tokens <= budget
                assert all(int(seq) <= at for seq in CITED.findall(report.text))
                looked_at += 1
    assert looked_at >= 8
