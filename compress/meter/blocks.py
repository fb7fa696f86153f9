"""What runs of standing nodes weigh, by blocks: a surface of a million nodes that no provider has
seen is weighed by what of it still stands in a row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from compress.events import NodeId
from compress.meter.features import Features, Node, accumulate
from compress.pieces import CHUNK

BLOCK = 256
"""Nodes that are summed up together."""


@dataclass(slots=True)
class Sum:
    """The features, details and counted tokens of some nodes together."""

    features: Features = field(default_factory=dict)
    detail: Features = field(default_factory=dict)
    counted: int = 0

    def add(self, features: Features, detail: Features, counted: int) -> None:
        """Take nodes in."""
        accumulate(self.features, features, 1)
        accumulate(self.detail, detail, 1)
        self.counted += counted


class Blocks:
    """Sums of whole blocks of the standing nodes, made when they are first asked for."""

    def __init__(self, known: Callable[[NodeId], Node | None]) -> None:
        self._known = known
        self._sums: dict[int, Sum] = {}

    def changed(self, node: Node) -> None:
        """A node weighs something else from now on."""
        self._sums.pop(node.block, None)

    def moved(self, first: int) -> None:
        """From this position on, other nodes stand."""
        for block in [block for block in self._sums if (block + 1) * BLOCK > first]:
            del self._sums[block]

    def sum_of(self, nodes: Sequence[NodeId], standing: Sequence[NodeId]) -> Sum:
        """What ``nodes`` weigh together, unknown ones nothing. ``standing``: the surface whose
        blocks are kept."""
        total = Sum()
        if len(nodes) < 2 * BLOCK:
            self._each(total, nodes)
            return total
        at = 0
        for start, place, length in _runs(nodes, standing):
            self._each(total, nodes[at:start])
            self._run(total, standing, place, place + length)
            at = start + length
        self._each(total, nodes[at:])
        return total

    def _each(self, total: Sum, nodes: Iterable[NodeId]) -> None:
        for name in nodes:
            node = self._known(name)
            if node is not None:
                total.add(node.features, node.detail, node.counted)

    def _run(self, total: Sum, standing: Sequence[NodeId], start: int, stop: int) -> None:
        first, last = -(-start // BLOCK), stop // BLOCK
        if first >= last:
            self._each(total, standing[start:stop])
            return
        self._each(total, standing[start : first * BLOCK])
        for block in range(first, last):
            found = self._block(block, standing)
            total.add(found.features, found.detail, found.counted)
        self._each(total, standing[last * BLOCK : stop])

    def _block(self, block: int, standing: Sequence[NodeId]) -> Sum:
        found = self._sums.get(block)
        if found is None:
            found = self._sums[block] = Sum()
            for name in standing[block * BLOCK : (block + 1) * BLOCK]:
                node = self._known(name)
                if node is not None:
                    node.block = block
                    found.add(node.features, node.detail, node.counted)
        return found


def _runs(nodes: Sequence[NodeId], standing: Sequence[NodeId]) -> Iterator[tuple[int, int, int]]:
    """(start, place, length) of the runs of ``nodes`` that stand in a row, too."""
    places: dict[NodeId, int] | None = None
    at = 0
    while at < len(nodes):
        node = nodes[at]
        place: int | None = None
        if isinstance(node, int):
            guess = bisect_left(standing, node, key=_number)
            if guess < len(standing) and standing[guess] == node:
                place = guess
        if place is None and isinstance(node, int):
            if places is None:
                places = {name: index for index, name in enumerate(standing)}
            place = places.get(node)
        if place is None:
            at += 1
            continue
        length = _common(nodes, at, standing, place)
        yield at, place, length
        at += length


def _number(node: NodeId) -> int:
    return node if isinstance(node, int) else -1


def _common(nodes: Sequence[NodeId], at: int, standing: Sequence[NodeId], place: int) -> int:
    """How many nodes are the same from two places on, found by doubling, then by halves."""
    most = min(len(nodes) - at, len(standing) - place)
    same, step = 1, 1
    while same < most and step:
        step = min(step, most - same, CHUNK)
        left, right = at + same, place + same
        if tuple(nodes[left : left + step]) == tuple(standing[right : right + step]):
            same += step
            step *= 2
        else:
            # Once two slices differ, the end of the run is among them.
            most, step = same + step - 1, step // 2
    return same
