"""One item of a message's content in Claude Code's log → a content block."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from compress.events import ContentBlock, Image
from compress.images import image_from_base64
from storage.sources.draft import text_block
from storage.sources.values import mapping, string


def content_block(item: Any) -> ContentBlock:
    """The block of one item of a message's content; what is not understood is opaque and holds
    the item as JSON. Never raises."""
    if isinstance(item, str):
        return text_block("text", item)
    if not isinstance(item, dict):
        return text_block("opaque", brief(item))
    kind = item.get("type")
    read = _READERS.get(kind) if isinstance(kind, str) else None
    if read is not None:
        return read(item)
    if isinstance(kind, str) and kind.endswith("_tool_result"):
        return _result(item)
    return text_block("opaque", name=_id(kind), text=brief(item))


def _text(item: dict[str, Any]) -> ContentBlock:
    return text_block("text", string(item.get("text")))


def _thinking(item: dict[str, Any]) -> ContentBlock:
    text, signature = string(item.get("thinking")), _id(item.get("signature"))
    return text_block("thinking", text, signature=signature)


def _redacted(item: dict[str, Any]) -> ContentBlock:
    return text_block("thinking", signature=string(item.get("data")))


def _picture(item: dict[str, Any]) -> ContentBlock:
    return text_block("image", images=(_image(item),))


def _call(item: dict[str, Any]) -> ContentBlock:
    name, identity = _id(item.get("name")), _id(item.get("id"))
    return text_block("tool_call", id=identity, name=name, input=item.get("input"))


def _result(item: dict[str, Any]) -> ContentBlock:
    content = item.get("content")
    images: tuple[Image, ...] = ()
    if isinstance(content, list):
        text = "".join(_result_text(part) for part in content)
        images = tuple(
            _image(part)
            for part in content
            if isinstance(part, dict) and part.get("type") == "image"
        )
    else:
        text = content if isinstance(content, str) else "" if content is None else brief(content)
    error = item.get("is_error")
    return text_block(
        "tool_result",
        text,
        id=_id(item.get("tool_use_id")),
        is_error=error if isinstance(error, bool) else None,
        images=images,
    )


def _result_text(part: Any) -> str:
    if isinstance(part, dict):
        return string(part.get("text"))
    return part if isinstance(part, str) else ""


def _image(item: dict[str, Any]) -> Image:
    source = mapping(item.get("source"))
    media = source.get("media_type")
    return image_from_base64(string(source.get("data")), media if isinstance(media, str) else None)


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def brief(value: Any) -> str:
    """Any JSON value as one compact line. Never raises."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return "[nested too deeply to show]"


_READERS: Mapping[str, Callable[[dict[str, Any]], ContentBlock]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "image": _picture,
    "tool_use": _call,
    "server_tool_use": _call,
    "mcp_tool_use": _call,
    "tool_result": _result,
}
"""How each type of content block is read; results of the provider's own tools end alike."""
