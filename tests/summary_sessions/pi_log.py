"""A pi session, record by record."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any


class PiLog:
    """Every method appends what pi writes for it."""

    def __init__(self, session: str, cwd: str, begun: datetime) -> None:
        self.lines: list[str] = []
        self._now = begun.astimezone(UTC)
        self._last: str | None = None
        self._entries = self._calls = 0
        self._write({"type": "session", "version": 3, "id": session, "cwd": cwd})
        self._entry(
            {"type": "model_change", "provider": "anthropic", "modelId": "claude-sonnet-4-5"}
        )

    def user(self, text: str) -> None:
        """The person's message."""
        self._message({"role": "user", "content": [{"type": "text", "text": text}]})

    def says(self, text: str) -> None:
        """The agent's closing words."""
        self._assistant([{"type": "text", "text": text}], "stop")

    def calls(
        self, name: str, output: str, *, text: str = "", failed: bool = False, **arguments: Any
    ) -> None:
        """Words, one tool call, its result."""
        self._calls += 1
        call = f"toolu_{self._calls:04d}"
        made = {"type": "toolCall", "id": call, "name": name, "arguments": arguments}
        words = [{"type": "text", "text": text}] if text else []
        self._assistant([*words, made], "toolUse")
        result = {"role": "toolResult", "toolCallId": call, "toolName": name, "isError": failed}
        self._message({**result, "content": [{"type": "text", "text": output}]})

    def _assistant(self, content: list[dict[str, Any]], reason: str) -> None:
        sizes = {"input": 10, "output": 80, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 90}
        facts = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5"}
        usage = {**sizes, "cost": {"total": 0}}
        self._message(
            {"role": "assistant", "content": content, **facts, "usage": usage, "stopReason": reason}
        )

    def _message(self, message: dict[str, Any]) -> None:
        milliseconds = round(self._now.timestamp() * 1000)
        self._entry({"type": "message", "message": {**message, "timestamp": milliseconds}})

    def _entry(self, record: dict[str, Any]) -> None:
        self._entries += 1
        name = f"e{self._entries:05d}"
        kind = {"type": record.pop("type"), "id": name, "parentId": self._last}
        self._last = name
        self._write({**kind, **record})

    def _write(self, record: dict[str, Any]) -> None:
        self._now += timedelta(seconds=4)
        stamp = self._now.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        self.lines.append(json.dumps({**record, "timestamp": stamp}, ensure_ascii=False))
