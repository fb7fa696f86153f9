"""Logs → store: exactly once, whatever happens in between."""

from __future__ import annotations

import json
import os
import random
import signal
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.tokens import CharsOverFour, TokenCounter
from storage import resources
from storage.ingest import Ingest
from storage.search import search
from storage.sources.registry import registry
from storage.store import Store
from tests.storage.store_dump import dump

SESSION = "11111111-2222-3333-4444-555555555555"


def record(number: int, text: str, parent: int | None, **more: object) -> bytes:
    """One line of a Claude Code log; even numbers are the user's."""
    role = "assistant" if number % 2 else "user"
    message: dict[str, object] = {"role": role, "content": text}
    if role == "assistant":
        usage = {"input_tokens": 100 + number, "output_tokens": 5}
        message |= {"id": f"msg_{number}", "model": "claude-sonnet-4-5", "usage": usage}
        message["content"] = [{"type": "text", "text": text}]
    row = {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": None if parent is None else f"u{parent}",
        "sessionId": SESSION,
        "timestamp": f"2026-01-02T00:00:{number % 60:02}.000Z",
        "cwd": "/home/u/demo",
        "version": "2.1.200",
        "message": message,
        **more,
    }
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def conversation(length: int, word: str = "word") -> bytes:
    return b"".join(record(n, f"{word} {n} é 你好 😀", n - 1 if n else None) for n in range(length))


def ingest(store: Store, *paths: Path, final: bool | None = True) -> int:
    """Reads with a cheap counter. Returns the number of records that were new."""
    reader = Ingest(store, counter_for=lambda _: CharsOverFour())
    try:
        return reader.run(paths, final=final).records
    finally:
        reader.close()


def standing(store: Store) -> dict[int, str]:
    """The newest session's messages: seq → headline."""
    log = store.entries(store.sessions()[0])
    return {int(entry.seq): entry.headline for entry in log if entry.op is not None}


def fresh(path: Path) -> dict[str, list[object]]:
    """What a store holds that read this file once."""
    store = Store(":memory:", registry())
    ingest(store, path)
    return dump(store)


def test_a_second_ingest_reads_nothing(store: Store, tmp_path: Path) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_bytes(conversation(6))
    assert ingest(store, log) == 6
    before = dump(store)
    assert ingest(store, log) == 0
    assert dump(store) == before


def test_what_is_appended_is_read_alone(store: Store, tmp_path: Path) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_bytes(conversation(4))
    ingest(store, log)
    with log.open("ab") as file:
        file.write(record(4, "more", 3))
    assert ingest(store, log) == 1
    assert dump(store) == fresh(log)


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, 2_500), max_size=6).map(sorted), keep=st.booleans())
def test_any_split_of_the_bytes_in_time_gives_the_same_store(cuts: list[int], keep: bool) -> None:
    data = conversation(8)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / f"{SESSION}.jsonl"
        log.write_bytes(b"")
        store = Store(":memory:", registry())
        reader = Ingest(store, counter_for=lambda _: CharsOverFour())
        done = 0
        for cut in [*cuts, len(data)]:
            with log.open("ab") as file:
                file.write(data[done:cut])
            done = max(done, cut)
            reader.run([log], final=False)
            if not keep:
                # A restart between two reads: everything comes back from the store.
                reader.close()
                reader = Ingest(store, counter_for=lambda _: CharsOverFour())
        reader.close()
        assert dump(store) == fresh(log)
        store.close()


def test_a_rewritten_file_keeps_its_seqs_and_what_left_it_stays_in_the_store(
    store: Store, tmp_path: Path
) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_bytes(conversation(4))
    ingest(store, log)
    before = standing(store)
    log.write_bytes(record(0, "word 0 é 你好 😀", None) + record(9, "other", 0))
    ingest(store, log)
    now = standing(store)
    assert list(now.values()) == ["word 0 é 你好 😀", "other"]
    assert min(now) == min(before), "the same record has the same seq"
    assert max(now) > max(before), "a new record has a new seq"
    gone = store.events(store.sessions()[0], list(before)[1:3])
    assert [event.blocks[0].text for event in gone] == ["word 1 é 你好 😀", "word 2 é 你好 😀"]


def test_a_log_that_comes_back_as_it_was_is_no_longer_gone(store: Store, tmp_path: Path) -> None:
    log, away = tmp_path / f"{SESSION}.jsonl", tmp_path / "away"
    log.write_bytes(conversation(3))
    ingest(store, log)
    log.rename(away)
    ingest(store, log)
    assert store.sources()[0].gone
    away.rename(log)
    assert ingest(store, log) == 0
    assert not store.sources()[0].gone


def test_a_log_is_read_anew_by_a_newer_version_of_its_adapter_though_it_grows_no_more(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_bytes(conversation(3))
    assert ingest(store, log) == 3
    before = standing(store)
    adapter = store.registry.for_agent("claude")
    monkeypatch.setattr(type(adapter), "revision", adapter.revision + 1)
    assert ingest(store, log) == 3
    assert standing(store) == before
    assert store.sources()[0].revision == adapter.revision
    assert ingest(store, log) == 0


def test_a_known_id_with_new_content_is_a_revision_and_both_raws_are_kept(
    store: Store, tmp_path: Path
) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_bytes(record(0, "first", None))
    ingest(store, log)
    log.write_bytes(record(0, "second", None))
    ingest(store, log)
    session = store.sessions()[0]
    assert len(standing(store)) == 1
    seq = next(iter(standing(store)))
    raw = [json.loads(r.raw)["message"]["content"] for r in store.raw(session, seq)]
    assert raw == ["first", "second"]
    assert store.events(session, [seq])[0].blocks[0].text == "second"


def test_forks_are_one_family_and_a_copied_event_is_found_once(
    store: Store, tmp_path: Path
) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_bytes(conversation(4, "needle"))
    second.write_bytes(conversation(4, "needle") + record(4, "needle again", 3))
    ingest(store, first, second)
    one, other = store.sessions()
    assert one.family == other.family
    shown = [sum(e.op is not None for e in store.entries(session)) for session in (one, other)]
    assert sorted(shown) == [4, 5], "each is shown whole"
    assert len(search(store.connections, "needle")) == 5, "and found once"


@pytest.mark.parametrize("name", ["b.jsonl", "a.jsonl"], ids=["another name", "the same name"])
def test_r32_another_file_with_the_inode_of_one_that_is_gone_is_another_session(
    store: Store, tmp_path: Path, name: str
) -> None:
    log, parked = tmp_path / "a.jsonl", tmp_path / "parked"
    log.write_bytes(conversation(3))
    ingest(store, log)
    log.rename(parked)
    ingest(store, log)
    # What a file system does that gives a number out again.
    text = json.dumps({**json.loads(record(0, "new", None)), "uuid": "v0"}).encode()
    parked.write_bytes(text + b"\n")
    parked.rename(tmp_path / name)
    ingest(store, tmp_path / name)
    said = {
        session.gone: [e.headline for e in store.entries(session) if e.op is not None]
        for session in store.sessions()
    }
    assert said[False] == ["new"]
    assert [text.split()[0] for text in said[True]] == ["word"] * 3, "what was read of it stays"


def test_the_log_may_be_deleted_and_its_raw_records_stay(store: Store, tmp_path: Path) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_bytes(conversation(3))
    ingest(store, log)
    log.unlink()
    ingest(store, log)
    session = store.sessions()[0]
    assert session.gone
    raw = [store.raw(session, seq)[0].raw for seq in standing(store)]
    assert b"".join(line + b"\n" for line in raw) == conversation(3)


def test_s01_two_processes_that_read_the_same_log_write_each_record_once(tmp_path: Path) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_bytes(conversation(40))
    stores = [Store(tmp_path / "store.db", registry()) for _ in range(2)]
    readers = [Ingest(store, counter_for=lambda _: CharsOverFour()) for store in stores]
    for reader in readers:
        reader.run([log], final=True)
    for number in range(40, 44):
        with log.open("ab") as file:
            file.write(record(number, "more", number - 1))
        # Each has the log open and thinks that it knows where reading stands.
        readers[number % 2].run([log], final=True)
        readers[1 - number % 2].run([log], final=True)
    assert dump(stores[0]) == fresh(log)
    for reader, store in zip(readers, stores, strict=True):
        reader.close()
        store.close()


def test_s01_two_processes_at_the_same_time(tmp_path: Path) -> None:
    logs = [tmp_path / f"{number}.jsonl" for number in range(6)]
    for log in logs:
        log.write_bytes(conversation(300, log.stem))
    path = tmp_path / "store.db"
    Store(path, registry()).close()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            _ingest_and_leave(path, logs, CharsOverFour())
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    store, rested = Store(path, registry()), Store(":memory:", registry())
    ingest(rested, *logs)
    assert dump(store) == dump(rested)
    store.close()


@pytest.mark.corpus
@pytest.mark.slow
def test_s03_killed_at_200_moments_the_store_equals_an_uninterrupted_one(
    corpus: Path, tmp_path: Path
) -> None:
    logs = [
        *sorted((corpus / "claude").glob("ccl-2*.jsonl")),
        *sorted((corpus / "dsh").glob("*.jsonl")),
        *sorted((corpus / "pi").glob("made-*.jsonl")),
        corpus / "codex" / "yt-0.106.0-early-snapshot.jsonl",
    ]
    resources.counter()
    whole = Store(tmp_path / "whole.db", registry())
    begun = time.perf_counter()
    reader = Ingest(whole)
    reader.run(logs, final=True)
    reader.close()
    seconds = time.perf_counter() - begun
    expected = dump(whole)
    chance = random.Random(20261130)
    kills = rounds = 0
    while kills < 200:
        path = tmp_path / f"killed-{rounds}.db"
        rounds += 1
        for _ in range(40):
            child = os.fork()
            if child == 0:
                _ingest_and_leave(path, logs)
            time.sleep(chance.uniform(0, seconds))
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            kills += os.WIFSIGNALED(status)
            if kills >= 200 or not os.WIFSIGNALED(status):
                break
        child = os.fork()
        if child == 0:
            _ingest_and_leave(path, logs)
        assert os.waitpid(child, 0)[1] == 0
        killed = Store(path, registry())
        assert dump(killed) == expected
        killed.close()
    whole.close()


def _ingest_and_leave(path: Path, logs: list[Path], counter: TokenCounter | None = None) -> None:
    code = 1
    try:
        store = Store(path, registry())
        counting = {} if counter is None else {"counter_for": lambda _: counter}
        Ingest(store, **counting).run(logs, final=True)
        code = 0
    finally:
        os._exit(code)
