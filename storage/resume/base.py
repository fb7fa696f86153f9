"""What a writer of resumable copies is given, and what it gives back.

A writer is a pure function: the standing nodes of a plan in, the records of a new log out. Ids and
the time are made by the caller, so the same plan gives the same bytes. Nothing is written here
(see ``files.py``), and the original log is never opened for writing by anyone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Protocol
from uuid import UUID, uuid5

from compress.events import ContentBlock, NodeId, SessionEvent
from storage.errors import StorageError
from storage.records import parse_record
from storage.sources.base import Json


class ResumeRefusedError(StorageError):
    """No copy that the agent would take can be made; nothing was written. The message names the
    session and the way out."""

    code = "resume_refused"


@dataclass(frozen=True, slots=True)
class Original:
    """A raw record as the log holds it, newline excluded."""

    line: int
    """1-based."""
    raw: bytes

    @property
    def value(self) -> Json:
        """The parsed record; ``None`` where it cannot be understood."""
        record = parse_record(self.line, 0, self.raw)
        return None if record is None else record.value


@dataclass(frozen=True, slots=True)
class Piece:
    """One event of a standing node, content included."""

    event: SessionEvent
    """``event.block`` says which part of its record it is: what
    :meth:`storage.sources.base.SourceAdapter.blocks` decodes from the value with this index."""
    original: Original | None
    """The record that the event came from; ``None`` for one that the plan brings."""

    @property
    def blocks(self) -> tuple[ContentBlock, ...]:
        return self.event.blocks

    @property
    def text(self) -> str:
        """The texts of its blocks, one under the other."""
        return "\n".join(block.text for block in self.event.blocks if block.text)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a summary on the plan stands for."""

    origin: str
    """``agent``, ``user`` or ``policy``."""
    tokens_before: int | None = None
    """Tokens in the window before it was made, as far as that is known."""
    trigger: str | None = None
    """Of one of the agent's own: what its log says that began it."""
    behind: str | None = None
    """Native id of the last record that it took away."""


@dataclass(frozen=True, slots=True)
class CopyNode:
    """One standing node, in surface order. Its pieces are all of its events, in the order in which
    they are sent."""

    node: NodeId
    pieces: tuple[Piece, ...]
    checkpoint: Checkpoint | None = None

    @property
    def type(self) -> str:
        """The event type of the node's first event."""
        return self.pieces[0].event.type

    @property
    def brought(self) -> bool:
        """Whether the plan brings it: a checkpoint, a receipt, a pack."""
        return all(piece.original is None for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class SourceSession:
    """The session that is copied."""

    name: str
    """What a person types."""
    native_id: str
    path: Path
    relation: str = "main"
    """``main``, ``fork`` or ``subagent``."""
    cwd: str | None = None
    """The newest folder that the log names."""
    version: str | None = None
    model: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class PlanCopy:
    """A plan, ready to be written as a session of its own."""

    source: SourceSession
    nodes: tuple[CopyNode, ...]
    session_id: str
    """The new session's id, a UUID of version 7."""
    made_at: float
    """Seconds since 1970, UTC: the time of the records that the plan brings."""
    changed_from: int
    """Position of the first node that the agent itself would not have here: the provider's figures
    behind it speak of another prompt. The number of nodes where the plan changed nothing."""
    records: Callable[[], Iterator[Original]]
    """All records of the original log, in file order: for headers, settings, titles. They are
    read again each time."""

    def new_uuid(self, name: str) -> str:
        """A UUID of the copy: the same for the same session id and name, different for others."""
        return str(uuid5(UUID(self.session_id), name))


@dataclass(frozen=True, slots=True)
class Composed:
    """A copy before it is written."""

    place: PurePosixPath
    """The new file, relative to the agent's folder of logs (``Root.path`` of its adapter)."""
    lines: tuple[bytes, ...]
    """The records as JSON, UTF-8, newlines excluded."""
    command: tuple[str, ...]
    """The words of the command that resumes it; ``{path}`` in one is the written file's path."""
    folder: str | None = None
    """The folder in which the command must be run; ``None`` where any will do."""
    note: str | None = None
    """What the person must know beside the command, one sentence."""


class Writer(Protocol):
    """One agent's format."""

    agent: ClassVar[str]
    """As in :attr:`SourceAdapter.agent`."""
    label: ClassVar[str]
    """The agent's name in a sentence."""

    def compose(self, copy: PlanCopy) -> Composed:
        """The records of the copy. Pure. Raises :class:`ResumeRefusedError` where the agent would
        not take what comes out."""
        ...
