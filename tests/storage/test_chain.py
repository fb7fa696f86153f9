"""The audit is tamper-evident: whatever is done to a row of an operation is found."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compress.operations import OperationDraft, OperationKind, OperationRow, draft_event, number
from storage.connection import Connections
from storage.errors import HeadFormatError, StoreUnusableError
from storage.schema import migrations
from storage.sources.registry import registry
from storage.store import Store
from storage.verification import Finding, head_of, verify
from tests.storage.test_ingest import conversation, ingest, record

TABLES = ("operation_events", "operation_commits", "operation_heads")
NAMES = ("11111111-0000-0000-0000-000000000000", "22222222-0000-0000-0000-000000000000")


def operate(store: Store, session: str, kind: OperationKind, *types: str, at: float = 1.5) -> None:
    """One operation of a session, with an event of each of these types."""
    events = [
        draft_event(index, type=event, meta={"node": index, "words": "é 你好 \0 \u2028"})
        for index, event in enumerate(types, 1)
    ]
    found = store.find(session)

    def rows(strand: list[OperationRow]) -> tuple[OperationRow, ...]:
        first = strand[-1].number + 1 if strand else 1
        return number(OperationDraft(kind, tuple(events)), first, found.last_seq, at)

    store.append_operations(found, rows)  # type: ignore[arg-type]


def fill(path: Path) -> None:
    """Two sessions: a pin, a compaction, another pin, an undo; a pin alone."""
    store = Store(path, registry())
    for name in NAMES:
        log = path.parent / f"{name}.jsonl"
        log.write_bytes(
            conversation(4).replace(b"11111111-2222-3333-4444-555555555555", name.encode())
        )
        ingest(store, log)
    first, second = NAMES
    operate(store, first, "pin", "pin/add")
    operate(store, first, "compact", "compact/start", "compact/summary", "compact/end", at=7)
    operate(store, second, "pin", "pin/add")
    operate(store, first, "pin", "pin/add")
    operate(store, first, "undo", "operation/undo")
    store.close()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chain") / "store.db"
    fill(path)
    return path


def findings(path: Path, noted: str | None = None) -> tuple[Finding, ...]:
    connections = Connections(path)
    try:
        return verify(connections, noted=noted).findings
    finally:
        connections.close()


def tampered(template: Path, act: Callable[[sqlite3.Connection], object]) -> tuple[Finding, ...]:
    """What is found after something was done to a copy, behind the program's back."""
    copy = template.with_name("copy.db")
    for old in copy.parent.glob("copy.db*"):
        old.unlink()
    shutil.copy(template, copy)
    with closing(sqlite3.connect(copy)) as connection:
        before = list(connection.iterdump())
        with connection:
            act(connection)
        if list(connection.iterdump()) == before:
            assume(False)
    return findings(copy)


def sql(*statements: str) -> Callable[[sqlite3.Connection], None]:
    def act(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return act


def test_an_untouched_store_verifies(template: Path) -> None:
    connections = Connections(template)
    found = verify(connections)
    assert found.findings == ()
    assert (found.rows, found.commits) == (7, 5)
    assert found.head == head_of(connections)
    connections.close()


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


# Tampering


VALUES = st.one_of(
    st.integers(-3, 12),
    st.sampled_from([None, 0.0, 1.5, 7.25, "user", "policy", "", b"", b"\0" * 32]),
    st.text(max_size=8),
    st.binary(max_size=8),
)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_edit_of_any_column_is_found(template: Path, data: st.DataObject) -> None:
    table = data.draw(st.sampled_from(TABLES))
    with closing(sqlite3.connect(template)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
    row = data.draw(st.sampled_from(rows))
    column = data.draw(st.sampled_from(columns))
    value = data.draw(VALUES)
    keys = columns[:2] if table == "operation_events" else columns[:1]
    where = " AND ".join(f"{key} = {row[columns.index(key)]}" for key in keys)

    def edit(connection: sqlite3.Connection) -> None:
        try:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (value,))
        except sqlite3.IntegrityError:
            assume(False)

    assert tampered(template, edit)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_single_byte_of_an_event_is_found(template: Path, data: st.DataObject) -> None:
    """Also one that makes it no UTF-8, or leaves its meaning as it was."""
    row = data.draw(st.integers(1, 6))
    byte = data.draw(st.integers(0, 255))
    place = data.draw(st.integers(0, 60))

    def edit(connection: sqlite3.Connection) -> None:
        where = f"WHERE session_id = 1 AND number = {row}"
        (event,) = connection.execute(
            f"SELECT CAST(event AS BLOB) FROM operation_events {where}"
        ).fetchone()
        changed = event[:place] + bytes([byte]) + event[place + data.draw(st.integers(0, 1)) :]
        assume(changed != event)
        connection.execute(
            f"UPDATE operation_events SET event = CAST(? AS TEXT) {where}", (changed,)
        )

    copy = template.with_name("byte.db")
    for old in copy.parent.glob("byte.db*"):
        old.unlink()
    shutil.copy(template, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        edit(connection)
    (found,) = findings(copy)
    assert (found.kind, found.operation, found.session) == ("changed", f"o{row}", NAMES[0])


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_rows_that_are_removed_are_missed(template: Path, data: st.DataObject) -> None:
    table = data.draw(st.sampled_from(TABLES))
    with closing(sqlite3.connect(template)) as connection:
        keys = "session_id || '/' || number" if table == "operation_events" else "rowid"
        rows = [row[0] for row in connection.execute(f"SELECT {keys} FROM {table}")]
    gone = data.draw(st.sets(st.sampled_from(rows), min_size=1))
    marks = ", ".join(repr(key) for key in sorted(gone))
    assert tampered(template, sql(f"DELETE FROM {table} WHERE {keys} IN ({marks})"))


@settings(max_examples=40, deadline=None)
@given(
    table=st.sampled_from(["operation_events", "operation_commits"]),
    one=st.integers(1, 6),
    other=st.integers(1, 6),
    digests=st.booleans(),
)
def test_rows_that_change_places_are_found(
    template: Path, table: str, one: int, other: int, digests: bool
) -> None:
    """With their digests, or leaving those where they were."""
    key = "number" if table == "operation_events" else "position"
    where = "WHERE session_id = 1" if table == "operation_events" else "WHERE 1"

    def swap(connection: sqlite3.Connection) -> None:
        kept = dict(connection.execute(f"SELECT {key}, digest FROM {table} {where}"))
        assume(one in kept and other in kept and one != other)
        for old, new in ((one, -1), (other, one), (-1, other)):
            connection.execute(f"UPDATE {table} SET {key} = {new} {where} AND {key} = {old}")
        if not digests:
            for at in (one, other):
                connection.execute(
                    f"UPDATE {table} SET digest = ? {where} AND {key} = {at}", (kept[at],)
                )

    assert tampered(template, swap)


@settings(max_examples=40, deadline=None)
@given(
    session=st.integers(1, 4),
    place=st.integers(-1, 9),
    digest=st.sampled_from([b"", b"\1" * 32]),
    copied=st.integers(1, 6),
)
def test_a_row_that_is_put_in_is_found(
    template: Path, session: int, place: int, digest: bytes, copied: int
) -> None:
    def insert(connection: sqlite3.Connection) -> None:
        try:
            connection.execute(
                "INSERT INTO operation_events SELECT ?, ?, operation, after, origin, at, event, "
                "iif(? = x'', digest, ?) FROM operation_events "
                "WHERE session_id = 1 AND number = ?",
                (session, place, digest, digest, copied),
            )
        except sqlite3.IntegrityError:
            assume(False)

    assert tampered(template, insert)


@pytest.mark.parametrize(
    ("statements", "kind", "words"),
    [
        (
            ["UPDATE operation_events SET origin = 'policy' WHERE session_id = 1 AND number = 3"],
            "changed",
            f"o3 of session {NAMES[0]} is not what was recorded: it was changed, or moved.",
        ),
        (
            ["DELETE FROM operation_events WHERE session_id = 1 AND number IN (2, 3)"],
            "missing",
            f"o2 to o3 of session {NAMES[0]} are missing.",
        ),
        (
            ["DELETE FROM operation_events WHERE session_id = 1 AND number > 4"],
            "missing",
            f"o5 to o6, the newest of session {NAMES[0]}, are missing.",
        ),
        (
            ["DELETE FROM operation_events WHERE session_id = 2"],
            "missing",
            f"o1, the newest of session {NAMES[1]}, is missing.",
        ),
        (
            [
                "DELETE FROM operation_events WHERE session_id = 2",
                "DELETE FROM operation_heads WHERE session_id = 2",
            ],
            "changed",
            f"Session {NAMES[1]} does not hold what the commits of this store say of o1.",
        ),
        (
            ["DELETE FROM operation_commits WHERE position = 3"],
            "missing",
            "1 commit before commit 4 of this store is missing.",
        ),
        (
            ["DELETE FROM operation_heads WHERE session_id = 1"],
            "head",
            f"The head of session {NAMES[0]} is missing.",
        ),
    ],
)
def test_each_finding_is_one_sentence_that_names_the_place(
    template: Path, statements: list[str], kind: str, words: str
) -> None:
    found = tampered(template, sql(*statements))
    assert [(kind, words)] == [(one.kind, one.message) for one in found]


def test_operations_that_are_handed_to_another_session_are_found(template: Path) -> None:
    third = "33333333-0000-0000-0000-000000000000"
    found = tampered(
        template,
        sql(
            f"UPDATE sessions SET name = '{third}' WHERE id = 1",
            f"UPDATE sessions SET name = '{NAMES[0]}' WHERE id = 2",
        ),
    )
    assert {one.session for one in found} == {third, NAMES[0]}


def test_a_session_that_was_removed_with_its_operations_is_missed(template: Path) -> None:
    found = tampered(
        template,
        sql(
            *(f"DELETE FROM {t} WHERE session_id = 2" for t in TABLES[::2]),
            "DELETE FROM sessions WHERE id = 2",
        ),
    )
    assert [one.kind for one in found] == ["unknown_session"]


def test_the_next_commit_does_not_cover_what_was_done(template: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    shutil.copy(template, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM operation_events WHERE session_id = 1 AND number = 6")
    store = Store(path, registry())
    operate(store, NAMES[0], "pin", "pin/add")
    operate(store, NAMES[0], "pin", "pin/add")
    store.close()
    assert findings(path)


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
