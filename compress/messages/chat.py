"""What a plain chat log sends: its list, as it stands.

A call without a result is not repaired, and neither is a result without a call: the list is the
request.
"""

from __future__ import annotations

from collections.abc import Sequence

from compress.messages.base import Message, NodeContent


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """One message a node, its blocks in the order of the log."""
    return [
        Message(
            node.events[0].role or "user",
            tuple(block for event in node.events for block in event.blocks),
            tuple(event.seq for event in node.events),
        )
        for node in nodes
    ]
