"""A made log for each agent, with records of every kind that its adapter reads: food for the kit.

A new adapter enters its own here, under the adapter's ``agent``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tests.storage.sources import atif_logs as atif
from tests.storage.sources import batch_logs as batch
from tests.storage.sources import cline_logs as cline
from tests.storage.sources import codex_logs as codex
from tests.storage.sources import copilot_logs as copilot
from tests.storage.sources import gemini_logs as gemini
from tests.storage.sources import opencode_store as opencode
from tests.storage.sources import openhands_logs as openhands
from tests.storage.sources import openhands_old_logs as openhands_old
from tests.storage.sources import pi_logs as pi
from tests.storage.sources import sweagent_logs as sweagent
from tests.storage.sources.claude_log import Log


class MadeLog(NamedTuple):
    """The rows of one log."""

    rows: Sequence[Any]
    path: str
    """Where an agent would keep it; need not exist."""
    lines: bool = True
    """One record a line; else the file is one document, and a record more is none of it."""
    states_operations: bool = False
    """The log itself says how the surface changes; a damaged one may say what cannot be."""


def _claude() -> list[Any]:
    log = Log()
    log.raw({"type": "summary", "summary": "t", "leafUuid": "u1"})
    log.user("hi", "u1")
    log.assistant({"type": "thinking", "thinking": "t", "signature": "s"}, "a1", message="m1")
    log.call("Read", "a2", message="m1", input={"file_path": "a"})
    log.result("call-a2", "text", "u2")
    log.call("TodoWrite", "a3", input={"todos": [{"content": "x", "status": "pending"}]})
    log.result("call-a3", "no", "u3", is_error=True)
    log.system("api_error", "s1", error={"status": 529}, retryAttempt=1)
    log.add("attachment", "t1", attachment={"type": "date", "rendered": [{"content": "y"}]})
    log.assistant("done", "a4")
    log.system("microcompact_boundary", "s2", microcompactMetadata={"compactedToolIds": []})
    log.system("compact_boundary", "s3", None, compactMetadata={"trigger": "auto"})
    log.user("summary", "u4", isCompactSummary=True)
    log.user("other branch", "u5", "a1")
    log.raw({"type": "last-prompt", "lastPrompt": "x", "leafUuid": "u5"})
    log.raw({"type": "queue-operation", "operation": "enqueue", "content": "x"})
    return log.rows


PLAN = '{"plan":[{"step":"s","status":"pending"}]}'
_CODEX = [
    codex.meta(),
    *codex.turn("1", "u1", "a1", codex.call("c"), codex.output("c", [{"type": "input_text"}])),
    codex.row("turn_context", {"turn_id": "1", "model": "m", "cwd": "/p"}),
    codex.call("p", "update_plan", PLAN),
    codex.item("reasoning", summary=[{"type": "summary_text", "text": "r"}]),
    codex.item("custom_tool_call", name="apply_patch", input="p", call_id="d"),
    codex.usage(codex.figures(9, 1, 2, 0), codex.figures(9, 1, 2, 0)),
    codex.note("item_completed", item={"type": "Plan", "text": "t"}),
    codex.compacted("k", "S"),
    codex.summarised("L"),
    codex.rolled_back(1),
]
PI = [
    pi.HEADER,
    pi.message("a1", None, "user", [{"type": "text", "text": "x"}]),
    pi.answer("a2", "a1", {"type": "thinking", "thinking": "t"}, pi.call("c"), usage={"input": 5}),
    pi.result("a3", "a2", "c"),
    pi.message("a4", "a3", "bashExecution", None, command="ls", output="o"),
    pi.message("a5", "a4", "system", "s", sections={"x": "y"}),
    pi.entry("custom_message", "a6", "a5", customType="k", content="c"),
    pi.entry("branch_summary", "a7", "a6", fromId="a1", summary="b"),
    pi.edit("a8", "a7", "a3", "short"),
    pi.compaction("a9", "a8", "S", "a2", systemMessage={"role": "system", "content": "p"}),
    pi.entry("model_change", "b1", "a9", provider="p", modelId="m"),
    pi.entry("session_info", "b2", "b1", name="n"),
    pi.message("b3", "a2", "user", "branch"),
]


def _dsh() -> list[Any]:
    def said(seq: int, kind: str, data: Any, **more: Any) -> dict[str, Any]:
        row = {"type": kind, "seq": seq, "time": 1_783_950_000_000 + seq, "data": data}
        return {**row, **({"surfaceOp": "append"} if kind.endswith("message") else {}), **more}

    text = [{"type": "text", "text": "x"}]
    call = {"type": "tool-call", "id": "c", "name": "read", "arguments": "{}"}
    result = {"type": "tool-result", "toolCallId": "c", "content": text}
    answer = {"role": "assistant", "source": {"model": "m"}, "content": [*text, call]}
    tool = {"role": "user", "source": {"kind": "tool", "callId": "c"}, "content": [result]}
    summary = {"role": "user", "source": {"kind": "plugin", "plugin": "compact"}, "content": text}
    return [
        {"type": "session", "version": 0, "id": "s1", "createdAt": 1_783_950_000_000, "cwd": "/p"},
        said(0, "turn/start", {"turn": 1}),
        said(1, "user/message", {"role": "user", "source": {"kind": "user"}, "content": text}),
        said(2, "request/context", {"provider": "p", "model": "m", "contextWindow": 1000}),
        said(3, "step/start", {"turn": 1, "step": 1}),
        said(4, "assistant/message", {"message": answer, "usage": {"input": 5, "output": 2}}),
        said(5, "tool/result", {"message": tool}, surfaceOp="append"),
        said(6, "todo/write", {"todos": [{"content": "x", "status": "pending"}]}),
        said(7, "turn/end", {"turn": 1, "reason": {"kind": "completed"}}),
        said(8, "compaction/start", {"compactionId": "k", "turn": None}),
        said(9, "compaction/summary", {"summary": text, "shadowedRange": {"start": 1, "end": 5}}),
        said(
            10,
            "user/message",
            summary,
            surfaceOp={"op": "replace", "start": 1, "end": 5},
            sourceEventSeqs=[1, 4, 5, 8, 9],
        ),
        said(11, "compaction/end", {"compactionId": "k"}),
    ]


_CHAT = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": [{"type": "text", "text": "x"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    },
    {"role": "tool", "tool_call_id": "c", "content": "r"},
]


def _gemini() -> list[Any]:
    todos = {"todos": [{"description": "x", "status": "in_progress"}]}
    asked = [
        gemini.tool("c1", "text"),
        gemini.tool("c2", "ok", name="write_todos", args=todos),
        gemini.tool("c3", status="cancelled"),
    ]
    tokens = {"input": 10, "output": 2, "cached": 4, "thoughts": 1, "tool": 0, "total": 13}
    first = gemini.answer("g1", "so", tokens=tokens, thoughts=[{"description": "t"}])
    results = gemini.user("u2", gemini.response("c1", "text"), gemini.response("c2", "ok"))
    summary = gemini.user("s1", "<state_snapshot>S</state_snapshot>")
    return [
        gemini.HEADER,
        gemini.checkpoint(gemini.user("x", gemini.CONTEXT)),
        gemini.user("u1", "do it"),
        {"$set": {"lastUpdated": gemini.TIME}},
        first,
        {**first, "toolCalls": asked},
        results,
        gemini.message("i1", "info", "Request cancelled."),
        gemini.message("e1", "error", "broken"),
        gemini.user("u3", "/compress"),
        {"$rewindTo": "u3"},
        gemini.checkpoint(summary, gemini.answer("s2", [{"text": "Got it."}]), results),
        gemini.user("u4", {"inlineData": {"mimeType": "image/png", "data": ""}}),
        {"$set": {"summary": "title", "directories": ["/home/me/app"]}},
    ]


def _opencode() -> list[dict[str, Any]]:
    def part(name: str, message: str, kind: str, **data: Any) -> dict[str, Any]:
        return opencode.row("part", name, message, type=kind, **data)

    def message(name: str, role: str, **data: Any) -> dict[str, Any]:
        return opencode.row("message", name, name, role=role, **data)

    tokens = {"input": 10, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 0}}
    todos = {"status": "completed", "input": {"todos": [{"content": "x"}]}, "output": ""}
    image = {"mime": "image/png", "url": "data:image/png;base64,"}
    broken = {"name": "APIError", "data": {"message": "no"}}
    summing = {"summary": True, "parentID": "m5"}
    return [
        opencode.row("session", "s", "", directory="/home/u", version="1.18.33", title="T"),
        message("m1", "user", model={"modelID": "m"}),
        part("p1", "m1", "text", text="do it"),
        part("p2", "m1", "text", text="lines", synthetic=True),
        part("p3", "m1", "file", **image),
        part("p4", "m1", "text", text="shown", ignored=True),
        message("m2", "assistant", modelID="m", providerID="p"),
        part("q1", "m2", "step-start"),
        part("q2", "m2", "reasoning", text="so", metadata={"anthropic": {"signature": "x"}}),
        part("q3", "m2", "tool", **opencode.tool("running")),
        part("q4", "m2", "tool", **opencode.tool("completed", "two", "c2")),
        part("q3", "m2", "tool", **opencode.tool("completed", "one")),
        part("q5", "m2", "tool", tool="todowrite", callID="c3", state=todos),
        part("q6", "m2", "retry", attempt=1, error=broken),
        part("q7", "m2", "step-finish", reason="tool-calls", tokens=tokens),
        message("m3", "assistant", modelID="n", error=broken),
        part("r1", "m3", "text", text="bad"),
        message("m4", "assistant", finish="stop"),
        part("t1", "m4", "text", text="done"),
        part("t2", "m4", "step-finish", reason="stop", tokens=tokens),
        part("q4", "m2", "tool", **opencode.tool("completed", "two", "c2", compacted=1)),
        message("m5", "user"),
        part("u1", "m5", "compaction", auto=True, tail_start_id="m4"),
        message("m6", "assistant", **summing),
        part("v1", "m6", "text", text="the summary"),
        message("m6", "assistant", **summing, finish="stop"),
        part("t1", "m4", "text", text="done, and more"),
        message("m7", "user"),
        part("w1", "m7", "subtask", prompt="x"),
        opencode.row("session", "s", "", revert={"messageID": "m7"}),
        {"table": "message", "id": "m7", "removed": True},
        opencode.row("session", "s", ""),
    ]


MADE: Mapping[str, Sequence[MadeLog]] = {
    "atif": [MadeLog([atif.made()], "trajectory.json", lines=False)],
    "openhands": [
        MadeLog(openhands.made(), "c0ffee/events.jsonl"),
        MadeLog(openhands.made_rows(), "c0ffee/base_state.json"),
        MadeLog(openhands_old.made_old(), "old.jsonl"),
        MadeLog([openhands_old.made_old()], "trajectory.json", lines=False),
    ],
    "sweagent": [
        MadeLog([sweagent.made()], "task-1.traj", lines=False),
        MadeLog([sweagent.made_mini()], "last_mini_run.traj.json", lines=False),
    ],
    "claude": [MadeLog(_claude(), "p/session.jsonl")],
    "codex": [MadeLog(_CODEX, "rollout.jsonl")],
    "pi": [MadeLog(PI, "s.jsonl")],
    "dsh": [MadeLog(_dsh(), "s1/session.jsonl", states_operations=True)],
    "chat": [
        MadeLog(_CHAT, "chat.jsonl"),
        MadeLog([{"messages": _CHAT}], "chat.json", lines=False),
    ],
    "opencode": [
        MadeLog(_opencode(), "opencode.db"),
        MadeLog([opencode.exported(_opencode())], "export.json", lines=False),
    ],
    "batch": [MadeLog(batch.log(), "requests.jsonl")],
    "cline": [
        MadeLog(cline.task_rows(), "tasks/t/api_conversation_history.json"),
        MadeLog(cline.session_rows(), "sessions/s-1/s-1.messages.json"),
        MadeLog([cline.document()], "copy.json", lines=False),
        MadeLog([cline.TASK], "tasks/u/api_conversation_history.json", lines=False),
    ],
    "copilot": [MadeLog(copilot.log(), "session-state/s/events.jsonl")],
    "gemini": [
        MadeLog(_gemini(), "chats/session-1.jsonl"),
        MadeLog(
            [{**gemini.HEADER, "messages": [row for row in _gemini() if "id" in row]}],
            "chats/session-1.json",
            lines=False,
        ),
    ],
}
