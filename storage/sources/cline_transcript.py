"""The messages of a Cline conversation, and which of their nodes it sends."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from storage.sources.cline_session import Node

_FIRST = 2
"""Messages at the beginning that a task never leaves out."""


class Message(NamedTuple):
    """One message of the transcript."""

    role: str
    nodes: list[Node]


class Transcript:
    """All messages by their index."""

    def __init__(self) -> None:
        self.messages: dict[int, Message] = {}
        self.system: list[Node] = []
        self.edits: dict[int, list[Node]] = {}
        """Index → the nodes that are sent in place of the message's own."""
        self.deleted: int | None = None
        """The last message that is left out."""
        self.compacted: tuple[int, list[Node]] | None = None
        """So many messages are replaced by these nodes."""
        self._order: list[int] = []
        """The indices, in order."""

    def put(self, index: int, message: Message) -> bool:
        """Whether it simply follows all that is sent."""
        at = bisect_left(self._order, index)
        is_last = at == len(self._order)
        if index not in self.messages:
            self._order.insert(at, index)
        else:
            is_last = False
        self.messages[index] = message
        if not is_last or index in self.edits:
            return False
        if self.deleted is not None and at <= max(self.deleted + 1, _FIRST):
            return False
        if self.edits and at < _FIRST:
            return False
        return self.compacted is None or at >= self.compacted[0]

    def remove(self, index: int) -> bool:
        """Whether there was such a message."""
        if self.messages.pop(index, None) is None:
            return False
        del self._order[bisect_left(self._order, index)]
        return True

    def first(self, number: int) -> list[Node]:
        """The nodes of the first messages."""
        return [node for index in self._order[:number] for node in self.messages[index].nodes]

    def sent(self) -> list[Node]:
        """The nodes that are sent, in order."""
        nodes = list(self.system)
        if self.compacted is not None:
            replaced, instead = self.compacted
            nodes += instead
            for index in self._order[replaced:]:
                nodes += self.messages[index].nodes
            return nodes
        edited = len(self._order) > 1
        rest = _FIRST if self.deleted is None else self.deleted + 1
        kept = [*self._order[:_FIRST], *self._order[rest:]]
        for place, index in enumerate(kept):
            message = self.messages[index]
            own = self.edits.get(index, message.nodes) if edited else message.nodes
            if place == _FIRST and rest > _FIRST and message.role == "user":
                # Their calls were left out.
                own = [node for node in own if node.type != "tool/result"]
            nodes += own
        return nodes
