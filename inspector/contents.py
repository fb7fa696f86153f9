"""The content of nodes, read from the store by the page."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from compress.events import NodeId, SessionEvent
from compress.measured import USER, Measured
from compress.messages import NodeContent
from compress.plan import PlanState
from storage.catalog import SessionRecord
from storage.store import Store

_PAGE = 128
"""Nodes that are read together: the next or the one before is wanted soon."""
_KEPT = 4_096

Kept = OrderedDict[tuple[NodeId, int], NodeContent]
"""What was read, by node and number of its events."""


class Contents:
    """Call it with a node, standing or shadowed, of either strand.

    Raises ``KeyError`` for an unknown node. Keeps what was read last.
    """

    def __init__(
        self,
        store: Store,
        record: SessionRecord,
        plan: PlanState,
        *,
        measured: Measured | None = None,
        kept: Kept | None = None,
        asked: Callable[[], None] = lambda: None,
    ) -> None:
        """``measured`` tells where the nodes stand, where that is known already; ``kept`` is what
        was read before, of this session. ``asked`` is called whenever the store is to be read, and
        may raise."""
        self._store = store
        self._record = record
        self._plan = plan
        self._asked = asked
        self._kept: Kept = OrderedDict() if kept is None else kept
        self._measured = measured
        self._places: Mapping[NodeId, int] | None = None
        self._last = -1
        """Position of the node that was last read."""

    def __call__(self, node: NodeId) -> NodeContent:
        """The node's events with their blocks, in the order in which they are sent."""
        found = self._kept.get((node, len(self._plan.surface.members[node])))
        if found is None:
            self._asked()
            found = self._read(node)
        return found

    def all(self, nodes: Sequence[NodeId]) -> list[NodeContent]:
        """The contents of many nodes, in their order, read in one go."""
        events = self._events(seq for node in nodes for seq in self._plan.surface.members[node])
        members = self._plan.surface.members
        return [NodeContent(n, tuple(events[seq] for seq in members[n])) for n in nodes]

    def _page(self, node: NodeId) -> Sequence[NodeId]:
        """The node with those that will be wanted, too: its neighbours, or, where the user's words
        are picked out of a long log, the next of these."""
        nodes = self._plan.surface.nodes
        if self._measured is not None:
            index = self._measured.place(node)
        else:
            if self._places is None:
                self._places = {standing: place for place, standing in enumerate(nodes)}
            index = self._places.get(node)
        if index is None:
            return [node]
        if self._measured is not None and self._is_picked(index, self._measured):
            return [nodes[place] for place in _users(self._measured, index)]
        # Pages with fixed edges serve one who goes backwards as well.
        start = index - index % _PAGE
        return nodes[start : start + _PAGE]

    def _is_picked(self, index: int, measured: Measured) -> bool:
        beside = abs(index - self._last) <= 1
        self._last = index
        return not beside and measured.kinds[index] == USER

    def _read(self, node: NodeId) -> NodeContent:
        found = {content.node: content for content in self.all(self._page(node))}
        for content in found.values():
            self._kept[content.node, len(content.events)] = content
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found[node]

    def _events(self, seqs: Iterable[NodeId]) -> dict[NodeId, SessionEvent]:
        wanted = list(dict.fromkeys(seqs))
        agents = [seq for seq in wanted if isinstance(seq, int)]
        found = {event.seq: event for event in self._store.events(self._record, agents)}
        found.update((seq, self._plan.events[seq]) for seq in wanted if isinstance(seq, str))
        return found


def _users(measured: Measured, index: int) -> Iterator[int]:
    """Positions of a user's message and of the next ones."""
    left = _PAGE // 2
    while index >= 0 and left:
        yield index
        left -= 1
        index = measured.kinds.find(USER, index + 1)
