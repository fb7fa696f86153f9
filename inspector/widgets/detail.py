"""What the detail pane says of one node: pure functions from a report to sections."""

from __future__ import annotations

import json
from datetime import tzinfo
from typing import Any

from inspector.reports import EventDetail, MessageBlock
from inspector.widgets import figures
from inspector.widgets.surface_list import label_of
from inspector.widgets.text_pane import Section

_TITLES = {
    "thinking": "thinking",
    "tool_result": "result",
    "image": "image",
    "opaque": "opaque",
    "context": "injected context",
    "synthetic": "made up by the agent for an unanswered call",
}
_TONES = {"thinking": "thinking", "opaque": "muted", "synthetic": "muted"}


def sections_of(
    detail: EventDetail, window: int | None, raw: bool, zone: tzinfo | None
) -> list[Section]:
    """Facts first, then the content, rendered or as the log has it."""
    facts = [Section(_facts(detail, window), "muted")]
    facts += [Section(sentence, "accent") for sentence in detail.operations]
    if detail.sub_agent is not None:
        facts.append(Section(f"told by sub-agent {detail.sub_agent}: Enter opens it", "accent"))
    if raw:
        return [*facts, Section(detail.raw, "text", "raw record")]
    content = [section for block in detail.blocks for section in _block(block)]
    shadowed = detail.node.checkpoint
    if shadowed is not None:
        names = ", ".join(figures.event_name(seq) for seq in shadowed.shadowed_seqs[:200])
        more = f" and {len(shadowed.shadowed_seqs) - 200:,} more" * (
            len(shadowed.shadowed_seqs) > 200
        )
        content.append(Section(names + more, "muted", "stands for"))
    return [*facts, *content, Section(_origin(detail, zone), "muted", "where it comes from")]


def _facts(detail: EventDetail, window: int | None) -> str:
    node = detail.node
    _, label, _ = label_of(node)
    kind = node.type if label in node.type else f"{node.type} · {label}"
    share = f" · {figures.percent(node.tokens / window)} of the window" if window else ""
    first = f"{figures.event_name(node.seq)} · {kind} · {node.tokens:,} counted{share}"
    states = [
        words
        for present, words in (
            (node.pinned, "pinned"),
            (node.restored, "put back by the plan because it is pinned"),
            (node.is_error, "an error"),
            (node.orphan, "without its counterpart: a call or a result is missing"),
            (node.receipt, "content cleared, a receipt stands in its place"),
        )
        if present
    ]
    return "\n".join([first, *([" · ".join(states)] if states else [])])


def _origin(detail: EventDetail, zone: tzinfo | None) -> str:
    node = detail.node
    place = figures.moment(node.time, zone)
    if node.turn is not None:
        place += f" · turn {node.turn}"
    if node.step is not None:
        place += f" · step {node.step}"
    cost = f"Each further request sends these {node.tokens:,} tokens again."
    return "\n".join([detail.provenance, place, cost])


def _block(block: MessageBlock) -> list[Section]:
    if block.kind == "tool_call":
        return [Section("", "text", f"call {block.name or ''}"), *_input(block.input)]
    title = _TITLES.get(block.kind, "")
    if block.kind == "tool_result" and block.name:
        title = f"result of {block.name}"
    if block.kind == "text":
        return [Section(""), Section(block.text)]
    return [Section(block.text, _TONES.get(block.kind, "text"), title)]


def _input(value: Any) -> list[Section]:
    """A call's input with its strings as they read, not as JSON escapes them."""
    if isinstance(value, str):
        return [Section(value, "tool_calls")]
    if isinstance(value, dict):
        return [Section(f"{name}: {_plain(part)}", "tool_calls") for name, part in value.items()]
    return [Section(_plain(value), "tool_calls")]


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return "\n" + value if "\n" in value else value
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
