"""pi: ``convertToLlm`` and ``transformMessages`` over the nodes.

Rules of pi's ``pi-ai/api/transform-messages.js``: answers that broke off are not sent; thinking
of another model than the last one's is not sent; a call without a result is answered before the
next message of the user's or the model's; a system message between a call and its results waits.
"""

from __future__ import annotations

from collections.abc import Sequence

from compress.events import ContentBlock, SessionEvent
from compress.messages.base import Message, NodeContent

NO_RESULT = "No result provided"
_BROKEN_OFF = ("error", "aborted")

_Model = tuple[object, object, object]


class _Transcript:
    """The messages so far, and the calls that wait for their results."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._calls: list[ContentBlock] = []
        self._answered: set[str | None] = set()
        self._held: list[Message] = []

    def close(self) -> None:
        """Answer the calls that nothing answered."""
        self.messages.extend(
            Message("user", (_no_result(call),), ())
            for call in self._calls
            if call.id not in self._answered
        )
        self._calls, self._answered = [], set()
        self.messages.extend(self._held)
        self._held = []

    def add_answer(self, message: Message) -> None:
        """A message of the model's."""
        self.messages.append(message)
        calls = [block for block in message.blocks if block.kind == "tool_call"]
        if calls:
            self._calls, self._answered = calls, set()

    def add_result(self, message: Message) -> None:
        """A tool's result."""
        self._answered.update(block.id for block in message.blocks)
        self.messages.append(message)

    def add_system(self, message: Message) -> None:
        """A system message; one that stands between a call and its results waits for them."""
        (self._held if self._calls else self.messages).append(message)


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """The messages that pi would send for these nodes."""
    last = next(
        (_model(node.events[0]) for node in reversed(nodes) if _is_answer(node)),
        None,
    )
    transcript = _Transcript()
    for node in nodes:
        first = node.events[0]
        blocks = tuple(block for event in node.events for block in event.blocks)
        seqs = tuple(event.seq for event in node.events)
        if _is_answer(node):
            transcript.close()
            if first.meta.get("stop") in _BROKEN_OFF:
                continue
            sent = tuple(b for b in blocks if _is_sent(b, same_model=_model(first) == last))
            transcript.add_answer(Message("assistant", sent, seqs))
        elif first.type == "tool/result":
            transcript.add_result(Message("user", _result(blocks, first), seqs))
        elif first.role == "system":
            transcript.add_system(Message("system", blocks, seqs))
        else:
            transcript.close()
            transcript.messages.append(Message("user", blocks, seqs))
    transcript.close()
    return [message for message in transcript.messages if message.blocks]


def _is_answer(node: NodeContent) -> bool:
    return node.events[0].type == "assistant/message"


def _model(event: SessionEvent) -> _Model:
    return event.meta.get("provider"), event.meta.get("api"), event.model


def _is_sent(block: ContentBlock, *, same_model: bool) -> bool:
    if block.kind != "thinking":
        return True
    if not same_model:
        return False
    return bool(block.signature or block.name == "redacted" or block.text.strip())


def _result(blocks: tuple[ContentBlock, ...], event: SessionEvent) -> tuple[ContentBlock, ...]:
    """An edited result was logged without the id of its call: the event's facts have it."""
    if "call_id" not in event.meta or any(block.kind == "tool_result" for block in blocks):
        return blocks
    return (
        ContentBlock(
            kind="tool_result",
            id=event.meta["call_id"],
            name=event.meta.get("tool"),
            text="".join(block.text for block in blocks if block.kind == "text"),
            images=tuple(image for block in blocks for image in block.images),
        ),
    )


def _no_result(call: ContentBlock) -> ContentBlock:
    return ContentBlock(kind="synthetic", id=call.id, name=call.name, text=NO_RESULT, is_error=True)
