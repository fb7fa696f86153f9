"""DSH: what a record is, and the content of its message, from the record alone."""

from __future__ import annotations

from typing import Any

from compress.events import ContentBlock, Image, Usage
from storage.sources.draft import text_block
from storage.sources.values import count, listing, mapping, parsed, string

SURFACE_TYPES = frozenset(
    {
        "user/message",
        "assistant/message",
        "tool/result",
        "context/message",
        "steering/message",
        "system/message",
    }
)
"""The union over all generations: three types in v0, two more before it, ``system/message``
since v3."""

PACKED_TYPES = {"text-chunks": "texts", "reasoning-chunks": "texts", "tool-call-chunks": "args"}
"""Rows that stand for a run of ``assistant/chunk`` events, and the field that has one item each."""


def run_length(value: dict[str, Any]) -> int:
    """How many events a record stands for: one, but for a packed row."""
    field = PACKED_TYPES.get(string(value.get("type")))
    return 1 if field is None else len(listing(mapping(value.get("data")).get(field)))


def is_surface(value: dict[str, Any]) -> bool:
    """Whether the record is a message. A type that no generation is known to have counts as one
    if it carries an operation: only messages may."""
    kind = string(value.get("type"))
    if not kind or kind in PACKED_TYPES:
        return False
    return kind in SURFACE_TYPES or "surfaceOp" in value


def message(value: dict[str, Any]) -> dict[str, Any]:
    """The message of a surface record: ``data.message``, or ``data`` itself (``user/message``, and
    all types in the oldest dialect)."""
    data = mapping(value.get("data"))
    return mapping(data["message"]) if isinstance(data.get("message"), dict) else data


def content(value: dict[str, Any]) -> tuple[ContentBlock, ...]:
    """The blocks of a surface record's message, in order."""
    raw = message(value).get("content")
    if isinstance(raw, str):
        return (text_block(kind="text", text=raw),) if raw else ()
    return tuple(_block(item) for item in listing(raw))


def usage(value: Any, *, lower_bound: bool = False) -> Usage | None:
    """DSH's ``TokenUsage``, whose buckets are disjoint already. ``None`` where nothing is known."""
    if not isinstance(value, dict):
        return None
    found = Usage(
        input=count(value.get("inputTokens")),
        cache_read=count(value.get("cacheReadTokens")),
        cache_write=count(value.get("cacheWriteTokens")),
        output=count(value.get("outputTokens")),
        reasoning=count(value.get("reasoningTokens")),
        lower_bound=lower_bound,
    )
    return None if found.total_input is None and found.output is None else found


def _block(item: Any) -> ContentBlock:
    if isinstance(item, str):
        return text_block(kind="text", text=item)
    block = mapping(item)
    match block.get("type"):
        case "text":
            found = text_block("text", string(block.get("text")))
        case "reasoning":
            found = text_block("thinking", string(block.get("text")))
        case "tool-call":
            found = text_block(
                kind="tool_call",
                id=string(block.get("id")),
                name=string(block.get("name")),
                input=parsed(block.get("arguments")),
            )
        case "tool-result":
            found = _result(block)
        case "image":
            found = text_block(kind="image", images=(_image(block),))
        case other:
            found = text_block(kind="opaque", name=string(other) or None)
    return found


def _result(block: dict[str, Any]) -> ContentBlock:
    raw = block.get("content")
    parts = [mapping(part) for part in listing(raw)]
    texts = [string(part.get("text")) for part in parts if part.get("type") == "text"]
    return text_block(
        kind="tool_result",
        id=string(block.get("toolCallId")),
        text=raw if isinstance(raw, str) else "".join(texts),
        is_error=bool(block.get("isError")),
        images=tuple(_image(part) for part in parts if part.get("type") == "image"),
    )


def _image(block: dict[str, Any]) -> Image:
    reference = mapping(block.get("attachment"))
    return Image(
        media_type=string(reference.get("mediaType")) or None,
        width=count(reference.get("width")),
        height=count(reference.get("height")),
        size=count(reference.get("byteLength")) or count(reference.get("size")) or 0,
    )
