"""A part of a message of Cline's → its content.

Source: cline/cline 3.89, ``messages/content.ts`` and ``ContextManager.setTextInBlock``; 4.1,
``MessageBuilder.transformBlock`` and ``ai-sdk-format.ts``.
"""

from __future__ import annotations

from typing import Any

from compress.events import ContentBlock, Image
from compress.images import image_from_base64
from storage.records import parse_text
from storage.sources.cline_sidecar import stringified
from storage.sources.draft import text_block, word
from storage.sources.values import listing, mapping, string

_ATTACHED = "[image attached]"
_RESULT_LIMIT = 8_000
_FILE_LIMIT = 50_000
"""Characters (UTF-16 units) of a tool's output and of an attached file that are sent; the middle
of what is longer is left out."""


def edited(part: Any, edit: Any) -> Any:
    """The part with another text, where Cline sends one; of a result, its first text."""
    fields = mapping(part)
    if not isinstance(edit, str):
        return part
    if fields.get("type") == "text":
        return {**fields, "text": edit}
    inner = listing(fields.get("content"))
    if (
        fields.get("type") == "tool_result"
        and mapping(inner[:1] and inner[0]).get("type") == "text"
    ):
        return {**fields, "content": [{**inner[0], "text": edit}, *inner[1:]]}
    return part


def part_block(part: Any, *, limited: bool) -> ContentBlock:
    """The content of one part. ``limited``: long outputs go without their middle, as a session
    sends them."""
    if isinstance(part, str):
        return text_block("text", part)
    fields = mapping(part)
    match fields.get("type"):
        case "text":
            found = text_block("text", string(fields.get("text")))
        case "thinking":
            signature = word(fields.get("signature"))
            found = text_block("thinking", string(fields.get("thinking")), signature=signature)
        case "redacted_thinking":
            found = text_block("thinking", name="redacted", signature=word(fields.get("data")))
        case "tool_use":
            name, given = word(fields.get("name")), fields.get("input")
            found = text_block("tool_call", id=word(fields.get("id")), name=name, input=given)
        case "tool_result":
            found = _result(fields, limited=limited)
        case "image":
            found = text_block("image", images=(_image(fields),))
        case "file":
            text = middle_cut(string(fields.get("content")), _FILE_LIMIT)
            found = text_block("context", _file(string(fields.get("path")), text))
        case other:
            found = text_block("opaque", name=word(other))
    return found


def _result(fields: dict[str, Any], *, limited: bool) -> ContentBlock:
    content = fields.get("content")
    images: list[Image] = []
    text = _output(content, images) if limited else _texts(content, images)
    return text_block(
        "tool_result",
        text,
        id=word(fields.get("tool_use_id")),
        name=word(fields.get("name")),
        is_error=fields.get("is_error") is True or (limited and _failed(content)) or None,
        images=tuple(images),
    )


def _texts(content: Any, images: list[Image]) -> str:
    """The texts of a result in Anthropic's form; its pictures are added to ``images``."""
    if isinstance(content, str):
        return content
    blocks = [mapping(entry) for entry in listing(content)]
    images.extend(_image(block) for block in blocks if block.get("type") == "image")
    return "".join(string(block.get("text")) for block in blocks if block.get("type") == "text")


def _output(content: Any, images: list[Image]) -> str:
    """A session's result as it is sent: texts and pictures as such, all else as JSON."""
    if isinstance(content, str):
        return middle_cut(content, _RESULT_LIMIT)
    cut = _cut_inside(content)
    if isinstance(cut, list) and cut and all(_is_plain(mapping(entry)) for entry in cut):
        return _texts(cut, images)
    stripped = _without_pictures(cut, images)
    return stringified(stripped if images else cut)


def _is_plain(block: dict[str, Any]) -> bool:
    if block.get("type") == "text":
        return isinstance(block.get("text"), str)
    return _is_picture(block)


def _is_picture(value: Any) -> bool:
    block = mapping(value)
    named = isinstance(block.get("data"), str) and isinstance(block.get("mediaType"), str)
    return block.get("type") == "image" and named


def _without_pictures(value: Any, images: list[Image]) -> Any:
    """The value without its pictures, which are added to ``images``; texts beside them are
    unwrapped."""
    if isinstance(value, list):
        found = []
        for item in value:
            block = mapping(item)
            if _is_picture(block):
                images.append(_image(block))
            elif block.get("type") == "text" and isinstance(block.get("text"), str):
                found.append(block["text"])
            else:
                found.append(_without_pictures(item, images))
        return found
    if _is_picture(value):
        images.append(_image(value))
        return _ATTACHED
    if isinstance(value, dict):
        return {key: _without_pictures(item, images) for key, item in value.items()}
    return value


def _failed(content: Any) -> bool:
    """Whether one of the things that a call was to do came to nothing, as its result says."""
    entries = listing(content)
    if isinstance(content, str) and content.startswith('{"query"'):
        entries = [parse_text(content)]
    return any(mapping(entry).get("success") is False for entry in entries)


def _file(path: str, text: str) -> str:
    return f'<file_content path="{path}">\n{text}\n</file_content>'


def _image(fields: dict[str, Any]) -> Image:
    """Of a task in Anthropic's form, of a session with its bytes at once."""
    source = mapping(fields.get("source"))
    data = string(source.get("data")) or string(fields.get("data"))
    kind = word(source.get("media_type")) or word(fields.get("mediaType"))
    return image_from_base64(data, kind)


def _cut_inside(value: Any) -> Any:
    if isinstance(value, str):
        return middle_cut(value, _RESULT_LIMIT)
    if isinstance(value, list):
        return [_cut_inside(item) for item in value]
    if isinstance(value, dict):
        if _is_picture(value):
            return value
        return {key: _cut_inside(item) for key, item in value.items()}
    return value


def middle_cut(text: str, limit: int) -> str:
    """A text of more than ``limit`` UTF-16 units without its middle, and how much that is."""
    data = text.encode("utf-16-le", "surrogatepass")
    size = len(data) // 2
    if size <= limit:
        return text
    removed = size - max(0, (limit - len(_mark(size - limit))) // 2) * 2
    mark = _mark(removed)
    keep = max(0, (limit - len(mark)) // 2) * 2
    head, tail = data[:keep], data[len(data) - keep :]
    return f"{head.decode('utf-16-le', 'replace')}{mark}{tail.decode('utf-16-le', 'replace')}"


def _mark(removed: int) -> str:
    return f"\n\n...[truncated {removed} chars]...\n\n"
