"""How much of the tail stays verbatim: the walk from the tail to the cut."""

from __future__ import annotations

from collections.abc import Sequence

from compress.compaction.values import SessionInput
from compress.entries import LogEntry
from compress.events import NodeId
from compress.measured import Measured
from compress.pairing import Pairing

MESSAGE_TYPES = frozenset({"user/message", "steering/message", "assistant/message"})
"""What "the last N messages" counts; the user's own checkpoints are none."""


def retained_from(tokens: Sequence[int], paired: Pairing, retain: int) -> int:
    """The cut behind which at least ``retain`` tokens stand, moved towards the head until it is
    legal (DeepSeek Harness, ``selectCompactableRange``). 0: everything is retained.

    ``tokens`` per node. With ``retain`` = 0 just the last node is retained, with its unit.
    """
    total, cut = 0, len(tokens)
    while cut > 0:
        cut -= 1
        total += tokens[cut]
        if total >= retain:
            break
    while cut > 0 and not paired.is_edge(cut):
        cut -= 1
    return cut


def messages_from(session: SessionInput, paired: Pairing, last_messages: int) -> int:
    """The cut behind which the last N messages stand, with their whole units."""
    if last_messages <= 0:
        return len(paired.nodes)
    left = last_messages
    for position in range(len(paired.nodes) - 1, -1, -1):
        if is_message(session, paired.nodes[position]):
            left -= 1
            if not left:
                return paired.unit_of(position).start
    return 0


def is_message(session: SessionInput, node: NodeId) -> bool:
    """Whether a node is a message of the conversation, a checkpoint being none."""
    entry = head_entry(session, node)
    return (
        entry is not None
        and entry.type in MESSAGE_TYPES
        and node not in session.plan.surface.shadowed
        and not entry.meta.get("checkpoint")
    )


def head_entry(session: SessionInput, node: NodeId) -> LogEntry | None:
    """The entry of a node's first event."""
    members = session.plan.surface.members.get(node, ())
    return session.plan.entries.get(members[0]) if members else None


def automatic_cut(session: SessionInput, measured: Measured) -> int:
    """Where an automatic compaction cuts: the whole region stands before it. 0: nothing can be
    compacted now, since all that stands is retained or waits for a result.

    Raises :class:`~compress.compaction.policy.PolicyError` where the retained tail would reach the
    threshold of this window.
    """
    paired = measured.paired
    retain = session.policy.retain(session.window or 0)
    counted = int(retain / (session.calibration or 1.0))
    cut = retained_from(measured.tokens, paired, counted)
    cut = min(cut, messages_from(session, paired, session.policy.last_messages))
    if paired.open_from is not None:
        cut = min(cut, paired.open_from)
    return cut


def oversized_units(session: SessionInput, measured: Measured) -> tuple[NodeId, ...]:
    """First nodes of the units that alone exceed the retained tail's budget: summarising the
    rest cannot mend those."""
    if not session.window or not measured.unit_tokens:
        return ()
    budget = int(session.policy.retain(session.window) / (session.calibration or 1.0))
    if measured.heaviest <= budget:
        return ()
    found = zip(measured.units, measured.unit_tokens, strict=True)
    return tuple(measured.nodes[start] for start, weight in found if weight > budget)
