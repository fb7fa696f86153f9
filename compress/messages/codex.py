"""Codex: one message for each response item.

Rules of openai/codex ``core/src/context_manager/normalize.rs``: a call without an output is
answered by ``aborted`` right after it; an output without a call is not sent. The words that a
legacy compaction kept are sent as one text each, cut where the budget ended
(``core/src/compact.rs`` and ``utils/string/src/truncate.rs``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compress.events import ContentBlock
from compress.messages.base import Message, NodeContent

ABORTED = "aborted"
_BYTES_PER_TOKEN = 4


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """The items that Codex would send for these nodes."""
    calls, results = _ids(nodes, "tool_call"), _ids(nodes, "tool_result")
    called, answered = set(calls), set(results)
    # Without an id nothing tells pairs apart but their order.
    nameless = Counter({"call": results.count(""), "result": calls.count("")})
    rebuilt = _rebuilt(nodes)
    messages: list[Message] = []
    for node in nodes:
        blocks = tuple(block for event in node.events for block in event.blocks)
        seqs = tuple(event.seq for event in node.events)
        first = node.events[0]
        if node.node in rebuilt:
            blocks = (_words(blocks, rebuilt[node.node]),)
        if first.type == "tool/result" and first.meta.get("source") != "server":
            blocks = tuple(b for b in blocks if _paired(b, called, nameless, "result"))
        if blocks:
            messages.append(Message(first.role or "user", blocks, seqs))
        messages.extend(
            Message("user", (_aborted(block),), ())
            for block in blocks
            if block.kind == "tool_call"
            and block.id is not None
            and not _paired(block, answered, nameless, "call")
        )
    return messages


def _ids(nodes: Sequence[NodeContent], kind: str) -> list[str]:
    return [
        block.id or ""
        for node in nodes
        for event in node.events
        for block in event.blocks
        if block.kind == kind
    ]


def _paired(block: ContentBlock, others: Iterable[str], nameless: Counter[str], side: str) -> bool:
    if block.id:
        return block.id in others
    nameless[side] -= 1
    return nameless[side] >= 0


def _aborted(call: ContentBlock) -> ContentBlock:
    return ContentBlock(kind="synthetic", id=call.id, name=call.name, text=ABORTED)


def _rebuilt(nodes: Sequence[NodeContent]) -> Mapping[Any, int | None]:
    """Which nodes the newest legacy compaction made anew, and to how many tokens it cut them."""
    for node in reversed(nodes):
        listed = node.events[0].meta.get("rebuilt")
        if isinstance(listed, list | tuple):
            return dict(listed)
    return {}


def _words(blocks: Sequence[ContentBlock], tokens: int | None) -> ContentBlock:
    text = "".join(block.text for block in blocks if block.kind == "text")
    if tokens is not None:
        text = truncate_middle(text, tokens)
    return ContentBlock(kind="text", text=text)


def truncate_middle(text: str, tokens: int) -> str:
    """The text without its middle: half of the budget, four bytes a token, from each end."""
    data = text.encode("utf-8", "surrogatepass")
    budget = tokens * _BYTES_PER_TOKEN
    if len(data) <= budget:
        return text
    removed = -(-(len(data) - budget) // _BYTES_PER_TOKEN)
    left = data[: budget // 2].decode("utf-8", "ignore")
    right = data[len(data) - (budget - budget // 2) :].decode("utf-8", "ignore")
    return f"{left}…{removed} tokens truncated…{right}"
