"""Records in Claude Code's format (2.1.119): what the agent would have written, given a story.

Ids are derived from a running number, times from the story's own pace, so the same story gives
the same bytes. Usage follows the content: tokens of a public vocabulary times a factor by kind,
plus the fixed overhead of system prompt and tools.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

VERSION = "2.1.119"
MODEL = "claude-opus-4-5-20251101"
CWD = "/home/sam/tidepool"
BRANCH = "fix/tp-214-lost-readings"
OVERHEAD = 18_000
"""Provider tokens of system prompt and tool schemas."""
CACHED_PROMPT = 17_240
"""The part of the overhead that stays in the prompt cache across a compaction."""
FACTORS = {"user": 1.17, "result": 1.21, "text": 1.14, "thinking": 1.14, "call": 1.26}
"""Provider tokens per token of the public vocabulary, by kind of content."""
PER_MESSAGE = 6
START = datetime(2026, 4, 27, 7, 41, 8, tzinfo=UTC)

Json = dict[str, Any]
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call and what came back."""

    name: str
    input: Json
    result: str
    seconds: float = 1.0
    failed: bool = False
    ui: Json | str | None = None
    """The agent's own copy for its screen, where it holds more than the result."""


@dataclass(slots=True)
class SessionLog:
    """The records of one file, in order."""

    session: str
    count: Count
    agent: str | None = None
    """Of a sub-agent's file: its id."""
    now: datetime = START
    records: list[Json] = field(default_factory=list)
    used: float = OVERHEAD
    """Provider tokens of what the next request sends."""
    cached: int = 0
    inputs: list[int] = field(default_factory=list)
    """Total input of each request, oldest first."""
    _leaf: str | None = None
    _number: int = 0
    _prompt: str = ""
    _turn_began: datetime = START
    _messages: int = 0
    _request: str = ""

    def lines(self) -> Iterator[str]:
        """The file, line by line."""
        for record in self.records:
            yield json.dumps(record, ensure_ascii=False, separators=(",", ":"))

    def note(self, kind: str, **fields: Any) -> None:
        """A record outside the chain."""
        self.records.append({"type": kind, **fields, "sessionId": self.session})

    def attachment(self, content: Json, sent: str) -> None:
        """Something that the agent injects; ``sent`` is the text that the model gets."""
        self._spend("user", sent)
        self._chain("attachment", attachment=content)

    def user(self, text: str, pause: float = 40.0) -> None:
        """A person's message: a turn begins."""
        self._wait(pause)
        self._prompt = self._uuid()
        self._turn_began, self._messages = self.now, 0
        if self.agent is None:
            snapshot = {"trackedFileBackups": {}, "timestamp": self._time()}
            self.records.append(
                {
                    "type": "file-history-snapshot",
                    "messageId": self._prompt,
                    "snapshot": {"messageId": self._prompt, **snapshot},
                    "isSnapshotUpdate": False,
                }
            )
        self._spend("user", text)
        self._chain("user", promptId=self._prompt, message={"role": "user", "content": text})
        if self.agent is None:
            self.note("last-prompt", lastPrompt=text[:120])

    def steer(self, text: str) -> None:
        """A person's message while the turn runs; call between a call and the next request."""
        content = f"The user sent the following message:\n{text}"
        self.records.append(
            {
                "type": "queue-operation",
                "operation": "remove",
                "timestamp": self._time(),
                "sessionId": self.session,
            }
        )
        self.attachment(
            {
                "type": "queued_command",
                "prompt": text,
                "commandMode": "prompt",
                "rendered": [{"content": content}],
                "renderedRole": "user",
            },
            content,
        )

    def queue(self, text: str) -> None:
        """The same message, at the moment when it is typed."""
        self._wait(4.0)
        self.records.append(
            {
                "type": "queue-operation",
                "operation": "enqueue",
                "timestamp": self._time(),
                "sessionId": self.session,
                "content": text,
            }
        )

    def assistant(
        self, text: str = "", calls: Sequence[Call] = (), thinking: str = "", typed: str = ""
    ) -> None:
        """One request and its answer: one record a block, each result behind its call. ``typed``
        is a steering message that arrives while the last call runs."""
        self._wait(3.5 + len(text) / 300 + len(thinking) / 200)
        message, usage = self._message(text, calls, thinking)
        if thinking:
            block = {"type": "thinking", "thinking": thinking, "signature": self._signature()}
            self._block(message, usage, block)
        if text:
            self._block(message, usage, {"type": "text", "text": text})
        for index, call in enumerate(calls):
            identity = f"toolu_01{self._token(22)}"
            use = {"type": "tool_use", "id": identity, "name": call.name, "input": call.input}
            self._block(message, usage, {**use, "caller": {"type": "direct"}})
            if typed and index == len(calls) - 1:
                self.queue(typed)
            self._result(identity, call)
        if typed:
            self.steer(typed)

    def retry(self, attempts: int) -> None:
        """The provider was overloaded, and the agent tried again."""
        for attempt in range(1, attempts + 1):
            self._wait(1.5 * attempt)
            request = f"req_011{self._token(21)}"
            inner = {"type": "overloaded_error", "message": "Overloaded"}
            self._chain(
                "system",
                subtype="api_error",
                level="error",
                error={
                    "status": 529,
                    "requestID": request,
                    "error": {"type": "error", "error": inner, "request_id": request},
                },
                retryInMs=550.0 * 2 ** (attempt - 1),
                retryAttempt=attempt,
                maxRetries=10,
            )

    def interrupt(self) -> None:
        """The person stops the turn at a tool call."""
        text = "[Request interrupted by user for tool use]"
        self._spend("user", text)
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        self._chain("user", promptId=self._prompt, message=message)

    def turn_end(self) -> None:
        """The agent has answered and waits."""
        self._wait(0.4)
        self._chain(
            "system",
            subtype="stop_hook_summary",
            hookCount=1,
            hookInfos=[{"command": ".claude/hooks/notify.sh", "durationMs": 38}],
            hookErrors=[],
            preventedContinuation=False,
            stopReason="",
            hasOutput=False,
            level="suggestion",
        )
        took = int((self.now - self._turn_began).total_seconds() * 1000)
        self._chain(
            "system",
            subtype="turn_duration",
            durationMs=took,
            messageCount=self._messages,
            isMeta=False,
        )

    def compact(self, summary: str) -> None:
        """The agent's own compaction: a boundary and the summary that stands for all before it."""
        self._wait(71.0)
        before = round(self.used)
        self.used = OVERHEAD
        old, self._leaf = self._leaf, None
        boundary = {"trigger": "auto", "preTokens": before}
        self._chain(
            "system",
            subtype="compact_boundary",
            logicalParentUuid=old,
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata=boundary,
        )
        self._spend("user", summary)
        self._chain(
            "user",
            promptId=self._prompt,
            message={"role": "user", "content": summary},
            isVisibleInTranscriptOnly=True,
            isCompactSummary=True,
        )
        boundary["postTokens"] = round(self.used)
        self.cached = CACHED_PROMPT

    def _message(self, text: str, calls: Sequence[Call], thinking: str) -> tuple[Json, Json]:
        total = round(self.used)
        self.inputs.append(total)
        before = self.used
        self._spend("thinking", thinking)
        self._spend("text", text)
        for call in calls:
            self._spend("call", f"{call.name}{json.dumps(call.input)}")
        fresh = 4 if self.cached else 9
        usage = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": max(total - fresh - self.cached, 0),
            "cache_read_input_tokens": min(self.cached, total - fresh),
            "output_tokens": max(1, round(self.used - before)),
            "service_tier": "standard",
        }
        self.cached = total - fresh
        message = {
            "model": MODEL,
            "id": f"msg_01{self._token(22)}",
            "type": "message",
            "role": "assistant",
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
        }
        self._request = f"req_011{self._token(21)}"
        return message, usage

    def _block(self, message: Json, usage: Json, block: Json) -> None:
        self._wait(0.7)
        whole = {**message, "content": [block], "usage": usage}
        self._chain("assistant", message=whole, requestId=self._request)

    def _result(self, identity: str, call: Call) -> None:
        self._wait(call.seconds)
        self._spend("result", call.result)
        block: Json = {"tool_use_id": identity, "type": "tool_result", "content": call.result}
        if call.failed or call.name == "Bash":
            block["is_error"] = call.failed
        more: Json = {} if call.ui is None else {"toolUseResult": call.ui}
        self._chain(
            "user",
            promptId=self._prompt,
            message={"role": "user", "content": [block]},
            **more,
            sourceToolAssistantUUID=self._leaf,
        )

    def _spend(self, kind: str, text: str) -> None:
        if text:
            self.used += self.count(text) * FACTORS[kind] + PER_MESSAGE

    def _chain(self, kind: str, **fields: Any) -> None:
        identity = self._uuid()
        self._messages += 1
        record: Json = {"parentUuid": self._leaf, "isSidechain": self.agent is not None}
        if self.agent is not None:
            record["agentId"] = self.agent
        record |= {
            "type": kind,
            **fields,
            "uuid": identity,
            "timestamp": self._time(),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": CWD,
            "sessionId": self.session,
            "version": VERSION,
            "gitBranch": BRANCH,
        }
        self.records.append(record)
        self._leaf = identity

    def _wait(self, seconds: float) -> None:
        self.now += timedelta(milliseconds=round(seconds * 1000))

    def _time(self) -> str:
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _digest(self) -> bytes:
        self._number += 1
        return hashlib.sha256(f"{self.session}/{self.agent}/{self._number}".encode()).digest()

    def _uuid(self) -> str:
        return str(uuid.UUID(bytes=self._digest()[:16], version=4))

    def _token(self, length: int) -> str:
        text = base64.b64encode(self._digest()).decode()
        return "".join(letter for letter in text if letter.isalnum()).ljust(length, "A")[:length]

    def _signature(self) -> str:
        return base64.b64encode(self._digest() + self._digest() + self._digest()).decode()
