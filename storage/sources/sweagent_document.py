"""One document of SWE-agent's or mini-SWE-agent's → runs → messages → events, from it alone.

Source: SWE-agent 1.1 (``DefaultAgent.get_trajectory_data``, ``RetryAgent``,
``AbstractModel._history_to_messages``) and mini-swe-agent 2.4 (``DefaultAgent.serialize``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from compress.events import ContentBlock, EventType, Role
from storage.records import parse_text
from storage.sources import chat_content as chat
from storage.sources.draft import word
from storage.sources.values import listing, mapping, string

STRIDE = 1 << 12
"""Block indices of one message: what is added to a document moves none."""
STEPS = 1 << 40
"""Block index of the first message of the first step's request."""
EXTRAS = 1 << 42
"""Block index of the first log-only event of a run."""
RUN = 1 << 44
"""Block indices of one run."""
EXIT = "exit"
"""mini-SWE-agent's role of the message that ends a run; it is not sent."""
_ROLES = ("system", "user", "assistant", "tool", "developer", "function", EXIT)


class Said(NamedTuple):
    """One event of a message."""

    type: EventType
    role: Role
    blocks: tuple[ContentBlock, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One conversation of a document."""

    key: str
    """Of its session; empty where the document holds but one."""
    base: int
    """Its first block index."""
    messages: Sequence[Any]
    steps: Sequence[Any]
    info: Mapping[str, Any]
    config: Mapping[str, Any]
    """What the run was asked to do and with which model."""
    is_mini: bool
    """Of mini-SWE-agent; so is a bare list."""


def runs_of(value: Any) -> list[Run]:
    """The runs of a document: one, or one for each attempt; none where it is no document of
    these agents."""
    if isinstance(value, list):
        return [Run("", 0, value, (), {}, {}, True)] if any(map(is_message, value)) else []
    record = mapping(value)
    attempts = record.get("attempts")
    if isinstance(attempts, list) and (not attempts or any(_is_run(each) for each in attempts)):
        # The chosen attempt is in the document twice: among all, and as the whole.
        return [
            _run(mapping(attempt), f"attempt-{index}", index * RUN)
            for index, attempt in enumerate(attempts, 1)
        ]
    return [_run(record, "", 0)] if _is_run(record) else []


def is_message(value: Any) -> bool:
    """Whether this is a message of a history."""
    if not isinstance(value, dict):
        return False
    role = value.get("role")
    if isinstance(role, str) and role in _ROLES:
        return "content" in value or "tool_calls" in value
    return value.get("object") == "response" or value.get("type") == "function_call_output"


def said(message: Any) -> list[Said]:
    """The events of a message, in order; none where it is no message."""
    if not is_message(message):
        return []
    plain = _plain(message)
    if plain["role"] == EXIT:
        return [Said("turn/end", "user", ())]
    thoughts = chat.thinking_blocks(plain) if plain["role"] == "assistant" else []
    if thoughts:
        # The provider's own blocks say the same, with its signature.
        plain = {**plain, "reasoning_content": None}
    found = [Said(slot.type, slot.role, slot.blocks()) for slot in chat.slots(plain)]
    if thoughts and not found[0].blocks:
        found = []
    return [Said("assistant/message", "assistant", (thought,)) for thought in thoughts] + found


def blocks_at(value: Any, block: int) -> tuple[ContentBlock, ...]:
    """The content of the event with this block index."""
    run = next((run for run in runs_of(value) if run.base <= block < run.base + RUN), None)
    if run is None:
        return ()
    place = block - run.base
    if place >= EXTRAS:
        return ()
    if place >= STEPS:
        step, rest = divmod(place - STEPS, STRIDE << 16)
        index, part = divmod(rest, STRIDE)
        found = request_of(run.steps[step]) if step < len(run.steps) else ()
    else:
        index, part = divmod(place, STRIDE)
        found = run.messages
    events = said(found[index]) if index < len(found) else []
    return events[part].blocks if part < len(events) else ()


def request_block(run: Run, step: int, index: int) -> int:
    """Block index of the first event of a message of a step's request."""
    return run.base + STEPS + (step * (STRIDE << 16)) + index * STRIDE


def request_of(step: Any) -> Sequence[Any]:
    """The list that a step tells of: what it asked the model with (``query``), or, of 1.0, what
    stood behind it (``messages``)."""
    fields = mapping(step)
    return listing(fields.get("query")) or listing(fields.get("messages"))


def essence(message: Any) -> Any:
    """What names a message: not the marks that later steps set on it."""
    if not isinstance(message, dict):
        return message
    named = ("role", "tool_calls", "tool_call_ids", "tool_call_id", "object", "output", "type")
    return {
        **{name: message[name] for name in named if message.get(name) is not None},
        "content": _unmarked(message.get("content")),
    }


def look(message: Any) -> Any:
    """What the model sees of a message; equal where nothing of it was changed."""
    return [
        (event.type, [(b.kind, b.text, b.id, b.name, len(b.images)) for b in event.blocks])
        for event in said(message)
    ]


def model_of(run: Run) -> str | None:
    """The model's name, where the document tells."""
    agent = mapping(run.config.get("agent"))
    for holder in (mapping(agent.get("model")), mapping(run.config.get("model"))):
        if name := word(holder.get("name")) or word(holder.get("model_name")):
            return name
    return None


def folder_of(run: Run) -> str | None:
    """The folder in which the first step worked."""
    for step in run.steps:
        state = mapping(step).get("state")
        if isinstance(state, str):
            state = parse_text(state)
        if folder := word(mapping(state).get("working_dir")):
            return folder
    return word(mapping(run.config.get("environment")).get("cwd"))


def _is_run(value: Any) -> bool:
    record = mapping(value)
    history, messages = record.get("history"), record.get("messages")
    if isinstance(history, list):
        if not history:
            return isinstance(record.get("trajectory"), list)
        own = ("agent", "message_type", "thought")
        return any(is_message(m) and any(name in m for name in own) for m in history)
    is_mini = isinstance(record.get("trajectory_format"), str) or (
        "mini_version" in mapping(record.get("info"))
    )
    return is_mini and isinstance(messages, list)


def _run(record: Mapping[str, Any], key: str, base: int) -> Run:
    is_mini = not isinstance(record.get("history"), list)
    info = mapping(record.get("info"))
    config = record.get("replay_config")
    if isinstance(config, str):
        config = parse_text(config)
    return Run(
        key,
        base,
        listing(record.get("messages" if is_mini else "history")),
        listing(record.get("trajectory")),
        info,
        mapping(info.get("config")) if is_mini else mapping(config),
        is_mini,
    )


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """A message in the shape of chat completions; those of the Responses API are translated."""
    if message.get("type") == "function_call_output":
        call, said = message.get("call_id"), message.get("output")
        return {"role": "tool", "tool_call_id": call, "content": said}
    if message.get("object") != "response":
        return message
    items = [mapping(item) for item in listing(message.get("output"))]
    texts = [part for item in items for part in listing(item.get("content"))]
    return {
        "role": "assistant",
        "content": [part for part in texts if mapping(part).get("type") != "reasoning_text"],
        "thinking_blocks": [
            {"type": "thinking", "thinking": _summary(item), "signature": item.get("id")}
            for item in items
            if item.get("type") == "reasoning"
        ],
        "tool_calls": [
            {"id": item.get("call_id"), "function": item}
            for item in items
            if item.get("type") == "function_call"
        ],
    }


def _summary(item: Mapping[str, Any]) -> str:
    return "\n".join(string(mapping(part).get("text")) for part in listing(item.get("summary")))


def _unmarked(content: Any) -> Any:
    """A content without marks for the prompt cache, which also make a list of a text."""
    if not isinstance(content, list):
        return content
    parts = [
        {name: value for name, value in part.items() if name != "cache_control"}
        if isinstance(part, dict)
        else part
        for part in content
    ]
    if len(parts) == 1 and mapping(parts[0]).get("type") == "text":
        return parts[0].get("text")
    return parts
