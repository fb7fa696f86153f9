"""What Cline's ``ui_messages.json`` says beside the conversation: one entry of its screen → facts.

Source: cline/cline 3.89, ``ExtensionMessage.ts`` and ``task/index.ts``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from compress.events import EventType, Usage
from storage.records import parse_text
from storage.sources.draft import LONGEST_FACT, usage_of_prompt
from storage.sources.plan_items import plan_items
from storage.sources.values import count, listing, mapping, string

_APPROVES = ("tool", "command", "use_mcp_server", "browser_action_launch", "use_subagents")
_ASKS = ("followup", "plan_mode_respond", "act_mode_respond", "new_task", "condense")
_FAILS = ("api_req_failed", "mistake_limit_reached")
_ERRORS = ("error", "diff_error", "clineignore_error")
_RESUMES = ("resume_task", "resume_completed_task")


class Fact(NamedTuple):
    """A log-only event."""

    type: EventType
    meta: Mapping[str, Any]


class Entry(NamedTuple):
    """One entry of the screen."""

    facts: tuple[Fact, ...]
    waits: bool
    """It asks a person."""
    ends: str | None
    """Why the turn is over, where it says so."""
    usage: Usage | None
    """Of the request that it tells of."""
    at: int | None
    """Index of the newest message when it was made; ``None`` in old versions."""
    deleted: int | None
    """Index of the last message that was left out of requests then."""


def read_entry(value: Any) -> Entry:
    """What an entry says. Never raises."""
    fields = mapping(value)
    asks = fields.get("type") == "ask"
    kind = string(fields.get("ask" if asks else "say"))
    text = string(fields.get("text"))
    is_request = not asks and kind == "api_req_started"
    told = mapping(parse_text(text)) if is_request else {}
    ends = None
    if kind == "completion_result" and text:
        ends = "completed"
    elif (asks and kind in _RESUMES) or told.get("cancelReason") == "user_cancelled":
        ends = "interrupted"
    if is_request:
        failed = string(told.get("streamingFailedMessage"))
        found = _error(failed) if failed and ends is None else None
    else:
        found = _asked(kind, text) if asks else _said(kind, text)
    return Entry(
        () if found is None else (found,),
        asks and kind in (*_APPROVES, *_ASKS, *_FAILS),
        ends,
        _usage(told),
        count(fields.get("conversationHistoryIndex")),
        deleted_to(fields.get("conversationHistoryDeletedRange")),
    )


def _asked(kind: str, text: str) -> Fact | None:
    if kind in _FAILS:
        return _error(text)
    if kind in _APPROVES:
        return Fact("approval/request", {"tool": kind, "text": text[:LONGEST_FACT]})
    if kind in _ASKS:
        asked = string(mapping(parse_text(text)).get("question")) or text
        return Fact("approval/request", {"tool": kind, "text": asked[:LONGEST_FACT]})
    return None


def _said(kind: str, text: str) -> Fact | None:
    if kind in _ERRORS:
        return _error(text)
    if kind == "error_retry":
        attempt = count(mapping(parse_text(text)).get("attempt"))
        return Fact("retry", {"message": text[:LONGEST_FACT], "attempt": attempt})
    if kind == "task_progress":
        return Fact("artifact/update", {"kind": "todo", "items": plan_items(text)})
    return None


def _error(text: str) -> Fact:
    return Fact("error", {"message": text[:LONGEST_FACT]})


def deleted_to(value: Any) -> int | None:
    """The last index of a range of messages that are left out; the first two always stay."""
    ends = listing(value)
    last = count(ends[1]) if len(ends) == 2 else None
    return last if last is not None and last > 1 else None


def task_usage(metrics: Any) -> Usage | None:
    """The figures that a task's message has of its request. The prompt is without what was cached;
    what was read from the cache and what was written are one figure."""
    tokens = mapping(mapping(metrics).get("tokens"))
    usage = Usage(
        input=count(tokens.get("prompt")),
        cache_read=count(tokens.get("cached")),
        output=count(tokens.get("completion")),
    )
    return usage if (usage.total_input or 0) + (usage.output or 0) else None


def session_usage(metrics: Any) -> Usage | None:
    """The figures of a session's message. The input is all of the prompt, cached or not."""
    figures = mapping(metrics)
    prompt, output = count(figures.get("inputTokens")), count(figures.get("outputTokens"))
    read = count(figures.get("cacheReadTokens"))
    written = count(figures.get("cacheWriteTokens"))
    if not (prompt or output):
        return None
    return usage_of_prompt(prompt, output, read=read, written=written)


def _usage(told: dict[str, Any]) -> Usage | None:
    usage = Usage(
        input=count(told.get("tokensIn")),
        cache_read=count(told.get("cacheReads")),
        cache_write=count(told.get("cacheWrites")),
        output=count(told.get("tokensOut")),
    )
    return usage if (usage.total_input or 0) + (usage.output or 0) else None
