"""What an agent sent, as the lines of :func:`tests.resuming.printed`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Line = tuple[object, ...]
"""(role, kind, id of the call, input as JSON, text, signature)."""


def plain(lines: Iterable[Line]) -> list[Line]:
    """Our own lines without what the wire does not tell apart: an answer that the agent made up
    is a result like any other, and images are compared by their number."""
    return [
        (role, "tool_result" if kind == "synthetic" else kind, *rest, len(images))
        for role, kind, *rest, images in lines
    ]


def of_responses(items: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Items of OpenAI's Responses API."""
    return [line for item in items for line in _of_item(item)]


def _of_item(item: Mapping[str, Any]) -> list[Line]:
    kind = item["type"]
    if kind == "message":
        return [_part(item["role"], part) for part in item["content"]]
    if kind == "reasoning":
        texts = [part["text"] for part in item.get("summary") or item.get("content") or ()]
        return [_line("assistant", "thinking", text="\n".join(texts), signature=_secret(item))]
    if kind == "function_call":
        given = _json(item["arguments"])
        return [_line("assistant", "tool_call", item["call_id"], given)]
    if kind == "custom_tool_call":
        return [_line("assistant", "tool_call", item["call_id"], item["input"])]
    if kind in ("function_call_output", "custom_tool_call_output"):
        output = item["output"]
        parts: Sequence[Mapping[str, Any]] = [] if isinstance(output, str) else output
        text = output if isinstance(output, str) else "".join(p.get("text", "") for p in parts)
        images = sum(part["type"] == "input_image" for part in parts)
        return [_line("user", "tool_result", item["call_id"], text=text, images=images)]
    return [_line("assistant", "opaque", text="", signature=_secret(item))]


def _part(role: str, part: Mapping[str, Any]) -> Line:
    if part["type"] == "input_image":
        return _line(role, "image", images=1)
    return _line(role, "text", text=part["text"])


def of_pi(messages: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Messages of pi's own form."""
    return [line for message in messages for line in _of_message(message)]


def _of_message(message: Mapping[str, Any]) -> list[Line]:
    role, content = message["role"], message["content"]
    if role == "system":
        texts = [content, *(text for text in message.get("sections", {}).values() if text)]
        return [_line("system", "text", text="\n\n".join(text for text in texts if text))]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if role == "toolResult":
        text = "".join(part.get("text", "") for part in parts)
        images = sum(part["type"] == "image" for part in parts)
        return [_line("user", "tool_result", message["toolCallId"], text=text, images=images)]
    return [_pi_part(role, part) for part in parts]


def _pi_part(role: str, part: Mapping[str, Any]) -> Line:
    kind = part["type"]
    if kind == "thinking":
        signature = part.get("thinkingSignature")
        return _line(role, "thinking", text=part["thinking"], signature=signature)
    if kind == "toolCall":
        return _line(role, "tool_call", part["id"], part["arguments"])
    if kind == "image":
        return _line(role, "image", images=1)
    return _line(role, "text", text=part["text"])


def _line(
    role: str,
    kind: str,
    call: str | None = None,
    given: Any = None,
    *,
    text: str = "",
    signature: str | None = None,
    images: int = 0,
) -> Line:
    printed = json.dumps(given, sort_keys=True, ensure_ascii=False)
    return (role, kind, call, printed, text, signature, images)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _secret(item: Mapping[str, Any]) -> str | None:
    return item.get("encrypted_content") or None
