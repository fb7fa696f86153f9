"""``derive_messages``: the nodes of a surface, rendered as their agent would send them."""

from __future__ import annotations

from collections.abc import Sequence

from compress.messages import (
    chat,
    claude,
    cline,
    codex,
    copilot,
    dsh,
    gemini,
    opencode,
    openhands,
    pi,
)
from compress.messages.base import Message, NodeContent, Renderer

RENDERERS: dict[str, Renderer] = {
    "atif": chat.render,
    "batch": chat.render,
    "chat": chat.render,
    "claude": claude.render,
    "cline": cline.render,
    "codex": codex.render,
    "copilot": copilot.render,
    "dsh": dsh.render,
    "gemini": gemini.render,
    "opencode": opencode.render,
    "openhands": openhands.render,
    "pi": pi.render,
    "sweagent": chat.render,
}


def derive_messages(nodes: Sequence[NodeContent], agent: str) -> list[Message]:
    """The message list that ``agent`` would send for these nodes.

    Raises ``KeyError`` for an agent without a renderer.
    """
    return RENDERERS[agent](nodes)


__all__ = ["RENDERERS", "Message", "NodeContent", "Renderer", "derive_messages"]
