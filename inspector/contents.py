"""The content of nodes, read from the store by the page."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from compress.events import NodeId, SessionEvent
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
        place: Callable[[NodeId], int | None] | None = None,
        kept: Kept | None = None,
        asked: Callable[[], None] = lambda: None,
    ) -> None:
        """``place`` tells the position of a node on the surface, where that is known already;
        ``kept`` is what was read before, of this session. ``asked`` is called whenever the store
        is to be read, and may raise."""
        self._store = store
        self._record = record
        self._plan = plan
        self._asked = asked
        self._kept: Kept = OrderedDict() if kept is None else kept
        self._place = place

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
        nodes = self._plan.surface.nodes
        if self._place is None:
            self._place = {standing: index for index, standing in enumerate(nodes)}.get
        index = self._place(node)
        if index is None:
            return [node]
        # Pages with fixed edges serve one who goes backwards as well.
        start = index - index % _PAGE
        return nodes[start : start + _PAGE]

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
