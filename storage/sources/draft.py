"""What the adapters of linear and tree-shaped logs share: cheap blocks and events, identities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from pydantic_core import to_json

from compress.events import (
    Append,
    BlockKind,
    ContentBlock,
    EventType,
    Image,
    NodeId,
    Rebase,
    Role,
    SessionEvent,
    SurfaceOp,
    Usage,
)
from storage.sources.base import Record

TITLE_LENGTH = 80
APPEND = Append()
NO_META: Mapping[str, Any] = {}
"""Shared by all events without facts; never written to."""
LONGEST_FACT = 2_000
"""Characters of a free text in ``meta``."""
MOST_ITEMS = 200
"""Items of one artifact; the rest is left to the event that holds the list."""


def text_block(
    kind: BlockKind,
    text: str = "",
    *,
    id: str | None = None,  # noqa: A002  # the name of the field
    name: str | None = None,
    input: Any = None,  # noqa: A002
    is_error: bool | None = None,
    images: tuple[Image, ...] = (),
    signature: str | None = None,
) -> ContentBlock:
    """A :class:`ContentBlock` without validation, from values that the adapter has checked."""
    return ContentBlock.unchecked(
        {
            "kind": kind,
            "text": text,
            "id": id,
            "name": name,
            "input": input,
            "is_error": is_error,
            "images": images,
            "signature": signature,
        }
    )


def event(
    seq: int,
    kind: EventType,
    native_id: str,
    block: int = 0,
    *,
    node: NodeId | None = None,
    op: SurfaceOp | None = None,
    role: Role | None = None,
    blocks: tuple[ContentBlock, ...] = (),
    turn: int | None = None,
    step: int | None = None,
    time: float | None = None,
    model: str | None = None,
    usage: Usage | None = None,
    request: NodeId | None = None,
    source_event_seqs: tuple[NodeId, ...] = (),
    meta: Mapping[str, Any] = NO_META,
) -> SessionEvent:
    """A :class:`SessionEvent` without validation. Its caller sees to it that only surface types
    carry a node or an operation."""
    return SessionEvent.unchecked(
        {
            "seq": seq,
            "type": kind,
            "native_id": native_id,
            "block": block,
            "node": node,
            "op": op,
            "role": role,
            "blocks": blocks,
            "turn": turn,
            "step": step,
            "time": time,
            "model": model,
            "usage": usage,
            "request": request,
            "source_event_seqs": source_event_seqs,
            "meta": meta,
        }
    )


def mark(
    seq: int,
    native_id: str,
    block: int,
    op: Rebase,
    *,
    turn: int,
    time: float | None,
    meta: Mapping[str, Any],
) -> SessionEvent:
    """An event that says what stands now, where no message does; it stays off the surface itself.
    Turn 0: before the first."""
    return event(
        seq,
        "context/message",
        native_id,
        block,
        node=seq,
        op=op,
        turn=turn or None,
        time=time,
        meta=meta,
    )


def rebase(seqs: Iterable[NodeId], after: NodeId | None = None) -> Rebase:
    """A :class:`Rebase` without validation."""
    return Rebase.model_construct(op="rebase", seqs=tuple(seqs), after=after)


def usage_of_prompt(
    prompt: int | None,
    output: int | None,
    *,
    read: int | None = None,
    written: int | None = None,
    reasoning: int | None = None,
) -> Usage | None:
    """What a request cost, as disjoint buckets, of figures whose prompt counts what was read from
    the cache and written to it, too. ``None`` where neither prompt nor output is known."""
    if prompt is None and output is None:
        return None
    return Usage(
        input=None if prompt is None else max(0, prompt - (read or 0) - (written or 0)),
        cache_read=read,
        cache_write=written,
        output=output,
        reasoning=reasoning,
    )


@dataclass(slots=True)
class Turns:
    """How far a conversation is, of which the messages alone tell."""

    turn: int = 0
    step: int = 0
    _steps: dict[str | None, int] = field(default_factory=dict)
    """Call → the request that made it."""

    def begin(self, kind: EventType) -> None:
        """A message of this kind follows."""
        self.turn += kind == "user/message"
        self.step += kind == "assistant/message"

    def step_of(self, kind: EventType, blocks: Sequence[ContentBlock]) -> int | None:
        """The request that a part of it belongs to: a result's is that which made the call."""
        if kind == "assistant/message":
            self._steps.update((b.id, self.step) for b in blocks if b.kind == "tool_call")
            return self.step
        if kind == "tool/result":
            return self._steps.get(blocks[0].id, self.step) or None
        return None


class Identities:
    """Native ids of records: their own, else content hash and occurrence in the file, from 0."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._named: dict[str, int] = {}
        """Each id that was given, and the number of the newest that was made of it."""

    def own(self, name: str) -> str:
        """The record's own id, told apart from those of earlier records that had it, too, or that
        were given what looks like it."""
        number, made = self._named.get(name, 0), name
        while made in self._named:
            number += 1
            made = f"{name}~{number}"
        self._named[made] = 1
        if made != name:
            self._named[name] = number
        return made

    def of(self, record: Record, content: Any) -> str:
        """The identity of a record whose identifying content is this JSON value."""
        try:
            data = to_json(content)
        except ValueError:  # nested deeper than the writer goes
            data = record.raw
        digest = blake2b(data, digest_size=8).hexdigest()
        occurrence = self._seen.get(digest, 0)
        self._seen[digest] = occurrence + 1
        return f"{digest}#{occurrence}"


def digest_of(value: Any) -> bytes:
    """Short for a JSON value: equal where two say the same."""
    try:
        data = to_json(value)
    except ValueError:  # nested deeper than the writer goes
        data = repr(value).encode()
    return blake2b(data, digest_size=12).digest()


def title_of(text: str) -> str | None:
    """The first line that says something, cut to what a list of sessions shows."""
    head = text[: 50 * TITLE_LENGTH].lstrip().partition("\n")[0].strip()
    return head[:TITLE_LENGTH] or None


def word(value: Any) -> str | None:
    """The value where it is a text that says something, else ``None``."""
    return value if isinstance(value, str) and value else None


def type_name(value: Any) -> str:
    """What to call a record that is not understood: its own ``type``, else its JSON type."""
    if isinstance(value, dict):
        kind = value.get("type")
        return kind if isinstance(kind, str) else "object"
    names = {str: "string", bool: "boolean", int: "number", float: "number", list: "array"}
    return names.get(type(value), "null")
