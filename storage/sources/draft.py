"""What the adapters of linear and tree-shaped logs share: cheap blocks and events, identities."""

from __future__ import annotations

from collections.abc import Mapping
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


class Identities:
    """Native ids of records that have none: content hash and occurrence in the file, from 0."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

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
