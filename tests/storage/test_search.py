"""Search over a store: what is a hit, what an older store finds, and how it is brought up."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from compress.tokens import CharsOverFour
from storage.connection import Connections
from storage.follow import Follower
from storage.ingest import Ingest
from storage.reindexing import index_anew
from storage.search import search
from storage.sources.registry import registry
from storage.store import Store
from tests.storage.test_ingest import SESSION, ingest, record

TEXTS = [
    "The connection to 数据库服务器 was refused",
    "Прочитай настройки сервера",
    "fix getUserName in src/users.py",
    "ฉันเรียนภาษาไทย",
    "nothing of note",
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_bytes(b"".join(record(n, text, n - 1 if n else None) for n, text in enumerate(TEXTS)))
    opened = Store(tmp_path / "store.db", registry())
    ingest(opened, log)
    yield opened
    opened.close()


def headlines(store: Store, query: str) -> list[str]:
    return [hit.headline for hit in search(store.connections, query)]


def age(path: Path) -> None:
    """Makes it a store of the version before: the texts, as they stand, in an index of words."""
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE search")
        connection.execute("DROP TABLE search_rebuild")
        connection.execute(
            "CREATE VIRTUAL TABLE search USING fts5(text, content='', "
            'tokenize="unicode61 remove_diacritics 2")'
        )
        ids = connection.execute(
            "SELECT id FROM events WHERE op IS NOT NULL ORDER BY position"
        ).fetchall()
        connection.executemany(
            "INSERT INTO search (rowid, text) VALUES (?, ?)",
            [(row[0], text) for row, text in zip(ids, TEXTS, strict=True)],
        )
        connection.execute("DELETE FROM _sqlite_migrations WHERE name >= 'm0006'")
        connection.execute("PRAGMA user_version = 5")
    connection.close()


@pytest.mark.parametrize(
    ("query", "number"),
    [("数据库", 0), ("服务", 0), ("настройк", 1), ("userName", 2), ("ภาษา", 3), ("note", 4)],
)
def test_an_event_is_found_in_any_script(store: Store, query: str, number: int) -> None:
    assert headlines(store, query) == [TEXTS[number]]


def test_where_no_event_holds_all_words_the_nearest_are_told_as_such(store: Store) -> None:
    (whole,) = search(store.connections, "connection refused")
    assert not whole.partial
    (part,) = search(store.connections, "why are connections refused?")
    assert part.partial
    assert part.headline == TEXTS[0]
    (part,) = search(store.connections, "哪个数据库服务器拒绝了连接")
    assert part.partial
    assert part.headline == TEXTS[0]


@pytest.mark.parametrize("query", ["", "→ ***", "no-such-name", "数库", "getUserNames"])
def test_a_name_that_is_not_there_and_symbols_find_nothing(store: Store, query: str) -> None:
    assert headlines(store, query) == []


def test_a_word_at_the_beginning_of_a_line_of_an_input_is_found(tmp_path: Path) -> None:
    content = [
        {
            "type": "tool_use",
            "id": "t1",
            "name": "Write",
            "input": {"path": "C:\\new\\a.py", "text": "one\nsecond\tthird", "n": [1, None, True]},
        }
    ]
    row = json.loads(record(1, "x", None))
    row["message"]["content"] = content
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text(json.dumps(row) + "\n", encoding="utf-8")
    store = Store(":memory:", registry())
    ingest(store, log)
    for query in ("second", "third", "new", "write", "path", "C:\\new\\a.py", '"one'):
        assert len(headlines(store, query)) == 1, query


def test_an_older_store_is_searched_as_before_and_brought_up_event_by_event(
    store: Store, tmp_path: Path
) -> None:
    store.close()
    age(tmp_path / "store.db")
    old = Store(tmp_path / "store.db", registry())
    assert headlines(old, "refused") == [TEXTS[0]], "words are found at once"
    assert headlines(old, "数据库") == []
    while index_anew(old):
        pass
    assert headlines(old, "refused") == [TEXTS[0]]
    assert headlines(old, "数据库") == [TEXTS[0]]
    assert headlines(old, "ภาษา") == [TEXTS[3]]
    with old.connections.read() as connection:
        left = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'search_words%'")
        assert left.fetchall() == []
        assert connection.execute("SELECT count(*) FROM search").fetchone() == (len(TEXTS),)
    assert not index_anew(old), "once is enough"
    old.close()


def test_an_older_store_is_brought_up_when_there_is_nothing_to_read(
    store: Store, tmp_path: Path
) -> None:
    store.close()
    age(tmp_path / "store.db")
    old = Store(tmp_path / "store.db", registry())
    order: list[str] = []

    def idle() -> bool:
        order.append("idle")
        return index_anew(old)

    reader = Ingest(old, counter_for=lambda _: CharsOverFour())
    log = tmp_path / "other.jsonl"
    log.write_bytes(record(0, "more to read", None, sessionId="other"))
    follower = Follower(reader, read=lambda _: order.append("read"), idle=idle)
    follower.run([log], [], lambda _: True, threading.Event())
    reader.close()
    assert order == ["read", "idle", "idle"], "the last finds nothing left"
    assert headlines(old, "数据库") == [TEXTS[0]]
    old.close()


def test_what_is_read_before_an_older_store_is_brought_up_is_found_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.reindexing._SLICE", 2)
    store.close()
    age(tmp_path / "store.db")
    old = Store(tmp_path / "store.db", registry())
    with (tmp_path / f"{SESSION}.jsonl").open("ab") as log:
        log.write(record(5, "a later note 服务器", 4))
    ingest(old, tmp_path / f"{SESSION}.jsonl")
    assert index_anew(old), "two of five"
    assert sorted(headlines(old, "note")) == ["a later note 服务器", "nothing of note"]
    assert headlines(old, "服务器") == ["a later note 服务器"]
    while index_anew(old):
        pass
    assert sorted(headlines(old, "note")) == ["a later note 服务器", "nothing of note"]
    assert len(headlines(old, "服务器")) == 2
    old.close()


def test_an_older_store_that_may_only_be_read_is_searched_as_before(
    store: Store, tmp_path: Path
) -> None:
    store.close()
    age(tmp_path / "store.db")
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    connections = Connections(tmp_path / "store.db", read_only=True)
    assert [hit.headline for hit in search(connections, "refused")] == [TEXTS[0]]
    connections.close()
