"""What Gemini CLI sends when it resumes a session, before the new prompt.

Rules of google-gemini/gemini-cli 0.61 (``geminiChat.ts``): answers that hold an empty part are not
sent, and neither are those that follow or precede one directly; thoughts are not sent; consecutive
turns of one role are one. A call without a result stays without one.

Left out: the note that a response was interrupted, which the CLI puts between results at the very
end and the next prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from compress.events import ContentBlock, NodeId, Role
from compress.messages.base import Message, NodeContent


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """Nodes in surface order → messages, each of the user's or the model's."""
    messages: list[tuple[Role, list[ContentBlock], list[NodeId]]] = []
    for role, run in groupby(nodes, _role):
        turns = list(run)
        if role == "assistant" and not all(map(_is_valid, turns)):
            continue
        for node in turns:
            for event in node.events:
                sent = [block for block in event.blocks if block.kind != "thinking"]
                if not sent:
                    continue
                if not messages or messages[-1][0] != role:
                    messages.append((role, [], []))
                messages[-1][1].extend(sent)
                messages[-1][2].append(event.seq)
    return [Message(role, tuple(blocks), tuple(seqs)) for role, blocks, seqs in messages]


def _role(node: NodeContent) -> Role:
    return "assistant" if node.events[0].role == "assistant" else "user"


def _is_valid(node: NodeContent) -> bool:
    return not any(_is_empty(block) for event in node.events for block in event.blocks)


def _is_empty(block: ContentBlock) -> bool:
    """A text without text, or a part without fields. One with a signature is not empty."""
    if block.signature is not None:
        return False
    return (block.kind == "text" and not block.text) or (
        block.kind == "opaque" and block.name is None
    )
