"""A belief: one statement of the log that can be retrieved, and how it is rendered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compress.events import NodeId

RetentionClass = Literal["fact", "snapshot", "transient", "unknown"]

BeliefType = Literal[
    "instruction",  # what the user asked for or corrected
    "answer",  # what the agent said
    "action",  # what the agent did: a command, a query, a job for another agent
    "decision",  # a decision point
    "plan_step",
    "file_snapshot",  # a file as it was read, or a listing
    "tool_result",
    "summary",  # a checkpoint's text
    "note",  # what a person committed: a pack, a note
    "context",  # what a program put beside the person's words
]

Strategy = Literal["verbatim", "headline", "stub", "query_headline"]

LOCK_NONE = 0
LOCK_USER = 1
"""Pinned by the user. There are just these two."""


@dataclass(frozen=True, slots=True)
class Belief:
    """A statement with its provenance."""

    id: str
    """Follows from the session's native id, the events and the part of them; never from a rowid."""
    content: str
    retention_class: RetentionClass
    belief_type: BeliefType
    source_kind: str
    """Which kind of source gave its class: a key of the table in ``classes.py``."""
    lock_level: int = LOCK_NONE
    source_event_seqs: tuple[NodeId, ...] = ()
    session: str = ""
    """The session's name in the store; empty where there is just one."""
    label: str = ""
    """What it is, in one line of at most 120 characters: a file's path, a command, a step."""
    part: tuple[int, int] | None = None
    """Of a longer content, which part: index from 0, and how many there are."""

    @property
    def locked(self) -> bool:
        """Whether a person pinned it."""
        return self.lock_level == LOCK_USER


@dataclass(frozen=True, slots=True)
class CompressedBelief:
    """A belief as it is rendered. ``rendered_tokens`` is never above the content's tokens."""

    belief: Belief
    rendered: str
    rendered_tokens: int
    strategy: Strategy
    fell_back: Strategy | None = None
    """The strategy that would have cost more than the content itself."""
