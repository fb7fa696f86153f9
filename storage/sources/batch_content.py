"""A line of OpenAI's batch and fine-tuning files → what was asked and answered, from it alone.

Layouts (OpenAI API reference, *Batch*, *Fine-tuning*, *Responses*): a request ``{custom_id, url,
body}``, a result ``{id, custom_id, response: {status_code, body}, error}``, each of the endpoints
``/v1/chat/completions``, ``/v1/responses`` and ``/v1/completions``; a preference ``{input:
{messages}, preferred_output, non_preferred_output}``. Lines of messages alone are plain chat.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from compress.events import Usage
from storage.sources import chat_content as chat
from storage.sources.values import count, listing, mapping, string

_NO_CONVERSATION = ("/v1/embeddings", "/v1/moderations", "/v1/images")
_FAILED = 400


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a line says. All messages in the form of the chat endpoint."""

    name: str
    """``custom_id``: the same of a request and of its result."""
    request: list[Any] = field(default_factory=list)
    answers: list[list[Any]] = field(default_factory=list)
    """The answer, then others that were made beside it or were not preferred."""
    model: str = ""
    usage: Usage | None = None
    error: str = ""
    id: str = ""
    """The line's own."""

    @property
    def answers_another(self) -> bool:
        """Whether this is the result of a request that stands in a line of its own."""
        return bool(self.name) and bool(self.answers or self.error)

    def groups(self) -> Iterator[tuple[list[chat.Slot], bool]]:
        """The events of each message, and whether it stands; the answer's messages are one."""
        for message in self.request:
            yield chat.slots(message), True
        for index, answer in enumerate(self.answers):
            yield [slot for message in answer for slot in chat.slots(message)], index == 0

    def strangers(self) -> list[str]:
        """The roles of messages that no event tells of."""
        messages = [*self.request, *(message for answer in self.answers for message in answer)]
        return [chat.name_of(message) for message in messages if not chat.slots(message)]

    def slots(self) -> list[chat.Slot]:
        """All events with content, in order."""
        return [slot for slots, _ in self.groups() for slot in slots]


def exchange(value: Any) -> Exchange | None:
    """What the line says; ``None`` where it is none of these."""
    record = mapping(value)
    name = record.get("custom_id")
    if isinstance(name, str):
        if isinstance(record.get("body"), dict):
            return _request(name, record)
        if isinstance(record.get("response"), dict) or isinstance(record.get("error"), dict):
            return _result(name, record)
        return None
    return _preference(record)


def _request(name: str, record: dict[str, Any]) -> Exchange | None:
    body = mapping(record.get("body"))
    messages = body.get("messages")
    if isinstance(messages, list):
        asked = [*messages]
    elif string(record.get("url")).startswith(_NO_CONVERSATION):
        return None
    elif isinstance(body.get("input"), str | list):
        asked = [*_instructions(body), *_items(body.get("input"))]
    elif isinstance(body.get("prompt"), str):
        asked = [{"role": "user", "content": body["prompt"]}]
    else:
        return None
    return Exchange(name, asked, model=string(body.get("model")))


def _result(name: str, record: dict[str, Any]) -> Exchange | None:
    response = mapping(record.get("response"))
    body = mapping(response.get("body"))
    failed = mapping(record.get("error")) or mapping(body.get("error"))
    words = string(failed.get("message")) or string(failed.get("code"))
    status = count(response.get("status_code"))
    if not words and status is not None and status >= _FAILED:
        words = f"status {status}"
    answers = list(_answers(body))
    if not answers and not words:
        return None
    return Exchange(
        name,
        answers=answers,
        model=string(body.get("model")),
        usage=chat.usage(body.get("usage")),
        error=words,
        id=string(record.get("id")),
    )


def _answers(body: dict[str, Any]) -> Iterator[list[Any]]:
    output = body.get("output")
    if isinstance(output, list):
        yield [*_items(output)]
    for choice in map(mapping, listing(body.get("choices"))):
        if isinstance(choice.get("message"), dict):
            yield [choice["message"]]
        elif isinstance(choice.get("text"), str):
            yield [{"role": "assistant", "content": choice["text"]}]


def _preference(record: dict[str, Any]) -> Exchange | None:
    messages = mapping(record.get("input")).get("messages")
    preferred = record.get("preferred_output")
    if not isinstance(messages, list) or not isinstance(preferred, list):
        return None
    others = record.get("non_preferred_output")
    answers = [preferred, *([others] if isinstance(others, list) else [])]
    return Exchange("", [*messages], answers)


def _instructions(body: dict[str, Any]) -> list[Any]:
    words = string(body.get("instructions"))
    return [{"role": "system", "content": words}] if words else []


def _items(given: Any) -> Iterable[dict[str, Any]]:
    """The items of the responses endpoint as messages of the chat endpoint."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return map(_item, map(mapping, listing(given)))


def _item(item: dict[str, Any]) -> dict[str, Any]:
    call = string(item.get("call_id")) or string(item.get("id"))
    match item.get("type"):
        case "function_call" | "custom_tool_call" as kind:
            field_ = "arguments" if kind == "function_call" else "input"
            made = {"name": item.get("name"), "arguments": item.get(field_)}
            return {"role": "assistant", "tool_calls": [{"id": call, "function": made}]}
        case "function_call_output" | "custom_tool_call_output":
            return {"role": "tool", "tool_call_id": call, "content": item.get("output")}
        case "reasoning":
            parts = [*listing(item.get("summary")), *listing(item.get("content"))]
            text = "\n".join(string(mapping(part).get("text")) for part in parts)
            return {"role": "assistant", "content": [{"type": "thinking", "text": text}]}
        case "message" | None:
            return item
        case kind:
            return {"role": "assistant", "content": [{"type": kind}]}
