"""Which of a session's messages opencode sends, and in which order.

Source: ``filterCompacted`` and ``toModelMessages`` of opencode 1.18, ``SessionRevert``.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from storage.sources.values import mapping, string

_ABORTED = "MessageAbortedError"


@dataclass(slots=True)
class Part:
    """A part of a message, and the nodes that its events stand in."""

    id: str
    data: dict[str, Any] = field(default_factory=dict)
    content: int | None = None
    """The node that its content is in; ``None`` where it has none."""
    result: int | None = None
    """The node of its call's newest result."""
    said: tuple[str, ...] = ()
    """Which of its facts were told, by content."""


@dataclass(slots=True)
class Message:
    """A message; ``parts`` are sorted by their ids."""

    id: str
    created: int
    data: dict[str, Any]
    parts: list[Part] = field(default_factory=list)
    said: set[str] = field(default_factory=set)

    @property
    def place(self) -> tuple[int, str]:
        return self.created, self.id

    def part(self, name: str) -> Part:
        """This part, made at first sight."""
        last = self.parts[-1] if self.parts else None
        if last is not None and last.id == name:
            return last
        for part in self.parts:
            if part.id == name:
                return part
        part = Part(name)
        insort(self.parts, part, key=lambda p: p.id)
        return part

    def nodes(self, until: str | None = None) -> Iterator[int]:
        """What it sends: of a step of the model's, its node and then the results; only parts
        before ``until``."""
        if self.is_dropped():
            return
        told: list[int] = []
        results: list[int] = []
        known: set[int] = set()
        for part in self.parts:
            if until is not None and part.id >= until:
                break
            if part.data.get("type") == "step-start":
                yield from (*told, *results)
                told, results = [], []
            if part.content is not None and part.content not in known:
                known.add(part.content)
                told.append(part.content)
            if part.result is not None:
                results.append(part.result)
        yield from (*told, *results)

    def node_of_step(self, part: Part) -> int | None:
        """The node of the step that this part belongs to, if something of it was said."""
        node = None
        for other in self.parts:
            if other.data.get("type") == "step-start":
                if other.id > part.id:
                    break
                node = None
            elif other.content is not None and other is not part and node is None:
                node = other.content
        return node

    def is_dropped(self) -> bool:
        """Whether its request failed, so that it is not sent. What was aborted is, if it says
        something."""
        error = mapping(self.data.get("error"))
        if not error or self.data.get("role") != "assistant":
            return False
        says = any(p.data.get("type") not in ("step-start", "reasoning") for p in self.parts)
        return not (error.get("name") == _ABORTED and says)

    def sums_up(self) -> bool:
        """Whether it is a summary that came to its end."""
        data = self.data
        return bool(
            data.get("role") == "assistant"
            and data.get("summary")
            and data.get("finish")
            and not data.get("error")
        )

    def compaction(self) -> dict[str, Any] | None:
        """Its mark of a compaction, if it has one."""
        return next((p.data for p in self.parts if p.data.get("type") == "compaction"), None)


@dataclass(slots=True)
class Conversation:
    """The messages of a session in order, and what of them is sent."""

    messages: list[Message] = field(default_factory=list)
    by_id: dict[str, Message] = field(default_factory=dict)
    revert: dict[str, Any] = field(default_factory=dict)
    """Where the user went back to; what follows is hidden, and deleted with the next prompt."""
    compacted: str = ""
    """The message with the mark of the compaction that is in force."""

    def add(self, message: Message) -> None:
        """Puts a new message in its place."""
        insort(self.messages, message, key=lambda m: m.place)
        self.by_id[message.id] = message

    def remove(self, name: str) -> None:
        """Takes a message out."""
        message = self.by_id.pop(name, None)
        if message is not None:
            self.messages.remove(message)

    def sent(self) -> list[int]:
        """The nodes of the list that the agent would send. Sets :attr:`compacted`."""
        visible, until = self._visible()
        kept, mark = _filtered(visible)
        self.compacted = "" if mark is None else mark.id
        last = visible[-1] if visible else None
        found = (node for m in kept for node in m.nodes(until=until if m is last else None))
        return list(dict.fromkeys(found))

    def _visible(self) -> tuple[list[Message], str | None]:
        name = string(self.revert.get("messageID"))
        message = self.by_id.get(name)
        if message is None:
            return self.messages, None
        at = self.messages.index(message)
        part = string(self.revert.get("partID"))
        return (self.messages[: at + 1], part) if part else (self.messages[:at], None)


def _filtered(messages: list[Message]) -> tuple[list[Message], Message | None]:
    """The messages since the last finished compaction: its mark, its summary, the tail that it
    kept, what came after; and the message with the mark."""
    kept: list[Message] = []
    finished: set[str] = set()
    retain = ""
    mark: Message | None = None
    for message in reversed(messages):
        kept.append(message)
        if retain:
            if message.id == retain:
                break
            continue
        if message.data.get("role") == "user" and message.id in finished:
            found = message.compaction()
            if found is None:
                continue
            mark = message
            retain = string(found.get("tail_start_id"))
            if not retain or message.id == retain:
                break
        # A summary that came to its end counts as soon as its words are there.
        says = any(part.content is not None for part in message.parts)
        if message.sums_up() and (says or message is not messages[-1]):
            finished.add(string(message.data.get("parentID")))
    kept.reverse()
    return (kept, None) if mark is None else (_reordered(kept, mark), mark)


def _reordered(kept: list[Message], mark: Message) -> list[Message]:
    at = kept.index(mark)
    tail = string((mark.compaction() or {}).get("tail_start_id"))
    summary = next(
        (
            index
            for index, message in enumerate(kept)
            if index > at and message.sums_up() and message.data.get("parentID") == mark.id
        ),
        -1,
    )
    begin = next((i for i, m in enumerate(kept) if tail and m.id == tail), -1)
    if 0 <= begin < at < summary:
        return [*kept[at : summary + 1], *kept[begin:at], *kept[summary + 1 :]]
    return kept
