"""The audit is tamper-evident: whatever is done to a row of an operation is found."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from storage.chain import STRAND_COLUMNS, Commit, Head, StrandRow, genesis, linked
from storage.connection import Connections
from storage.sources.registry import registry
from storage.store import Store
from storage.verification import Finding, head_of, verify
from tests.storage.operated import NAMES, TABLES, fill, findings, operate


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chain") / "store.db"
    fill(path)
    return path


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


def forge(*, head: bool, commits: bool, end: bool) -> Callable[[sqlite3.Connection], None]:
    """The last event of a session's strand changed and chained anew, as far as it is asked for."""

    def act(connection: sqlite3.Connection) -> None:
        rows = connection.execute(
            f"SELECT {STRAND_COLUMNS} FROM operation_events WHERE session_id = 1 ORDER BY number"
        ).fetchall()
        strand = [StrandRow(*row) for row in rows]
        strand[-1] = replace(strand[-1], origin=b"policy")
        newest = linked(genesis(NAMES[0]), strand)[-1]
        connection.execute(
            "UPDATE operation_events SET origin = 'policy', digest = ? "
            "WHERE session_id = 1 AND number = 6",
            (newest,),
        )
        if head:
            connection.execute(
                "UPDATE operation_heads SET digest = ? WHERE session_id = 1", (newest,)
            )
        if not commits:
            return
        (before,) = connection.execute(
            "SELECT digest FROM operation_commits WHERE position = 4"
        ).fetchone()
        digest = Commit(5, 1, Head(6, newest)).link(before)
        connection.execute(
            "UPDATE operation_commits SET head = ?, digest = ? WHERE position = 5",
            (newest, digest),
        )
        if end:
            connection.execute(
                "UPDATE operation_heads SET digest = ? WHERE session_id = 0", (digest,)
            )

    return act


@pytest.mark.parametrize(
    ("head", "commits", "end", "kinds"),
    [
        (False, False, False, ["head"]),
        (True, False, False, ["changed"]),
        (True, True, False, ["head"]),
        (False, True, True, ["head"]),
        (True, True, True, []),
    ],
)
def test_a_forger_who_leaves_out_one_of_the_chains_is_found(
    template: Path, *, head: bool, commits: bool, end: bool, kinds: list[str]
) -> None:
    """Who makes all of them anew is not, but by a noted head."""
    found = tampered(template, forge(head=head, commits=commits, end=end))
    assert [one.kind for one in found] == kinds
