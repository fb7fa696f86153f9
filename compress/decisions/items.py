"""Items of plans and to-do lists: from their first event in progress to their completion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compress.decisions.point import Content
from compress.decisions.span import Span, Told
from compress.decisions.values import Evidence
from compress.decisions.work import Work, outcome, rationale, summary, supported

_MOST = 200
"""Items of one list that are followed."""
_TEXT = 500


@dataclass(slots=True)
class ItemStage:
    """An item in progress, or completed while results of its calls are still to come."""

    span: Span
    title: Told
    work: Work = field(default_factory=Work)
    completed: int = 0
    """The event that says so; 0 while it is in progress."""
    dropped: int = 0
    """The event that lists it no more."""
    waiting: list[str] = field(default_factory=list)
    """Ids of its calls without a result."""

    @property
    def over(self) -> bool:
        """Nothing more can come of it."""
        return bool(self.dropped) or (bool(self.completed) and not self.waiting)

    def content(self) -> Content:
        """What its record says."""
        ended = outcome(self.work) if self.completed else ("unknown", ())
        evidence = list(self.work.evidence)
        if self.completed:
            status = Evidence(kind="status", text="completed", source_event_seqs=(self.completed,))
            evidence.append(status)
        done = summary(self.work)
        return Content(
            title=self.title,
            summary=done if done[0] else self.title,
            rationale=rationale(self.work),
            outcome=ended,
            evidence=supported(self.work, evidence, ended),
            files=tuple(self.work.files.values()),
            left_out=self.work.left_out,
        )


@dataclass(slots=True)
class Item:
    """One item of a list as it was last seen. ``stage``: the identity of its running stage."""

    text: str
    status: str
    stage: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What an update did to one item: at ``place`` in the new list, ``began``, ``completed``."""

    item: Item
    place: int
    began: bool
    completed: bool


def items_of(meta: Mapping[str, Any]) -> list[Item] | None:
    """The items of an ``artifact/update``; ``None`` where it has no list."""
    found = meta.get("items")
    if not isinstance(found, list | tuple):
        return None
    return [
        Item(str(item.get("text", ""))[:_TEXT], str(item.get("status", "pending")))
        for item in found[:_MOST]
        if isinstance(item, Mapping)
    ]


def compare(before: Sequence[Item], after: Sequence[Item]) -> tuple[list[Change], list[Item]]:
    """What an update changed, and the items that it no longer lists.

    An item is the same where its text is; or, in a list of which other items stayed, where its
    place is: agents reword the item that they work on. An item that was never seen unfinished is
    no stage: the log does not say when it ran. ``stage`` is carried over to ``after``.
    """
    paired = _paired(before, after)
    changes = []
    for place, item in enumerate(after):
        old = before[paired[place]] if place in paired else None
        known = old.status if old is not None else ""
        item.stage = old.stage if old is not None else ""
        began = item.status == "in_progress" and not item.stage
        if item.status == "completed" and known == "pending" and not item.stage:
            began = True
        if began or (item.stage and item.status == "completed"):
            changes.append(Change(item, place, began, item.status == "completed"))
    kept = set(paired.values())
    return changes, [old for place, old in enumerate(before) if place not in kept]


def _paired(before: Sequence[Item], after: Sequence[Item]) -> dict[int, int]:
    """Place in the new list → place of the same item in the old one."""
    by_text: dict[str, list[int]] = {}
    for place, item in enumerate(before):
        by_text.setdefault(item.text, []).append(place)
    paired: dict[int, int] = {}
    for place, item in enumerate(after):
        alike = by_text.get(item.text)
        if alike:
            paired[place] = alike.pop(0)
    if paired:
        taken = set(paired.values())
        for place in range(min(len(before), len(after))):
            if place not in paired and place not in taken:
                paired[place] = place
    return paired


def running(stages: Iterable[ItemStage]) -> list[ItemStage]:
    """The items that are in progress."""
    return [stage for stage in stages if not stage.completed and not stage.dropped]
