"""Every log, stored session and live tail is a source of records, byte for byte."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import zstandard

from compress.chunks import (
    IDLE,
    Chunk,
    ChunkPolicy,
    FlushTrigger,
    Idle,
    RecordSource,
    chunks,
    chunks_async,
)
from compress.tokens import CharsOverFour
from storage import resources
from storage.ingest import Ingest
from storage.record_sources import AdapterLogs, InThread, LiveTail, LogFile, StoredLog, Ticking
from storage.sources.registry import adapter_of, registry
from storage.store import Store

COUNTER = CharsOverFour()
LINES = [b'{"role":"user","content":"%d"}' % number for number in range(40)]
PATIENCE = 60


def held(source: RecordSource[bytes], policy: ChunkPolicy | None = None) -> list[bytes]:
    """The records of a source, out of its chunks."""
    found = chunks(source, policy or ChunkPolicy(100), COUNTER)
    return [record for chunk in found for record in chunk.records]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in LINES))
    return path


def test_a_log_gives_its_lines(log: Path) -> None:
    assert held(LogFile(log)) == LINES


def test_blank_lines_are_no_records_and_a_damaged_one_is(log: Path) -> None:
    log.write_bytes(b'\n{"a":1}\n  \n\xff\xfe not JSON\n{"b":2}')
    assert held(LogFile(log)) == [b'{"a":1}', b"\xff\xfe not JSON", b'{"b":2}']


def test_a_line_above_the_cap_comes_whole(log: Path) -> None:
    long = b'{"content":"' + b"x" * 3_000_000 + b'"}'
    log.write_bytes(b"\n".join([LINES[0], long, LINES[1], b""]))
    assert held(LogFile(log, max_line=1_000)) == [LINES[0], long, LINES[1]]


def test_a_file_that_is_not_there_has_no_records(tmp_path: Path) -> None:
    assert held(LogFile(tmp_path / "none.jsonl")) == []
    assert held(LogFile(tmp_path)) == []


def test_a_compressed_log_gives_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.zstd"
    frames = [zstandard.compress(line + b"\n") for line in LINES]
    path.write_bytes(b"".join(frames))
    assert held(LogFile(path)) == LINES


def test_a_stored_session_gives_the_lines_of_its_log_after_the_log_is_gone(
    log: Path, store: Store
) -> None:
    other = log.with_name("other.jsonl")
    other.write_bytes(b'{"role":"user","content":"of another log"}\n')
    ingest = Ingest(store)
    for path in (other, log):
        ingest.run([path], final=True)
    ingest.close()
    session = next(s for s in store.sessions() if s.path == str(log))
    log.unlink()
    assert held(StoredLog(store, session)) == LINES


def test_a_stored_session_gives_its_log_as_it_was_last_written(log: Path, store: Store) -> None:
    ingest = Ingest(store)
    ingest.run([log], final=True)
    log.unlink()
    log.write_bytes(b"".join(line + b"\n" for line in LINES[7:]))
    ingest.run([log], final=True)
    ingest.close()
    assert held(StoredLog(store, store.sessions()[0])) == LINES[7:]


def test_a_live_tail_is_flushed_while_it_waits_and_goes_on(log: Path) -> None:
    log.write_bytes(LINES[0] + b"\n" + LINES[1] + b"\n" + LINES[2][:5])
    stop = threading.Event()
    trigger = FlushTrigger.or_idle(0.05, time.monotonic)
    stream = chunks(LiveTail(log, stop, 0.01), ChunkPolicy(flush=trigger), COUNTER)
    # A flush may come between two lines; the half line is in none.
    found = gathered(stream, 2)
    with log.open("ab") as file:
        file.write(LINES[2][5:] + b"\n")
    found += gathered(stream, 1)
    assert found == LINES[:3]
    stop.set()
    assert list(stream) == []


def gathered(stream: Iterator[Chunk[bytes]], records: int) -> list[bytes]:
    """The records of as many chunks as it takes."""
    found: list[bytes] = []
    while len(found) < records:
        found += next(stream).records
    return found


def test_a_live_tail_waits_for_its_file_and_takes_a_new_one_from_its_beginning(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log.jsonl"
    stop = threading.Event()
    records = LiveTail(path, stop, 0.01).records()
    assert next(records) is IDLE
    path.write_bytes(LINES[0] + b"\n")
    assert next(record for record in records if record is not IDLE) == LINES[0]
    path.unlink()
    path.write_bytes(LINES[1] + b"\n")
    assert next(record for record in records if record is not IDLE) == LINES[1]
    stop.set()
    assert list(records) in ([], [IDLE])


class Pipe:
    """A source that blocks without a word."""

    def __init__(self, then: threading.Event) -> None:
        self.then = then

    def records(self) -> Iterator[bytes | Idle]:
        yield b"a"
        assert self.then.wait(PATIENCE)
        yield b"b"


async def test_a_source_that_blocks_is_flushed_while_it_blocks() -> None:
    then = threading.Event()
    trigger = FlushTrigger.or_idle(0.01, time.monotonic)
    source = Ticking(InThread(Pipe(then)), 0.01)
    stream = chunks_async(source, ChunkPolicy(flush=trigger), COUNTER)
    # It would not come before the end without a tick: the source says nothing till then.
    assert (await anext(stream)).records == (b"a",)
    then.set()
    assert [chunk.records async for chunk in stream] == [(b"b",)]


async def test_leaving_a_source_that_is_waited_for_closes_it() -> None:
    closed = asyncio.Event()

    class Never:
        async def records(self) -> AsyncIterator[bytes | Idle]:
            try:
                yield b"a"
                await asyncio.Event().wait()
            finally:
                closed.set()

    trigger = FlushTrigger.or_idle(0, time.monotonic)
    stream = chunks_async(Ticking(Never(), 0.01), ChunkPolicy(flush=trigger), COUNTER)
    assert (await anext(stream)).records == (b"a",)
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0.03)
    waiting.cancel()
    await asyncio.wait({waiting})
    await asyncio.wait_for(closed.wait(), PATIENCE)


async def test_an_error_of_a_source_is_told_to_who_waits() -> None:
    class Broken:
        async def records(self) -> AsyncIterator[bytes | Idle]:
            yield b"a"
            raise OSError("gone")

    stream = chunks_async(Ticking(Broken(), 60), ChunkPolicy(), COUNTER)
    assert (await anext(stream)).records == (b"a",)
    with pytest.raises(OSError, match="gone"):
        await anext(stream)


def test_all_logs_of_an_adapter_are_one_source(tmp_path: Path) -> None:
    folder = tmp_path / ".codex" / "sessions" / "2026" / "01" / "02"
    folder.mkdir(parents=True)
    for number, lines in ((2, LINES[3:]), (1, LINES[:3])):
        path = folder / f"rollout-2026-01-02T00-00-0{number}-0.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
    for number in (1, 2):
        path = folder / f"rollout-2026-01-02T00-00-0{number}-0.jsonl"
        os.utime(path, (number, number))
    adapter = registry().for_agent("codex")
    assert held(AdapterLogs(adapter, {}, tmp_path)) == LINES


@pytest.mark.corpus
def test_real_logs_come_through_chunks_as_they_are(corpus: Path) -> None:
    adapters = registry()
    counter = resources.counter()
    seen = 0
    for path in sorted(corpus.glob("*/*.jsonl")):
        if path.stat().st_size > 400_000 or adapter_of(adapters, path) is None:
            continue
        seen += 1
        lines = [line for line in path.read_bytes().split(b"\n") if line.strip()]
        found = list(chunks(LogFile(path), ChunkPolicy(), counter))
        assert [record for chunk in found for record in chunk.records] == lines
        assert [chunk.t for chunk in found] == list(range(1, len(found) + 1))
        for chunk in found:
            assert chunk.tokens <= 5000 or (chunk.over_budget and len(chunk.records) == 1)
    assert seen > 10
