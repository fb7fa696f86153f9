"""The envelope of a rollout's records, and their content from the record alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compress.events import ContentBlock
from storage.sources.codex_items import (
    Item,
    inter_agent_item,
    item_of,
    looks_like_summary,
    summary_item,
)
from storage.sources.draft import text_block, word
from storage.sources.plan_items import plan_items
from storage.sources.values import listing, mapping

NO_SUMMARY = "(no summary available)"
"""What Codex puts where a legacy compaction has no text."""

OWN_SUMMARY_START = "<checkpoint>\nThis is a checkpoint, not a request."
"""How a summary of Ullage's begins in a copy that it made."""

RECORD_TYPES = frozenset(
    {
        "session_meta",
        "response_item",
        "compacted",
        "event_msg",
        "turn_context",
        "inter_agent_communication",
    }
)
SILENT_RECORD_TYPES = frozenset(
    {
        "inter_agent_communication_metadata",
        "world_state",
        "token_usage_record",
        "retained_context",
        "security_risk_score",
        "realtime_item",
        "rollout_reference",
    }
)
"""Known, and without bearing on what is shown."""

KNOWN_TYPES = RECORD_TYPES | SILENT_RECORD_TYPES

SILENT_EVENTS = frozenset(
    {
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "background_event",
        "collab_agent_interaction_end",
        "collab_agent_spawn_end",
        "collab_close_end",
        "collab_resume_end",
        "collab_waiting_end",
        "context_compacted",
        "deprecation_notice",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "entered_review_mode",
        "exec_command_begin",
        "exec_command_end",
        "exited_review_mode",
        "guardian_assessment",
        "guardian_warning",
        "hook_completed",
        "hook_started",
        "image_generation_begin",
        "image_generation_end",
        "item_started",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "model_reroute",
        "model_verification",
        "patch_apply_begin",
        "patch_apply_end",
        "plan_update",
        "raw_response_item",
        "session_configured",
        "shutdown_complete",
        "sub_agent_activity",
        "terminal_interaction",
        "thread_goal_updated",
        "thread_settings_applied",
        "turn_diff",
        "undo_completed",
        "undo_started",
        "view_image_tool_call",
        "warning",
        "web_search_begin",
        "web_search_end",
    }
)
"""Copies for display of what ``response_item`` records hold, and notices that no model sees
(openai/codex ``protocol/src/protocol.rs``, ``EventMsg``)."""

APPROVAL_EVENTS = frozenset(
    {
        "apply_patch_approval_request",
        "elicitation_request",
        "exec_approval_request",
        "request_permissions",
        "request_user_input",
    }
)
"""The agent waits for a person. Newer versions do not write these."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a ``compacted`` record states, from the record alone."""

    summary: Item | None
    """The item that holds the summary; ``None``: nothing is left of the conversation."""
    before: tuple[Item, ...] = ()
    after: tuple[Item, ...] = ()
    """Kept copies, before and after the summary."""
    legacy: bool = False
    """The record holds the summary only; the user's words stay by a rule."""
    summarised: bool = True
    """False where no item is a summary: the one in its place is a copy like the others."""


def enveloped(value: Mapping[str, Any]) -> tuple[str | None, Any]:
    """(record type, payload). The oldest files have bare items, and a header without a type."""
    if "payload" in value:
        return word(value.get("type")), value["payload"]
    kind = word(value.get("type"))
    if kind is not None and kind not in KNOWN_TYPES:
        return "response_item", value
    if kind is None and isinstance(value.get("id"), str) and "timestamp" in value:
        return "session_meta", value
    return (kind, value) if kind is not None or "record_type" not in value else ("world_state", {})


def compacted_of(payload: Mapping[str, Any]) -> Compacted:
    """The items of a compaction. The summary is the encrypted one, else the newest message that
    begins like one, else the last item where it is a user's message."""
    history = payload.get("replacement_history")
    if not isinstance(history, list):
        return Compacted(summary_item(word(payload.get("message")) or NO_SUMMARY), legacy=True)
    items = [item for part in history if (item := item_of(mapping(part))) is not None]
    items = [item for item in items if item.sent]
    if not items:
        return Compacted(None)
    at = next((i for i in range(len(items) - 1, -1, -1) if _holds_summary(items[i])), None)
    summarised = at is not None or items[-1].type == "user/message"
    at = len(items) - 1 if at is None else at
    before, after = tuple(items[:at]), tuple(items[at + 1 :])
    return Compacted(items[at], before, after, summarised=summarised)


def _holds_summary(item: Item) -> bool:
    if not item.blocks:
        return False
    first = item.blocks[0]
    if item.role == "user":
        return looks_like_summary(first.text) or first.text.startswith(OWN_SUMMARY_START)
    return first.kind == "opaque" and "compaction" in (first.name or "")


def events_of_item(item: Item) -> list[tuple[ContentBlock, ...]]:
    """The content of each event that an item becomes: one a block, at least one."""
    return [(block,) for block in item.blocks] or [()]


def blocks_of(value: Any) -> list[tuple[ContentBlock, ...]]:
    """The content of each event of a record, in the order in which the reader makes them."""
    kind, payload = enveloped(value) if isinstance(value, dict) else (None, None)
    if not isinstance(payload, dict):
        return []
    if kind == "response_item":
        item = item_of(payload)
        return [] if item is None else events_of_item(item)
    if kind == "inter_agent_communication":
        return events_of_item(inter_agent_item(payload))
    if kind == "event_msg":
        return [plan_blocks(payload)]
    if kind == "compacted":
        found = compacted_of(payload)
        items = [item for item in (found.summary, *found.before, *found.after) if item]
        # Two events stand before the content: compact/start and compact/summary.
        return [(), (), *(blocks for item in items for blocks in events_of_item(item))]
    return []


def plan_of(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The artifact of a finished ``Plan`` item: a plan that plan mode proposes. Its text is the
    event's content."""
    text = _proposed(payload)
    if text is None:
        return None
    meta = {"kind": "plan", "items": plan_items(text), "explanation": text[:2000]}
    return {**meta, "document": {}}


def _proposed(payload: Mapping[str, Any]) -> str | None:
    item = mapping(payload.get("item"))
    return word(item.get("text")) if item.get("type") in ("Plan", "plan") else None


def plan_blocks(payload: Mapping[str, Any]) -> tuple[ContentBlock, ...]:
    """The text of a proposed plan, as content."""
    text = _proposed(payload) if payload.get("type") == "item_completed" else None
    return () if text is None else (text_block("text", text),)


def parent_of(payload: Mapping[str, Any]) -> tuple[str, str] | None:
    """(relation, native id of the session that this one came from)."""
    fork = word(payload.get("forked_from_id"))
    source = mapping(mapping(payload.get("source")).get("subagent"))
    spawned = [mapping(part) for part in source.values()]
    parents = [payload.get("parent_thread_id"), *(part.get("parent_thread_id") for part in spawned)]
    parent = next((found for value in parents if (found := word(value))), None)
    if parent is not None:
        return "subagent", parent
    return ("fork", fork) if fork is not None else None


def text_of_error(payload: Mapping[str, Any]) -> str:
    """What an error record says, cut to a line that can be shown."""
    return (word(payload.get("message")) or "")[:500]


def question_of(payload: Mapping[str, Any]) -> str:
    """What a person is asked, in a line."""
    command = payload.get("command")
    words = [part for part in listing(command) if isinstance(part, str)]
    return (" ".join(words) or word(payload.get("reason")) or "")[:500]
