"""The surface: the fold of a log into the ordered list of nodes that the model sees.

A *node* is one message part-group as the agent sends it, named by its first event. The fold is a
pure function of a prefix of the log, so any moment of the past can be shown again.

Rules (design, section 1; the positional replace is DeepSeek Harness' ``foldSurface``):

* ``append`` – the event becomes the last node; an event of a node that stands already extends it
  in place, so results that were logged between two blocks of a message still stand after it;
* ``replace`` – the nodes from start to end *by position*, ``keep`` excepted, are shadowed; the
  event takes start's place, kept nodes follow it in their old order;
* ``rebase`` – the surface becomes exactly the listed nodes.

A node that was appended for the other view never stands in this one, whatever lists it.

Each replace or rebase bumps ``replace_generation``: while it stands still, what was computed
over the surface may be extended instead of computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from compress.errors import StaleNodeError
from compress.events import Append, NodeId, Rebase, Replace, SurfaceOp
from compress.layers import Until

View = Literal["resume", "live"]
"""``resume``: what the agent would send if resumed. ``live``: what the running agent saw."""


class Foldable(Protocol):
    """What the fold needs of an event; a row of the store will do as well as a SessionEvent."""

    @property
    def seq(self) -> NodeId: ...
    @property
    def node(self) -> NodeId | None: ...
    @property
    def op(self) -> SurfaceOp | None: ...
    @property
    def source_event_seqs(self) -> Sequence[NodeId]: ...


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a log that could not be taken as it stands. Shown, never guessed at."""

    kind: str
    where: NodeId | str
    detail: str


@dataclass(frozen=True, slots=True)
class Surface:
    """A frozen state of the fold.

    ``nodes`` in surface order; ``members`` maps each node ever seen to its events in log order;
    ``removed_by`` maps each node that no longer stands to the event that removed it;
    ``shadowed`` maps each checkpoint (a node that came by ``replace``) to the nodes it shadows.
    """

    nodes: tuple[NodeId, ...] = ()
    members: Mapping[NodeId, Sequence[NodeId]] = field(default_factory=dict)
    removed_by: Mapping[NodeId, NodeId] = field(default_factory=dict)
    shadowed: Mapping[NodeId, tuple[NodeId, ...]] = field(default_factory=dict)
    replace_generation: int = 0
    last_seq: NodeId | None = None
    problems: tuple[Problem, ...] = ()

    def events(self) -> Iterator[NodeId]:
        """All events that stand, in the order in which the agent sends them."""
        for node in self.nodes:
            yield from self.members[node]

    def position(self, node: NodeId) -> int:
        """Index of a node. Raises :class:`StaleNodeError` where it is not on the surface."""
        try:
            return self.nodes.index(node)
        except ValueError:
            why = _why_absent(node, self.members, self.removed_by)
            raise StaleNodeError(node, why) from None


class SurfaceFold:
    """The mutable fold behind :class:`Surface`. Feed events in log order, take snapshots."""

    def __init__(self, view: View = "resume") -> None:
        self.view = view
        self.nodes: list[NodeId] = []
        self.members: dict[NodeId, list[NodeId]] = {}
        self.removed_by: dict[NodeId, NodeId] = {}
        self.shadowed: dict[NodeId, tuple[NodeId, ...]] = {}
        self.replace_generation = 0
        self.last_seq: NodeId | None = None
        self.problems: list[Problem] = []
        self._standing: set[NodeId] = set()
        self._alias: dict[NodeId, NodeId] = {}
        self._absent: set[NodeId] = set()
        """Nodes that stand in the other view only."""
        self._index: dict[NodeId, int] = {}
        self._newest = 0
        """The highest seq so far."""
        self._shown = False
        """Whether a snapshot shares ``members``: then they may only grow at their ends."""

    def apply(self, event: Foldable) -> None:
        """Apply one event. Raises :class:`StaleNodeError` and leaves the surface as it was when
        the operation names a node that does not stand, or cites less than it shadows."""
        op = event.op
        self._number(event.seq)
        if isinstance(op, Replace):
            self._replace(event, op)
        elif isinstance(op, Rebase):
            self._rebase(event, op)
        elif isinstance(op, Append):
            self._append(event, op)
        elif event.node is not None:
            self.members.setdefault(event.node, []).append(event.seq)
        self.last_seq = event.seq

    def apply_leniently(self, event: Foldable) -> None:
        """The same, but a refused operation becomes a problem and the event stays off."""
        try:
            self.apply(event)
        except StaleNodeError as error:
            self.problems.append(Problem("refused_operation", event.seq, str(error)))
            self.last_seq = event.seq

    def snapshot(self) -> Surface:
        """A frozen copy. Costs the length of the surface, but nothing in Python's own loop."""
        self._shown = True
        return Surface(
            nodes=tuple(self.nodes),
            members=Until(self.members, self._newest),
            removed_by=dict(self.removed_by),
            shadowed=dict(self.shadowed),
            replace_generation=self.replace_generation,
            last_seq=self.last_seq,
            problems=tuple(self.problems),
        )

    def position(self, node: NodeId) -> int:
        """Index of a standing node. Raises :class:`StaleNodeError` where it does not stand."""
        if node not in self._standing:
            raise StaleNodeError(node, _why_absent(node, self.members, self.removed_by))
        if len(self._index) != len(self.nodes):
            start = len(self._index)
            for offset, standing in enumerate(self.nodes[start:], start):
                self._index[standing] = offset
        return self._index[node]

    def _number(self, seq: NodeId) -> None:
        if isinstance(seq, int) and seq > self._newest:
            self._newest = seq
        elif self._shown:
            # Out of order: what snapshots show must not change.
            self.members = {node: list(seqs) for node, seqs in self.members.items()}
            self._shown = False

    def _node_of(self, event: Foldable) -> NodeId:
        return event.seq if event.node is None else event.node

    def _append(self, event: Foldable, op: Append) -> None:
        node = self._node_of(event)
        self.members.setdefault(node, []).append(event.seq)
        if op.view is not None and op.view != self.view:
            self._absent.add(node)
        if node in self._absent:
            return
        if self._alias.get(node, node) in self._standing:
            return
        self._stand(node)
        self.nodes.append(node)

    def _replace(self, event: Foldable, op: Replace) -> None:
        own = self._node_of(event)
        if op.live_only and self.view == "resume":
            self.members.setdefault(own, []).append(event.seq)
            return
        first = self.position(self._alias.get(op.start, op.start))
        last = self.position(self._alias.get(op.end, op.end))
        if first > last:
            raise StaleNodeError(op.end, f"stands before event {op.start}, the start of its range")
        span = self.nodes[first : last + 1]
        keep = {self._alias.get(node, node) for node in op.keep}
        kept = [node for node in span if node in keep]
        if len(kept) != len(keep):
            stray = next(n for n in op.keep if self._alias.get(n, n) not in span)
            raise StaleNodeError(stray, "is to be kept but does not stand in the range")
        gone = [node for node in span if node not in keep]
        cited = set(event.source_event_seqs)
        if cited and not cited.issuperset(gone):
            missing = next(node for node in gone if node not in cited)
            raise StaleNodeError(missing, f"is shadowed by event {event.seq} but not cited by it")
        self.members.setdefault(own, []).append(event.seq)
        for node in gone:
            self._fall(node, event.seq)
        self.nodes[first : last + 1] = [own, *kept]
        self._stand(own)
        self.shadowed[own] = tuple(gone)
        if op.live_only:
            self._alias[op.start] = own
        self._changed(first)

    def _rebase(self, event: Foldable, op: Rebase) -> None:
        own = self._node_of(event)
        first = 0 if op.after is None else self.position(self._alias.get(op.after, op.after)) + 1
        wanted = [self._alias.get(node, node) for node in op.seqs if node not in self._absent]
        for node in wanted:
            if node not in self.members and node != own:
                raise StaleNodeError(node, "is unknown in this session")
        target = set(wanted)
        behind = self.nodes[first:]
        twice = len(target) != len(wanted)
        if first and not twice:
            # A node that stands, but not behind ``after``, stands before it.
            twice = not (target & self._standing).issubset(behind)
        if twice:
            raise StaleNodeError(event.seq, "rebases to a list that names a node twice")
        self.members.setdefault(own, []).append(event.seq)
        for node in behind:
            if node not in target:
                self._fall(node, event.seq)
        for node in wanted:
            self._stand(node)
        self.nodes[first:] = wanted
        self._changed(first)

    def _stand(self, node: NodeId) -> None:
        self._standing.add(node)
        self.removed_by.pop(node, None)

    def _fall(self, node: NodeId, by: NodeId) -> None:
        self._standing.discard(node)
        self.removed_by[node] = by

    def _changed(self, first: int = 0) -> None:
        """Positions from ``first`` on are not what they were."""
        self.replace_generation += 1
        if first == 0:
            self._index = {}
            return
        # Python keeps the order of insertion, and positions are inserted in order.
        while len(self._index) > first:
            self._index.popitem()


def _why_absent(
    node: NodeId,
    members: Mapping[NodeId, Sequence[NodeId]],
    removed_by: Mapping[NodeId, NodeId],
) -> str:
    if node in removed_by:
        return f"is not on the surface: event {removed_by[node]} removed it"
    if node in members:
        return "is known but not on this branch"
    return "is unknown in this session"


def fold(events: Iterable[Foldable], view: View = "resume") -> Surface:
    """The surface after these events, strictly: the first illegal operation raises
    :class:`StaleNodeError`."""
    state = SurfaceFold(view)
    for event in events:
        state.apply(event)
    return state.snapshot()
