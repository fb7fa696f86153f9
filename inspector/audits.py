"""Every operation, of the user's, the policy's and the agent's own, as a row that can be opened."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compress.compaction.agent import AgentOperation, agent_operations
from compress.compaction.comparison import resent_tokens
from compress.compaction.loss import lost_by
from compress.decisions.memory import graduated
from compress.events import NodeId
from compress.operations import Operation, OperationRow
from compress.plan import PlanState
from inspector.compactions import lost_report, session_input
from inspector.contents import Contents
from inspector.details import raw_of
from inspector.diffs import LINES, block_lines
from inspector.loaded import LoadedSession
from inspector.reports import AuditRow, RegionReport
from inspector.settings import Settings
from storage.errors import UnknownEventError
from storage.store import Store


def audit(
    store: Store, loaded: LoadedSession, settings: Settings, *, judged: bool
) -> list[AuditRow]:
    """All operations of a session in the order in which they happened: the agent's by seq, the
    user's after the seq that was the newest when they were made. ``judged``: with what each of
    them lost and what it cost the prompt cache, the agent's own by the same measure; that reads
    the texts that they took away."""
    state, name = loaded.plan(), loaded.record.name
    own = agent_operations(loaded.order)
    numbers = {op.seq: k for k, op in enumerate(with_summary(own), 1)}
    rows = [(float(_seq(op.seq)), _agents_row(name, op, numbers.get(op.seq), state)) for op in own]
    rows += [
        (op.after + op.number / (1 << 32), _users_row(name, op, state))
        for op in state.operations.values()
    ]
    ordered = [row for _, row in sorted(rows, key=lambda pair: pair[0])]
    if not judged:
        return ordered
    return [_judged(store, loaded, settings, own, row) for row in ordered]


def with_summary(own: Iterable[AgentOperation]) -> list[AgentOperation]:
    """The agent's own compactions that can be compared with, the first of them number 1."""
    return [op for op in own if op.summary is not None]


def _judged(
    store: Store,
    loaded: LoadedSession,
    settings: Settings,
    own: Sequence[AgentOperation],
    row: AuditRow,
) -> AuditRow:
    """With what no longer stood anywhere right after the operation, and with the tokens that the
    next request sent anew. Kept: the past does not change."""
    if row.kind not in ("compact", "micro", "reduce") or not row.shadowed_seqs:
        return row
    key = (row.operation, len(row.shadowed_seqs))
    found = loaded.judgements.get(key)
    if found is None:
        before, after, moment = _states(loaded, own, row.operation)
        session, _ = session_input(store, loaded, settings, after, moment)
        lost = lost_report(lost_by(session, row.shadowed_seqs))
        found = loaded.judgements[key] = (lost, resent_tokens(before, after))
    return row.model_copy(update={"lost": found[0], "cache_invalidated_tokens": found[1]})


def diff(store: Store, loaded: LoadedSession, operation: NodeId) -> str:
    """What one operation changed, as a unified diff of the surface's texts, node by node.

    Raises :class:`UnknownEventError` for an operation that the session does not have.
    """
    before, after, _ = _states(loaded, agent_operations(loaded.order), operation)
    left, right = before.surface.nodes, after.surface.nodes
    shared = set(left) & set(right)
    old = _texts(Contents(store, loaded.record, before), left, shared)
    new = _texts(Contents(store, loaded.record, after), right, shared)
    lines = difflib.unified_diff(old, new, f"before {operation}", f"after {operation}", lineterm="")
    return "\n".join(lines)


def raw(store: Store, loaded: LoadedSession, operation: NodeId) -> str:
    """One operation as it was written, one record a line: the agent's own from its log, under the
    place where the first of them stands; the user's as the events that the store holds.

    Raises :class:`UnknownEventError` for an operation that the session does not have.
    """
    for op in agent_operations(loaded.order):
        if operation in op.events or operation == op.seq:
            seqs = sorted({*op.told, *(op.events or (op.seq,))}, key=_seq)
            text, provenance = raw_of(store, loaded, seqs)
            return f"{provenance}\n{text}"
    rows = _rows_of(loaded, operation)
    head = f"{', '.join(str(row.event.seq) for row in rows)} of the user's strand"
    return "\n".join([head, *(row.event.model_dump_json(exclude_none=True) for row in rows)])


def _states(
    loaded: LoadedSession, own: Sequence[AgentOperation], operation: NodeId
) -> tuple[PlanState, PlanState, NodeId]:
    """Before and after an operation, and the seq of the log at which it was done."""
    for op in own:
        if operation in op.events or operation == op.seq:
            return (
                loaded.agent_only("live", _seq(op.seq) - 1),
                loaded.agent_only("live", op.last),
                op.last,
            )
    row = _rows_of(loaded, operation)[0]
    return loaded.plan_before(row), loaded.plan(row.operation), row.after


def _rows_of(loaded: LoadedSession, operation: NodeId) -> list[OperationRow]:
    rows = [row for row in loaded.operations if row.operation == operation]
    if not rows:
        raise UnknownEventError(
            f"Session {loaded.record.name} has no operation {operation}; ullage audit lists them."
        )
    return rows


def _seq(node: NodeId) -> int:
    return int(node) if isinstance(node, int) else 0


def _agents_row(session: str, op: AgentOperation, number: int | None, state: PlanState) -> AuditRow:
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
        trigger=op.trigger,
        stated_before=op.stated_before,
        summary_tokens=None if op.summary is None else _weight(state, op.summary),
        compaction=number,
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
        summary_tokens=_weight(state, op.changes[0].seq)
        if op.kind == "compact" and op.changes
        else None,
        state=standing.state,
        superseded_by=standing.by if standing.state != "standing" else None,
        note=None if op.finished else "begun and never finished; it changed nothing",
    )


def _weight(state: PlanState, node: NodeId) -> int:
    """Counted tokens of a checkpoint, standing or not."""
    members = state.surface.members.get(node, (node,))
    return sum(state.entries[seq].tokens for seq in members if seq in state.entries)


def _rule(op: Operation) -> str:
    if op.kind == "graduate":
        facts = op.events[0].meta
        weight = f"{facts.get('tokens_before')} → {facts.get('tokens_after')} tokens"
        return f"{len(graduated(op))} records to the project's memory: {weight}"
    if op.kind == "pack":
        return _pack_rule(op.events[0].meta)
    return f"of {', '.join(op.targets)}" if op.targets else "by hand"


def _pack_rule(facts: Mapping[str, Any]) -> str:
    """How many beliefs, and what was asked for."""
    count = len(facts.get("beliefs", ()))
    beliefs = f"{count} {'belief' if count == 1 else 'beliefs'}"
    asked = f" for {facts['query']!r}" if facts.get("query") else ""
    return f"{beliefs}{asked}, {facts.get('tokens')} of {facts.get('budget')} tokens"


def _region(nodes: Sequence[NodeId]) -> RegionReport | None:
    return RegionReport(start=nodes[0], end=nodes[-1]) if nodes else None


def _texts(contents: Contents, nodes: Sequence[NodeId], shared: set[NodeId]) -> list[str]:
    """A line a node that both sides have, the text of the others: of the first, where there are
    so many that nobody would read them."""
    lines: list[str] = []
    told = 0
    for node in nodes:
        if node in shared:
            lines.append(f"[{node}]")
        elif told > LINES:
            lines.append(f"[{node}] not compared")
        else:
            content = contents(node)
            text = [line for e in content.events for b in e.blocks for line in block_lines(b)]
            lines += [f"[{node}] {content.events[0].type}", *text]
            told += len(text)
    return lines
