"""A list that a tool of the agent's keeps: to-do items, or the steps of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compress.artifacts.document import TITLE
from compress.artifacts.values import ArtifactKind, ArtifactStatus, ArtifactStep, StepStatus
from compress.events import NodeId

MOST_ITEMS = 200
_STATUSES: Mapping[str, StepStatus] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One item as an update states it."""

    text: str
    status: StepStatus


def items_of(meta: Mapping[str, Any]) -> list[Item] | None:
    """The items of an ``artifact/update``; ``None`` where it has no list. A status that nobody
    knows is ``unknown``."""
    found = meta.get("items")
    if not isinstance(found, list | tuple):
        return None
    return [
        Item(
            str(item.get("text", "")),
            _STATUSES.get(str(item.get("status")), "unknown"),
        )
        for item in found[:MOST_ITEMS]
        if isinstance(item, Mapping)
    ]


@dataclass(slots=True)
class ItemList:
    """One list, from its first update to the one that replaces it."""

    kind: ArtifactKind
    number: int
    """Its place among the lists of its kind in the session, from 1."""
    first: NodeId
    items: list[Item] = field(default_factory=list)
    seqs: list[tuple[NodeId, NodeId]] = field(default_factory=list)
    """Of each item: the events that first listed it, and that gave it its status."""
    summary: tuple[str, NodeId] | None = None
    """What the agent says of the whole list, and where."""
    newest: NodeId = 0
    replaced: NodeId | None = None

    def goes_on_with(self, items: Sequence[Item]) -> bool:
        """Whether these items are a new state of the same list: one of them stays, by its words."""
        if not self.items:
            return True
        known = {item.text for item in self.items}
        return any(item.text in known for item in items)

    def update(self, items: Sequence[Item], seq: NodeId) -> None:
        """The list as it stands after this event."""
        known: dict[str, list[tuple[Item, tuple[NodeId, NodeId]]]] = {}
        for item, seqs in zip(self.items, self.seqs, strict=True):
            known.setdefault(item.text, []).append((item, seqs))
        self.seqs = []
        for item in items:
            alike = known.get(item.text)
            before = alike.pop(0) if alike else None
            if before is None:
                self.seqs.append((seq, seq))
            else:
                same = before[0].status == item.status
                self.seqs.append((before[1][0], before[1][1] if same else seq))
        self.items = list(items)
        self.newest = seq

    @property
    def status(self) -> ArtifactStatus:
        """What the statuses of its items say together."""
        return "replaced" if self.replaced is not None else together(i.status for i in self.items)

    def steps(self) -> tuple[ArtifactStep, ...]:
        """Its items as steps."""
        return tuple(
            ArtifactStep(
                number=number,
                title=" ".join(item.text.split())[:TITLE],
                status=item.status,
                text=item.text,
                source_event_seqs=tuple(dict.fromkeys(seqs)),
            )
            for number, (item, seqs) in enumerate(zip(self.items, self.seqs, strict=True), 1)
        )


def together(statuses: Any) -> ArtifactStatus:
    """What the statuses of steps say of the whole."""
    known = set(statuses)
    if known == {"completed"}:
        return "completed"
    return "in_progress" if known & {"completed", "in_progress"} else "pending"
