"""Opening a store: what is refused, what is left alone, and what may only be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from storage.connection import Connections
from storage.errors import StoreNewerError, StoreUnusableError
from storage.sources.registry import registry
from storage.store import Store


def test_a_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "store.db"
    Connections(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_s09_a_store_of_a_newer_version_is_refused_and_left_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    with sqlite3.connect(path) as made:
        made.executescript("pragma user_version=99999; create table meta(k, v)")
    made.close()
    before = path.read_bytes()
    with pytest.raises(StoreNewerError, match="newer version of Ullage"):
        Connections(path)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [path], "not even a journal"


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"not a database\n" * 40, "cannot be used"), (b"SQLite format 3\0" + b"\7" * 5000, "cannot")],
)
def test_s08_a_file_that_is_no_store_is_refused_and_left_alone(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "odd.db"
    path.write_bytes(content)
    with pytest.raises(StoreUnusableError, match=words):
        Connections(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as made:
        made.execute("create table theirs(x)")
    made.close()
    with pytest.raises(StoreUnusableError, match="database of another program"):
        Connections(path)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusableError, match="is a folder"):
        Connections(tmp_path)


def test_a_store_that_may_only_be_read_can_be_looked_at_and_refuses_to_be_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    Store(path, registry()).close()
    connections = Connections(path, read_only=True)
    with connections.read() as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    with (
        pytest.raises(StoreUnusableError, match="may only be read"),
        connections.write(),
    ):
        raise AssertionError("never reached")
    connections.close()


def test_opening_a_store_that_is_up_to_date_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Connections(path).close()
    before = path.read_bytes()
    writer = Connections(path)
    with writer.write():
        # A second process can open it while the first one writes.
        Connections(path).close()
    writer.close()
    assert path.read_bytes() == before


def test_what_a_person_did_is_on_the_disk_when_it_is_done(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "store.db")
    for durable, level in ((True, 2), (False, 1)):
        with connections.write(durable=durable) as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
    connections.close()


def test_s06_a_full_disk_is_named_and_what_was_begun_is_taken_back(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "store.db")
    with connections.read() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    refused = pytest.raises(StoreUnusableError, match=r"is full.*as it was: make room")
    with refused, connections.write() as connection:
        connection.execute("CREATE TABLE grown (data)")
        connection.execute("INSERT INTO grown VALUES (zeroblob(1000000))")
    with connections.read() as connection:
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'grown'").fetchall()
    connections.close()


@pytest.mark.parametrize("name", ["store.db", ":memory:"])
def test_every_thread_sees_every_change(tmp_path: Path, name: str) -> None:
    path = name if name == ":memory:" else tmp_path / name
    connections = Connections(path)
    asked = connections.data_version

    def in_a_thread(work: Callable[[], Any]) -> Any:
        with ThreadPoolExecutor(1) as fresh:
            return fresh.submit(work).result()

    def write() -> None:
        with connections.write() as connection:
            connection.execute(
                "INSERT INTO blobs (digest, size, data) VALUES (randomblob(8), 1, x'00')"
            )

    seen = []
    for _ in range(4):
        seen.append(in_a_thread(asked))
        assert in_a_thread(asked) == asked() == seen[-1]
        in_a_thread(write)
    assert len(set(seen)) == 4
    connections.close()


def test_s04_a_reader_between_two_looks_keeps_no_log_from_being_written_back(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    reader, writer = Connections(path), Connections(path)
    with writer.write() as connection:
        connection.execute("CREATE TABLE grown (data)")
    for _ in range(3):
        with reader.read() as connection:
            connection.execute("SELECT count(*) FROM grown").fetchone()
        with writer.write() as connection:
            connection.execute("INSERT INTO grown VALUES (zeroblob(1000000))")
    with writer.read() as connection:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert busy == 0
    assert Path(f"{path}-wal").stat().st_size == 0
    reader.close()
    writer.close()


def test_what_the_last_write_found_no_room_for_is_known_until_one_does(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "store.db")
    with connections.read() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    assert connections.takes_more
    with pytest.raises(StoreUnusableError), connections.write() as connection:
        connection.execute("CREATE TABLE grown AS SELECT zeroblob(1000000)")
    assert not connections.takes_more
    with connections.write() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert connections.takes_more
    connections.close()
