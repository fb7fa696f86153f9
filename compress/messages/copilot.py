"""What Copilot CLI sends, as far as its log tells: instructions first, then the messages.

The program is closed, so no rule of its own is known: a call without a result stays without one,
thinking stays though its encrypted form is left out on resume.
"""

from __future__ import annotations

from collections.abc import Sequence

from compress.messages import chat
from compress.messages.base import Message, NodeContent

_INSTRUCTS = ("system", "developer")


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """One message a node, those without content left out."""
    messages = chat.render(nodes)
    messages.sort(key=lambda message: message.role not in _INSTRUCTS)
    return [message for message in messages if message.blocks]
