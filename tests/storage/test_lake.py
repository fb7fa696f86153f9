"""What a lake is fed from: in pages of bounded size, from where its mark stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from storage import lake
from storage.ingest import Ingest
from storage.lake import Mark, OtherStoreError
from storage.sources.registry import registry
from storage.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "own.db", registry())


def written(folder: Path, count: int, size: int = 10, name: str = "aaaa") -> Path:
    """A log of plain chat: one message a line."""
    path = folder / f"{name}.jsonl"
    rows = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} " + "x" * size}
        for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(store: Store, *paths: Path) -> None:
    ingest = Ingest(store)
    ingest.run(list(paths))
    ingest.close()


def test_pages_are_bounded_by_events_and_by_bytes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(store, written(tmp_path, 40, size=1_000))
    (found,) = lake.sessions(store)
    monkeypatch.setattr(lake, "PAGE_EVENTS", 15)
    assert [len(page) for page in lake.new_events(store, found.session, Mark())] == [15, 15, 10]
    monkeypatch.setattr(lake, "PAGE_BYTES", 5_000)
    pages = list(lake.new_events(store, found.session, Mark()))
    assert {len(page) for page in pages} == {4}
    monkeypatch.setattr(lake, "PAGE_BYTES", 10)  # each record is larger
    assert {len(page) for page in lake.new_events(store, found.session, Mark())} == {1}


def test_a_mark_tells_what_is_new(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, 4)
    read(store, path)
    mark = Mark()
    (found,) = lake.sessions(store)
    for page in lake.new_events(store, found.session, mark):
        assert lake.passed(mark, page) == {}
    assert list(lake.new_events(store, found.session, mark)) == []
    written(tmp_path, 6)
    read(store, path)
    (found,) = lake.sessions(store)
    (page,) = lake.new_events(store, found.session, mark)
    assert [one.event.blocks[0].text[:1] for one in page] == ["4", "5"]


def test_a_store_is_told_from_another_that_read_the_same(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other.db", registry())
    assert lake.identity(store) == lake.identity(Store(tmp_path / "own.db", registry()))
    assert lake.identity(store) != lake.identity(other)


def test_a_mark_ahead_of_the_store_is_refused(store: Store, tmp_path: Path) -> None:
    read(store, written(tmp_path, 2))
    found = lake.sessions(store)
    name = found[0].session.name
    lake.check(found, {name: Mark(generation=1, position=2)})
    for ahead in (Mark(generation=2), Mark(generation=1, position=900), Mark(operations=1)):
        with pytest.raises(OtherStoreError, match="older copy"):
            lake.check(found, {name: ahead})
