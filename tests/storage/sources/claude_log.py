"""Hand-made Claude Code records: a log that grows line by line, each below the one before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from compress.events import SessionEvent
from compress.messages import derive_messages
from compress.surface import View, fold
from storage.records import parse_record
from storage.sources.base import SessionFacts
from storage.sources.claude import ClaudeAdapter
from tests.derivation import content

USAGE = {"input_tokens": 3, "cache_read_input_tokens": 100, "output_tokens": 7}


class Log:
    """``log.user("hi", "u1")`` and the like; the last argument is the record's id."""

    def __init__(self, name: str = "session") -> None:
        self.rows: list[Any] = []
        self.tip: str | None = None
        self.reader = ClaudeAdapter().open(Path(f"{name}.jsonl"))
        self.sessions: dict[str, list[SessionEvent]] = {"": []}

    @property
    def events(self) -> list[SessionEvent]:
        return self.sessions[""]

    @property
    def facts(self) -> SessionFacts:
        return self.reader.sessions[""]

    def raw(self, row: Any) -> list[SessionEvent]:
        """Append a record as it is; the events that it gave to the main session."""
        self.rows.append(row)
        record = parse_record(len(self.rows), 0, json.dumps(row).encode())
        assert record is not None
        made: list[SessionEvent] = []
        for derived in self.reader.feed(record):
            self.sessions.setdefault(derived.session, []).extend(derived.events)
            made.extend(derived.events if derived.session == "" else ())
        return made

    def add(self, kind: str, uuid: str, parent: str | None = "", **more: Any) -> list[SessionEvent]:
        """A record of the graph; its parent is the record before unless told otherwise."""
        row = {"type": kind, "uuid": uuid, "parentUuid": self.tip if parent == "" else parent}
        row |= {"isSidechain": False, "sessionId": "s", "version": "2.1.9", "cwd": "/p"}
        if not more.get("isSidechain"):
            self.tip = uuid
        return self.raw(row | more)

    def user(
        self, said: Any, uuid: str, parent: str | None = "", **more: Any
    ) -> list[SessionEvent]:
        message = {"role": "user", "content": said}
        return self.add("user", uuid, parent, message=message, **more)

    def result(self, call: str, text: str, uuid: str, parent: str | None = "", **more: Any) -> Any:
        error = more.pop("is_error", False)
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}
        return self.user([block], uuid, parent, **more)

    def assistant(
        self, block: Any, uuid: str, parent: str | None = "", message: str = "", **more: Any
    ) -> list[SessionEvent]:
        made = {
            "id": message or f"msg-{uuid}",
            "model": more.pop("model", "m-1"),
            "content": [{"type": "text", "text": block} if isinstance(block, str) else block],
            "stop_reason": more.pop("stop_reason", "tool_use"),
            "usage": more.pop("usage", USAGE),
        }
        return self.add("assistant", uuid, parent, message=made, **more)

    def call(
        self, name: str, uuid: str, parent: str | None = "", **more: Any
    ) -> list[SessionEvent]:
        block = {"type": "tool_use", "id": f"call-{uuid}", "name": name}
        return self.assistant(block | {"input": more.pop("input", {})}, uuid, parent, **more)

    def system(self, subtype: str, uuid: str, parent: str | None = "", **more: Any) -> Any:
        return self.add("system", uuid, parent, subtype=subtype, **more)

    def texts(self, view: View = "resume") -> list[str]:
        """What is sent, block by block; a call as its id."""
        messages = derive_messages(content(fold(self.events, view), self.events), "claude")
        return [block.text or block.id or block.kind for m in messages for block in m.blocks]

    def of(self, kind: str) -> list[SessionEvent]:
        return [event for event in self.events if event.type == kind]
