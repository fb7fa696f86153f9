"""Every operation, of the user's, the policy's and the agent's own, as a row that can be opened."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from compress.compaction.agent import AgentOperation, agent_operations
from compress.compaction.loss import lost_by
from compress.events import ContentBlock, NodeId
from compress.operations import Operation
from compress.plan import PlanState
from compress.tokens import compact_json
from inspector.compactions import lost_report, session_input
from inspector.contents import Contents
from inspector.loaded import LoadedSession
from inspector.reports import AuditRow, LostReport, RegionReport
from inspector.settings import Settings
from storage.errors import UnknownEventError
from storage.store import Store

_DIFF_LINES = 400
"""Lines of one block that a diff shows."""


def audit(
    store: Store, loaded: LoadedSession, settings: Settings, *, judged: bool
) -> list[AuditRow]:
    """All operations of a session in the order in which they happened: the agent's by seq, the
    user's after the seq that was the newest when they were made. ``judged``: with what each of
    them lost, the agent's own by the same measure; that reads the texts that they took away."""
    state, name = loaded.plan(), loaded.record.name
    rows = [(float(_seq(op.seq)), _agents_row(name, op)) for op in agent_operations(loaded.order)]
    rows += [
        (op.after + op.number / (1 << 32), _users_row(name, op, state))
        for op in state.operations.values()
    ]
    ordered = [row for _, row in sorted(rows, key=lambda pair: pair[0])]
    if not judged:
        return ordered
    return [row.model_copy(update={"lost": _lost(store, loaded, settings, row)}) for row in ordered]


def _lost(store: Store, loaded: LoadedSession, settings: Settings, row: AuditRow) -> LostReport:
    """What no longer stood anywhere right after the operation. Kept: the past does not change."""
    if row.kind not in ("compact", "micro", "reduce") or not row.shadowed_seqs:
        return row.lost
    key = (row.operation, len(row.shadowed_seqs))
    found = loaded.losses.get(key)
    if found is None:
        _, after = _states(loaded, row.operation)
        session, _ = session_input(store, loaded, settings, after, _moment(loaded, row.operation))
        found = loaded.losses[key] = lost_report(lost_by(session, row.shadowed_seqs))
    return found


def _moment(loaded: LoadedSession, operation: NodeId) -> NodeId:
    """The seq of the log when the operation was made."""
    if isinstance(operation, int):
        return operation
    return next(row.after for row in loaded.operations if row.operation == operation)


def diff(store: Store, loaded: LoadedSession, operation: NodeId) -> str:
    """What one operation changed, as a unified diff of the surface's texts, node by node.

    Raises :class:`UnknownEventError` for an operation that the session does not have.
    """
    before, after = _states(loaded, operation)
    left, right = before.surface.nodes, after.surface.nodes
    shared = set(left) & set(right)
    old = _texts(Contents(store, loaded.record, before), left, shared)
    new = _texts(Contents(store, loaded.record, after), right, shared)
    lines = difflib.unified_diff(old, new, f"before {operation}", f"after {operation}", lineterm="")
    return "\n".join(lines)


def _states(loaded: LoadedSession, operation: NodeId) -> tuple[PlanState, PlanState]:
    for own in agent_operations(loaded.order):
        if operation in own.events or operation == own.seq:
            last = max(_seq(seq) for seq in own.events)
            return (
                loaded.agent_only("live", _seq(own.seq) - 1),
                loaded.agent_only("live", last),
            )
    mine = [row for row in loaded.operations if row.operation == operation]
    if not mine:
        raise UnknownEventError(
            f"Session {loaded.record.name} has no operation {operation}; ullage audit lists them."
        )
    return loaded.plan_before(mine[0]), loaded.plan(mine[0].operation)


def _seq(node: NodeId) -> int:
    return int(node) if isinstance(node, int) else 0


def _agents_row(session: str, op: AgentOperation) -> AuditRow:
    stated = f"; the log says {op.stated_before:,} tokens before" if op.stated_before else ""
    return AuditRow(
        session=session,
        operation=op.seq,
        kind=op.kind,
        origin="agent",
        at=op.time,
        rule=f"{op.trigger or 'by the agent'}{stated}",
        region=_region(op.shadowed),
        shadowed_seqs=op.shadowed,
        tokens_before=op.tokens_before,
        tokens_after=op.tokens_after,
        note=None if op.finished else "begun and never finished; it changed nothing",
    )


def _users_row(session: str, op: Operation, state: PlanState) -> AuditRow:
    standing = state.states[op.id]
    facts = next((e.meta for e in op.events if e.type == "compact/summary"), {})
    shadowed = tuple(facts.get("shadowed_seqs", ()))
    named = op.pinned if op.pinned is not None else None
    return AuditRow(
        session=session,
        operation=op.id,
        kind=op.kind,
        origin=op.origin,
        at=op.at,
        rule=str(facts.get("strategy") or _rule(op)),
        region=_region(shadowed) if named is None else RegionReport(start=named, end=named),
        shadowed_seqs=shadowed,
        tokens_before=facts.get("tokens_before"),
        tokens_after=facts.get("tokens_after"),
        state=standing.state,
        superseded_by=standing.by if standing.state != "standing" else None,
        note=None if op.finished else "begun and never finished; it changed nothing",
    )


def _rule(op: Operation) -> str:
    return f"of {', '.join(op.targets)}" if op.targets else "by hand"


def _region(nodes: Sequence[NodeId]) -> RegionReport | None:
    return RegionReport(start=nodes[0], end=nodes[-1]) if nodes else None


def _texts(contents: Contents, nodes: Sequence[NodeId], shared: set[NodeId]) -> list[str]:
    """A line a node that both sides have, the whole text of the others."""
    lines: list[str] = []
    for node in nodes:
        if node in shared:
            lines.append(f"[{node}]")
            continue
        content = contents(node)
        lines.append(f"[{node}] {content.events[0].type}")
        for event in content.events:
            for block in event.blocks:
                lines.extend(_block_lines(block))
    return lines


def _block_lines(block: ContentBlock) -> Iterable[str]:
    text = block.text
    if block.kind == "tool_call":
        text = f"{block.name} {compact_json(block.input)}"
    found = text.split("\n")
    yield from (f"  {line}" for line in found[:_DIFF_LINES])
    if len(found) > _DIFF_LINES:
        yield f"  … {len(found) - _DIFF_LINES} more of {len(found)} lines"
