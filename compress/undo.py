"""Undo and redo: operations that take other operations out of force and put them back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compress.errors import CompressError
from compress.events import NodeId
from compress.operations import Operation, OperationDraft, OperationKind, draft_event
from compress.plan import PlanState

REVERSIBLE: frozenset[OperationKind] = frozenset({"compact", "micro", "reduce", "pack"})
"""What an undo without an id may take. Pins outlive it; they are undone by name or unpinned."""


class UndoError(CompressError):
    """Nothing to undo or redo, or later operations build on it; ``choices`` names them."""

    code = "undo"


def undo_draft(
    state: PlanState, operation: str | None = None, *, cascade: bool = False
) -> OperationDraft:
    """Undo an operation; without an id the newest one that stands and changed the surface.

    Raises :class:`UndoError` for an unknown one, one undone already, an undo or redo itself, and,
    unless ``cascade``, one on which later standing ones build.
    """
    target = _newest_standing(state) if operation is None else _known(state, operation)
    if target.kind in ("undo", "redo"):
        raise UndoError(f"Operation {target.id} is an {target.kind} itself: name what it undid.")
    if target.kind == "graduate":
        raise UndoError(
            f"Operation {target.id} moved records from the session's memory to the project's, "
            "where nothing is lost: there is nothing to undo. memory_tokens sets the cap."
        )
    if state.states[target.id].state == "undone":
        raise UndoError(f"Operation {target.id} is undone already.", [target.id])
    later = dependents(state, target)
    if later and not cascade:
        names = ", ".join(op.id for op in later)
        raise UndoError(
            f"Operation {target.id} carries later ones: {names}. Undo them first, or undo all of "
            "them together with --cascade.",
            [op.id for op in later],
        )
    return _draft("operation/undo", "undo", [op.id for op in reversed([target, *later])])


def redo_draft(state: PlanState, operation: str | None = None) -> OperationDraft:
    """Put an undone operation back in force; without an id all that the newest undo in force took.

    Raises :class:`UndoError` for an unknown or a standing one, where an operation that it builds
    on is itself undone, and where a later standing one has taken its nodes meanwhile.
    """
    if operation is None:
        targets = _newest_undone(state)
    else:
        targets = [_known(state, operation)]
        if state.states[operation].state != "undone":
            raise UndoError(f"Operation {operation} is not undone, so there is nothing to redo.")
    names = {op.id for op in targets}
    for op in targets:
        base = [b.id for b in _bases(state, op) if state.states[b.id].state == "undone"]
        missing = [name for name in base if name not in names]
        if missing:
            raise UndoError(
                f"Operation {op.id} builds on {', '.join(missing)}, which is undone: redo that "
                "first.",
                missing,
            )
        later = _in_the_way(state, op)
        if later:
            raise UndoError(
                f"The nodes of operation {op.id} were compacted again by {', '.join(later)}: undo "
                "that first.",
                later,
            )
    return _draft("operation/redo", "redo", [op.id for op in targets])


def dependents(state: PlanState, target: Operation) -> list[Operation]:
    """The later standing operations that name a node of ``target``, or of one that does, in
    number order."""
    nodes = set(target.own)
    found = []
    for op in state.standing():
        if op.number <= target.number or op.kind in ("undo", "redo", "unpin"):
            continue
        if nodes.intersection(_names(op)):
            found.append(op)
            nodes |= op.own
    return found


def _bases(state: PlanState, op: Operation) -> list[Operation]:
    named = set(_names(op))
    return [
        other
        for other in state.operations.values()
        if other.number < op.number and named.intersection(other.own)
    ]


def _in_the_way(state: PlanState, op: Operation) -> list[str]:
    named = set(op.named())
    return [
        later.id
        for later in state.standing()
        if later.number > op.number and named.intersection(later.named())
    ]


def _names(op: Operation) -> Iterable[NodeId]:
    return op.named() if op.pinned is None else (op.pinned,)


def _known(state: PlanState, operation: str) -> Operation:
    found = state.operations.get(operation)
    if found is None:
        names = list(state.operations)
        listed = f"There are: {', '.join(names[-10:])}." if names else "There is none yet."
        raise UndoError(f"There is no operation {operation} in this session. {listed}", names)
    return found


def _newest_standing(state: PlanState) -> Operation:
    for op in reversed(state.standing()):
        if op.kind in REVERSIBLE:
            return op
    pins = [op.id for op in state.standing() if op.kind == "pin"]
    hint = " Pins stay until they are unpinned, or undone by name." if pins else ""
    raise UndoError(f"There is no standing operation to undo.{hint}", pins)


def _newest_undone(state: PlanState) -> list[Operation]:
    undone = [op for op in state.operations.values() if state.states[op.id].state == "undone"]
    if not undone:
        raise UndoError("No operation is undone, so there is nothing to redo.")
    newest = max((state.operations[str(state.states[op.id].by)] for op in undone), key=_number)
    return [op for op in undone if state.states[op.id].by == newest.id]


def _number(op: Operation) -> int:
    return op.number


def _draft(event_type: str, kind: OperationKind, names: Sequence[str]) -> OperationDraft:
    return OperationDraft(
        kind, (draft_event(1, type=event_type, meta={"operations": list(names)}),)
    )
