"""Small pi sessions, made entry by entry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from compress.events import SessionEvent
from compress.messages import Message, derive_messages
from compress.surface import fold
from storage.sources.pi import PiAdapter
from tests.derivation import content, read, records
from tests.storage.sources.paths import NOWHERE

Raw = dict[str, Any]
ADAPTER = PiAdapter()
TIME = "2026-01-01T00:00:00.000Z"
HEADER: Raw = {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/p"}


def entry(kind: str, own: str, parent: str | None, **fields: Any) -> Raw:
    return {"type": kind, "id": own, "parentId": parent, "timestamp": TIME, **fields}


def message(own: str, parent: str | None, role: str, said: Any, **fields: Any) -> Raw:
    return entry("message", own, parent, message={"role": role, "content": said, **fields})


def answer(own: str, parent: str | None, *parts: Any, stop: str = "stop", **fields: Any) -> Raw:
    base = {"api": "a", "provider": "p", "model": "m", "stopReason": stop}
    blocks = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return message(own, parent, "assistant", blocks, **{**base, **fields})


def call(call_id: str) -> Raw:
    return {"type": "toolCall", "id": call_id, "name": "bash", "arguments": {"command": "ls"}}


def result(own: str, parent: str | None, call_id: str, text: str = "out") -> Raw:
    parts = [{"type": "text", "text": text}]
    return message(own, parent, "toolResult", parts, toolCallId=call_id, toolName="bash")


def compaction(own: str, parent: str | None, summary: str, first: str, **fields: Any) -> Raw:
    return entry(
        "compaction",
        own,
        parent,
        summary=summary,
        firstKeptEntryId=first,
        tokensBefore=9,
        **fields,
    )


def edit(own: str, parent: str | None, target: str, said: Any) -> Raw:
    replacement = None if said is None else {"content": said}
    return entry("context_edit", own, parent, targetId=target, replacement=replacement)


def data(rows: Sequence[Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in rows)


def events(rows: Sequence[Any]) -> list[SessionEvent]:
    return read(ADAPTER, NOWHERE, records(data(rows)))[1].get("", [])


def messages(rows: Sequence[Any]) -> list[Message]:
    log = events(rows)
    return derive_messages(content(fold(log), log), "pi")


def texts(rows: Sequence[Any]) -> list[str]:
    """Of each block that would be sent: its text, a call's id, a made-up result's id and text."""
    found = []
    for block in (block for message in messages(rows) for block in message.blocks):
        shown = {
            "tool_call": f"call {block.id}",
            "tool_result": f"{block.id}: {block.text}",
            "synthetic": f"{block.id}? {block.text}",
        }
        found.append(shown.get(block.kind, block.text))
    return found
