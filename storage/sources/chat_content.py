"""OpenAI-style chat: records → conversations → messages → blocks, from the record alone.

Layouts met in the wild: one message a line; one conversation a line (``{messages}``); request
logs (``{body: {model, messages}}`` or the bare body); whole documents that are a list of messages
or of conversations; trajectories (``{history}``, SWE-agent).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compress.events import ContentBlock, EventType, Role, Usage
from compress.images import image_from_url
from storage.sources.draft import text_block, type_name, usage_of_prompt, word
from storage.sources.values import count, listing, mapping, parsed, string

_LISTS = ("messages", "history")
_CONTENT_KEYS = ("content", "tool_calls", "function_call")


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one record that belong together."""

    messages: list[Any]
    request: dict[str, Any]
    """What the record says beside them: model, window, usage …; empty for a bare list."""
    name: str = ""
    own: bool = True
    """A conversation of its own; else a part of the one that the lines of the file make up."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One event of a message, its content not decoded yet."""

    type: EventType
    role: Role
    parts: tuple[Any, ...]
    """Each part is decoded by :func:`block`."""

    def blocks(self) -> tuple[ContentBlock, ...]:
        """Its content."""
        return tuple(map(block, self.parts))


_ROLES: Mapping[str, tuple[EventType, Role]] = {
    "user": ("user/message", "user"),
    "assistant": ("assistant/message", "assistant"),
    "system": ("context/message", "system"),
    "developer": ("context/message", "developer"),
    "tool": ("tool/result", "user"),
    "function": ("tool/result", "user"),
}


def conversations(value: Any) -> Iterator[Conversation]:
    """The conversations of one record, in order; none where it holds no message list."""
    if isinstance(value, list):
        if any(is_message(item) for item in value):
            yield Conversation(value, {})
        else:
            # One level only: a list of lists is no layout that anyone writes.
            for item in (item for item in value if isinstance(item, dict)):
                yield from (found for found in conversations(item) if found.own)
        return
    record = mapping(value)
    body = mapping(record.get("body"))
    for holder in (record, body):
        for name in _LISTS:
            found = holder.get(name)
            if isinstance(found, list) and (not found or any(map(is_message, found))):
                identity = string(record.get("custom_id")) or string(record.get("id"))
                yield Conversation(found, {**body, **record}, identity)
                return
    if is_message(record):
        yield Conversation([record], record, own=False)


def is_message(value: Any) -> bool:
    """Whether this is a message: an object with a role that the format has, and with content."""
    return (
        isinstance(value, dict)
        and isinstance(role := value.get("role"), str)
        and role in _ROLES
        and any(key in value for key in _CONTENT_KEYS)
    )


def name_of(message: Any) -> str:
    """What to call a message that is not understood."""
    return string(mapping(message).get("role")) or type_name(message)


def slots(message: Any) -> list[Slot]:
    """The events of one message: one for each part of a user's or the model's message and for
    each call; a result, with all its parts, is one."""
    kind = mapping(message).get("role")
    if not isinstance(kind, str) or kind not in _ROLES:
        return []
    type_, role = _ROLES[kind]
    if type_ == "tool/result":
        return [Slot(type_, role, ({"type": _RESULT, "message": message},))]
    parts = [*_thinking(message), *_parts(message.get("content")), *_calls(message)]
    return [_slot(type_, role, part) for part in parts] or [Slot(type_, role, ())]


def block(part: Any) -> ContentBlock:
    """The content of one part."""
    if isinstance(part, str):
        return text_block(kind="text", text=part)
    fields = mapping(part)
    match fields.get("type"):
        case "text" | "input_text" | "output_text":
            found = text_block(kind="text", text=string(fields.get("text")))
        case "refusal":
            found = text_block(kind="text", text=string(fields.get("refusal")))
        case "thinking" | "reasoning":
            text = string(fields.get("thinking")) or string(fields.get("text"))
            found = text_block(kind="thinking", text=text)
        case "image_url" | "input_image":
            url = fields.get("image_url")
            url = string(url) or string(mapping(url).get("url"))
            found = text_block(kind="image", images=(image_from_url(url),))
        case kind if kind is _CALL or kind == "tool_use":
            found = _call(fields)
        case kind if kind is _RESULT:
            found = _result(mapping(fields.get("message")))
        case "tool_result":
            found = _result({**fields, "tool_call_id": fields.get("tool_use_id")})
        case other:
            found = text_block(kind="opaque", name=string(other) or None)
    return found


def thinking_blocks(message: Mapping[str, Any]) -> list[ContentBlock]:
    """Anthropic's signed thinking, as LiteLLM keeps it beside the content of a message."""
    return [
        text_block(
            "thinking",
            string(thought.get("thinking")),
            signature=word(thought.get("signature")) or word(thought.get("data")),
        )
        for thought in map(mapping, listing(message.get("thinking_blocks")))
    ]


def usage(value: Any) -> Usage | None:
    """The figures of a response, by the names of chat completions, of the Responses API or of
    Anthropic. Those of the prompt count cached and cache-writing tokens, too, Anthropic's not."""
    fields = mapping(value)
    prompt = count(fields.get("prompt_tokens", fields.get("input_tokens")))
    output = count(fields.get("completion_tokens", fields.get("output_tokens")))
    details = _details(fields, "prompt_tokens_details", "input_tokens_details")
    read = count(details.get("cached_tokens"))
    if read is None:
        read = count(fields.get("cache_read_input_tokens", fields.get("prompt_cache_hit_tokens")))
    write = count(fields.get("cache_creation_input_tokens"))
    if prompt is not None and not details and "prompt_tokens" not in fields:
        prompt += (read or 0) + (write or 0)
    produced = _details(fields, "completion_tokens_details", "output_tokens_details")
    reasoning = count(produced.get("reasoning_tokens"))
    return usage_of_prompt(prompt, output, read=read, written=write, reasoning=reasoning)


def _details(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The first of these that is there."""
    return next(filter(None, (mapping(fields.get(name)) for name in names)), {})


def arguments(value: Any) -> Any:
    """The input of a call. Its JSON text is parsed, once more where it was encoded twice; text
    that is no JSON stays as it is."""
    given = parsed(value)
    twice = parsed(given)
    return twice if isinstance(twice, dict | list) else given


def _slot(type_: EventType, role: Role, part: Any) -> Slot:
    # Anthropic's form of a result is a part of a user's message.
    answers = type_ == "user/message" and mapping(part).get("type") == "tool_result"
    return Slot("tool/result" if answers else type_, role, (part,))


class _Tag(str):
    """A part that no log can hold: told apart by identity, not by its text."""

    __slots__ = ()


_CALL, _RESULT = _Tag("tool_call"), _Tag("tool_result")


def _parts(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [content] if content else []
    if isinstance(content, dict):
        return [content]
    return [part for part in listing(content) if part is not None]


def _thinking(message: dict[str, Any]) -> list[Any]:
    text = string(message.get("reasoning_content"))
    return [{"type": "thinking", "text": text}] if text else []


def _calls(message: dict[str, Any]) -> list[Any]:
    calls = [mapping(call) for call in listing(message.get("tool_calls"))]
    found = [
        {**mapping(call.get("function") or call.get("custom")), "type": _CALL, "id": call.get("id")}
        for call in calls
    ]
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        # The legacy form has no ids: call and result share the function's name.
        found.append({**legacy, "type": _CALL, "id": legacy.get("name")})
    return found


def _call(fields: dict[str, Any]) -> ContentBlock:
    return text_block(
        kind="tool_call",
        id=string(fields.get("id")),
        name=string(fields.get("name")),
        input=arguments(fields.get("arguments", fields.get("input"))),
    )


def _result(message: dict[str, Any]) -> ContentBlock:
    # SWE-agent names a list of the calls that one observation answers.
    ids = [message.get("tool_call_id"), *listing(message.get("tool_call_ids"))]
    name = string(message.get("name"))
    if message.get("role") == "function":
        ids.append(name)
    blocks = [block(part) for part in _parts(message.get("content"))]
    return text_block(
        kind="tool_result",
        id=next((string(found) for found in ids if string(found)), ""),
        name=name or None,
        text="".join(found.text for found in blocks if found.kind == "text"),
        is_error=message.get("is_error") is True or None,
        images=tuple(image for found in blocks for image in found.images),
    )
