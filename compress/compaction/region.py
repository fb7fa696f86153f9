"""A region of the surface, checked: who may be cut where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compress.compaction.errors import RegionError, UnfinishedCompactionError
from compress.compaction.values import SessionInput
from compress.errors import StaleNodeError, UnbalancedBoundaryError
from compress.events import NodeId
from compress.measured import Measured
from compress.pairing import Pairing
from compress.pieces import Pieces


@dataclass(frozen=True, slots=True)
class Span:
    """A checked region by position: nodes ``start`` … ``stop - 1``; ``keep`` stays as nodes, what
    is ``gone`` does not, in surface order."""

    start: int
    stop: int
    nodes: Sequence[NodeId]
    keep: tuple[NodeId, ...]
    gone: Sequence[NodeId]


def check_region(
    session: SessionInput, measured: Measured, start: NodeId, end: NodeId, pins: frozenset[NodeId]
) -> Span:
    """The region from ``start`` to ``end``, by position, any event of a node naming it.

    Raises :class:`StaleNodeError` for an event that is unknown or shadowed,
    :class:`RegionError` for ends in the wrong order or a region of kept nodes only,
    :class:`UnbalancedBoundaryError` (its choices: the nearest balanced boundaries) for a boundary
    that splits a call from its result, and :class:`UnfinishedCompactionError` while the agent
    itself compacts.
    """
    refuse_unfinished(session)
    first, last = (find(session, measured, seq) for seq in (start, end))
    if first > last:
        raise RegionError(
            f"Event {start} stands behind event {end}: name the end that stands first first.",
            [measured.nodes[last], measured.nodes[first]],
        )
    _check_start(measured.paired, first)
    _check_end(measured.paired, last)
    return span_of(session, measured, first, last + 1, pins)


def span_of(
    session: SessionInput, measured: Measured, start: int, stop: int, pins: frozenset[NodeId]
) -> Span:
    """The span between two legal cuts with what it must keep: pinned nodes, each with its unit.

    Raises :class:`RegionError` where that leaves nothing."""
    kept: set[int] = set()
    for node in session.plan.held | pins:
        position = measured.place(node)
        if position is not None and start <= position < stop:
            kept.update(measured.unit(position))
    nodes = measured.nodes
    inside = sorted(position for position in kept if start <= position < stop)
    keep = tuple(nodes[position] for position in inside)
    if len(keep) == stop - start:
        raise RegionError(
            "The region holds pinned nodes only, so nothing can be compacted in it: unpin some, or "
            "choose a larger one."
        )
    region = Pieces([(nodes, start, stop)])
    gone = Pieces.without(nodes, start, stop, inside) if inside else region
    return Span(start, stop, region, keep, gone)


def find(session: SessionInput, measured: Measured, seq: NodeId) -> int:
    """Position of the node that an event belongs to.

    Raises :class:`StaleNodeError` where it does not stand on the plan surface.
    """
    entry = session.plan.entries.get(seq)
    node = seq if entry is None or entry.node is None else entry.node
    found = measured.place(node)
    if found is not None:
        return found
    try:
        return session.plan.surface.position(node)
    except StaleNodeError as error:
        if entry is not None and entry.node is None:
            raise StaleNodeError(seq, f"({entry.type}) never stood on the surface") from None
        raise error from None


def refuse_unfinished(session: SessionInput) -> None:
    """Raises :class:`UnfinishedCompactionError` for a ``compact/start`` of the agent without its
    end in the current turn. One that an earlier turn left behind is inert."""
    for seq, kind in _current_turn(session):
        if kind == "compact/end":
            return
        if kind == "compact/start":
            raise UnfinishedCompactionError(
                f"The agent began a compaction at event {seq} of this turn and has not ended it: "
                "wait until it has."
            )


def _current_turn(session: SessionInput) -> Iterator[tuple[NodeId, str]]:
    """The events of the running turn, newest first."""
    entries = session.plan.entries
    turn: int | None = None
    for seq in range(session.plan.agent_seq, 0, -1):
        entry = entries.get(seq)
        if entry is None:
            continue
        if entry.type in ("turn/start", "turn/end", "user/message"):
            return
        if entry.turn is not None:
            if turn is not None and entry.turn != turn:
                return
            turn = entry.turn
        yield seq, entry.type


def _check_start(paired: Pairing, first: int) -> None:
    if paired.legal(first):
        return
    choices = [paired.nodes[paired.cut_before(first)]]
    after = paired.cut_after(first)
    if after < len(paired.nodes):
        choices.append(paired.nodes[after])
    raise UnbalancedBoundaryError(
        f"A region cannot start at event {paired.nodes[first]}: that would part a call from its "
        f"result. Start at {_either(choices)}.",
        choices,
    )


def _check_end(paired: Pairing, last: int) -> None:
    open_from = paired.open_from
    if open_from is not None and last >= open_from:
        choices = [paired.nodes[open_from - 1]] if open_from else []
        way = f" End at {_either(choices)}." if choices else " Wait for its result."
        raise UnbalancedBoundaryError(
            f"A region cannot end at event {paired.nodes[last]}: a call from event "
            f"{paired.nodes[open_from]} on still waits for its result.{way}",
            choices,
        )
    if paired.legal(last + 1):
        return
    cuts = (paired.cut_before(last + 1), paired.cut_after(last + 1))
    choices = [paired.nodes[cut - 1] for cut in cuts if cut > 0]
    raise UnbalancedBoundaryError(
        f"A region cannot end at event {paired.nodes[last]}: that would part a call from its "
        f"result. End at {_either(choices)}.",
        choices,
    )


def _either(choices: list[NodeId]) -> str:
    return " or ".join(f"event {node}" for node in choices)
