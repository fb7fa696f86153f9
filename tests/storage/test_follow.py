"""A log that is written while it is followed: the live scenarios of the hard cases, end to end."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compress.tokens import CharsOverFour
from storage.errors import StoreBusyError, StoreUnusableError
from storage.follow import Follower
from storage.ingest import Ingest
from storage.sources.registry import registry
from storage.store import Store
from storage.watch import Watcher
from tests.storage.store_dump import dump
from tests.storage.test_ingest import record
from tests.waiting import eventually


@contextmanager
def following(store: Store, folder: Path) -> Iterator[None]:
    """Follows a folder in a thread for as long as the block lasts."""
    stop = threading.Event()

    def run() -> None:
        ingest = Ingest(store, counter_for=lambda _: CharsOverFour())
        follower = Follower(
            ingest,
            watching=lambda roots, ended, _: Watcher(list(roots), sweep_seconds=0.3).changes(ended),
        )
        follower.run([], [folder], lambda path: path.name == "live.jsonl", stop)
        ingest.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def texts(store: Store, name: str = "live") -> list[str]:
    """The messages of a session that stand in its file, in order."""
    found = [session for session in store.sessions() if session.name == name]
    if not found:
        return []
    return [e.headline for e in store.entries(found[0]) if e.node is not None]


def messages(*numbers: int) -> list[str]:
    """The generator's messages by record: question 0, answer 0, question 1 …"""
    return [f"{'answer' if n % 2 else 'question'} {n // 2}" for n in numbers]


def play(generator: Path, folder: Path, scenario: str) -> None:
    subprocess.run([sys.executable, str(generator), "live", str(folder), scenario], check=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "projects"
    made.mkdir()
    return made


def same_as_at_rest(store: Store, log: Path) -> bool:
    """Whether the store is what one ingest of the finished file gives."""
    rested = Store(":memory:", registry())
    ingest = Ingest(rested, counter_for=lambda _: CharsOverFour())
    ingest.run([log], final=True)
    ingest.close()
    return dump(store) == dump(rested)


@pytest.mark.hard
def test_r01_a_record_in_three_writes_is_read_once(
    store: Store, folder: Path, hard_generator: Path
) -> None:
    with following(store, folder):
        play(hard_generator, folder, "partial")
        assert eventually(lambda: texts(store) == messages(0, 1, 2, 3, 4))
    assert same_as_at_rest(store, folder / "live.jsonl")


@pytest.mark.hard
def test_r01_a_character_split_between_writes_is_read_whole(
    store: Store, folder: Path, hard_generator: Path
) -> None:
    with following(store, folder):
        play(hard_generator, folder, "utf8split")
        log = folder / "live.jsonl"
        assert eventually(lambda: same_as_at_rest(store, log))
    session = store.sessions()[0]
    log_text = [event.blocks[0].text for event in store.events(session, _seqs(store))]
    assert "café 你好 😀" in log_text


@pytest.mark.hard
def test_r31_a_file_cut_in_place_starts_again_without_doubles(
    store: Store, folder: Path, hard_generator: Path
) -> None:
    with following(store, folder):
        play(hard_generator, folder, "truncate")
        assert eventually(lambda: texts(store) == messages(5, 6))
    with store.connections.read() as connection:
        older = connection.execute(
            "SELECT count(*) FROM events WHERE generation = 1 AND node IS NOT NULL"
        ).fetchone()[0]
    assert older == 4, "what is no longer in the file stays in the store"


@pytest.mark.hard
def test_r32_a_renamed_file_is_read_to_its_end_and_the_new_one_is_another_session(
    store: Store, folder: Path, hard_generator: Path
) -> None:
    with following(store, folder):
        play(hard_generator, folder, "rename")
        assert eventually(lambda: texts(store, "live~2") == messages(5, 6))
    assert texts(store) == messages(0, 1, 2, 3)


@pytest.mark.hard
def test_r32_a_replaced_file_with_the_same_beginning_is_the_same_session(
    store: Store, folder: Path, hard_generator: Path
) -> None:
    with following(store, folder):
        play(hard_generator, folder, "replace")
        assert eventually(lambda: texts(store) == messages(*range(8)))
    assert len(store.sessions()) == 1


@pytest.mark.hard
def test_r34_a_deleted_file_keeps_its_rows_and_a_new_one_is_picked_up(
    store: Store, folder: Path, hard_generator: Path
) -> None:
    with following(store, folder):
        play(hard_generator, folder, "delete")
        assert eventually(lambda: texts(store, "live~2") == messages(5))
    assert texts(store) == messages(0, 1, 2, 3)
    assert {session.name: session.gone for session in store.sessions()} == {
        "live": True,
        "live~2": False,
    }


@pytest.mark.hard
@pytest.mark.slow
def test_r39_a_burst_of_20000_appends_is_read_without_a_loss(
    store: Store, folder: Path, hard_generator: Path
) -> None:
    with following(store, folder):
        play(hard_generator, folder, "burst")
        size = (folder / "live.jsonl").stat().st_size
        assert eventually(lambda: [s.size for s in store.sources()] == [size])
        assert eventually(lambda: [s.records for s in store.sources()] == [20_004])
    assert [s.damaged for s in store.sources()] == [0]


def test_s01_while_another_process_holds_the_store_it_waits_and_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.connection._BUSY_SECONDS", 0.1)
    store = Store(tmp_path / "held.db", registry())
    log = folder / "live.jsonl"
    log.write_bytes(record(0, "question 0", None))
    ingest = Ingest(store, counter_for=lambda _: CharsOverFour())
    told: list[int] = []
    follower = Follower(ingest, read=lambda totals: told.append(totals.records))
    stop = threading.Event()
    holder = sqlite3.connect(tmp_path / "held.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    thread = threading.Thread(
        target=follower.run, args=([log], [folder], lambda path: path == log, stop)
    )
    thread.start()
    try:
        assert eventually(lambda: "Another process has been writing" in follower.note)
        assert follower.progress[:2] == (0, 1)
        holder.execute("ROLLBACK")
        assert eventually(lambda: len(texts(store)) == 1)
        assert eventually(lambda: follower.progress == (1, 1, ""))
        assert told == [0, 1], "the note is told once, then what was read"
        holder.execute("BEGIN IMMEDIATE")
        with log.open("ab") as file:
            file.write(record(1, "answer 0", 0))
        assert eventually(lambda: "Another process has been writing" in follower.note)
        holder.execute("ROLLBACK")
        assert eventually(lambda: len(texts(store)) == 2)
    finally:
        stop.set()
        thread.join()
        holder.close()
        ingest.close()
        store.close()


def test_r36_what_the_watcher_says_outlives_a_store_that_was_busy(store: Store) -> None:
    told: list[str] = []
    ingest = Ingest(store)
    follower = Follower(ingest, read=lambda _: told.append(follower.note))
    late, stop = "Changes are looked for every 2 s.", threading.Event()
    stop.set()  # so that nothing is waited for

    def busy() -> bool:
        raise StoreBusyError("held")

    follower._tell(late)
    follower._attempt(busy, stop)
    follower._attempt(busy, stop)
    assert told == ["held"], "told once"
    follower._attempt(lambda: True, stop)
    assert follower.note == late
    follower._attempt(busy, stop)
    follower._tell(late)
    assert follower.note == "held", "that nothing is read at all counts more"
    ingest.close()


def test_a_store_for_looking_only_is_not_waited_for(folder: Path, store: Store) -> None:
    log = folder / "live.jsonl"
    log.write_bytes(record(0, "question 0", None))
    store.connections.read_only = True
    ingest = Ingest(store, counter_for=lambda _: CharsOverFour())
    with pytest.raises(StoreUnusableError, match="may only be read"):
        Follower(ingest).run([log], [], lambda _: True, threading.Event())
    ingest.close()


def _seqs(store: Store) -> list[int]:
    log = store.entries(store.sessions()[0])
    return [int(entry.seq) for entry in log if entry.node is not None]
