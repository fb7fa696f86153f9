"""LogEntry: an event without its content, as the store keeps it in columns.

Fold, pairing, meter, retention walk and audit need no text, only what a text weighs. A session of
a million events stays small in this form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from compress.events import ContentBlock, EventType, NodeId, Role, SessionEvent, SurfaceOp, Usage
from compress.markup import is_wrapped, without_tags

NO_FACTS: Mapping[str, Any] = MappingProxyType({})
HEADLINE_LIMIT = 200
"""Characters of a headline."""

_INPUT_KEYS_FIRST = (
    "command",
    "cmd",
    "file_path",
    "path",
    "pattern",
    "query",
    "url",
    "description",
)
"""Names of arguments that say most about a call, in the order in which they are looked for.
These are field names of tool schemas, not words of a language."""


class LogEntry(NamedTuple):
    """One event, weighed. Token figures are those of the session's counter, before calibration.

    A tuple with names, since a session may have a million: it is made four times as quickly as a
    frozen dataclass.
    """

    seq: NodeId
    type: EventType
    node: NodeId | None = None
    op: SurfaceOp | None = None
    source_event_seqs: tuple[NodeId, ...] = ()
    role: Role | None = None
    turn: int | None = None
    step: int | None = None
    tokens: int = 0
    """All blocks together."""
    thinking_tokens: int = 0
    """The part of ``tokens`` that is thinking."""
    call_tokens: int = 0
    """The part of ``tokens`` that is tool calls."""
    image_tokens: int = 0
    """The part of ``tokens`` that is images, priced by formula."""
    calls: tuple[tuple[str, str], ...] = ()
    """(call id, tool name) of each tool call that the event makes."""
    results: tuple[str, ...] = ()
    """Call ids that the event answers."""
    is_error: bool = False
    time: float | None = None
    model: str | None = None
    usage: Usage | None = None
    request: NodeId | None = None
    headline: str = ""
    meta: Mapping[str, Any] = NO_FACTS


def entry_of(event: SessionEvent, tokens: Sequence[int]) -> LogEntry:
    """The entry of an event; ``tokens[i]`` is what ``event.blocks[i]`` counts."""
    blocks, meta = event.blocks, event.meta
    total = thinking = call = image = 0
    calls: list[tuple[str, str]] = []
    results: list[str] = []
    is_error = False
    for block, weight in zip(blocks, tokens, strict=True):
        total += weight
        kind = block.kind
        if kind == "tool_call":
            call += weight
            calls.append((block.id or "", block.name or ""))
        elif kind == "thinking":
            thinking += weight
        elif kind == "image":
            image += weight
        elif kind in ("tool_result", "synthetic"):
            results.append(block.id or "")
        is_error = is_error or bool(block.is_error)
    # In the order of the fields: names would cost as much again as all the rest.
    return LogEntry(
        event.seq,
        event.type,
        event.node,
        event.op,
        event.source_event_seqs,
        event.role,
        event.turn,
        event.step,
        total,
        thinking,
        call,
        image,
        tuple(calls),
        tuple(results),
        is_error,
        event.time,
        event.model,
        event.usage,
        event.request,
        (headline(blocks) if blocks else "") or (fact_line(meta) if meta else ""),
        meta,
    )


def headline(blocks: Sequence[ContentBlock]) -> str:
    """The first line that says something, at most :data:`HEADLINE_LIMIT` characters. What a
    program wrapped in tags stands back behind the words beside it, and goes without its tags."""
    wrapped = ""
    for block in blocks:
        if block.kind == "tool_call":
            line = f"{block.name or '?'} {_first_line(_main_argument(block.input))}".rstrip()
        elif block.kind == "image":
            line = _image_line(block)
        else:
            line = _first_line(block.text) or (_image_line(block) if block.images else "")
            if block.kind in ("text", "context") and is_wrapped(block.text):
                head = without_tags(block.text[: HEADLINE_LIMIT * 20])
                wrapped = wrapped or _first_line(head) or line
                continue
        if line:
            return line[:HEADLINE_LIMIT]
    return wrapped[:HEADLINE_LIMIT]


def fact_line(meta: Mapping[str, Any]) -> str:
    """The facts of a log-only event in one line."""
    parts = [
        f"{key}={value}" for key, value in meta.items() if isinstance(value, str | int | float)
    ]
    return _first_line(" ".join(parts))[:HEADLINE_LIMIT]


def _image_line(block: ContentBlock) -> str:
    image = block.images[0] if block.images else None
    if image is None:
        return "[image]"
    size = f" {image.width}×{image.height}" if image.width and image.height else ""
    return f"[image {image.media_type or ''}{size} {image.size:,} bytes]".replace("  ", " ")


def _first_line(text: str) -> str:
    # Bounded work: a single line can have megabytes.
    head = text[: HEADLINE_LIMIT * 20].lstrip()
    return " ".join(head.split("\n", 1)[0][: HEADLINE_LIMIT * 2].split())


def _main_argument(value: Any) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return "" if value is None else json.dumps(value, ensure_ascii=False)[:HEADLINE_LIMIT]
    for key in _INPUT_KEYS_FIRST:
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, list) and found and all(isinstance(part, str) for part in found):
            return " ".join(found)
    return next((v for v in value.values() if isinstance(v, str) and v), "")
