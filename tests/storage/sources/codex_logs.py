"""Small rollouts, made record by record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from compress.events import SessionEvent
from compress.messages import derive_messages
from compress.surface import Surface, fold
from storage.sources.codex import CodexAdapter
from tests.derivation import content, read, records
from tests.storage.sources.paths import NOWHERE

Raw = dict[str, Any]
ADAPTER = CodexAdapter()


def row(kind: str, payload: Any, time: str = "2026-01-01T00:00:00.000Z") -> Raw:
    return {"timestamp": time, "type": kind, "payload": payload}


def meta(**more: Any) -> Raw:
    base = {"id": "019f0000-0000-7000-8000-000000000001", "cwd": "/p", "cli_version": "0.171.0"}
    return row("session_meta", {**base, **more})


def item(kind: str, **fields: Any) -> Raw:
    return row("response_item", {"type": kind, **fields})


def said(role: str, *texts: str) -> Raw:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def call(call_id: Any, name: str = "shell", arguments: str = '{"command":["ls"]}') -> Raw:
    return item("function_call", name=name, arguments=arguments, call_id=call_id)


def output(call_id: Any, text: Any = "ok") -> Raw:
    return item("function_call_output", call_id=call_id, output=text)


def note(kind: str, **fields: Any) -> Raw:
    return row("event_msg", {"type": kind, **fields})


def turn(name: str, words: str, answer: str, *between: Raw) -> list[Raw]:
    """A complete turn."""
    return [
        note("task_started", turn_id=name, model_context_window=200_000),
        said("user", words),
        note("user_message", message=words),
        *between,
        said("assistant", answer),
        note("task_complete", turn_id=name, last_agent_message=answer),
    ]


def compacted(*texts: str) -> Raw:
    """A compaction that states the new history: user messages with these texts."""
    history = [said("user", text)["payload"] for text in texts]
    return row("compacted", {"message": "", "replacement_history": history})


def summarised(text: str) -> Raw:
    """A compaction of the older kind."""
    return row("compacted", {"message": text})


def rolled_back(turns: int) -> Raw:
    return note("thread_rolled_back", num_turns=turns)


def usage(total: Any, last: Any, window: int | None = 272_000) -> Raw:
    info = {
        "total_token_usage": total,
        "last_token_usage": last,
        "model_context_window": window,
    }
    return note("token_count", info=info)


def figures(fresh: int, cached: int, answer: int, reasoned: int) -> dict[str, int]:
    return {
        "input_tokens": fresh,
        "cached_input_tokens": cached,
        "output_tokens": answer,
        "reasoning_output_tokens": reasoned,
        "total_tokens": fresh + answer,
    }


def data(rows: Sequence[Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in rows)


def events(rows: Sequence[Any]) -> list[SessionEvent]:
    return read(ADAPTER, NOWHERE, records(data(rows)))[1].get("", [])


def surface(log: Sequence[SessionEvent]) -> Surface:
    return fold(log)


def texts(rows: Sequence[Any]) -> list[str]:
    """The text of each block that would be sent."""
    log = events(rows)
    messages = derive_messages(content(fold(log), log), "codex")
    return [block.text for message in messages for block in message.blocks]
