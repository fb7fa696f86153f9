"""Codex' own reconstruction of a history, written plainly and from scratch over raw records.

After openai/codex ``rollout_reconstruction.rs`` and ``history.rs``: scan back for the newest
compaction that outlives the rollbacks, then replay forward. Items are told apart by a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Raw = dict[str, Any]
CONTEXT = ("<environment_context>", "<model_switch>")


def label(item: Raw) -> str:
    """What tells the made items apart: their text, or call id and kind."""
    if item["type"] == "message":
        return "".join(part["text"] for part in item["content"])
    return f"{item['type']}:{item.get('call_id')}"


def is_boundary(item: Raw) -> bool:
    """The user's own words begin a turn."""
    return (
        item["type"] == "message" and item["role"] == "user" and not label(item).startswith(CONTEXT)
    )


def is_context(item: Raw) -> bool:
    return item["type"] == "message" and label(item).startswith(CONTEXT)


@dataclass
class _Segment:
    turn_id: str | None = None
    spoken: bool = False
    base: int | None = None


@dataclass
class _Scan:
    pending: int = 0
    base: int | None = None
    segment: _Segment | None = field(default=None)

    def open(self) -> _Segment:
        if self.segment is None:
            self.segment = _Segment()
        return self.segment

    def close(self) -> None:
        segment, self.segment = self.segment, None
        if segment is None:
            return
        if self.pending:
            self.pending -= segment.spoken
        elif self.base is None:
            self.base = segment.base


def surviving_base(rows: Sequence[Raw]) -> int | None:
    """Index of the newest compaction with a stated history that no rollback took back."""
    scan = _Scan()
    for index in range(len(rows) - 1, -1, -1):
        kind, payload = rows[index]["type"], rows[index]["payload"]
        if kind == "compacted":
            segment = scan.open()
            if segment.base is None and "replacement_history" in payload:
                segment.base = index
        elif kind == "response_item":
            scan.open().spoken |= is_boundary(payload)
        elif kind == "event_msg" and payload["type"] == "thread_rolled_back":
            scan.pending += payload["num_turns"]
        elif kind == "event_msg" and payload["type"] == "user_message":
            scan.open().spoken = True
        elif kind == "event_msg" and payload["type"] == "task_complete":
            segment = scan.open()
            segment.turn_id = segment.turn_id or payload["turn_id"]
        elif kind == "event_msg" and payload["type"] == "task_started":
            segment = scan.segment
            if segment is not None and segment.turn_id in (None, payload["turn_id"]):
                scan.close()
    scan.close()
    return scan.base


def reconstruct(rows: Sequence[Raw]) -> list[str]:
    """The labels of the items that stand."""
    base = surviving_base(rows)
    items: list[Raw] = []
    if base is not None:
        items = list(rows[base]["payload"]["replacement_history"])
    for row in rows[0 if base is None else base + 1 :]:
        payload = row["payload"]
        if row["type"] == "response_item":
            items.append(payload)
        elif row["type"] == "compacted" and "replacement_history" not in payload:
            words = [item for item in items if is_boundary(item)]
            summary = payload["message"] or "(no summary available)"
            content = [{"type": "input_text", "text": summary}]
            items = [*words, {"type": "message", "role": "user", "content": content}]
        elif payload.get("type") == "thread_rolled_back":
            items = _dropped(items, payload["num_turns"])
    return [label(item) for item in items]


def _dropped(items: list[Raw], turns: int) -> list[Raw]:
    starts = [i for i, item in enumerate(items) if is_boundary(item)]
    if turns == 0 or not starts:
        return items
    cut = starts[0] if turns >= len(starts) else starts[-turns]
    while cut > starts[0] and is_context(items[cut - 1]):
        cut -= 1
    return items[:cut]
