"""The plan track: the agent's surface with the user's standing operations re-applied.

A pure function of the agent's surface at a seq and of the operations that existed then, so it can
be asked for at any moment of the past. Rules (design, sections 1 and 4):

* operations are re-applied in number order; one applies if every node that it names still stands,
  contiguous but for kept and pinned ones;
* otherwise it is *superseded* by what removed the first missing node, and so is every operation
  that names its checkpoint. Nothing is remembered: when the agent rewinds that removal, the next
  plan finds the nodes again and the operation stands again;
* pinned nodes, with the whole unit that they are part of, join the ``keep`` of every operation.
  Where the agent removed one, its unit stands again directly after the head checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from compress.entries import LogEntry
from compress.events import NodeId, SessionEvent
from compress.layers import Layered
from compress.operations import (
    Operation,
    OperationRow,
    is_operation_id,
    operation_entry,
    operations,
    pinned_nodes,
    undone_by,
)
from compress.replay import Replay, Standing, State, SurfaceState
from compress.surface import Surface

__all__ = ["PlanState", "Standing", "State", "SurfaceState", "plan"]


@dataclass(frozen=True, slots=True)
class PlanState:
    """The plan at one moment."""

    surface: Surface
    entries: Mapping[NodeId, LogEntry]
    """Of both strands."""
    agent_seq: int = 0
    """The newest event of the agent's log at this moment: what a new operation is ``after``."""
    pins: frozenset[NodeId] = frozenset()
    """Nodes with a pin in force, known at this moment or not."""
    held: frozenset[NodeId] = frozenset()
    """The pinned nodes together with the units that they drag along."""
    restored: frozenset[NodeId] = frozenset()
    """Nodes that stand only because they are pinned: the agent removed them."""
    states: Mapping[str, Standing] = field(default_factory=dict)
    """Of every operation, by id, in number order."""
    operations: Mapping[str, Operation] = field(default_factory=dict)
    """By id, in number order."""
    events: Mapping[NodeId, SessionEvent] = field(default_factory=dict)
    """The events of the operations, content included."""

    def standing(self) -> list[Operation]:
        """The operations in force, in number order."""
        return [op for op in self.operations.values() if self.states[op.id].state == "standing"]

    def operation_of(self, node: NodeId) -> Operation | None:
        """The operation that brought a node; ``None`` for one of the agent's own."""
        found = (op for op in self.operations.values() if node in op.own)
        return next(found, None) if is_operation_id(node) else None


def plan(
    agent: SurfaceState,
    entries: Mapping[NodeId, LogEntry],
    rows: Iterable[OperationRow],
) -> PlanState:
    """The plan over the agent's surface at some seq.

    ``entries`` by seq must hold at least every event of the nodes that the operations and pins
    name; ``rows`` are those that existed at that moment (see
    :func:`compress.operations.moment`). Never raises for what the rows hold: an operation that
    cannot apply is superseded, an unfinished one is inert.
    """
    found = operations(rows)
    undone = undone_by(found)
    pins = pinned_nodes(found, undone)
    events = {event.seq: event for op in found for event in op.events}
    own = {seq: operation_entry(event) for seq, event in events.items()}
    everything = Layered(entries, own) if own else entries
    replay = Replay(agent, everything, found, pins)
    replay.restore_pins()
    for op in found:
        replay.apply(op, undone.get(op.id))
    replay.restore_own_pins(found)
    return PlanState(
        surface=replay.surface(found),
        entries=everything,
        agent_seq=agent.last_seq if isinstance(agent.last_seq, int) else 0,
        pins=pins,
        held=frozenset(replay.held),
        restored=frozenset(replay.restored),
        states=replay.states,
        operations={op.id: op for op in found},
        events=events,
    )
