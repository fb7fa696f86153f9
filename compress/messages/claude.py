"""The messages that Claude Code sends for a surface.

Rules, read off the agent's own requests on resume: consecutive nodes of one role are one message;
thinking goes along only where the model that wrote it is the one that the session used last; a
text without text is dropped; a call without a result gets a made-up one right after the last
block of its message.
"""

from __future__ import annotations

from collections.abc import Sequence

from compress.events import ContentBlock, NodeId, Role
from compress.messages.base import Message, NodeContent

UNANSWERED = "[Tool call interrupted: the session ended before a result was written]"
"""The meaning, in our words, of the result that the agent makes up."""

Sent = tuple[Role, list[ContentBlock], list[NodeId]]


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """Nodes in surface order → messages."""
    model = _last_model(nodes)
    answered = {
        block.id
        for node in nodes
        for event in node.events
        for block in event.blocks
        if block.kind == "tool_result"
    }
    messages: list[Sent] = []
    for node in nodes:
        blocks: list[ContentBlock] = []
        seqs: list[NodeId] = []
        for event in node.events:
            foreign = event.model is not None and event.model != model
            sent = [b for b in event.blocks if _is_sent(b, foreign)]
            if sent:
                blocks.extend(sent)
                seqs.append(event.seq)
        if not blocks:
            continue
        role = node.events[0].role or "user"
        _add(messages, role, blocks, seqs)
        missing = [b for b in blocks if b.kind == "tool_call" and b.id not in answered]
        if missing:
            _add(messages, "user", [_made_up(call) for call in missing], [])
    return [Message(role, tuple(blocks), tuple(seqs)) for role, blocks, seqs in messages]


def _last_model(nodes: Sequence[NodeContent]) -> str | None:
    for node in reversed(nodes):
        for event in reversed(node.events):
            if event.role == "assistant" and event.model is not None:
                return event.model
    return None


def _is_sent(block: ContentBlock, foreign: bool) -> bool:
    if block.kind in ("text", "context"):
        return bool(block.text.strip())
    return not (block.kind == "thinking" and foreign)


def _made_up(call: ContentBlock) -> ContentBlock:
    return ContentBlock(kind="synthetic", id=call.id, name=call.name, text=UNANSWERED)


def _add(messages: list[Sent], role: Role, blocks: list[ContentBlock], seqs: list[NodeId]) -> None:
    if messages and messages[-1][0] == role:
        messages[-1][1].extend(blocks)
        messages[-1][2].extend(seqs)
    else:
        messages.append((role, blocks, seqs))
