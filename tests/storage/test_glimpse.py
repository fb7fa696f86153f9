"""What the beginning of a log tells is what the store tells of it once it is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compress.tokens import CharsOverFour
from storage.glimpse import BYTES, NOTE, glimpse
from storage.ingest import Ingest
from storage.sources.registry import registry
from storage.store import Store
from tests.storage.sources.made_logs import MADE, MadeLog

LOGS = [
    pytest.param(agent, made, id=f"{agent}: {made.path}")
    for agent, logs in MADE.items()
    for made in logs
    if made.path.endswith(".jsonl")
]


def write(folder: Path, made: MadeLog) -> Path:
    path = folder / made.path
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps(row) for row in made.rows]
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def ingest(store: Store, path: Path) -> None:
    reading = Ingest(store, counter_for=lambda _: CharsOverFour())
    reading.run([path], final=True)
    reading.close()


@pytest.mark.parametrize(("agent", "made"), LOGS)
def test_it_agrees_with_the_store(store: Store, tmp_path: Path, agent: str, made: MadeLog) -> None:
    path = write(tmp_path, made)
    seen = glimpse(store.registry, path)
    assert seen is not None
    assert seen.agent == agent
    ingest(store, path)
    told = store.sessions_of_file(path)[0]
    for name in ("agent", "native_id", "path", "file_time", "relation", "parent_native_id"):
        assert getattr(seen, name) == getattr(told, name), name
    assert seen.cwd in (None, told.cwd)
    assert bool(seen.title) == bool(told.title)
    assert (seen.name, seen.note, seen.events, seen.tokens) == (str(path), NOTE, 0, None)


@pytest.mark.parametrize("text", ["", "no JSON\n", '{"a": 1}\n', '{"a": "' + "x" * 9 * BYTES])
def test_what_no_agent_wrote_gives_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(text)
    assert glimpse(registry(), path) is None


def test_a_file_that_is_gone_gives_nothing(tmp_path: Path) -> None:
    assert glimpse(registry(), tmp_path / "gone.jsonl") is None


@pytest.mark.corpus
def test_real_logs_are_told_apart_by_their_beginnings(corpus: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store.db", registry())
    small = [
        path
        for folder in ("claude", "codex", "pi", "gemini")
        for path in sorted((corpus / folder).glob("*.jsonl"))
        if path.stat().st_size < 400_000
    ]
    agreed = 0
    for path in small:
        seen = glimpse(store.registry, path)
        ingest(store, path)
        told = store.sessions_of_file(path)
        assert (seen is None) == (not told), path
        if seen is not None:
            assert (seen.agent, seen.native_id) == (told[0].agent, told[0].native_id)
            assert seen.cwd in (None, told[0].cwd)
            agreed += seen.title == told[0].title
    store.close()
    # An agent may give its session another title later on.
    assert agreed > len(small) // 2
