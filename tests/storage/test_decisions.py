"""Decision points in the store: harvested once, kept, graduated, never lost."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from compress.decisions.harvest import About, Harvest, Judge
from compress.decisions.values import DecisionPoint
from compress.tokens import CharsOverFour
from storage import decisions as kept
from storage.catalog import SessionRecord
from storage.decisions import Rules, bring_up, decisions, graduate
from storage.sources.registry import registry
from storage.store import Store
from storage.verification import verify
from tests.inspector.logs import NAME, Log
from tests.storage.test_ingest import ingest

RULES = Rules("1", CharsOverFour().count, Judge)


def turns(log: Log, *titles: str) -> None:
    for title in titles:
        log.user(title)
        log.assistant({"type": "text", "text": f"Done with it: {title}."})


def points(store: Store, session: SessionRecord) -> list[DecisionPoint]:
    return [found.point for found in decisions(store, [session])]


def titles(found: list[DecisionPoint]) -> list[str]:
    return [point.stage.title for point in found]


def whole(store: Store, session: SessionRecord) -> list[DecisionPoint]:
    """Harvested in one go, past the store's own bookkeeping."""
    harvest = Harvest(
        About(session.agent, session.native_id, session.cwd), RULES.count, RULES.judge()
    )
    for entry in sorted(store.entries(session), key=lambda entry: int(entry.seq)):
        (event,) = store.events(session, [int(entry.seq)])
        harvest.feed(event, entry.tokens)
    return harvest.take()


def test_what_came_since_is_harvested_and_nothing_twice(store: Store, tmp_path: Path) -> None:
    log = Log(tmp_path)
    turns(log, "first", "second")
    ingest(store, log.path)
    session = store.find("last")
    assert titles(bring_up(store, session, RULES)) == ["first", "second"]
    assert bring_up(store, session, RULES) == [], "nothing is new"
    turns(log, "third")
    ingest(store, log.path)
    session = store.find("last")
    fed: list[int] = []
    counting = Rules("1", RULES.count, lambda: fed.append(1) or Judge())  # type: ignore[func-returns-value]
    assert titles(bring_up(store, session, counting)) == ["second", "third"], "second has ended"
    assert bring_up(store, session, counting) == []
    assert len(fed) == 1
    assert points(store, session) == whole(store, session)


def test_only_new_events_are_read_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path)
    turns(log, *map(str, range(5)))
    ingest(store, log.path)
    bring_up(store, store.find("last"), RULES)
    before = store.find("last").last_seq
    turns(log, "more")
    ingest(store, log.path)
    asked: list[int] = []
    events = store.events
    monkeypatch.setattr(store, "events", lambda s, seqs: asked.extend(seqs) or events(s, seqs))  # type: ignore[func-returns-value]
    bring_up(store, store.find("last"), RULES)
    assert asked
    assert min(asked) > before


def test_a_log_that_was_begun_anew_is_harvested_anew(store: Store, tmp_path: Path) -> None:
    log = Log(tmp_path)
    turns(log, "first", "second")
    ingest(store, log.path)
    bring_up(store, store.find("last"), RULES)
    rows = log.path.read_text().splitlines(keepends=True)
    log.path.write_text("".join(rows[:2]))
    ingest(store, log.path)
    session = store.find("last")
    bring_up(store, session, RULES)
    assert titles(points(store, session)) == ["first"]
    with closing(sqlite3.connect(store.path)) as connection:
        kept_ = connection.execute("SELECT count(*) FROM decisions").fetchone()
    assert kept_ == (2,), "what no longer stands in the log is kept, not shown"


def test_other_rules_harvest_anew(store: Store, tmp_path: Path) -> None:
    log = Log(tmp_path)
    turns(log, "first", "second")
    ingest(store, log.path)
    session = store.find("last")
    bring_up(store, session, RULES)
    double = Rules("2", lambda text: 2 * RULES.count(text), Judge)
    before = points(store, session)
    bring_up(store, session, double)
    assert [p.tokens for p in points(store, session)] == [2 * p.tokens for p in before]


def test_of_two_processes_one_keeps_and_the_other_looks_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path)
    turns(log, "first")
    ingest(store, log.path)
    session = store.find("last")
    keep, beaten = kept._keep, []

    def late(*arguments: Any) -> bool:
        if not beaten:
            beaten.append(True)
            with closing(Store(store.path, registry())) as other:
                bring_up(other, session, RULES)
        return keep(*arguments)

    monkeypatch.setattr(kept, "_keep", late)
    assert bring_up(store, session, RULES) == []
    assert titles(points(store, session)) == ["first"]


def test_the_oldest_graduate_and_the_union_stays(store: Store, tmp_path: Path) -> None:
    log = Log(tmp_path)
    turns(log, *(f"request number {n}" for n in range(8)))
    ingest(store, log.path)
    session = store.find("last")
    bring_up(store, session, RULES)
    before = points(store, session)
    cap = sum(p.tokens for p in before[-3:])
    graduate(store, session, cap, at=7.0)
    after = points(store, session)
    assert [p.model_copy(update={"level": "L2"}) for p in after] == before
    assert [p.level for p in after] == ["L3"] * 5 + ["L2"] * 3
    (row,) = store.operations(session)
    assert (row.event.type, row.origin, row.at) == ("memory/graduate", "policy", 7.0)
    assert row.event.meta["decisions"] == [p.id for p in before[:5]]
    assert row.event.meta["tokens_after"] == cap
    assert verify(store.connections).findings == ()
    graduate(store, session, cap, at=8.0)
    assert len(store.operations(session)) == 1, "once is enough"


def test_a_changed_graduation_is_found(store: Store, tmp_path: Path) -> None:
    log = Log(tmp_path)
    turns(log, "first", "second")
    ingest(store, log.path)
    session = store.find("last")
    bring_up(store, session, RULES)
    graduate(store, session, 1, at=1.0)
    with closing(sqlite3.connect(store.path)) as connection, connection:
        (event,) = connection.execute("SELECT event FROM operation_events").fetchone()
        forged = json.loads(event)
        forged["meta"]["decisions"] = []
        connection.execute("UPDATE operation_events SET event = ?", (json.dumps(forged),))
    (finding,) = verify(store.connections).findings
    assert finding.kind == "changed"


def test_what_graduated_and_grew_stays_in_the_projects_memory(store: Store, tmp_path: Path) -> None:
    log = Log(tmp_path)
    turns(log, "first", "second", "third")
    ingest(store, log.path)
    bring_up(store, store.find("last"), RULES)
    graduate(store, store.find("last"), 30, at=1.0)
    gone = {p.id for p in points(store, store.find("last")) if p.level == "L3"}
    turns(log, "fourth")
    ingest(store, log.path)
    session = store.find("last")
    bring_up(store, session, RULES)
    assert gone == {p.id for p in points(store, session) if p.level == "L3"}


def test_a_fork_leaves_what_it_repeats_to_the_other_session(store: Store, tmp_path: Path) -> None:
    log = Log(tmp_path)
    turns(log, "first", "second")
    fork = tmp_path / "fork.jsonl"
    fork.write_text(log.path.read_text().replace(NAME, "f0000000-0000-0000-0000-00000000000f"))
    ingest(store, log.path, fork)
    sessions = store.sessions()
    for session in sessions:
        bring_up(store, session, RULES)
    assert len(decisions(store, sessions)) == 4
    once = decisions(store, sessions, copies=False)
    assert sorted(found.point.stage.title for found in once) == ["first", "second"]


def test_a_store_that_may_only_be_read_is_looked_at(store: Store, tmp_path: Path) -> None:
    log = Log(tmp_path)
    turns(log, "first")
    ingest(store, log.path)
    store.connections.read_only = True
    assert titles(bring_up(store, store.find("last"), RULES)) == ["first"]
    assert points(store, store.find("last")) == []
