"""Decision points of real sessions, through the store: in pieces as in one go, each with events
that the log has; nothing is lost when most of them graduate."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage.decisions import bring_up, decisions, graduate
from storage.store import Store
from tests.storage.test_decisions import RULES, points, whole
from tests.storage.test_ingest import ingest

pytestmark = pytest.mark.corpus

AGENTS = ("claude", "codex", "pi", "dsh")


def largest(corpus: Path, agent: str) -> Path:
    """The largest log of an agent that is plain text and not too large."""
    logs = [path for path in (corpus / agent).rglob("*.jsonl") if path.is_file()]
    plain = [path for path in logs if path.read_bytes()[:1] == b"{"]
    return max((path for path in plain if path.stat().st_size < 1_500_000), key=_size)


def _size(path: Path) -> int:
    return path.stat().st_size


@pytest.mark.parametrize("agent", ["claude", "codex", "pi"])
def test_a_log_that_grows_gives_what_the_whole_one_gives(
    corpus: Path, store: Store, tmp_path: Path, agent: str
) -> None:
    rows = largest(corpus, agent).read_bytes().splitlines(keepends=True)
    log = tmp_path / "grows.jsonl"
    for upto in (len(rows) // 3, 2 * len(rows) // 3, len(rows)):
        log.write_bytes(b"".join(rows[:upto]))
        ingest(store, log)
        bring_up(store, store.find("last"), RULES)
    session = store.find("last")
    kept = points(store, session)
    assert kept
    assert {p.id: p for p in kept} == {p.id: p for p in whole(store, session)}


def test_every_record_names_events_of_its_log_and_none_is_lost(corpus: Path, store: Store) -> None:
    logs = (path for agent in AGENTS for path in (corpus / agent).rglob("*") if path.is_file())
    ingest(store, *sorted(logs))
    sessions = store.sessions()
    for session in sessions:
        bring_up(store, session, RULES)
    before = decisions(store, sessions)
    assert len(before) > 100
    assert len({(kept.session.id, kept.point.id) for kept in before}) == len(before)
    for kept in before:
        seqs = [*kept.point.source_event_seqs, kept.point.first_seq, kept.point.last_seq]
        assert all(1 <= int(seq) <= kept.session.last_seq for seq in seqs)
        assert kept.point.first_seq in kept.point.source_event_seqs
    for session in sessions:
        graduate(store, session, 200, at=1.0)
        graduate(store, session, 100, at=2.0)
    after = decisions(store, sessions)
    assert [kept.point.model_copy(update={"level": "L2"}) for kept in after] == [
        kept.point for kept in before
    ]
    for session in sessions:
        own = [kept.point for kept in after if kept.session.id == session.id]
        rest = [p for p in own if p.level == "L2"]
        assert sum(p.tokens for p in rest) <= 100 or all(p.open for p in rest)
