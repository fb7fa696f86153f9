"""Record chunks: a stream over a stream that loses nothing and holds one chunk at most."""

from __future__ import annotations

import gc
import weakref
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compress.chunks import (
    IDLE,
    Boundary,
    Chunk,
    ChunkPolicy,
    ChunkPolicyError,
    FlushTrigger,
    Idle,
    chunks,
    chunks_async,
)
from compress.tokens import CharsOverFour

COUNTER = CharsOverFour()
STEPS = st.lists(st.one_of(st.binary(max_size=60), st.floats(0, 9, width=16)), max_size=60)
"""Records, and seconds that pass with a tick at their end."""


@dataclass
class Time:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Listed:
    """Records, ticks, and seconds that pass before a tick."""

    steps: Sequence[bytes | float | Idle]
    time: Time = field(default_factory=Time)

    def records(self) -> Iterator[bytes | Idle]:
        for step in self.steps:
            if isinstance(step, float):
                self.time.now += step
                yield IDLE
            else:
                yield step


@dataclass
class Awaited:
    """The same for ``async for``."""

    listed: Listed

    async def records(self) -> AsyncIterator[bytes | Idle]:
        for record in self.listed.records():
            yield record


def sizes(found: Sequence[Chunk[bytes]]) -> list[list[int]]:
    return [[len(record) for record in chunk.records] for chunk in found]


@given(STEPS, st.integers(1, 12), st.integers(1, 12), st.none() | st.floats(0, 12, width=16))
def test_no_record_is_split_lost_moved_or_counted_wrongly(
    steps: list[bytes | float], budget: int, flush: int, idle: float | None
) -> None:
    source = Listed(steps)
    trigger = FlushTrigger.tokens(min(flush, budget))
    if idle is not None:
        trigger = trigger.or_idle(idle, source.time)
    found = list(chunks(source, ChunkPolicy(budget, flush=trigger), COUNTER))
    records = [step for step in steps if isinstance(step, bytes)]
    assert [record for chunk in found for record in chunk.records] == records
    assert [chunk.t for chunk in found] == list(range(1, len(found) + 1))
    for chunk in found:
        texts = [record.decode("utf-8", "replace") for record in chunk.records]
        assert chunk.tokens == sum(map(COUNTER.count, texts))
        assert chunk.over_budget == (chunk.tokens > budget)
        assert len(chunk.records) == 1 or not chunk.over_budget
        assert chunk.records


@given(STEPS, st.integers(1, 12), st.floats(0, 12, width=16))
async def test_the_async_form_gives_the_same(
    steps: list[bytes | float], budget: int, idle: float
) -> None:
    def policy(source: Listed) -> ChunkPolicy:
        return ChunkPolicy(budget, flush=FlushTrigger.or_idle(idle, source.time))

    one, other = Listed(steps), Listed(steps)
    found = [chunk async for chunk in chunks_async(Awaited(other), policy(other), COUNTER)]
    assert found == list(chunks(one, policy(one), COUNTER))


def test_a_budget_is_used_up_and_never_exceeded() -> None:
    # Four characters a token: 2 + 2, then 3, then 2 + 1 + 1 tokens.
    source = Listed([b"x" * n for n in (8, 8, 12, 8, 4, 4)])
    assert sizes(list(chunks(source, ChunkPolicy(4), COUNTER))) == [[8, 8], [12], [8, 4, 4]]


def test_what_is_larger_than_the_budget_stands_alone_behind_what_was_pending() -> None:
    found = list(chunks(Listed([b"x" * n for n in (4, 400, 4)]), ChunkPolicy(10), COUNTER))
    assert sizes(found) == [[4], [400], [4]]
    assert [chunk.over_budget for chunk in found] == [False, True, False]


def test_no_records_are_no_chunks() -> None:
    assert list(chunks(Listed([]), ChunkPolicy(), COUNTER)) == []
    time = Time()
    trigger = FlushTrigger.or_idle(1, time)
    assert list(chunks(Listed([5.0, 5.0], time), ChunkPolicy(flush=trigger), COUNTER)) == []


def test_an_empty_record_is_a_record() -> None:
    assert sizes(list(chunks(Listed([b"", b""]), ChunkPolicy(1), COUNTER))) == [[0, 0]]


def test_records_may_be_text() -> None:
    class Lines:
        def records(self) -> Iterator[str | Idle]:
            yield from ("é" * 4, "b")

    (chunk,) = chunks(Lines(), ChunkPolicy(), COUNTER)
    assert chunk == Chunk(1, ("éééé", "b"), 2)


def test_a_flush_comes_as_soon_as_its_tokens_are_there() -> None:
    taken: list[str] = []

    class Watched:
        def records(self) -> Iterator[bytes | Idle]:
            for name in ("first", "second", "third"):
                taken.append(name)
                yield b"x" * 8

    stream = chunks(Watched(), ChunkPolicy(100, flush=FlushTrigger.tokens(3)), COUNTER)
    assert len(next(stream).records) == 2
    assert taken == ["first", "second"], "nothing was read ahead"


def test_an_idle_source_has_its_records_flushed_while_it_waits() -> None:
    time = Time()
    reached: list[str] = []

    class Waiting:
        def records(self) -> Iterator[bytes | Idle]:
            yield b"a"
            time.now = 4.9
            yield IDLE
            reached.append("a little idle")
            time.now = 5.0
            yield IDLE
            reached.append("went on")
            yield b"b"

    policy = ChunkPolicy(flush=FlushTrigger.or_idle(5, time))
    stream = chunks(Waiting(), policy, COUNTER)
    assert next(stream).records == (b"a",)
    assert reached == ["a little idle"], "before the next record came"
    assert next(stream).records == (b"b",)


def test_a_pause_that_no_tick_told_of_ends_a_chunk_when_the_next_record_comes() -> None:
    time = Time()

    class Silent:
        def records(self) -> Iterator[bytes | Idle]:
            yield b"a"
            yield b"b"
            time.now = 60.0
            yield b"c"

    policy = ChunkPolicy(flush=FlushTrigger.or_idle(5, time))
    assert [c.records for c in chunks(Silent(), policy, COUNTER)] == [(b"a", b"b"), (b"c",)]


def test_without_an_idle_trigger_ticks_change_nothing() -> None:
    found = list(chunks(Listed([b"a", 1000.0, b"b", IDLE]), ChunkPolicy(), COUNTER))
    assert [chunk.records for chunk in found] == [(b"a", b"b")]


def test_time_that_the_reader_of_chunks_takes_is_no_pause_of_the_source() -> None:
    time = Time()
    policy = ChunkPolicy(2, flush=FlushTrigger.or_idle(5, time))
    stream = chunks(Listed([b"x" * 8, b"x" * 4, b"x" * 8, b"x" * 4, b"x" * 4]), policy, COUNTER)
    found = []
    for chunk in stream:
        found.append(chunk)
        time.now += 100
    assert sizes(found) == [[8], [4], [8], [4, 4]]


def test_an_endless_source_is_held_one_chunk_at_a_time() -> None:
    class Line(str):
        """Text that a weak reference can follow."""

        __slots__ = ("__weakref__",)

    alive: weakref.WeakSet[Line] = weakref.WeakSet()

    class Endless:
        def records(self) -> Iterator[str | Idle]:
            for number in count():
                line = Line(f"{number:08}")
                alive.add(line)
                yield line

    most = 0
    for chunk in islice(chunks(Endless(), ChunkPolicy(10), COUNTER), 2_000):
        assert len(chunk.records) == 5
        most = max(most, len(alive))
    gc.collect()
    assert most <= 2 * 5 + 2, "this chunk, and the one before it that the loop still names"


def test_what_had_come_before_a_source_broke_is_given_out_first() -> None:
    class Broken:
        def records(self) -> Iterator[bytes | Idle]:
            yield b"a"
            raise OSError("the disk is gone")

    stream = chunks(Broken(), ChunkPolicy(), COUNTER)
    assert next(stream).records == (b"a",)
    with pytest.raises(OSError, match="the disk is gone"):
        next(stream)


def test_a_stream_that_is_left_closes_its_source() -> None:
    closed: list[bool] = []

    class Held:
        def records(self) -> Iterator[bytes | Idle]:
            try:
                while True:
                    yield b"abcd"
            finally:
                closed.append(True)

    stream = chunks(Held(), ChunkPolicy(1), COUNTER)
    next(stream)
    stream.close()
    assert closed == [True]


def test_the_defaults_are_those_of_the_design() -> None:
    policy = ChunkPolicy()
    assert (policy.max_tokens, policy.split_on) == (5000, Boundary.RECORD)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (lambda: ChunkPolicy(0), "A chunk of 0 tokens can hold nothing"),
        (lambda: FlushTrigger.tokens(0), "A flush at 0 tokens is none"),
        (lambda: FlushTrigger.or_idle(-1, Time()), "A flush after -1 idle seconds is none"),
        (lambda: FlushTrigger.or_idle(float("nan"), Time()), "A flush after nan idle seconds"),
        (lambda: FlushTrigger(idle_seconds=1.0), "needs both its seconds and a clock"),
        (
            lambda: ChunkPolicy(5, flush=FlushTrigger.tokens(6)),
            "A flush at 6 tokens is never reached by a chunk of at most 5",
        ),
    ],
)
def test_a_policy_that_cannot_be_kept_is_refused(policy: object, says: str) -> None:
    assert callable(policy)
    with pytest.raises(ChunkPolicyError, match=says):
        policy()
