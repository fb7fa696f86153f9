"""The unit of a node by the log, for nodes that no surface holds any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compress.entries import LogEntry
from compress.events import SURFACE_TYPES, NodeId
from compress.pairing import STEP_TYPES


def log_unit(
    node: NodeId,
    members: Mapping[NodeId, Sequence[NodeId]],
    entries: Mapping[NodeId, LogEntry],
) -> tuple[NodeId, ...]:
    """The whole unit of a node by the *log*, whatever stands on the surface now: the messages of
    its step and the results that answer them, in log order; else the node alone."""
    calling = _calling_node(node, members, entries)
    head = _first(calling, members, entries)
    if not isinstance(calling, int) or head is None or head.type not in STEP_TYPES:
        return (node,)
    found: dict[NodeId, None] = {calling: None}
    waiting: dict[str, int] = {}
    seq = _step_start(calling, head, entries)
    last = max(s for s in members[calling] if isinstance(s, int))
    while (entry := entries.get(seq)) is not None:
        seq += 1
        own = entry.seq if entry.node is None else entry.node
        if entry.type == "assistant/message" and _in_step(entry, own, calling, head):
            found[own] = None
            for call, _ in entry.calls:
                waiting[call] = waiting.get(call, 0) + 1
        elif _ends_step(entry) and not waiting and seq > last:
            break
        else:
            # The same id is called again: what answers it now belongs to that call.
            for call, _ in entry.calls:
                waiting.pop(call, None)
        if _answer(entry, waiting):
            found[own] = None
    if node not in found:
        # A second answer to a call that has one is an orphan: it belongs to no unit.
        return (node,)
    return tuple(sorted(found, key=lambda n: n if isinstance(n, int) else 0))


def _ends_step(entry: LogEntry) -> bool:
    return entry.type in SURFACE_TYPES and entry.type != "tool/result"


def _answer(entry: LogEntry, waiting: dict[str, int]) -> bool:
    answered = [call for call in entry.results if call in waiting]
    for call in answered:
        waiting[call] -= 1
        if not waiting[call]:
            del waiting[call]
    return bool(answered)


def _in_step(entry: LogEntry, own: NodeId, calling: NodeId, head: LogEntry) -> bool:
    return own == calling or (entry.step is not None and entry.step == head.step)


def _step_start(calling: int, head: LogEntry, entries: Mapping[NodeId, LogEntry]) -> int:
    start = calling
    for seq in range(calling - 1, 0, -1):
        entry = entries.get(seq)
        if entry is None or entry.node is None:
            continue
        if entry.step is None or entry.step != head.step:
            break
        start = seq
    return start


def _first(
    node: NodeId,
    members: Mapping[NodeId, Sequence[NodeId]],
    entries: Mapping[NodeId, LogEntry],
) -> LogEntry | None:
    seqs = members.get(node, ())
    return entries.get(seqs[0]) if seqs else None


def _calling_node(
    node: NodeId,
    members: Mapping[NodeId, Sequence[NodeId]],
    entries: Mapping[NodeId, LogEntry],
) -> NodeId:
    own = [entries[seq] for seq in members.get(node, ()) if seq in entries]
    wanted = {call for entry in own for call in entry.results}
    if any(entry.calls for entry in own) or not wanted or not isinstance(node, int):
        return node
    for seq in range(node - 1, 0, -1):
        entry = entries.get(seq)
        if entry is not None and any(call in wanted for call, _ in entry.calls):
            return seq if entry.node is None else entry.node
    return node
