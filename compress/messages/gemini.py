"""What Gemini CLI sends when it resumes a session, before the new prompt.

Rules of google-gemini/gemini-cli 0.61 (``geminiChat.ts``): answers that hold an empty part are not
sent, and neither are those that follow or precede one directly; thoughts and texts without text are
not sent; consecutive turns of one role are one; ids go without the tool's name that the CLI put
before them (``stripToolCallIdPrefixes``). A call without a result stays without one.

Left out: the note that a response was interrupted, which the CLI puts between results at the very
end and the next prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from compress.events import ContentBlock, NodeId, Role
from compress.messages.base import Message, NodeContent

SESSION_CONTEXT = "session_context"
"""Meta ``source`` of what the CLI tells the model of date, machine and folders."""


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """Nodes in surface order → messages, each of the user's or the model's."""
    messages: list[tuple[Role, list[ContentBlock], list[NodeId]]] = []
    for node in _valid_ones(nodes):
        role = _role(node)
        for event in node.events:
            sent = [_sent(block) for block in event.blocks if _is_sent(block)]
            if not sent:
                continue
            if not messages or messages[-1][0] != role:
                messages.append((role, [], []))
            messages[-1][1].extend(sent)
            messages[-1][2].append(event.seq)
    return [Message(role, tuple(blocks), tuple(seqs)) for role, blocks, seqs in messages]


def _valid_ones(nodes: Sequence[NodeContent]) -> list[NodeContent]:
    """Without the runs of answers in which one is not valid. A session's own context, of which a
    resume sends a new one, parts none."""
    own = [node for node in nodes if node.events[0].meta.get("source") != SESSION_CONTEXT]
    dropped: set[NodeId] = set()
    for role, run in groupby(own, _role):
        turns = list(run)
        if role == "assistant" and not all(map(_is_valid, turns)):
            dropped.update(node.node for node in turns)
    return [node for node in nodes if node.node not in dropped]


def _role(node: NodeContent) -> Role:
    return "assistant" if node.events[0].role == "assistant" else "user"


def _is_sent(block: ContentBlock) -> bool:
    return block.kind != "thinking" and (block.kind != "text" or bool(block.text))


def _sent(block: ContentBlock) -> ContentBlock:
    name = f"{(block.name or '').strip()}__"
    if block.kind not in ("tool_call", "tool_result") or not (block.id or "").startswith(name):
        return block
    return block.model_copy(update={"id": (block.id or "").removeprefix(name)})


def _is_valid(node: NodeContent) -> bool:
    return not any(_is_empty(block) for event in node.events for block in event.blocks)


def _is_empty(block: ContentBlock) -> bool:
    """A text without text, or a part without fields. One with a signature is not empty."""
    if block.signature is not None:
        return False
    return (block.kind == "text" and not block.text) or (
        block.kind == "opaque" and block.name is None
    )
