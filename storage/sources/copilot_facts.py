"""What records of Copilot CLI say beside the surface: turns, decisions, figures, the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compress.events import Usage
from storage.sources.copilot_session import CopilotSession
from storage.sources.draft import LONGEST_FACT, title_of, word
from storage.sources.plan_items import plan_items
from storage.sources.values import count, mapping, string

_APPROVED = ("approved", "approved-for-session", "approved-for-location")

Handler = Callable[[CopilotSession, dict[str, Any]], None]


def _start(session: CopilotSession, data: dict[str, Any]) -> None:
    facts = session.facts
    facts.native_id = word(data.get("sessionId")) or facts.native_id
    facts.agent_version = word(data.get("copilotVersion")) or facts.agent_version
    parent = word(data.get("detachedFromSpawningParentSessionId"))
    if parent is not None:
        facts.parent_native_id, facts.relation = parent, "fork"
    _place(session, mapping(data.get("context")))
    told = {"version": facts.agent_version, "cwd": facts.cwd}
    session.log("session/start", {k: v for k, v in told.items() if v is not None})
    session.use_model(data.get("selectedModel"))


def _resume(session: CopilotSession, data: dict[str, Any]) -> None:
    session.facts.ended = False
    _place(session, mapping(data.get("context")))
    session.use_model(data.get("selectedModel"))


def _place(session: CopilotSession, data: dict[str, Any]) -> None:
    session.facts.cwd = word(data.get("cwd")) or session.facts.cwd


def _title(session: CopilotSession, data: dict[str, Any]) -> None:
    session.facts.title = title_of(string(data.get("title"))) or session.facts.title


def _model(session: CopilotSession, data: dict[str, Any]) -> None:
    session.use_model(data.get("newModel"))


def _window(session: CopilotSession, data: dict[str, Any]) -> None:
    session.use_model(None, data.get("tokenLimit"))


def _cost(session: CopilotSession, data: dict[str, Any]) -> None:
    usage = _usage(data)
    if usage is not None:
        session.cost(usage, word(data.get("apiCallId")))


def _usage(data: dict[str, Any]) -> Usage | None:
    """The figures of a request. The prompt counts cached tokens, too."""
    prompt, output = count(data.get("inputTokens")), count(data.get("outputTokens"))
    read, write = count(data.get("cacheReadTokens")), count(data.get("cacheWriteTokens"))
    if prompt is None and output is None:
        return None
    cached = (read or 0) + (write or 0)
    # Never negative: some providers' figures leave cached tokens out already.
    fresh = prompt if prompt is None or cached > prompt else prompt - cached
    reasoning = count(data.get("reasoningTokens"))
    return Usage(
        input=fresh, cache_read=read, cache_write=write, output=output, reasoning=reasoning
    )


def _error(session: CopilotSession, data: dict[str, Any]) -> None:
    words = string(data.get("message")) or string(data.get("errorMessage"))
    session.log("error", {"message": words[:LONGEST_FACT]})


def _retry(session: CopilotSession, data: dict[str, Any]) -> None:
    session.log("retry", {"message": string(data.get("reason"))[:LONGEST_FACT]})


def _configured(session: CopilotSession, data: dict[str, Any]) -> None:
    session.use_model(data.get("model"))


def _turn_end(session: CopilotSession, data: dict[str, Any]) -> None:
    """An answer without calls ends the turn; with some the next request follows."""
    if not session.calls_open:
        session.end_turn("completed")


def _idle(session: CopilotSession, data: dict[str, Any]) -> None:
    session.end_turn("aborted" if data.get("aborted") is True else "completed")


def _abort(session: CopilotSession, data: dict[str, Any]) -> None:
    session.end_turn("interrupted")


def _shutdown(session: CopilotSession, data: dict[str, Any]) -> None:
    session.facts.ended, session.facts.turn_open = True, False
    session.facts.waiting = False


def _compaction(session: CopilotSession, data: dict[str, Any]) -> None:
    _window(session, data)
    session.announce(string(data.get("trigger")), count(data.get("currentTokens")))


def _compacted(session: CopilotSession, data: dict[str, Any]) -> None:
    if data.get("success") is not True:
        session.give_up(string(data.get("error"))[:LONGEST_FACT])
    _window(session, data)


def _truncation(session: CopilotSession, data: dict[str, Any]) -> None:
    _window(session, data)
    session.truncate(data)


def _rewind(session: CopilotSession, data: dict[str, Any]) -> None:
    session.rewind(string(data.get("upToEventId")))


def _permission(session: CopilotSession, data: dict[str, Any]) -> None:
    asked = mapping(data.get("permissionRequest"))
    call = string(asked.get("toolCallId"))
    words = string(asked.get("intention")) or string(asked.get("fullCommandText"))
    _ask(session, data, {"call": call, "text": words[:LONGEST_FACT]})


def _permitted(session: CopilotSession, data: dict[str, Any]) -> None:
    result = mapping(data.get("result"))
    kind = string(result.get("kind"))
    meta = {"decision": "approved" if kind in _APPROVED else "rejected"}
    words = string(result.get("feedback")) or string(result.get("message"))
    _decide(session, data, {**meta, **({"message": words} if words else {})})


def _question(session: CopilotSession, data: dict[str, Any]) -> None:
    words = string(data.get("question"))[:LONGEST_FACT]
    _ask(session, data, {"call": string(data.get("toolCallId")), "text": words})


def _answered(session: CopilotSession, data: dict[str, Any]) -> None:
    words = string(data.get("answer"))
    meta = {"decision": "answered" if words else "rejected"}
    _decide(session, data, {**meta, **({"message": words} if words else {})})


def _plan(session: CopilotSession, data: dict[str, Any]) -> None:
    plan = string(data.get("planContent"))
    meta = {"kind": "plan", "items": plan_items(plan), "explanation": plan[:LONGEST_FACT]}
    session.log("artifact/update", meta)
    _ask(session, data, {"call": "", "text": string(data.get("summary"))[:LONGEST_FACT]})


def _planned(session: CopilotSession, data: dict[str, Any]) -> None:
    meta = {"decision": "approved" if data.get("approved") is True else "rejected"}
    words = string(data.get("feedback"))
    _decide(session, data, {**meta, **({"message": words} if words else {})})


def _ask(session: CopilotSession, data: dict[str, Any], meta: dict[str, Any]) -> None:
    session.facts.waiting = data.get("resolvedByHook") is not True
    session.asked[string(data.get("requestId"))] = str(meta["call"])
    session.log("approval/request", {key: text for key, text in meta.items() if text})


def _decide(session: CopilotSession, data: dict[str, Any], meta: dict[str, Any]) -> None:
    session.facts.waiting = False
    call = session.asked.pop(string(data.get("requestId")), "")
    call = string(data.get("toolCallId")) or call
    if meta["decision"] == "rejected":
        session.declined.add(call)
    if "message" in meta:
        meta["message"] = str(meta["message"])[:LONGEST_FACT]
    session.log("approval/decision", {"call": call, **meta} if call else meta)


def _helper(session: CopilotSession, data: dict[str, Any]) -> None:
    if session.facts.key:
        name = string(data.get("agentDisplayName")) or string(data.get("agentName"))
        session.facts.title = title_of(name) or session.facts.title


def _helper_ended(session: CopilotSession, data: dict[str, Any]) -> None:
    if session.facts.key:
        session.facts.ended, session.facts.turn_open = True, False


HANDLERS: Mapping[str, Handler] = {
    "session.start": _start,
    "session.resume": _resume,
    "session.context_changed": _place,
    "session.title_changed": _title,
    "session.model_change": _model,
    "session.usage_info": _window,
    "session.error": _error,
    "model.call_failure": _error,
    "assistant.turn_retry": _retry,
    "subagent.configured": _configured,
    "session.idle": _idle,
    "assistant.idle": _idle,
    "assistant.turn_end": _turn_end,
    "assistant.usage": _cost,
    "abort": _abort,
    "session.shutdown": _shutdown,
    "session.compaction_start": _compaction,
    "session.compaction_complete": _compacted,
    "session.truncation": _truncation,
    "session.snapshot_rewind": _rewind,
    "permission.requested": _permission,
    "permission.completed": _permitted,
    "user_input.requested": _question,
    "user_input.completed": _answered,
    "exit_plan_mode.requested": _plan,
    "exit_plan_mode.completed": _planned,
    "subagent.started": _helper,
    "subagent.completed": _helper_ended,
    "subagent.failed": _helper_ended,
}
"""By the record's type; called after what it says was put on the surface."""
