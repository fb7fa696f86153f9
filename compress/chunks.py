"""Records in chunks: the seam where any stream of records comes in.

``chunks`` and ``chunks_async`` are streams over streams. They hold one chunk at most, so that a
source may be endless. The records of all chunks, in order, are the records of the source, byte for
byte: none is split, cut or left out.

*Idle.* The engine has no timer. A source that waits for its next record yields :data:`IDLE` now
and then, and each of these is a moment at which what stands may be flushed; the clock is handed in
with the policy. ``storage.record_sources`` has sources that tick while they wait, and makes any
other source tick. Of a source that never ticks, a pause is seen when its next record comes: that
one begins a new chunk.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, Generic, Protocol, TypeVar

from compress.errors import CompressError
from compress.tokens import TokenCounter

Clock = Callable[[], float]
"""Seconds, from whatever beginning; never running backwards."""

R = TypeVar("R", bytes, str)
R_co = TypeVar("R_co", bytes, str, covariant=True)


class Idle(Enum):
    """What a source yields in place of a record while it waits for one."""

    IDLE = "idle"


IDLE: Final = Idle.IDLE


class RecordSource(Protocol[R_co]):
    """Whatever gives records, lazily: a log, a session in a store, a pipe, a live tail."""

    def records(self) -> Iterator[R_co | Idle]:
        """The records in order, and :data:`IDLE` while there is none yet."""
        ...


class AsyncRecordSource(Protocol[R_co]):
    """The same for ``async for``."""

    def records(self) -> AsyncIterator[R_co | Idle]:
        """The records in order, and :data:`IDLE` while there is none yet."""
        ...


class Boundary(Enum):
    """Where a chunk may end."""

    RECORD = "record"
    """After a whole record."""


class ChunkPolicyError(CompressError):
    """A policy that contradicts itself, or asks for nothing."""

    code = "chunk_policy"


class _OrIdle:
    """``FlushTrigger.or_idle(…)`` and ``FlushTrigger.tokens(n).or_idle(…)`` alike."""

    def __get__(
        self, trigger: FlushTrigger | None, owner: type[FlushTrigger]
    ) -> Callable[[float, Clock], FlushTrigger]:
        begun = owner() if trigger is None else trigger

        def or_idle(seconds: float, clock: Clock) -> FlushTrigger:
            return replace(begun, idle_seconds=seconds, clock=clock)

        return or_idle


@dataclass(frozen=True, slots=True)
class FlushTrigger:
    """When a chunk ends before its budget is used up.

    ``FlushTrigger.tokens(n)``: as soon as it holds ``n`` tokens. ``FlushTrigger.or_idle(seconds,
    clock)``: also when no record came for so long. Both: ``FlushTrigger.tokens(n).or_idle(…)``.
    """

    at_tokens: int | None = None
    """``None``: the chunk's budget."""
    idle_seconds: float | None = None
    clock: Clock | None = None

    or_idle = _OrIdle()

    def __post_init__(self) -> None:
        if self.at_tokens is not None and self.at_tokens < 1:
            raise ChunkPolicyError(
                f"A flush at {self.at_tokens} tokens is none; give at least one token."
            )
        # Written so that NaN is refused, too.
        if self.idle_seconds is not None and not self.idle_seconds >= 0:
            raise ChunkPolicyError(
                f"A flush after {self.idle_seconds} idle seconds is none; give zero or more."
            )
        if (self.idle_seconds is None) != (self.clock is None):
            raise ChunkPolicyError("An idle flush needs both its seconds and a clock.")

    @classmethod
    def tokens(cls, tokens: int) -> FlushTrigger:
        """As soon as a chunk holds so many tokens."""
        return cls(at_tokens=tokens)


@dataclass(frozen=True, slots=True)
class ChunkPolicy:
    """How records are gathered. Raises :class:`ChunkPolicyError` for a budget below one token, or
    a flush above the budget."""

    max_tokens: int = 5000
    """Of one chunk."""
    split_on: Boundary = Boundary.RECORD
    flush: FlushTrigger = field(default_factory=FlushTrigger)

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ChunkPolicyError(
                f"A chunk of {self.max_tokens} tokens can hold nothing; give at least one."
            )
        at = self.flush.at_tokens
        if at is not None and at > self.max_tokens:
            raise ChunkPolicyError(
                f"A flush at {at:,} tokens is never reached by a chunk of at most "
                f"{self.max_tokens:,}; lower it, or raise max_tokens."
            )


@dataclass(frozen=True, slots=True)
class Chunk(Generic[R]):
    """Some records that follow each other."""

    t: int
    """Its place in the stream, from 1, without gaps."""
    records: tuple[R, ...]
    """As the source gave them; never empty."""
    tokens: int
    """The sum of what each record counts for itself."""
    over_budget: bool = False
    """It is one record that is larger than the budget by itself."""


def chunks(
    source: RecordSource[R], policy: ChunkPolicy, counter: TokenCounter
) -> Generator[Chunk[R], None, None]:
    """The source's records in chunks of at most ``policy.max_tokens``, as they come.

    A larger record is a chunk of its own, flagged. No records give no chunks. What the source
    raises is raised here, after the chunk of what it had given before. The source is closed with
    this stream, where it can be.
    """
    gathered: _Gathered[R] = _Gathered(policy, counter)
    records = source.records()
    try:
        try:
            for record in records:
                yield from gathered.take(record)
        except Exception:
            yield from gathered.rest()
            raise
        yield from gathered.rest()
    finally:
        if isinstance(records, Generator):
            records.close()


async def chunks_async(
    source: AsyncRecordSource[R], policy: ChunkPolicy, counter: TokenCounter
) -> AsyncGenerator[Chunk[R], None]:
    """The same as :func:`chunks`, of a source that is waited for."""
    gathered: _Gathered[R] = _Gathered(policy, counter)
    records = source.records()
    try:
        try:
            async for record in records:
                for chunk in gathered.take(record):
                    yield chunk
        except Exception:
            for chunk in gathered.rest():
                yield chunk
            raise
        for chunk in gathered.rest():
            yield chunk
    finally:
        if isinstance(records, AsyncGenerator):
            await records.aclose()


class _Gathered(Generic[R]):
    """The chunk that is being filled."""

    def __init__(self, policy: ChunkPolicy, counter: TokenCounter) -> None:
        self._budget = policy.max_tokens
        self._full = policy.flush.at_tokens or policy.max_tokens
        self._idle_seconds = policy.flush.idle_seconds or 0.0
        self._clock = policy.flush.clock
        self._counter = counter
        self._records: list[R] = []
        self._tokens = 0
        self._t = 0
        self._newest = 0.0
        """When the newest record came."""

    def take(self, record: R | Idle) -> Iterator[Chunk[R]]:
        """The chunks that end with, or before, this record."""
        clock = self._clock
        if clock is not None and self._records and clock() - self._newest >= self._idle_seconds:
            yield from self.rest()
        if isinstance(record, Idle):
            return
        tokens = self._counter.count(_text(record))
        if self._tokens + tokens > self._budget:
            yield from self.rest()
        self._records.append(record)
        self._tokens += tokens
        if clock is not None:
            # Read anew: whoever took the chunk before may have taken long over it.
            self._newest = clock()
        if self._tokens >= self._full:
            yield from self.rest()

    def rest(self) -> Iterator[Chunk[R]]:
        """What stands, if anything does, as the next chunk."""
        if not self._records:
            return
        self._t += 1
        chunk = Chunk(self._t, tuple(self._records), self._tokens, self._tokens > self._budget)
        self._records, self._tokens = [], 0
        yield chunk


def _text(record: bytes | str) -> str:
    return record if isinstance(record, str) else record.decode("utf-8", "replace")
