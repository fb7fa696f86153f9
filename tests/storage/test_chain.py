"""The chain of operations: its digests, its head, and what it outlives."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from storage.connection import Connections
from storage.errors import HeadFormatError, StoreUnusableError
from storage.schema import migrations
from storage.sources.registry import registry
from storage.store import Store
from storage.verification import head_of, verify
from tests.storage.operated import NAMES, TABLES, fill, findings, operate
from tests.storage.test_ingest import ingest, record


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chain") / "store.db"
    fill(path)
    return path


def test_a_digest_follows_from_the_columns_and_the_one_before(template: Path) -> None:
    """Worked out by hand, from the description alone."""
    with closing(sqlite3.connect(template)) as connection:
        after, event, digest = connection.execute(
            "SELECT after, event, digest FROM operation_events WHERE number = 1 AND session_id = 2"
        ).fetchone()
    quoted = event.replace("\\", "\\\\").replace('"', '\\"')
    text = (
        f'{{"after":{after},"at":1.5,"event":"{quoted}","number":1,"operation":1,'
        '"origin":"user","session":2}'
    )
    start = hashlib.sha256(b"ullage operations 1\0" + NAMES[1].encode()).digest()
    assert digest == hashlib.sha256(start + text.encode()).digest()


# A noted head


def rewritten(path: Path) -> None:
    """What nothing inside the store can tell: rows, both chains and all heads made anew."""
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute(
            "SELECT session_id, number, operation, after, origin, at, event FROM operation_events "
            "WHERE session_id = 2 OR number < 5"
        ).fetchall()
        for table in TABLES:
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DELETE FROM _sqlite_migrations WHERE name >= 'm0003'")
        connection.execute(
            "CREATE TABLE operation_events (session_id INTEGER NOT NULL, number INTEGER NOT NULL, "
            "operation INTEGER NOT NULL, after INTEGER NOT NULL, origin TEXT NOT NULL, at REAL, "
            "event TEXT NOT NULL, PRIMARY KEY (session_id, number)) STRICT, WITHOUT ROWID"
        )
        connection.executemany("INSERT INTO operation_events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute("PRAGMA user_version = 2")
    Connections(path).close()


def test_a_noted_head_tells_of_a_chain_that_was_rewritten_whole(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    shutil.copy(template, path)
    connections = Connections(path)
    noted = head_of(connections).digest.hex()
    connections.close()
    rewritten(path)
    assert findings(path) == (), "by itself it looks whole"
    (found,) = findings(path, noted)
    assert found.kind == "noted"
    assert noted in found.message


def test_an_earlier_head_is_found_with_what_came_since(template: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    shutil.copy(template, path)
    store = Store(path, registry())
    session = store.find(NAMES[0])
    whole, strand = head_of(store.connections), head_of(store.connections, session.id)
    operate(store, NAMES[0], "compact", "compact/start", "compact/end")
    operate(store, NAMES[1], "pin", "pin/add")
    of_store = verify(store.connections, noted=whole.digest.hex().upper()).noted
    of_session = verify(store.connections, session.id, strand.digest.hex()[:16]).noted
    store.close()
    assert of_store is not None
    assert of_session is not None
    assert (of_store.session, of_store.since) == (None, 2)
    assert (of_session.session, of_session.since) == (NAMES[0], 2)


@pytest.mark.parametrize("text", ["", "last", "abc123", "g" * 64, "a" * 65])
def test_what_is_no_digest_is_refused(template: Path, text: str) -> None:
    with pytest.raises(HeadFormatError, match="is no head"):
        findings(template, text)


# What must not disturb it


def test_it_holds_through_a_restart_growth_and_a_new_reading(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    fill(path)
    log = tmp_path / f"{NAMES[0]}.jsonl"
    with log.open("ab") as file:
        file.write(
            record(4, "more", 3).replace(b"11111111-2222-3333-4444-555555555555", NAMES[0].encode())
        )
    store = Store(path, registry())
    ingest(store, log)
    log.write_bytes(log.read_bytes().replace(b"word 1", b"other 1"))
    os.utime(log, (1, 1))
    ingest(store, log)
    operate(store, NAMES[0], "redo", "operation/redo")
    store.close()
    assert findings(path) == ()


def unchained(template: Path, path: Path) -> None:
    """The same store as the version before operations were chained left it."""
    shutil.copy(template, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE operation_events DROP COLUMN digest")
        connection.execute("DROP TABLE operation_commits")
        connection.execute("DROP TABLE operation_heads")
        connection.execute("DELETE FROM _sqlite_migrations WHERE name >= 'm0003'")
        connection.execute("PRAGMA user_version = 2")


def test_operations_from_before_are_chained_when_the_store_is_opened(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "old.db"
    unchained(template, path)
    store = Store(path, registry())
    found = verify(store.connections)
    assert (found.findings, found.rows, found.commits) == ((), 7, 2)
    operate(store, NAMES[1], "pin", "pin/add")
    assert verify(store.connections).findings == ()
    store.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE operation_events SET at = 2 WHERE number = 2")
    assert findings(path)


def test_of_several_that_open_an_old_store_at_once_one_migrates_it(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "old.db"
    unchained(template, path)
    together = threading.Barrier(4)

    def opened(_: int) -> int:
        together.wait()
        connections = Connections(path)
        found = verify(connections)
        connections.close()
        return len(found.findings) + found.rows

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(opened, range(4))) == [7] * 4


def test_a_migration_that_fails_leaves_the_old_store(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.db"
    unchained(template, path)
    with closing(sqlite3.connect(path)) as connection:
        before = list(connection.iterdump())

    chained = migrations._migrations[-1].fn

    def interrupted(db: Any) -> None:
        chained(db)
        raise KeyboardInterrupt

    monkeypatch.setattr(migrations._migrations[-1], "fn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Connections(path)
    with closing(sqlite3.connect(path)) as connection:
        assert list(connection.iterdump()) == before
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_an_old_store_that_may_only_be_read_is_refused_with_the_way_out(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "old.db"
    unchained(template, path)
    connections = Connections(path, read_only=True)
    with pytest.raises(StoreUnusableError, match="open it once as one who may write it"):
        verify(connections)
    connections.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_is_killed_while_it_commits_leaves_a_whole_chain(
    template: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    shutil.copy(template, path)
    chance = random.Random(7)
    before = 7
    for _ in range(6):
        child = os.fork()
        if child == 0:
            try:
                store = Store(path, registry())
                while True:
                    operate(store, NAMES[0], "compact", "compact/start", "compact/end")
            finally:
                os._exit(1)
        time.sleep(0.05 + 0.1 * chance.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        connections = Connections(path)
        found = verify(connections)
        connections.close()
        assert found.findings == ()
        assert found.rows >= before
        before = found.rows
    assert before > 7
