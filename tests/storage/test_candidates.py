"""What a query finds in a part of the store, and how texts are scored: by hand, and any text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage import index_part
from storage.candidates import Weighed, matches, recent
from storage.catalog import SessionRecord
from storage.connection import Connections
from storage.pieces import Piece, pieces_of
from storage.scoring import rough_scores, scores
from storage.scripts import TOKENIZER, index_text
from storage.sources.registry import registry
from storage.store import Store
from tests.storage.test_ingest import ingest, record
from tests.storage.test_search import TEXTS, age

NAMES = [f"{n}0000000-2222-3333-4444-555555555555" for n in range(1, 4)]


def write(folder: Path, name: str, texts: list[str], **more: object) -> Path:
    log = folder / f"{name}.jsonl"
    rows = [
        record(n, text, n - 1 if n else None, sessionId=name, uuid=f"{name}-{n}", **more)
        for n, text in enumerate(texts)
    ]
    log.write_bytes(b"".join(rows).replace(b'"parentUuid": "u', f'"parentUuid": "{name}-'.encode()))
    return log


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Store]:
    """Three sessions, the first and the last in one project."""
    store = Store(tmp_path / "store.db", registry())
    for name, cwd, texts in zip(
        NAMES, ("/a", "/b", "/a"),
        (
            ["the oven is hot", "the glaze cracks", "the kiln and the glaze", "the glaze shines"],
            ["the glaze of the other shop", "the shelf"],
            ["the newest glaze", "the end"],
        ),
        strict=True,
    ):  # fmt: skip
        ingest(store, write(tmp_path, name, texts, cwd=cwd))
    yield store
    store.close()


def found(
    store: Store, query: str, sessions: list[SessionRecord] | None = None, **more: int
) -> list[str]:
    """Headlines, the best first."""
    events = matches(store.connections, query, sessions, 50, **more).events
    by_id = {session.id: session for session in store.sessions()}
    return [
        entry.headline
        for event in events
        for entry in store.entries(by_id[event.session])
        if entry.seq == event.seq
    ]


def test_what_holds_more_and_rarer_words_comes_first(three: Store) -> None:
    assert found(three, "kiln glaze")[0] == "the kiln and the glaze"
    assert set(found(three, "kiln glaze")) == {
        "the kiln and the glaze", "the glaze cracks", "the glaze shines",
        "the glaze of the other shop", "the newest glaze",
    }  # fmt: skip


def test_the_shorter_comes_first_and_of_equals_the_newest(three: Store) -> None:
    session = three.find(NAMES[0])
    assert found(three, "glaze", [session]) == [
        "the glaze shines", "the glaze cracks", "the kiln and the glaze"
    ]  # fmt: skip


def test_a_session_and_a_project_are_searched_alone(three: Store) -> None:
    project = [three.find(NAMES[0]), three.find(NAMES[2])]
    assert "the glaze of the other shop" not in found(three, "glaze", project)
    assert "the newest glaze" in found(three, "glaze", project)
    assert found(three, "glaze", [three.find(NAMES[1])]) == ["the glaze of the other shop"]
    assert found(three, "glaze", []) == []


def test_nothing_behind_a_moment_is_found(three: Store) -> None:
    session = three.find(NAMES[0])
    seqs = {entry.headline: int(entry.seq) for entry in three.entries(session)}
    moment = seqs["the glaze cracks"]
    assert found(three, "glaze", [session], until=moment) == ["the glaze cracks"]


def test_a_form_of_a_word_is_found(three: Store) -> None:
    assert found(three, "kilns glazing")[0] == "the kiln and the glaze", "kiln…, glaz…"
    assert found(three, "kil") == [], "a beginning is no form"


def test_a_word_that_says_nothing_is_left_out_while_others_find_enough(
    three: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_part, "COUNTED", 3)
    only = matches(three.connections, "the kiln", None, 1)
    assert len(only.events) == 1, "that with kiln"
    assert found(three, "the kiln")[0] == "the kiln and the glaze"
    assert len(found(three, "the kiln")) > 1, "the newest that hold `the` fill the rest"
    assert found(three, "the")[0] == "the end", "nothing rarer: the newest"


def test_an_estimate_of_a_frequent_word_is_near_its_number(
    three: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_part, "COUNTED", 3)
    with three.connections.read() as connection:
        part = index_part.IndexPart(connection, None)
        counted = part.counted(Piece(("the",)))
    assert counted.is_frequent
    assert 6 <= counted.holders <= 10, "8 of 8 hold it"


def test_many_scattered_sessions_are_a_few_ranges_that_hold_them_all() -> None:
    ids = [n for n in range(1, 400) if n % 7 and n % 11]
    ranges = index_part._joined(ids)
    assert len(ranges) <= 8
    assert all(any(low <= n << 32 <= high for low, high in ranges) for n in ids)
    assert index_part._joined([3]) == [(3 << 32, (4 << 32) - 1)]
    assert index_part._joined([1, 2, 9]) == [(1 << 32, (3 << 32) - 1), (9 << 32, (10 << 32) - 1)]


def test_sessions_between_those_of_a_range_are_left_out(
    three: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_part, "_RANGES", 1)
    project = [three.find(NAMES[0]), three.find(NAMES[2])]
    assert "the glaze of the other shop" not in found(three, "glaze", project)


def test_what_a_fork_repeats_is_found_under_its_own_seqs(tmp_path: Path) -> None:
    store = Store(":memory:", registry())
    texts = ["the oven", "the glaze cracks"]
    original = write(tmp_path, NAMES[0], [*texts, "only here: glaze"])
    fork = tmp_path / f"{NAMES[1]}.jsonl"
    rows = [json.loads(line) for line in original.read_bytes().splitlines()[:2]]
    rows = [{**row, "sessionId": NAMES[1]} for row in rows]
    more = json.loads(record(2, "a glaze of the fork", 1, sessionId=NAMES[1]))
    more |= {"uuid": "f2", "parentUuid": rows[-1]["uuid"]}
    fork.write_text("".join(json.dumps(row) + "\n" for row in [*rows, more]))
    ingest(store, original)
    ingest(store, fork)
    session = store.find(NAMES[1])
    events = matches(store.connections, "glaze", [session], 50).events
    assert {event.session for event in events} == {session.id}
    assert sorted(found(store, "glaze", [session])) == ["a glaze of the fork", "the glaze cracks"]
    store.close()


def test_an_older_store_is_asked_as_before(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.db", registry())
    ingest(store, write(tmp_path, NAMES[0], TEXTS))
    store.close()
    age(tmp_path / "store.db")
    old = Store(tmp_path / "store.db", registry())
    assert found(old, "refused") == [TEXTS[0]]
    assert found(old, "refuses") == [TEXTS[0]]
    old.close()


def test_a_store_that_may_only_be_read_is_asked_too(three: Store, tmp_path: Path) -> None:
    three.close()
    connections = Connections(tmp_path / "store.db", read_only=True)
    events = matches(connections, "kilns glazing", None, 5).events
    assert len(events) == 5
    connections.close()


def test_the_newest_that_stood_on_the_surface(three: Store) -> None:
    sessions = [three.find(NAMES[2]), three.find(NAMES[0])]
    events = recent(three.connections, sessions, 3)
    assert [event.session for event in events] == [sessions[0].id] * 2 + [sessions[1].id]
    assert events[0].seq > events[1].seq


queries = st.one_of(
    st.text(max_size=80),
    st.text(alphabet="\"'()*:^-+{}[]\\ \0\ud800\ue000NEARORAND é数据ภาษ", max_size=60),
    st.lists(st.sampled_from([*TEXTS, "glaze", "kiln", "the"]), max_size=4).map(" ".join),
)


@given(queries)
def test_any_text_is_a_legal_query(shared: Store, query: str) -> None:
    result = matches(shared.connections, query, None, 5)
    assert all(event.score > 0 for event in result.events)
    assert [e.score for e in result.events] == sorted(e.score for e in result.events)[::-1]
    assert all(value >= 0 for value in scores([query, "x", ""], result.pieces))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("candidates")
    store = Store(":memory:", registry())
    ingest(store, write(folder, NAMES[0], [*TEXTS, "the kiln and the glaze"]))
    yield store
    store.close()


# Scores


def weighed(query: str) -> list[Weighed]:
    return [Weighed(piece, 1.0) for piece in pieces_of(query)]


def test_scores_follow_bm25_by_hand() -> None:
    # k1 1.2, b 0.75; both texts have the mean length, so a count of n gives 2.2 n ÷ (n + 1.2).
    texts = ["kiln kiln .....", "kiln .........."]
    twice, once = scores(texts, [Weighed(Piece(("kiln",)), 2.0)])
    assert twice == pytest.approx(2.0 * 2 * 2.2 / 3.2)
    assert once == pytest.approx(2.0 * 2.2 / 2.2)


def test_rough_scores_are_the_weights_of_what_stands_in_a_text_at_all() -> None:
    pieces = [Weighed(Piece(("cafe",)), 2.0), Weighed(Piece(("noir", "ici")), 0.5)]
    texts = ["Le Café NOIR", "cafeteria", "noir, noir", "thé", ""]
    assert rough_scores(texts, pieces) == [2.5, 2.0, 0.5, 0, 0]


@pytest.mark.parametrize(
    ("query", "holds", "lacks"),
    [
        ("foo-bar.py", "see foo_bar.py", "foo.py bar"),
        ("café", "le CAFE\u0301 noir", "cafeteria"),
        ("getUserName", "call get_user_name()", "user get"),
        ("数据库", "连接数据库服务器", "库数据"),
        ("настройки", "прочитай Настройки сервера", "сервер"),
        ("파일", "설정 파일을 읽는다", "설정"),
        ("connections", "one connection was lost", "conned"),
    ],
)
def test_a_text_in_memory_is_found_as_in_the_index(query: str, holds: str, lacks: str) -> None:
    high, low = scores([holds, lacks], weighed(query))
    assert high > 0
    assert high > low


@given(
    queries, st.lists(st.sampled_from([*TEXTS, "foo_bar.py", "cafe\u0301 x", "数据"]), max_size=3)
)
def test_a_piece_stands_in_a_text_where_the_index_says_so(query: str, words: list[str]) -> None:
    text = " ".join(words)
    connection = sqlite3.connect(":memory:")
    connection.execute(f'CREATE VIRTUAL TABLE t USING fts5(x, tokenize="{TOKENIZER}")')
    connection.execute("INSERT INTO t VALUES (?)", (index_text(text),))
    for piece in pieces_of(query):
        row = connection.execute("SELECT 1 FROM t WHERE t MATCH ?", (piece.expression,)).fetchone()
        (score,) = scores([text], [Weighed(piece, 1.0)])
        assert (score > 0) == (row is not None), piece
    connection.close()
