"""What OpenHands sends when it loads a conversation again.

Rules of OpenHands/software-agent-sdk 1.58 (``View.enforce_properties``, ``events_to_messages``,
``Message.to_chat_dict``): calls and results without the other are not sent, and neither are the
other calls of their answer, nor the rest of their loop of tools, where its thinking is signed; of
two results for a call the first counts; messages of the user's that follow each other are one;
beside calls a text that says nothing is left out. Thinking without a signature goes to those models
only that want it back.

Conversations from before the SDK by those of openhands-ai 0.62 (``ConversationMemory``): an answer
with calls comes where the last of its results does, followed by these; of the user's messages that
follow each other all but the first begin with two newlines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compress.events import ContentBlock, NodeId
from compress.messages.base import Message, NodeContent

_WANT_REASONING = (
    "kimi-k3",
    "kimi-k2-thinking",
    "kimi-k2.5",
    "kimi-k2.6",
    "openrouter/minimax-m2",
    "deepseek/deepseek-reasoner",
    "deepseek/deepseek-v4-pro",
    "deepseek/deepseek-v4-flash",
)
"""Models to which the agent sends their own reasoning again (``SEND_REASONING_CONTENT_MODELS``)."""


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """Nodes in surface order → messages."""
    if any(node.events[0].meta.get("legacy") for node in nodes):
        return list(_spaced(_in_order_of_results(nodes)))
    return _merged(_whole(nodes))


def _merged(nodes: Sequence[NodeContent]) -> list[Message]:
    messages: list[Message] = []
    plain = False
    for node in nodes:
        message = _message(node)
        was_plain, plain = plain, message.role == "user" and not _results(node)
        if plain and was_plain:
            last = messages.pop()
            message = Message("user", last.blocks + message.blocks, last.seqs + message.seqs)
        messages.append(message)
    return messages


def _message(node: NodeContent) -> Message:
    blocks = [block for event in node.events for block in event.blocks]
    model = node.events[0].model or ""
    if not any(name in model for name in _WANT_REASONING):
        blocks = [b for b in blocks if b.kind != "thinking" or b.signature is not None]
    if _calls(node):
        blocks = [b for b in blocks if b.kind != "text" or b.text.strip()]
    seqs = tuple(event.seq for event in node.events)
    return Message(node.events[0].role or "user", tuple(blocks), seqs)


def _whole(nodes: Sequence[NodeContent]) -> list[NodeContent]:
    """The nodes that are left once nothing is sent in part."""
    left = list(nodes)
    while dropped := _broken(left):
        left = [node for node in left if node.node not in dropped]
    return left


def _broken(nodes: Sequence[NodeContent]) -> set[NodeId]:
    calls = {call for node in nodes for call in _calls(node)}
    answered: set[str | None] = set()
    dropped: set[NodeId] = set()
    for node in nodes:
        for result in _results(node):
            if result in answered or result not in calls:
                dropped.add(node.node)
            answered.add(result)
    dropped.update(node.node for node in nodes if not answered.issuperset(_calls(node)))
    loops = {_loop(node) for node in nodes if node.node in dropped} - {None}
    return dropped | {node.node for node in nodes if _loop(node) in loops}


def _loop(node: NodeContent) -> object:
    return node.events[0].meta.get("loop")


def _calls(node: NodeContent) -> list[str | None]:
    return [b.id for event in node.events for b in event.blocks if b.kind == "tool_call"]


def _results(node: NodeContent) -> list[str | None]:
    return [b.id for event in node.events for b in event.blocks if b.kind == "tool_result"]


def _in_order_of_results(nodes: Sequence[NodeContent]) -> Iterator[Message]:
    results: dict[str | None, NodeContent] = {}
    waiting: dict[str | None, list[int]] = {}
    """Call that has no result → the answers, by their places, that are looked at once it has."""
    left: dict[int, list[str | None]] = {}
    """Answer → its calls that are still to be found answered, backwards."""
    for place, node in enumerate(nodes):
        calls, answers = _calls(node), _results(node)
        looked: list[int] = []
        if calls:
            if len(calls) >= int(node.events[0].meta.get("calls") or 1):
                left[place] = calls[::-1]
                looked = [place]
        elif answers:
            results.update((answer, node) for answer in answers)
            looked = sorted(at for call in set(answers) for at in waiting.pop(call, ()))
        else:
            yield _message(node)
        for at in looked:
            while left[at] and left[at][-1] in results:
                left[at].pop()
            # A result that was there may have gone to another answer meanwhile.
            made = _calls(nodes[at])
            left[at] = left[at] or [call for call in made[::-1] if call not in results]
            if left[at]:
                waiting.setdefault(left[at][-1], []).append(at)
                continue
            del left[at]
            yield _message(nodes[at])
            yield from (_message(results.pop(call)) for call in dict.fromkeys(made))


def _spaced(messages: Iterator[Message]) -> Iterator[Message]:
    was_user = False
    for message in messages:
        is_user = message.role == "user" and not any(
            b.kind == "tool_result" for b in message.blocks
        )
        if is_user and was_user:
            yield Message(message.role, _after_newlines(message.blocks), message.seqs)
        else:
            yield message
        was_user = is_user


def _after_newlines(blocks: Sequence[ContentBlock]) -> tuple[ContentBlock, ...]:
    at = next((i for i, b in enumerate(blocks) if b.kind in ("text", "context")), None)
    if at is None:
        return tuple(blocks)
    first = blocks[at].model_copy(update={"text": f"\n\n{blocks[at].text}"})
    return (*blocks[:at], first, *blocks[at + 1 :])
