"""SessionEvent and its closed vocabulary.

A session is an append-only log of events. Two strands are never mixed up:

* the agent's events, numbered ``seq`` = 1, 2, 3 … in order of first sight;
* the user's operations, events named ``"o1"``, ``"o2"`` …

Only the types in :data:`SURFACE_TYPES` may stand on the surface (the list of what the model sees);
everything else is log-only. A surface operation on any other type is refused at construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

NodeId = int | str
"""A seq of the agent's log (1, 2, 3 …) or the id of a user's operation event (``"o7"``)."""

EventType = Literal[
    "user/message",
    "assistant/message",
    "tool/result",
    "context/message",
    "steering/message",
    "session/start",
    "request/header",
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "approval/request",
    "approval/decision",
    "artifact/update",
    "usage",
    "error",
    "retry",
    "compact/start",
    "compact/summary",
    "compact/end",
    "pin/add",
    "pin/remove",
    "pack/commit",
    "operation/undo",
    "operation/redo",
    "memory/graduate",
    "unknown",
]

SURFACE_TYPES: frozenset[str] = frozenset(
    {"user/message", "assistant/message", "tool/result", "context/message", "steering/message"}
)

LEGACY_EVENT_TYPES: Mapping[str, EventType] = {
    "compaction/start": "compact/start",
    "compaction/summary": "compact/summary",
    "compaction/prune": "compact/summary",
    "compaction/end": "compact/end",
}
"""The other vocabulary of the compaction events, read but never written (formats-more, B.1)."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    _every_field: ClassVar[set[str]] = set()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls._every_field = set(cls.model_fields)

    @classmethod
    def unchecked(cls, fields: dict[str, Any]) -> Self:
        """An instance from checked values, *all* fields of the class given; the dict becomes the
        instance's own. Ten times as quick as ``model_construct``, which looks up each default;
        adapters make millions of these."""
        made = cls.__new__(cls)
        _set_values(made, fields)
        _set_names(made, cls._every_field)
        _set_extra(made, None)
        _set_private(made, None)
        return made


_set_values, _set_names, _set_extra, _set_private = (
    BaseModel.__dict__[slot].__set__
    for slot in (
        "__dict__",
        "__pydantic_fields_set__",
        "__pydantic_extra__",
        "__pydantic_private__",
    )
)
"""The slots of a model, set past its guard: an attribute's name is not looked up again."""


class Image(_Frozen):
    """An image as the log holds it. Priced by the provider's formula, never as text."""

    media_type: str | None = None
    width: int | None = None
    """Pixels, where the bytes could be read; else ``None``."""
    height: int | None = None
    size: int = 0
    """Bytes of the decoded image (an estimate where it is only referred to)."""


BlockKind = Literal[
    "text", "thinking", "tool_call", "tool_result", "image", "opaque", "context", "synthetic"
]


class ContentBlock(_Frozen):
    """One block of a message, in the shape that ``show --messages --json`` prints.

    ``id`` and ``name`` belong to tool calls and results; ``input`` is the call's input as parsed
    JSON (or the plain string that a free-form tool takes).
    """

    kind: BlockKind
    text: str = ""
    id: str | None = None
    name: str | None = None
    input: Any = None
    is_error: bool | None = None
    images: tuple[Image, ...] = ()
    signature: str | None = None
    """Opaque proof that a provider attaches to thinking; carried unchanged."""


class Usage(_Frozen):
    """What the provider said that one request cost. The buckets do not overlap (T05).

    ``None`` means unknown, which is not zero (T11).
    """

    input: int | None = None
    """Input tokens neither read from nor written to the prompt cache."""
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    """Output tokens, reasoning included."""
    reasoning: int | None = None
    """The part of ``output`` that was reasoning, where it is told apart."""
    lower_bound: bool = False
    """The stream was cut, so the true output is at least this (T09)."""

    @property
    def total_input(self) -> int | None:
        """All tokens that stood in the request, cached or not; ``None`` when nothing is known."""
        fresh, read, written = self.input, self.cache_read, self.cache_write
        if fresh is None and read is None and written is None:
            return None
        return (fresh or 0) + (read or 0) + (written or 0)


class Append(_Frozen):
    """The event becomes the last node, or extends its node where that stands already."""

    op: Literal["append"] = "append"
    view: Literal["resume", "live"] | None = None
    """The only view in which the node stands: what a resume sends though the running agent did
    not, or the other way round (Gemini CLI repeats results, and drops some messages). ``None``:
    both. Of a node's first event; no later operation changes it."""


class Replace(_Frozen):
    """The nodes from ``start`` to ``end`` by *position*, ``keep`` excepted, are shadowed.

    The event takes start's place; kept nodes follow it in their old order.
    """

    op: Literal["replace"] = "replace"
    start: NodeId
    end: NodeId
    keep: tuple[NodeId, ...] = ()
    live_only: bool = False
    """Seen by the running agent only; a resume sends the replaced node again (Claude Code's
    micro-compaction)."""


class Rebase(_Frozen):
    """The surface becomes exactly these nodes, in this order. The carrying event stands on it
    only if it is listed."""

    op: Literal["rebase"] = "rebase"
    seqs: tuple[NodeId, ...]
    after: NodeId | None = None
    """The nodes up to and including this one stay where they are, and ``seqs`` follow it: the
    same, told shortly, so that a long session with many small branches stays linear."""


SurfaceOp = Annotated[Append | Replace | Rebase, Field(discriminator="op")]

Role = Literal["user", "assistant", "system", "developer"]


class SessionEvent(_Frozen):
    """One block of one record, or one step of an operation.

    Raises ``ValueError`` at construction when a type that cannot stand on the surface carries an
    operation.
    """

    seq: NodeId
    type: EventType
    native_id: str
    """The record's own id, or a content hash with its occurrence where it has none."""
    block: int = 0
    """Index of this event among those that its record yields."""
    node: NodeId | None = None
    """The node that this event belongs to, named by the node's first event; surface types only."""
    op: SurfaceOp | None = None
    role: Role | None = None
    blocks: tuple[ContentBlock, ...] = ()
    turn: int | None = None
    step: int | None = None
    time: float | None = None
    """Seconds since 1970, UTC; ``None`` where the log's own time is missing or unreadable."""
    model: str | None = None
    usage: Usage | None = None
    request: NodeId | None = None
    """With ``usage``: the first event that the request produced. The request's prompt is the
    surface as it stood just before that event."""
    source_event_seqs: tuple[NodeId, ...] = ()
    meta: Mapping[str, Any] = Field(default_factory=dict)
    """Small typed facts of log-only events; JSON values only. See CONTRIBUTING, *Event facts*."""

    @model_validator(mode="after")
    def _only_surface_types_carry_operations(self) -> SessionEvent:
        if self.type not in SURFACE_TYPES and (self.op is not None or self.node is not None):
            raise ValueError(f"an event of type {self.type} cannot stand on the surface")
        return self
