"""What opencode sends when it resumes a session.

Rules of ``MessageV2.toModelMessages`` (1.18): of a step of the model's, its blocks and then the
results of its calls; a call without a result is told to have been interrupted; thinking of another
model than the one in use goes as a text.

Left out: media in results, which opencode sends in a message of their own where the provider takes
none in a result; they stay with their result.
"""

from __future__ import annotations

from collections.abc import Sequence

from compress.events import ContentBlock
from compress.messages.base import Message, NodeContent

INTERRUPTED = "[Tool execution was interrupted]"


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """One message a node; made-up results follow those of their step."""
    model = next((m for node in reversed(nodes) if (m := _model(node)) is not None), None)
    messages: list[Message] = []
    waiting: dict[str | None, ContentBlock] = {}
    for node in nodes:
        is_result = node.events[0].type == "tool/result"
        if not is_result:
            _close(messages, waiting)
        foreign = _model(node) not in (None, model)
        blocks = tuple(
            sent
            for event in node.events
            for block in event.blocks
            if (sent := _sent(block, foreign=foreign)) is not None
        )
        for block in blocks:
            if block.kind == "tool_call":
                waiting[block.id] = block
            elif block.kind == "tool_result":
                waiting.pop(block.id, None)
        if blocks:
            seqs = tuple(event.seq for event in node.events)
            messages.append(Message(node.events[0].role or "user", blocks, seqs))
    _close(messages, waiting)
    return messages


def _close(messages: list[Message], waiting: dict[str | None, ContentBlock]) -> None:
    for call in waiting.values():
        made_up = ContentBlock(
            kind="synthetic", id=call.id, name=call.name, text=INTERRUPTED, is_error=True
        )
        messages.append(Message("user", (made_up,), ()))
    waiting.clear()


def _model(node: NodeContent) -> str | None:
    return next((event.model for event in node.events if event.model is not None), None)


def _sent(block: ContentBlock, *, foreign: bool) -> ContentBlock | None:
    if block.kind in ("text", "context") and not block.text:
        return None
    if block.kind == "thinking" and foreign:
        return ContentBlock(kind="text", text=block.text) if block.text.strip() else None
    return block
