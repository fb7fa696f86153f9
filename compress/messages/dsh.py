"""What DeepSeek Harness sends: its surface, message for message.

Source: ``deriveEventMessage`` of ``@deepseek-ai/dsh-session``.
"""

from __future__ import annotations

from collections.abc import Sequence

from compress.messages.base import Message, NodeContent


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """One message a node. An empty assistant message only hosts usage, an empty system message
    only holds the head's place: neither is sent."""
    return [
        Message(event.role or "user", event.blocks, (event.seq,))
        for node in nodes
        for event in node.events
        if event.blocks or event.role not in ("assistant", "system")
    ]
