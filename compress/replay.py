"""The operations' own fold: each re-applied over the agent's surface, or why it does not stand.

The rules are told in :mod:`compress.plan`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Literal, Protocol

from compress.entries import LogEntry
from compress.events import SURFACE_TYPES, Append, NodeId, Rebase, Replace, SessionEvent
from compress.layers import Layered
from compress.operations import (
    Operation,
    cited_nodes,
    in_log_order,
    is_operation_id,
    operation_number,
)
from compress.pieces import CHUNK, Pieces
from compress.surface import Problem, Surface
from compress.units import log_unit

State = Literal["standing", "undone", "superseded"]


class SurfaceState(Protocol):
    """What the plan needs of the agent's surface: a snapshot or the running fold itself."""

    @property
    def nodes(self) -> Sequence[NodeId]: ...
    @property
    def members(self) -> Mapping[NodeId, Sequence[NodeId]]: ...
    @property
    def removed_by(self) -> Mapping[NodeId, NodeId]: ...
    @property
    def shadowed(self) -> Mapping[NodeId, tuple[NodeId, ...]]: ...
    @property
    def replace_generation(self) -> int: ...
    @property
    def last_seq(self) -> NodeId | None: ...


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of an operation; ``by`` names the event that undid or superseded it."""

    state: State
    by: NodeId | None = None


@dataclass(frozen=True, slots=True)
class _Obstacle:
    by: NodeId | None


class Replay:
    """The operations' own fold, over a copy of the agent's list of nodes. Everything that it adds
    is laid over the agent's mappings, which it never copies."""

    def __init__(
        self,
        agent: SurfaceState,
        entries: Mapping[NodeId, LogEntry],
        found: Sequence[Operation],
        pins: frozenset[NodeId],
    ) -> None:
        self.agent = agent
        self.entries = entries
        self.makers = {event.seq: op.id for op in found for event in op.events}
        self.pins = pins
        self.nodes: list[NodeId] = list(agent.nodes)
        self.members: dict[NodeId, Sequence[NodeId]] = {}
        self.removed_by: dict[NodeId, NodeId] = {}
        self.shadowed: dict[NodeId, tuple[NodeId, ...]] = {}
        self.held: set[NodeId] = set()
        self.restored: set[NodeId] = set()
        self.states: dict[str, Standing] = {}
        self.problems: list[Problem] = []
        self._standing: set[NodeId] | None = None

    @property
    def standing(self) -> set[NodeId]:
        if self._standing is None:
            self._standing = set(self.nodes)
        return self._standing

    def restore_pins(self) -> None:
        """Hold every pinned unit; bring back those that the agent removed, in log order."""
        missing: set[NodeId] = set()
        for pin in in_log_order(self.pins):
            if pin not in self.agent.members:
                self.held.update(self._own_unit(pin))
                continue
            unit = log_unit(pin, self.agent.members, self.entries)
            self.held.update(unit)
            if pin in self.standing or self._copied(pin):
                continue
            if not self._swap_back(pin):
                missing.update(unit)
        if not missing:
            return
        self.restored |= {node for node in missing if node not in self.standing}
        rest = [node for node in self.nodes if node not in missing]
        head = 1 if rest and self._is_checkpoint(rest[0]) else 0
        self.nodes = [*rest[:head], *in_log_order(missing), *rest[head:]]
        self._standing = None

    def restore_own_pins(self, found: Sequence[Operation]) -> None:
        """Bring back pinned checkpoints of the user's whose region the agent removed. A result
        that stands for another has no place without its call."""
        for op in found:
            missing = (self.pins & op.own) - self.standing
            for event in op.changes if self.states[op.id].state == "superseded" else ():
                if event.seq in missing and event.type != "tool/result":
                    head = 1 if self.nodes and self._is_checkpoint(self.nodes[0]) else 0
                    self.nodes.insert(head, self._stand(event, op))
                    self.restored.add(event.seq)

    def apply(self, op: Operation, undone_by: str | None) -> None:
        """Re-apply one operation, or note why it does not stand."""
        if undone_by is not None:
            self.states[op.id] = Standing("undone", undone_by)
            return
        if not op.finished:
            self.states[op.id] = Standing("superseded")
            self.problems.append(
                Problem("unfinished_operation", op.id, "was never finished and has no effect")
            )
            return
        obstacle = self._obstacle(op)
        if obstacle is not None:
            self.states[op.id] = Standing("superseded", obstacle.by)
            return
        for event in op.changes:
            if isinstance(event.op, Replace):
                self._replace(event, op)
            else:
                self._append(event, op)
        self.states[op.id] = Standing("standing")

    def surface(self, found: Sequence[Operation]) -> Surface:
        """The state as a surface. Every operation, undo included, counts as a generation, since
        each may change what stands."""
        agent = self.agent
        last = agent.last_seq
        if found and (not isinstance(last, int) or found[-1].after >= last):
            last = found[-1].events[-1].seq
        return Surface(
            nodes=tuple(self.nodes),
            members=Layered(agent.members, self.members) if found else agent.members,
            removed_by=Layered(agent.removed_by, self.removed_by, frozenset(self.restored))
            if found
            else agent.removed_by,
            shadowed=Layered(agent.shadowed, self.shadowed) if found else agent.shadowed,
            replace_generation=agent.replace_generation + len(found),
            last_seq=last,
            problems=tuple(self.problems),
        )

    def _obstacle(self, op: Operation) -> _Obstacle | None:
        if len(op.changes) == 1 and self._stands_in_a_row(op.changes[0], op):
            return None
        if not self._all_stand(op):
            for node in op.named():
                if self._resolve(node) not in self.standing:
                    return _Obstacle(self._remover(node))
        for event in op.changes:
            if isinstance(event.op, Replace) and not self._contiguous(event, op):
                return _Obstacle(self._newest_change())
        return None

    def _stands_in_a_row(self, event: SessionEvent, op: Operation) -> bool:
        """Whether all that a replace names stands under its own name, in the order in which it is
        cited: then nothing can be in its way. Most do, and it costs no set of a million nodes."""
        change = event.op
        if not isinstance(change, Replace):
            return False
        first, last = self._index(change.start), self._index(change.end)
        if first is None or last is None or first > last:
            return False
        keep, own = frozenset(change.keep), op.own
        apart = keep | self.held
        kept = sum(node in keep for node in islice(self.nodes, first, last + 1)) if keep else 0
        standing = (node for node in islice(self.nodes, first, last + 1) if node not in apart)
        cited = (node for node in event.source_event_seqs if node not in own)
        return kept == len(keep) and all(a == b for a, b in zip_longest(standing, cited))

    def _index(self, node: NodeId) -> int | None:
        """Position of a node, looked for in bounded steps."""
        for start in range(0, len(self.nodes), CHUNK):
            part = self.nodes[start : start + CHUNK]
            if node in part:
                return start + part.index(node)
        return None

    def _all_stand(self, op: Operation) -> bool:
        """Whether all that it names stands under its own name. By sets: that may be a million."""
        named = {node for event in op.changes for node in cited_nodes(event)}
        return named - op.own <= self.standing

    def _contiguous(self, event: SessionEvent, op: Operation) -> bool:
        named = set(cited_nodes(event)) - op.own
        if not named <= self.standing:
            named = {self._resolve(node) for node in named}
        first, last = self._range(event)
        inside = set(self.nodes[first : last + 1])
        return first <= last and inside ^ named <= self.held

    def _range(self, event: SessionEvent) -> tuple[int, int]:
        op = event.op
        assert isinstance(op, Replace)
        first = self._place(op.start)
        return first, first if op.start == op.end else self._place(op.end)

    def _place(self, node: NodeId) -> int:
        """Position of a node, or of what stands for it; it is known to stand."""
        found = self._index(node)
        if found is None:
            found = self._index(self._resolve(node))
        assert found is not None
        return found

    def _replace(self, event: SessionEvent, op: Operation) -> None:
        change = event.op
        assert isinstance(change, Replace)
        first, last = self._range(event)
        keep = {self._resolve(node) for node in change.keep} | self.held
        span = range(first, last + 1)
        places = [place for place in span if self.nodes[place] in keep] if keep else []
        kept = [self.nodes[place] for place in places]
        gone = tuple(Pieces.without(self.nodes, first, last + 1, places))
        if not gone and event.type == "tool/result":
            # Pinned since: the result itself stands, and its receipt does not.
            return
        own = self._stand(event, op)
        self.nodes[first : last + 1] = [own, *kept]
        if self._standing is not None:
            self._standing.difference_update(gone)
        for start in range(0, len(gone), CHUNK):
            self.removed_by.update(dict.fromkeys(gone[start : start + CHUNK], event.seq))
        self.shadowed[own] = gone

    def _append(self, event: SessionEvent, op: Operation) -> None:
        """Where the operation was made: behind the newest node of then and its results."""
        place = 0
        for index, node in enumerate(self.nodes):
            if _known_then(node, op):
                place = index + 1
        while place < len(self.nodes) and self._type(self.nodes[place]) == "tool/result":
            place += 1
        self.nodes.insert(place, self._stand(event, op))

    def _stand(self, event: SessionEvent, op: Operation) -> NodeId:
        own = event.seq if event.node is None else event.node
        self.members[own] = tuple(
            e.seq for e in op.events if e.type in SURFACE_TYPES and (e.node or e.seq) == own
        )
        if self._standing is not None:
            self._standing.add(own)
        return own

    def _remover(self, node: NodeId) -> NodeId | None:
        maker = self.states.get(self.makers.get(node, ""))
        if maker is not None and maker.state != "standing":
            return maker.by
        resolved = self._resolve(node)
        by = self.removed_by.get(resolved)
        return by if by is not None else self.agent.removed_by.get(resolved)

    def _newest_change(self) -> NodeId | None:
        """The agent's newest replace or rebase: it broke a range without removing a node of it."""
        last = self.agent.last_seq
        for seq in range(last, 0, -1) if isinstance(last, int) else ():
            entry = self.entries.get(seq)
            if entry is not None and isinstance(entry.op, Replace | Rebase):
                return seq
        return None

    def _resolve(self, node: NodeId) -> NodeId:
        """The node itself, or what stands for it: in the other view the receipt that the running
        agent sees in a result's place, or the result that a resume sends again; for a receipt of
        the user's the result that was pinned since."""
        if node in self.standing:
            return node
        entry = self.entries.get(node)
        stands_for = None if entry is None else entry.meta.get("stands_for")
        maker = self.states.get(self.makers.get(node, ""))
        if stands_for is not None and maker is not None and maker.state == "standing":
            return self._resolve(stands_for)
        if entry is not None and isinstance(entry.op, Replace) and entry.op.live_only:
            return self._resolve(entry.op.start) if entry.op.start != node else node
        by = self.agent.removed_by.get(node)
        remover = None if by is None else self.entries.get(by)
        if remover is None or not isinstance(remover.op, Replace) or not remover.op.live_only:
            return node
        receipt = remover.seq if remover.node is None else remover.node
        return receipt if receipt in self.standing else node

    def _swap_back(self, pin: NodeId) -> bool:
        """A pinned result that the running agent saw cleared stands again in its own place."""
        receipt = self._resolve(pin)
        if receipt == pin or receipt not in self.standing:
            return False
        self.nodes[self.nodes.index(receipt)] = pin
        self.standing.discard(receipt)
        self.standing.add(pin)
        self.restored.add(pin)
        return True

    def _own_unit(self, pin: NodeId) -> set[NodeId]:
        """A node of the user's with its unit: a receipt stands in the unit of its result."""
        raw = pin
        while (entry := self.entries.get(raw)) is not None and "stands_for" in entry.meta:
            raw = entry.meta["stands_for"]
        if raw == pin:
            return {pin}
        return {pin, *log_unit(raw, self.agent.members, self.entries)} - {raw}

    def _copied(self, pin: NodeId) -> bool:
        """Whether the agent itself brought a copy of the node back that cites it."""
        return any(
            isinstance(entry.op, Append) and entry.source_event_seqs == (pin,)
            for entry in self._heads_after(self.agent.removed_by.get(pin))
        )

    def _heads_after(self, removal: NodeId | None) -> Iterable[LogEntry]:
        if removal is None:
            return
        for node in self.agent.nodes:
            if isinstance(node, int) and isinstance(removal, int) and node >= removal:
                entry = self.entries.get(node)
                if entry is not None:
                    yield entry

    def _is_checkpoint(self, node: NodeId) -> bool:
        entry = self.entries.get(node)
        return node in self.agent.shadowed or (
            entry is not None and entry.meta.get("checkpoint") is not None
        )

    def _type(self, node: NodeId) -> str | None:
        entry = self.entries.get(node)
        return None if entry is None else entry.type


def _known_then(node: NodeId, op: Operation) -> bool:
    if isinstance(node, int):
        return node <= op.after
    return is_operation_id(node) and operation_number(node) < op.number
