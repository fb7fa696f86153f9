"""DSH's log-only events → the closed vocabulary, each with its few facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from compress.events import LEGACY_EVENT_TYPES, EventType, Replace, SurfaceOp, Usage
from storage.sources.dsh_content import PACKED_TYPES, SURFACE_TYPES, usage
from storage.sources.values import count, listing, mapping, string

_SETTINGS = (
    "agent-preset/selected",
    "approval/policy",
    "command/done",
    "command/run",
    "feedback/record",
    "goal/change",
    "permission/preset",
    "plan/mode",
    "sandbox/mode",
    "schedule/change",
    "session/end-seed",
    "session/title",
    "session/title-llm-request",
    "subagent/catalog",
    "subagent/descriptor",
    "team/member",
    "team/task",
)
"""Facts about the session: ``session/start`` is the closest type that we have."""

_ACTIVITY = (
    "agent/inbox/spliced",
    "hook/invoked",
    "hook/result",
    "team/message/delivered",
    "team/message/queued",
    "tool-workflow/agent-end",
    "tool-workflow/agent-start",
    "tool-workflow/run-end",
    "tool-workflow/run-start",
    "tool/call",
    "tool/code-dispatch",
    "tool/code-dispatch-start",
    "tool/ptc-dispatch",
    "tool/ptc-dispatch-start",
    "web/deepseek-search-llm-request",
)
"""Traces of a running step whose outcome stands in a message: a ``usage`` without figures."""

_TURN_ENDS: Mapping[str, str] = {
    "completed": "completed",
    "interrupted": "interrupted",
    "aborted": "aborted",
    "blocked": "aborted",
    "error": "error",
    "max-tokens": "error",
}
_STATUS = ("pending", "in_progress", "completed")
_TEXT_LIMIT = 500
"""Characters of a free text among the facts; the record has the rest."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What a log-only record becomes."""

    type: EventType
    meta: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage | None = None
    model: str | None = None


Renumber = Callable[[int], int]
"""DSH's number of an event → our seq."""


def log_only(kind: str, data: dict[str, Any], seq: Renumber) -> Fact:
    """The event for a record of a known type that is no message."""
    kind = LEGACY_EVENT_TYPES.get(kind, kind) if kind != "compaction/prune" else kind
    if kind in _SETTINGS:
        return Fact("session/start", _texts(data, "title", "mode", "preset", "policy", "name"))
    if kind in _ACTIVITY:
        return Fact("usage", _texts(data, "name", "callId", "label", "outcome"))
    if kind in ("compact/summary", "compaction/prune"):
        return _shadowing(kind, data, seq)
    return _BY_TYPE[kind](data)


def surface_meta(
    kind: str, type_: str, data: dict[str, Any], source: dict[str, Any], op: SurfaceOp | None
) -> dict[str, Any]:
    """The facts of a message: its type where ours is another, who put it there, what it
    replaces."""
    meta: dict[str, Any] = {}
    if kind != type_:
        meta["type"] = kind
    origin = string(source.get("plugin")) or string(source.get("kind"))
    if origin not in ("", "user", "model", "tool"):
        meta["source"] = origin
    if isinstance(op, Replace) and origin == "compact":
        meta["checkpoint"] = "agent"
    if op is None:
        meta["problem"] = "a message without a readable surface operation"
    failure = mapping(data.get("error"))
    if failure:
        meta["error"] = string(failure.get("code")) or string(failure.get("name"))
    return meta


def _shadowing(kind: str, data: dict[str, Any], seq: Renumber) -> Fact:
    meta: dict[str, Any] = {"strategy": "prune" if kind == "compaction/prune" else "summary"}
    span = mapping(data.get("shadowedRange"))
    for name in ("start", "end"):
        number = count(span.get(f"{name}Seq", span.get(name)))
        if number is not None:
            meta[name] = seq(number)
    tokens = count(data.get("shadowedTokenCount"))
    if tokens is not None:
        meta["shadowed_tokens"] = tokens
    meta["shadowed"] = len(listing(data.get("shadowedSeqs")))
    # The summariser's own request is none of the session's: its figures anchor no prompt.
    spent = usage(data.get("usage"))
    if spent is not None:
        meta["summary_usage"] = {"input": spent.total_input, "output": spent.output}
    return Fact("compact/summary", meta, model=string(data.get("model")) or None)


def _compact_start(data: dict[str, Any]) -> Fact:
    trigger = string(data.get("trigger")) or ("manual" if data.get("turn") is None else "auto")
    return Fact("compact/start", {"trigger": trigger, **_texts(data, "compactionId")})


def _compact_end(data: dict[str, Any]) -> Fact:
    meta = _texts(data, "compactionId")
    if data.get("error"):
        meta["error"] = _failure(data["error"])
    return Fact("compact/end", meta)


def _turn_end(data: dict[str, Any]) -> Fact:
    reason = mapping(data.get("reason"))
    kind = string(reason.get("kind"))
    meta: dict[str, Any] = {"reason": _TURN_ENDS.get(kind, "completed"), "detail": kind}
    if reason.get("error"):
        meta["message"] = _failure(reason["error"])
    return Fact("turn/end", meta)


def _chunk(data: dict[str, Any]) -> Fact:
    chunk = mapping(data.get("chunk"))
    reason = mapping(chunk.get("reason"))
    if chunk.get("type") == "finish" and reason.get("kind") in ("error", "aborted"):
        return Fact("error", {"message": _failure(reason.get("failure"))})
    return Fact("usage", _texts(chunk, "blockType"), usage(chunk.get("usage")))


def _header(data: dict[str, Any]) -> Fact:
    header = mapping(data.get("header"))
    meta = _texts(mapping(header.get("config")), "model", "provider")
    return Fact("request/header", {**meta, **_texts(data, "reason")}, model=meta.get("model"))


def _context(data: dict[str, Any]) -> Fact:
    meta: dict[str, Any] = _texts(data, "model", "provider")
    model = meta.get("model")
    window = count(data.get("contextWindow"))
    if window:
        meta["window"] = window
    return Fact("request/header", meta, model=model)


def _todos(data: dict[str, Any]) -> Fact:
    items = [
        {
            "text": string(item.get("content"))[:_TEXT_LIMIT],
            "status": item["status"] if item.get("status") in _STATUS else "pending",
        }
        for item in map(mapping, listing(data.get("todos")))
    ]
    return Fact("artifact/update", {"kind": "todo", "items": items})


_DECISIONS = {"allowed-once": "approved"}
"""The outcomes of its approvals that have another name here; ``rejected`` has none."""


def _asked(data: dict[str, Any]) -> Fact:
    return Fact("approval/request", _texts(data, "id", "toolName", "callId", "reason"))


def _decided(data: dict[str, Any]) -> Fact:
    meta = _texts(data, "id", "outcome")
    if isinstance(outcome := meta.get("outcome"), str):
        meta["decision"] = _DECISIONS.get(outcome, outcome)
    return Fact("approval/decision", meta)


def _retry(data: dict[str, Any]) -> Fact:
    meta: dict[str, Any] = {"message": _failure(data.get("failure") or data.get("error"))}
    attempt = count(data.get("attempt"))
    return Fact("retry", meta if attempt is None else {**meta, "attempt": attempt})


_BY_TYPE: Mapping[str, Callable[[dict[str, Any]], Fact]] = {
    "approval/asked": _asked,
    "approval/decided": _decided,
    "assistant/attempt": _retry,
    "assistant/chunk": _chunk,
    "compact/end": _compact_end,
    "compact/start": _compact_start,
    "llm/retry": _retry,
    "llm/retry-started": _retry,
    "request/context": _context,
    "request/header": _header,
    "step/end": lambda _: Fact("step/end"),
    "step/start": lambda _: Fact("step/start"),
    "todo/write": _todos,
    "turn/end": _turn_end,
    "turn/start": lambda _: Fact("turn/start"),
}

KNOWN_TYPES = frozenset(
    {
        *SURFACE_TYPES,
        *PACKED_TYPES,
        *_SETTINGS,
        *_ACTIVITY,
        *_BY_TYPE,
        *LEGACY_EVENT_TYPES,
        "compact/summary",
    }
)
"""Every type of DSH's catalogues that this adapter understands."""


def _texts(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: data[name][:_TEXT_LIMIT] for name in names if isinstance(data.get(name), str)}


def _failure(value: Any) -> str:
    return (string(value) or string(mapping(value).get("message")))[:_TEXT_LIMIT]
