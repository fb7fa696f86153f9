"""Claude Code's own logs: the surface is what the agent itself sends on resume."""

from __future__ import annotations

from pathlib import Path

import pytest

from compress.surface import fold
from storage.sources.base import Numbering
from storage.sources.claude import ClaudeAdapter
from tests.conftest import CORPUS
from tests.derivation import check_surface, messages_report, read, records

ADAPTER = ClaudeAdapter()
NAMES = sorted(p.stem for p in (CORPUS / "claude").glob("*.jsonl")) if CORPUS else []

pytestmark = pytest.mark.corpus


@pytest.fixture(params=NAMES)
def log(request: pytest.FixtureRequest, corpus: Path) -> Path:
    return corpus / "claude" / f"{request.param}.jsonl"


def test_every_block_that_the_agent_sends_is_there_in_order(
    log: Path, corpus: Path, tmp_path: Path
) -> None:
    report = messages_report(ADAPTER, log)
    assert check_surface(corpus, "claude", log.stem, report, tmp_path) == ""


def test_both_views_fold_without_a_refused_operation(log: Path) -> None:
    _, events = read(ADAPTER, log)
    for view in ("resume", "live"):
        for session in events.values():
            assert fold(session, view).problems == ()


def test_content_is_read_again_from_the_raw_record_alone(log: Path) -> None:
    reader = ADAPTER.open(log)
    for record in records(log.read_bytes()):
        for derived in reader.feed(record):
            for event in derived.events:
                assert ADAPTER.blocks(record.value, event.block) == event.blocks


def test_a_second_reading_with_the_known_numbers_gives_the_same_events(log: Path) -> None:
    known: dict[str, int] = {}
    rows = records(log.read_bytes())
    half = ADAPTER.open(log, {"": Numbering(known)})
    for record in rows[: len(rows) // 2]:
        list(half.feed(record))
    whole = ADAPTER.open(log, {"": Numbering(known)})
    again = [e for r in rows for d in whole.feed(r) if d.session == "" for e in d.events]
    _, fresh = read(ADAPTER, log)
    assert again == fresh[""]


def test_seqs_grow_by_one_and_every_record_is_understood(log: Path) -> None:
    reader, events = read(ADAPTER, log)
    assert [event.seq for event in events[""]] == list(range(1, len(events[""]) + 1))
    assert reader.unknown_types == {}
    assert reader.recognised == len(records(log.read_bytes()))


def test_no_other_agents_log_is_taken_for_claudes(corpus: Path) -> None:
    for path in sorted(corpus.rglob("*.jsonl")):
        head = [r.value for r in records(path.read_bytes()[:400_000])[:20] if r.value is not None]
        assert ADAPTER.recognises(path, head) == (path.parent.name == "claude"), path
