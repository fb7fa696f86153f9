"""Real logs through the whole way: file → store → surface → what the agent itself would send."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import CORPUS
from tests.derivation import check_surface
from tests.inspector.logs import usecases

EXPECTED = (
    [
        (agent, path.stem)
        for agent in ("claude", "codex", "pi")
        for path in sorted((CORPUS / "surfaces" / agent).glob("*.json"))
    ]
    if CORPUS
    else []
)
DSH = sorted((CORPUS / "surfaces" / "dsh").glob("*.json")) if CORPUS else []


@pytest.mark.corpus
@pytest.mark.parametrize(("agent", "name"), EXPECTED)
def test_messages_are_what_the_agent_sends_on_resume(
    corpus: Path, tmp_path: Path, agent: str, name: str
) -> None:
    cases = usecases(":memory:", tmp_path)
    session = cases.find(str(corpus / agent / f"{name}.jsonl"))
    assert check_surface(corpus, agent, name, cases.messages(session), tmp_path) == ""
    cases.close()


@pytest.mark.corpus
@pytest.mark.parametrize("expected", DSH, ids=lambda path: path.stem)
def test_dsh_nodes_are_those_of_its_own_fold(corpus: Path, tmp_path: Path, expected: Path) -> None:
    want = json.loads(expected.read_text(encoding="utf-8"))
    cases = usecases(":memory:", tmp_path)
    session = cases.find(str(corpus / "dsh" / f"{expected.stem}.jsonl"))
    nodes = cases.surface(session).nodes
    assert [(node.seq, node.type) for node in nodes] == [
        (node["seq0"] + 1, node["type"]) for node in want["nodes"]
    ]
    cases.close()


@pytest.mark.corpus
def test_the_whole_corpus_is_read_without_an_exception(corpus: Path, tmp_path: Path) -> None:
    cases = usecases(tmp_path / "store.db", tmp_path)
    report = cases.ingest([corpus])
    assert report.records > 10_000
    for row in cases.sessions():
        cases.surface(row.id)
        cases.messages(row.id, live=True)
        cases.pressure(row.id)
        cases.audit(row.id)
    assert cases.ingest([corpus]).records == 0
    cases.close()
