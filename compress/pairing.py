"""Tool calls and their results: units, and where a surface may be cut.

A call and its result are paired by id, and where an id is used again (or is empty) by the nearest
earlier call with that id that has no result yet: the key is (id, occurrence). What cannot be paired
is reported, never guessed at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compress.entries import LogEntry
from compress.events import NodeId


def log_unit(
    node: NodeId,
    members: Mapping[NodeId, Sequence[NodeId]],
    entries: Mapping[NodeId, LogEntry],
) -> tuple[NodeId, ...]:
    """The whole unit of a node by the *log*, whatever stands on the surface now: the message that
    makes calls and the results that answer them, in log order; else the node alone."""
    calling = _calling_node(node, members, entries)
    if calling is None:
        return (node,)
    open_calls: dict[str, int] = {}
    for seq in members.get(calling, ()):
        for call, _ in entries[seq].calls if seq in entries else ():
            open_calls[call] = open_calls.get(call, 0) + 1
    found: list[NodeId] = [calling]
    own = set(members.get(calling, ()))
    seq = calling if isinstance(calling, int) else 0
    while open_calls and seq + 1 in entries:
        seq += 1
        entry = entries[seq]
        if seq in own:
            continue
        for call, _ in entry.calls:
            # The same id is called again: what answers it from here on belongs to that call.
            open_calls.pop(call, None)
        answered = [call for call in entry.results if call in open_calls]
        for call in answered:
            open_calls[call] -= 1
            if not open_calls[call]:
                del open_calls[call]
        if answered:
            found.append(entry.seq if entry.node is None else entry.node)
    return tuple(dict.fromkeys(found))


def _calling_node(
    node: NodeId,
    members: Mapping[NodeId, Sequence[NodeId]],
    entries: Mapping[NodeId, LogEntry],
) -> NodeId | None:
    own = [entries[seq] for seq in members.get(node, ()) if seq in entries]
    if any(entry.calls for entry in own):
        return node
    wanted = {call for entry in own for call in entry.results}
    if not wanted or not isinstance(node, int):
        return None
    for seq in range(node - 1, 0, -1):
        entry = entries.get(seq)
        if entry is not None and any(call in wanted for call, _ in entry.calls):
            return seq if entry.node is None else entry.node
    return None
