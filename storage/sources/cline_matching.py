"""A message of Cline's that is written again: which of its nodes are known.

Cline rewrites its files whole, and gives some messages new ids when it does; so a message is known
by its place, and a node by what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from storage.sources.cline_messages import ROW_BLOCKS, Slot
from storage.sources.cline_session import Made, Node

Slots = Sequence[tuple[int, Slot]]
StepOf = Callable[[Slot], int | None]


def matched(
    slots: Slots, known: Sequence[Node], step_of: StepOf, *, grows: bool = True
) -> tuple[list[Made], list[Node]]:
    """The events that are to be made, and the nodes of the message: of ``known`` those that say
    the same, or (where it ``grows``) the beginning of it, and new ones."""
    pool = list(known)
    made: list[Made] = []
    nodes: list[Node] = []
    for group in _groups(slots):
        kind, keys = group[0][1].type, [slot.key for _, slot in group]
        node = next((n for n in pool if n.type == kind and n.slots == keys), None)
        first = len(keys)
        if node is None and grows and kind != "tool/result":
            beginning = (n for n in pool if n.type == kind and keys[: len(n.slots)] == n.slots)
            node = next(beginning, None)
            first = 0 if node is None else len(node.slots)
        if node is None:
            node = Node(kind, step=step_of(group[0][1]))
            first = 0
        else:
            pool.remove(node)
        node.slots = keys
        nodes.append(node)
        if first < len(group):
            made.append(Made(node, group[first:]))
    return made, nodes


def matched_copies(
    slots: Slots, known: Sequence[Node], step_of: StepOf
) -> tuple[list[Made], list[Node]]:
    """The same of a compacted list: what it keeps of the transcript keeps its node."""
    pool: dict[tuple[str, tuple[bytes, ...]], list[Node]] = {}
    for node in known:
        pool.setdefault((node.type, tuple(node.slots)), []).append(node)
    made: list[Made] = []
    nodes: list[Node] = []
    # From the end: what is kept is the newest.
    for group in reversed(_groups(slots)):
        keys = [slot.key for _, slot in group]
        same = pool.get((group[0][1].type, tuple(keys)))
        if same:
            nodes.append(same.pop())
            continue
        node = Node(group[0][1].type, keys, step=step_of(group[0][1]))
        nodes.append(node)
        made.append(Made(node, group))
    return made[::-1], nodes[::-1]


def _groups(slots: Slots) -> list[Slots]:
    """The events of one node each: a result alone, others with their neighbours of one origin."""
    found: list[Slots] = []
    for (kind, *_), group in groupby(slots, key=_origin):
        members = list(group)
        found += [[one] for one in members] if kind == "tool/result" else [members]
    return found


def _origin(slot: tuple[int, Slot]) -> tuple[Any, ...]:
    block, said = slot
    return said.type, said.meta.get("source"), "checkpoint" in said.meta, block // ROW_BLOCKS
