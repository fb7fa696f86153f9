"""Pins: a node, shadowed or not, that no operation removes."""

from __future__ import annotations

from compress.errors import CompressError, StaleNodeError
from compress.events import NodeId
from compress.operations import OperationDraft, draft_event
from compress.plan import PlanState


class PinError(CompressError):
    """A pin that changes nothing, or names an event that never stood on the surface."""

    code = "pin"


def pin_draft(state: PlanState, seq: NodeId) -> OperationDraft:
    """The pin of the node that an event belongs to.

    Raises :class:`StaleNodeError` for an unknown event, :class:`PinError` for one that is
    log-only or whose node is pinned already.
    """
    node = _node(state, seq)
    if node in state.pins:
        raise PinError(f"Event {node} is pinned already.")
    return OperationDraft("pin", (draft_event(1, type="pin/add", meta={"node": node}),))


def unpin_draft(state: PlanState, seq: NodeId) -> OperationDraft:
    """Takes a pin away. Raises :class:`PinError` where there is none; its choices are the pins."""
    node = seq if seq in state.pins else _node(state, seq)
    if node not in state.pins:
        choices = sorted(state.pins, key=str)
        listed = ", ".join(str(pin) for pin in choices[:10])
        way = f"Pinned are: {listed}." if choices else "Nothing is pinned."
        raise PinError(f"Event {node} is not pinned. {way}", choices)
    return OperationDraft("unpin", (draft_event(1, type="pin/remove", meta={"node": node}),))


def _node(state: PlanState, seq: NodeId) -> NodeId:
    if seq in state.surface.members:
        return seq
    entry = state.entries.get(seq)
    if entry is None:
        raise StaleNodeError(seq, "is unknown in this session")
    if entry.node is None:
        raise PinError(
            f"Event {seq} ({entry.type}) never stood in the window, so it cannot be pinned: "
            "name a message or a result."
        )
    return entry.node
