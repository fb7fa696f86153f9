"""A record of Copilot CLI's ``events.jsonl`` → the content of its events, from the record alone.

Source: github/copilot-sdk 1.0.14, ``session-events`` (generated from the CLI's own schema).
The program itself is closed: which of these records make the list that it sends is read from what
the types say of them, and from what CLI 1.0.102 asked a provider on the loopback.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from compress.events import ContentBlock, EventType, Image, Role
from compress.images import image_from_base64
from storage.sources.draft import NO_META, text_block, word
from storage.sources.values import count, listing, mapping, string

TYPES = frozenset(
    """
    abort agent.interrupted assistant.fusion_phase_activity assistant.fusion_phase_completed
    assistant.fusion_phase_failed assistant.fusion_phase_started assistant.idle assistant.intent
    assistant.message assistant.message_delta assistant.message_start assistant.reasoning
    assistant.reasoning_delta assistant.server_tool_progress assistant.streaming_delta
    assistant.tool_call_delta assistant.turn_end assistant.turn_retry assistant.turn_start
    assistant.usage auto_mode_switch.completed auto_mode_switch.requested capabilities.changed
    command.completed command.execute command.queued commands.changed elicitation.completed
    elicitation.requested exit_plan_mode.completed exit_plan_mode.requested
    external_tool.completed external_tool.requested factory.run_settled factory.run_started
    factory.run_updated hook.end hook.progress hook.start mcp.headers_refresh_completed
    mcp.headers_refresh_required mcp.oauth_completed mcp.oauth_required mcp.prompts.list_changed
    mcp.resources.list_changed mcp.tools.list_changed mcp_app.tool_call_complete
    model.call_failure model.call_finished model.call_start model.log model.message
    model.messages_snapshot model.model_call_failure model.model_call_started
    model.model_call_success model.response model.turn_ended model.turn_failed model.turn_retry
    model.turn_started pending_messages.modified permission.completed permission.requested
    sampling.completed sampling.requested sandbox.decision session.auto_mode_resolved
    session.auto_tier_recommendation session.auto_tier_switch_failed
    session.autopilot_objective_changed session.background_tasks_changed session.binary_asset
    session.canvas.closed session.canvas.opened session.canvas.recorded
    session.canvas.registry_changed session.canvas.removed session.canvas.unavailable
    session.compaction_complete session.compaction_start session.completion_receipt
    session.context_changed session.context_cleared session.custom_agents_updated
    session.custom_notification session.error session.extensions.attachments_pushed
    session.extensions_loaded session.fusion_commit_started session.fusion_completed
    session.fusion_handoff session.fusion_resolved session.fusion_route_failed
    session.fusion_route_started session.handoff session.idle session.info
    session.managed_settings_enforced session.managed_settings_resolved
    session.mcp_server_needs_reconnect session.mcp_server_removed
    session.mcp_server_status_changed session.mcp_servers_loaded session.memory_changed
    session.mode_changed session.mode_notice_delivered session.model_change
    session.permissions_changed session.plan_changed session.remote_steerable_changed
    session.resume session.schedule_cancelled session.schedule_created session.schedule_rearmed
    session.session_limits_changed session.shutdown session.skills_loaded
    session.snapshot_rewind session.start session.task_complete session.title_changed
    session.todos_changed session.tools_updated session.truncation session.usage_checkpoint
    session.usage_info session.warning session.workspace_file_changed
    session_limits_exhausted.completed session_limits_exhausted.requested
    skill.context_delivered skill.context_delivered_ref skill.invoked skill.invoked_ref
    subagent.completed subagent.configured subagent.deselected subagent.failed subagent.selected
    subagent.started system.message system.notification tool.execution_complete
    tool.execution_partial_result tool.execution_progress tool.execution_start
    tool.user_requested tool_search.activated ui.ephemeral_query user.message
    user_input.completed user_input.requested
    """.split()  # noqa: SIM905  # a list of words reads better as words
)
"""Every type of the schema, and those of calls to the model that CLI 1.0.102 writes while it
compacts. Those that give no event say nothing of the model's context."""


class Said(NamedTuple):
    """What one record says on the surface: events of one node, in order."""

    type: EventType
    role: Role
    parts: tuple[ContentBlock, ...] = ()
    """One for each event; none: an event without content."""
    meta: Mapping[str, Any] = NO_META


def said(value: Any) -> Said | None:
    """What stands on the surface because of this record; ``None`` for most."""
    record = mapping(value)
    data = mapping(record.get("data"))
    kind = record.get("type")
    read = _SURFACE.get(kind) if isinstance(kind, str) else None
    found = None if read is None else read(data)
    in_helper = kind == "user.message" and isinstance(record.get("agentId"), str)
    if found is None or not (in_helper and str(found.meta.get("source")).startswith("agent-")):
        return found
    # What a sub-agent is asked to do comes from the agent that started it.
    return Said("user/message", "user", found.parts)


def _user(data: dict[str, Any]) -> Said:
    sent = data.get("transformedContent")
    text = sent if isinstance(sent, str) else string(data.get("content"))
    images = (_attached(mapping(one)) for one in listing(data.get("attachments")))
    pictures = (text_block("image", images=(image,)) for image in images if image is not None)
    parts = (text_block("text", text), *pictures)
    source = "autopilot" if data.get("isAutopilotContinuation") is True else data.get("source")
    if isinstance(source, str) and source not in ("", "user"):
        return Said("context/message", "user", parts, {"source": source[:200]})
    steers = data.get("delivery") == "steering"
    return Said("steering/message" if steers else "user/message", "user", parts)


def _answer(data: dict[str, Any]) -> list[ContentBlock]:
    found = []
    if thought := string(data.get("reasoningText")):
        found.append(text_block("thinking", thought))
    if text := string(data.get("content")):
        found.append(text_block("text", text))
    found += (
        text_block(
            "tool_call",
            id=word(request.get("toolCallId")),
            name=word(request.get("name")),
            input=request.get("arguments"),
        )
        for request in map(mapping, listing(data.get("toolRequests")))
    )
    return found


def _result(data: dict[str, Any]) -> ContentBlock:
    """``content`` is what the model got; ``detailedContent`` is for the screen only."""
    result = mapping(data.get("result"))
    failed = data.get("success") is False
    text = string(result.get("content")) or string(mapping(data.get("error")).get("message"))
    images = (_attached(mapping(one)) for one in listing(result.get("binaryResultsForLlm")))
    return text_block(
        "tool_result",
        text,
        id=word(data.get("toolCallId")),
        is_error=failed or None,
        images=tuple(image for image in images if image is not None),
    )


def _instruction(data: dict[str, Any]) -> Said:
    role: Role = "developer" if data.get("role") == "developer" else "system"
    return Said("context/message", role, (_words(data),), {"source": "system"})


def _notification(data: dict[str, Any]) -> Said:
    return Said("context/message", "user", (_words(data),), {"source": "notification"})


def _delivered(source: str) -> Callable[[dict[str, Any]], Said | None]:
    """Reads a text that was put before the model; some records of the type have none."""

    def read(data: dict[str, Any]) -> Said | None:
        if not word(data.get("content")):
            return None
        return Said("context/message", "user", (_words(data),), {"source": source})

    return read


def _summary(data: dict[str, Any]) -> Said | None:
    if data.get("success") is not True:
        return None
    return Said(
        "context/message", "user", _one(data.get("summaryContent")), {"checkpoint": "agent"}
    )


def _first_message(data: dict[str, Any]) -> Said:
    return Said("context/message", "user", _one(data.get("initialMessage")), {"marker": "clear"})


def _one(text: Any) -> tuple[ContentBlock, ...]:
    said_text = word(text)
    return () if said_text is None else (text_block("text", said_text),)


def _words(data: dict[str, Any]) -> ContentBlock:
    return text_block("context", string(data.get("content")))


def _attached(part: dict[str, Any]) -> Image | None:
    """A picture, its bytes in the record or kept elsewhere."""
    kind = string(part.get("mimeType"))
    if not kind.startswith("image/"):
        return None
    data = string(part.get("data"))
    if data:
        return image_from_base64(data, kind)
    return Image(media_type=kind, size=count(part.get("byteLength")) or 0)


_SURFACE: Mapping[str, Callable[[dict[str, Any]], Said | None]] = {
    "user.message": _user,
    "assistant.message": lambda data: Said("assistant/message", "assistant", tuple(_answer(data))),
    "tool.execution_complete": lambda data: Said("tool/result", "user", (_result(data),)),
    "system.message": _instruction,
    "system.notification": _notification,
    "skill.context_delivered": _delivered("skill"),
    "session.mode_notice_delivered": _delivered("mode"),
    "session.compaction_complete": _summary,
    "session.context_cleared": _first_message,
}
