"""One session of opencode's between two rows: its messages, and which of their nodes stand."""

from __future__ import annotations

from compress.events import SurfaceOp
from storage.sources.base import Numbering, SessionFacts
from storage.sources.opencode_list import Conversation, Message


class OpencodeSession:
    """What stands is derived from all messages where anything may have changed, and from the last
    one alone while only that grows: a long session stays linear."""

    def __init__(self, facts: SessionFacts, numbering: Numbering) -> None:
        self.facts = facts
        self.number = numbering.seq
        self.list = Conversation()
        self.standing: list[int] = []
        self._stands: set[int] = set()
        self._before: int | None = 0
        """How many of the standing nodes are of messages before the last one; ``None`` where that
        must be found out."""
        self.operations: dict[int, SurfaceOp | None] = {}
        """Of the first event of every node: how it came to stand."""
        self.step_of: dict[int, int] = {}
        """Node of the model's → the request that made it."""
        self.turn = 0
        self.step = 0
        self.begun = False
        self.ending: tuple[str, str] | None = None
        """Reason and words of the end of a turn whose answer is still to be read."""

    def stands(self, node: int) -> bool:
        """Whether the node is on the surface."""
        return node in self._stands

    def append(self, node: int) -> None:
        """One more node stands."""
        self.standing.append(node)
        self._stands.add(node)

    def set(self, wanted: list[int]) -> None:
        """Exactly these nodes stand."""
        self.standing, self._stands = wanted, set(wanted)
        messages = self.list.messages
        tail = list(messages[-1].nodes()) if messages else []
        size = len(wanted) - len(tail)
        self._before = size if wanted[size:] == tail else None

    def add(self, message: Message) -> None:
        """A new message, which says nothing yet."""
        self.list.add(message)
        is_last = message is self.list.messages[-1]
        if self._before is not None:
            self._before = len(self.standing) if is_last else None

    def changes(self, message: Message | None = None) -> None:
        """This message is about to be another one than it was; without one, anything is."""
        if message is None or message is not self.list.messages[-1]:
            self._before = None

    def grows_by(self, node: int) -> bool:
        """Whether what is to stand is known to be what stands, and this node."""
        tail = self._tail()
        return tail is not None and tail == [*self.standing[self._before :], node]

    def is_settled(self) -> bool:
        """Whether what is to stand is known to be what stands."""
        tail = self._tail()
        return tail is not None and tail == self.standing[self._before :]

    def _tail(self) -> list[int] | None:
        """The nodes of the last message, where only those can have changed."""
        messages = self.list.messages
        if self._before is None or self.list.revert or not messages:
            return None
        last = messages[-1]
        return None if last.data.get("summary") else list(last.nodes())
