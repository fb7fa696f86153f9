"""Codex: one message for each response item.

Rules of openai/codex ``core/src/context_manager/normalize.rs``: a call without an output is
answered by ``aborted`` right after it; an output without a call is not sent. The words that a
legacy compaction kept are sent without their images, cut where the budget ended
(``core/src/compact.rs`` and ``utils/string/src/truncate.rs``; Codex 0.171 observed).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from compress.events import ContentBlock, NodeId
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
            blocks = _words(blocks, rebuilt[node.node])
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


def _rebuilt(nodes: Sequence[NodeContent]) -> Mapping[NodeId, Sequence[int]]:
    """Which nodes the newest legacy compaction made anew, and how often it cut each to what."""
    for node in reversed(nodes):
        listed = node.events[0].meta.get("rebuilt")
        if isinstance(listed, list | tuple):
            return dict(listed)
    return {}


def _words(blocks: Sequence[ContentBlock], cuts: Sequence[int]) -> tuple[ContentBlock, ...]:
    """The texts of a message, without its images, cut in the middle."""
    texts = [block.text for block in blocks if block.kind == "text"] or [""]
    for tokens in cuts:
        texts = cut_middle(texts, tokens)
    return tuple(ContentBlock(kind="text", text=text) for text in texts)


def cut_middle(texts: Sequence[str], tokens: int) -> list[str]:
    """The texts without their middle: half of the budget, four bytes a token, from each end; a
    text of its own says how many tokens are gone."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    budget = tokens * _BYTES_PER_TOKEN
    if size <= budget:
        return list(texts)
    removed = -(-(size - budget) // _BYTES_PER_TOKEN)
    head = _first_bytes(texts, budget // 2)
    tail = [text[::-1] for text in _first_bytes([t[::-1] for t in texts[::-1]], -(-budget // 2))]
    return [*head, f"…{removed} tokens truncated…", *tail[::-1]]


def _first_bytes(texts: Sequence[str], budget: int) -> list[str]:
    """The texts up to so many bytes, the last one cut between two characters."""
    found: list[str] = []
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > budget:
            cut = data[:budget].decode("utf-8", "ignore")
            return [*found, cut] if cut else found
        found.append(text)
        budget -= len(data)
    return found
