"""The harvest of real logs: in pieces as in one go, and again after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from compress.decisions.harvest import About, Harvest, Judge
from compress.decisions.values import DecisionPoint
from compress.events import SessionEvent
from storage.sources.registry import adapter_of, registry
from tests.derivation import records
from tests.storage.decisions.expected import judge

LOGS = [
    "claude/entire-2.1.5-apierrors-compact2.jsonl",
    "claude/entire-2.1.12-microcompact.jsonl",
    "claude/entire-skills-2.1.119.jsonl",
    "codex/yt-0.106.0.jsonl",
    "pi/made-e_two.jsonl",
    "dsh/approval-composer__session.jsonl",
]


def events_by_record(path: Path, agent: str) -> list[list[SessionEvent]]:
    reader = registry().for_agent(agent).open(path)
    found = []
    for record in records(path.read_bytes()):
        for derived in reader.feed(record):
            if derived.session == "":
                found.append(list(derived.events))
    return found


@pytest.mark.corpus
@pytest.mark.parametrize("log", LOGS)
def test_in_pieces_with_restarts_between_as_in_one_go(corpus: Path, log: str) -> None:
    agent = log.split("/", maxsplit=1)[0]
    rows = events_by_record(corpus / log, agent)
    about, judged = About(agent, "s"), judge("pytest", "unittest")
    whole = Harvest(about, len, judged)
    for row in rows:
        for event in row:
            whole.feed(event, 1)
    expected = {point.id: point for point in whole.take()}
    harvest, states = Harvest(about, len, judged), dict[str, DecisionPoint]()
    sizes = []
    for place, row in enumerate(rows):
        for event in row:
            harvest.feed(event, 1)
        if place % 7 == 0:
            for point in harvest.take():
                assert point.id not in states or states[point.id].open
                states[point.id] = point
            snapshot = harvest.snapshot()
            sizes.append(len(snapshot))
            harvest = Harvest.restore(about, len, judged, snapshot)
    states.update((point.id, point) for point in harvest.take())
    assert states == expected
    assert len(expected) >= 1
    # What is remembered between two pieces is the turn that runs, never the session.
    longest = max(int(point.last_seq) - int(point.first_seq) for point in expected.values())
    assert max(sizes) < 4_000 + 1_500 * longest


@pytest.mark.hard
def test_whatever_a_log_holds_is_harvested(hard_inputs: Path) -> None:
    adapters, harvested = registry(), 0
    for path in sorted(p for p in hard_inputs.rglob("*") if p.is_file()):
        adapter = adapter_of(adapters, path)
        if adapter is None:
            continue
        reader = adapter.open(path)
        harvests: dict[str, Harvest] = {}
        for record in records(path.read_bytes()):
            for derived in reader.feed(record):
                about = About(adapter.agent, derived.session)
                harvest = harvests.setdefault(derived.session, Harvest(about, len, Judge()))
                for event in derived.events:
                    harvest.feed(event, 1)
        for harvest in harvests.values():
            points = harvest.take()
            assert len({point.id for point in points}) == len(points)
            assert all(point.model_dump_json() for point in points)
            harvested += len(points)
    assert harvested > 100


@pytest.mark.corpus
def test_an_approval_that_dsh_tells_of_is_a_stage(corpus: Path) -> None:
    rows = events_by_record(corpus / "dsh" / "approval-composer__session.jsonl", "dsh")
    harvest = Harvest(About("dsh", "s"), len, judge())
    for row in rows:
        for event in row:
            harvest.feed(event, 1)
    (approval,) = [p for p in harvest.take() if p.stage.kind == "approval"]
    assert (approval.outcome, approval.stage.title[:4], approval.open) == ("success", "bash", False)
    assert [e.text for e in approval.evidence if e.kind == "decision"] == ["approved"]
    assert (approval.rationale or "").startswith("Need to write the notes.txt file")
