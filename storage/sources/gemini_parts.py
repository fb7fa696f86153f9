"""A part of Gemini's content → a block; the texts by which Gemini CLI judges a message.

Source: google-gemini/gemini-cli 0.61, ``sessionUtils.ts`` and ``partUtils.ts``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from compress.events import ContentBlock, Image
from compress.images import image_from_base64
from storage.sources.draft import digest_of, text_block, word
from storage.sources.values import listing, mapping, string

Part = Mapping[str, Any]
_SHOWN_AS_LABEL = (
    "videoMetadata",
    "thought",
    "codeExecutionResult",
    "executableCode",
    "fileData",
    "functionCall",
    "functionResponse",
    "inlineData",
)
"""Fields that make the CLI name a part in brackets instead of taking its text."""


def parts_of(content: Any) -> list[Part]:
    """The parts of a content: a text, one part, or a list of both. What is no part is an empty
    one."""
    if content is None or content == "":
        return []
    items = content if isinstance(content, list) else [content]
    return [{"text": item} if isinstance(item, str) else mapping(item) for item in items]


def plain(content: Any) -> str:
    """The text by which the CLI decides whether a user's message is sent again."""
    return "".join(
        "[part]" if any(name in part for name in _SHOWN_AS_LABEL) else string(part.get("text"))
        for part in parts_of(content)
    )


def block_of(part: Part, *, failed: bool = False) -> ContentBlock:
    """The block of one part. ``failed``: the call that this result answers ended in an error."""
    if part.get("thought"):
        return text_block("thinking", string(part.get("text")), signature=_signature(part))
    if isinstance(part.get("functionCall"), dict):
        call = part["functionCall"]
        return text_block(
            "tool_call",
            id=word(call.get("id")),
            name=word(call.get("name")),
            input=call.get("args"),
            signature=_signature(part),
        )
    if is_result(part):
        return _result(part["functionResponse"], failed=failed)
    if isinstance(part.get("text"), str):
        return text_block("text", part["text"], signature=_signature(part))
    if (found := _image(part)) is not None:
        return text_block("image", images=(found,))
    return text_block("opaque", name=next(iter(part), None))


def is_result(part: Part) -> bool:
    """Whether the part is the result of a call."""
    return isinstance(part.get("functionResponse"), dict)


def key_of(part: Part) -> bytes:
    """What tells the part from others, whatever else a later copy of it says."""
    if is_result(part):
        result = part["functionResponse"]
        told: Any = ["result", *map(result.get, ("id", "name", "response", "parts"))]
    elif isinstance(part.get("functionCall"), dict):
        call = part["functionCall"]
        told = ["call", *map(call.get, ("id", "name", "args"))]
    elif isinstance(part.get("text"), str):
        told = ["thought" if part.get("thought") else "text", part["text"]]
    else:
        told = part
    return digest_of(told)


def _signature(part: Part) -> str | None:
    return word(part.get("thoughtSignature"))


def _image(part: Part) -> Image | None:
    data = mapping(part.get("inlineData"))
    kind = string(data.get("mimeType"))
    if not kind.startswith("image/"):
        return None
    return image_from_base64(string(data.get("data")), kind)


def _result(result: Mapping[str, Any], *, failed: bool) -> ContentBlock:
    """The text of a response is its ``output`` or ``error`` where it has nothing else, else its
    JSON."""
    response = result.get("response")
    fields = mapping(response)
    text, error = fields.get("output"), fields.get("error")
    if len(fields) != 1 or not isinstance(text, str):
        text = error if len(fields) == 1 and isinstance(error, str) else _compact(response)
    images = (_image(mapping(part)) for part in listing(result.get("parts")))
    return text_block(
        "tool_result",
        text,
        id=word(result.get("id")),
        name=word(result.get("name")),
        is_error=True if failed or error else None,
        images=tuple(image for image in images if image is not None),
    )


def _compact(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
