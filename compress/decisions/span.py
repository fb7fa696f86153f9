"""Where a stage begins and ends, what it weighs, and its identity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from compress.decisions.values import StageKind
from compress.events import NodeId, SessionEvent

IntSeqs = tuple[int, ...]
Told = tuple[str, IntSeqs]
"""A text with the events that it was read from."""


@dataclass(slots=True)
class Span:
    """The extent of one stage. ``taken``: the revision that was handed out last, 0 for none."""

    kind: StageKind
    identity: str
    """Of its first source event: the native id of the record, and what tells two stages of one
    record apart. It does not depend on how the adapter numbers events."""
    index: int
    first: int
    last: int
    revision: int
    tokens: int = 0
    started: tuple[float, int] | None = None
    """The first time that the log gives, with its event."""
    ended: tuple[float, int] | None = None
    taken: int = 0

    def touch(self, event: SessionEvent, seq: int, tokens: int) -> None:
        """The event belongs to the stage."""
        self.tokens += tokens
        self.last = max(self.last, seq)
        self.revision = max(self.revision, seq)
        if event.time is not None:
            if self.started is None:
                self.started = (event.time, seq)
            if event.type != "turn/end" or event.meta.get("reason") != "completed":
                # Agents without a mark of a turn's end log it where the next turn begins.
                self.ended = (event.time, seq)


def point_id(agent: str, session: str, span: Span) -> str:
    """The id of a stage's record: 32 hex digits."""
    digest = blake2b(digest_size=16)
    for part in (agent, session, span.kind, span.identity):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def rising(*seqs: Iterable[NodeId]) -> IntSeqs:
    """All of these seqs of the agent's events, in rising order, without repeats."""
    return tuple(sorted({seq for part in seqs for seq in part if isinstance(seq, int)}))
