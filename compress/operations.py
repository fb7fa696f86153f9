"""The user's strand: operations, as rows of numbered events beside the agent's log.

A pin, a compaction, an undo is a short run of events ``"o1"``, ``"o2"`` …, named by its first
event and anchored ``after`` the agent's seq that was the newest when it was made. A draft holds
the same events still without numbers: ``"+1"`` is its first event, ``"+2"`` its second, wherever
one of them is named (its own seq and node, provenance, the ends of a replace).

Shapes of the events, in the order in which they stand in their operation:

* pin – ``pin/add`` (meta ``node``); unpin – ``pin/remove`` (meta ``node``);
* compact – ``compact/start`` (meta ``kind``) · ``compact/summary`` (the raw summary; meta
  ``start``, ``end``, ``shadowed_seqs`` in surface order, ``tokens_before``, ``tokens_after``,
  ``strategy``, ``policy``) · ``user/message`` with the replace (the framed summary; meta
  ``checkpoint``: who made it) · ``compact/end`` (meta ``error`` where summarising failed);
* micro, reduce – the same with one ``tool/result`` and a replace for each result;
* undo, redo – ``operation/undo`` or ``operation/redo`` (meta ``operations``: the ids, newest
  first for an undo, oldest first for a redo);
* pack – ``pack/commit`` (its facts) · ``context/message`` with an append;
* graduate – ``memory/graduate`` (meta ``decisions``: ids of the records that went from the
  session's memory to the project's); it changes nothing on the surface.

An event with blocks carries their weights in meta ``block_tokens``, so that its
:class:`~compress.entries.LogEntry` needs no counter, and may carry its ``headline``, where the
first line of its text says little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from compress.entries import LogEntry, entry_of
from compress.errors import StaleNodeError
from compress.events import Append, NodeId, Rebase, Replace, SessionEvent, SurfaceOp
from compress.pieces import Pieces

Origin = Literal["user", "policy"]
"""Who decided: a person, or a policy that a setting allowed to act alone."""

OperationKind = Literal[
    "compact", "micro", "reduce", "pin", "unpin", "undo", "redo", "pack", "graduate"
]

_KIND_OF_FIRST: Mapping[str, OperationKind] = {
    "pin/add": "pin",
    "pin/remove": "unpin",
    "operation/undo": "undo",
    "operation/redo": "redo",
    "pack/commit": "pack",
    "memory/graduate": "graduate",
}

_STARTED: Mapping[str, OperationKind] = {"compact": "compact", "micro": "micro", "reduce": "reduce"}


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One event of one operation, as the store keeps it (the event as JSON)."""

    operation: str
    """Id of the operation: ``"oN"`` of its first event."""
    after: int
    """The newest seq of the agent's log when it was made; 0 for an empty log."""
    origin: Origin
    event: SessionEvent
    at: float | None = None
    """When it was committed, seconds since 1970; never used for order."""

    @property
    def number(self) -> int:
        """N of this event's ``"oN"``."""
        return operation_number(self.event.seq)


@dataclass(frozen=True, slots=True)
class OperationDraft:
    """An operation before it has numbers: nothing of it is written yet."""

    kind: OperationKind
    events: tuple[SessionEvent, ...]
    """Seqs ``"+1"``, ``"+2"`` …, in order. What they list of a surface may be a view of it
    (:class:`~compress.pieces.Pieces`) until :func:`number` writes it out."""
    origin: Origin = "user"


@dataclass(frozen=True, slots=True)
class Operation:
    """The rows of one operation together."""

    id: str
    kind: OperationKind
    origin: Origin
    after: int
    at: float | None
    events: tuple[SessionEvent, ...]

    @property
    def number(self) -> int:
        """N of its first event."""
        return operation_number(self.id)

    @property
    def finished(self) -> bool:
        """False for a ``compact/start`` that a crash left alone, or one that ended in error: such
        an operation is inert."""
        if self.events[0].type != "compact/start":
            return True
        last = self.events[-1]
        return last.type == "compact/end" and not last.meta.get("error")

    @property
    def own(self) -> frozenset[NodeId]:
        """The seqs of its own events."""
        return frozenset(event.seq for event in self.events)

    @property
    def changes(self) -> tuple[SessionEvent, ...]:
        """Its events that change the surface, in order."""
        return tuple(event for event in self.events if event.op is not None)

    @property
    def targets(self) -> tuple[str, ...]:
        """Of an undo or a redo: the operations that it names."""
        listed = self.events[0].meta.get("operations", ())
        return tuple(str(name) for name in listed) if isinstance(listed, list | tuple) else ()

    @property
    def pinned(self) -> NodeId | None:
        """Of a pin or an unpin: the node that it names."""
        node = self.events[0].meta.get("node")
        return node if isinstance(node, int | str) else None

    def named(self) -> tuple[NodeId, ...]:
        """The nodes that must stand for it to apply, in the order of its events."""
        return tuple(dict.fromkeys(n for event in self.changes for n in named_nodes(event, self)))


def named_nodes(event: SessionEvent, operation: Operation) -> tuple[NodeId, ...]:
    """Of one change: what it shadows, then what it keeps; nothing of the operation itself."""
    own = operation.own
    return tuple(dict.fromkeys(node for node in cited_nodes(event) if node not in own))


def cited_nodes(event: SessionEvent) -> Iterable[NodeId]:
    """All that a replace names, the events of its own operation included."""
    op = event.op
    if not isinstance(op, Replace):
        return ()
    return chain(event.source_event_seqs, (op.start, op.end), op.keep)


def operation_number(seq: NodeId) -> int:
    """N of ``"oN"``. Raises ``ValueError`` for anything else."""
    if isinstance(seq, str) and seq[:1] == "o" and seq[1:].isdecimal():
        return int(seq[1:])
    raise ValueError(f"{seq!r} is not the id of an operation's event")


def is_operation_id(seq: NodeId) -> bool:
    """Whether this names an event of the user's strand."""
    return isinstance(seq, str) and seq[:1] == "o" and seq[1:].isdecimal()


def in_log_order(nodes: Iterable[NodeId]) -> list[NodeId]:
    """The agent's by seq, then the user's by number."""
    return sorted(nodes, key=lambda n: (0, n) if isinstance(n, int) else (1, operation_number(n)))


def number(
    draft: OperationDraft, next_number: int, after: int, at: float | None = None
) -> tuple[OperationRow, ...]:
    """The rows of a draft whose first event becomes ``o{next_number}``."""
    names: dict[NodeId, NodeId] = {
        event.seq: f"o{next_number + index}" for index, event in enumerate(draft.events)
    }

    def named(node: NodeId) -> NodeId:
        return names.get(node, node)

    return tuple(
        OperationRow(
            operation=f"o{next_number}",
            after=after,
            origin=draft.origin,
            event=event.model_copy(
                update={
                    "seq": named(event.seq),
                    "native_id": str(named(event.seq)),
                    "node": None if event.node is None else named(event.node),
                    "op": _renamed(event.op, names),
                    "source_event_seqs": tuple(named(n) for n in event.source_event_seqs),
                    "meta": {name: _listed(value) for name, value in event.meta.items()},
                }
            ),
            at=at,
        )
        for event in draft.events
    )


def operations(rows: Iterable[OperationRow]) -> list[Operation]:
    """The operations of these rows, in number order."""
    by_id: dict[str, list[OperationRow]] = {}
    for row in rows:
        by_id.setdefault(row.operation, []).append(row)
    found = []
    for name, group in by_id.items():
        group.sort(key=lambda row: row.number)
        first = group[0]
        found.append(
            Operation(
                id=name,
                kind=_kind(first.event),
                origin=first.origin,
                after=first.after,
                at=first.at,
                events=tuple(row.event for row in group),
            )
        )
    found.sort(key=lambda operation: operation.number)
    return found


def undone_by(found: Sequence[Operation]) -> dict[str, str]:
    """Operation id → the undo that is in force on it, of operations in number order."""
    undone: dict[str, str] = {}
    for op in found:
        for target in op.targets:
            if op.kind == "undo":
                undone[target] = op.id
            elif op.kind == "redo":
                undone.pop(target, None)
    return undone


def pinned_nodes(found: Sequence[Operation], undone: Mapping[str, str]) -> frozenset[NodeId]:
    """The nodes with a pin in force, of operations in number order."""
    pinned: dict[NodeId, None] = {}
    for op in found:
        if op.id in undone or op.pinned is None:
            continue
        if op.kind == "pin":
            pinned[op.pinned] = None
        elif op.kind == "unpin":
            pinned.pop(op.pinned, None)
    return frozenset(pinned)


def moment(
    rows: Sequence[OperationRow], at: NodeId | None
) -> tuple[int | None, tuple[OperationRow, ...]]:
    """A moment of both strands: the agent's seq to fold to (``None``: all) and the rows that
    existed then. ``at`` is a seq of the agent's log, an ``"oN"``, or ``None`` for now.

    Raises :class:`StaleNodeError` for an ``"oN"`` that is not among the rows.
    """
    if at is None:
        return None, tuple(rows)
    if isinstance(at, int):
        return at, tuple(row for row in rows if row.after <= at)
    found = next((row for row in rows if row.event.seq == at), None)
    if found is None:
        raise StaleNodeError(at, "is unknown in this session")
    last = found.number
    if found.event.seq == found.operation:
        # An operation is named by its first event, and made of all of them at once.
        last = max(row.number for row in rows if row.operation == found.operation)
    return found.after, tuple(row for row in rows if row.number <= last)


def operation_entry(event: SessionEvent) -> LogEntry:
    """The weighed form of an operation's event, from the weights that it carries itself."""
    listed = event.meta.get("block_tokens")
    weights = [int(w) for w in listed] if isinstance(listed, list | tuple) else []
    weights += [0] * (len(event.blocks) - len(weights))
    entry = entry_of(event, weights[: len(event.blocks)])
    headline = event.meta.get("headline")
    return entry._replace(headline=headline) if isinstance(headline, str) else entry


def draft_event(index: int, **fields: Any) -> SessionEvent:
    """The ``index``-th event of a draft, from 1; fields as :class:`SessionEvent` takes them."""
    return SessionEvent(seq=f"+{index}", native_id=f"+{index}", **fields)


def _listed(value: Any) -> Any:
    """What a draft only views becomes a list, as JSON has it."""
    return list(value) if isinstance(value, Pieces) else value


def _kind(first: SessionEvent) -> OperationKind:
    if first.type == "compact/start":
        return _STARTED.get(str(first.meta.get("kind")), "compact")
    return _KIND_OF_FIRST.get(first.type, "compact")


def _renamed(op: SurfaceOp | None, names: Mapping[NodeId, NodeId]) -> SurfaceOp | None:
    if isinstance(op, Replace):
        return op.model_copy(
            update={
                "start": names.get(op.start, op.start),
                "end": names.get(op.end, op.end),
                "keep": tuple(names.get(node, node) for node in op.keep),
            }
        )
    if isinstance(op, Rebase):
        after = None if op.after is None else names.get(op.after, op.after)
        seqs = tuple(names.get(node, node) for node in op.seqs)
        return op.model_copy(update={"seqs": seqs, "after": after})
    assert op is None or isinstance(op, Append)
    return op
