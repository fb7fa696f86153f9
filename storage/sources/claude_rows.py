"""One record of Claude Code's log → its place in the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storage.sources.claude_graph import Row
from storage.sources.claude_records import content_of
from storage.sources.values import mapping


def row_of(uuid: str, value: Mapping[str, Any]) -> Row:
    """The row of a record with an id; its nodes are still to be named."""
    kind = value.get("type")
    group = mapping(value.get("message")).get("id") if kind == "assistant" else None
    row = link_of(uuid, value)
    row.message = kind in ("user", "assistant")
    row.group = group if isinstance(group, str) and group else None
    row.result = kind == "user" and any(_is_result(item) for item in content_of(value))
    if kind == "system" and value.get("subtype") == "compact_boundary":
        logical = value.get("logicalParentUuid")
        row.boundary = True
        row.continues = logical if isinstance(logical, str) else None
        row.segment = _segment(value)
    return row


def link_of(uuid: str, value: Mapping[str, Any]) -> Row:
    """A row that sends nothing: paths may pass through it."""
    parent = value.get("parentUuid")
    return Row(uuid, parent if isinstance(parent, str) and parent else None)


def _is_result(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "tool_result"


def _segment(value: Mapping[str, Any]) -> tuple[str, str, str] | None:
    kept = mapping(mapping(value.get("compactMetadata")).get("preservedSegment"))
    head, anchor, tail = (kept.get(name) for name in ("headUuid", "anchorUuid", "tailUuid"))
    if isinstance(head, str) and isinstance(anchor, str) and isinstance(tail, str):
        return head, anchor, tail
    return None
