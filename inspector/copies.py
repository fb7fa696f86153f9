"""What a writer of resumable copies is given: a plan, with the raw records that it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from compress.compaction.agent import AgentOperation, agent_operations
from compress.events import NodeId
from compress.messages import NodeContent
from compress.operations import Operation
from compress.plan import PlanState
from inspector.contents import Contents
from inspector.loaded import LoadedSession
from storage.catalog import SessionRecord
from storage.resume.base import Checkpoint, CopyNode, Original, Piece, PlanCopy, SourceSession
from storage.resume.originals import Originals
from storage.store import Store


def plan_copy(
    store: Store,
    loaded: LoadedSession,
    state: PlanState,
    own: Sequence[NodeId],
    *,
    session_id: str,
    made_at: float,
) -> PlanCopy:
    """``state`` with the raw records that it came from. ``own`` is the agent's surface of the same
    moment, of which its provider's figures speak; ``made_at`` is in seconds since 1970."""
    record = loaded.record
    originals = Originals(store.connections, record)
    contents = Contents(store, record, state).all(state.surface.nodes)
    raw = originals.of_events(
        [e.seq for node in contents for e in node.events if isinstance(e.seq, int)]
    )
    checkpoints = _checkpoints(store, loaded, state)
    return PlanCopy(
        source=SourceSession(
            name=record.name,
            native_id=record.native_id,
            path=Path(record.path),
            relation=record.relation,
            cwd=record.cwd,
            version=record.agent_version,
            model=record.model,
            title=record.title,
        ),
        nodes=tuple(_node(content, raw, checkpoints.get(content.node)) for content in contents),
        session_id=session_id,
        made_at=made_at,
        changed_from=_changed_from(state.surface.nodes, own),
        records=originals.all,
    )


def _node(
    content: NodeContent, raw: Mapping[int, Original], checkpoint: Checkpoint | None
) -> CopyNode:
    pieces = tuple(
        Piece(event, raw[event.seq] if isinstance(event.seq, int) else None)
        for event in content.events
    )
    return CopyNode(content.node, pieces, checkpoint)


def _changed_from(nodes: Sequence[NodeId], own: Sequence[NodeId]) -> int:
    for position, (planned, agents) in enumerate(zip(nodes, own, strict=False)):
        if planned != agents:
            return position
    return min(len(nodes), len(own))


def _checkpoints(
    store: Store, loaded: LoadedSession, state: PlanState
) -> Mapping[NodeId, Checkpoint]:
    """Of the summaries that stand: the user's, the policy's and the agent's own."""
    found: dict[NodeId, Checkpoint] = {}
    agents: Mapping[NodeId, AgentOperation] | None = None
    for node in state.surface.nodes:
        origin = state.entries[node].meta.get("checkpoint")
        if origin is None:
            continue
        if agents is None:
            made = agent_operations(sorted(loaded.order, key=lambda entry: int(entry.seq)))
            agents = {made_one.seq: made_one for made_one in made}
        operation, agent = state.operation_of(node), agents.get(node)
        if operation is not None:
            tokens: int | None = _tokens_before(loaded, operation)
        else:
            tokens = None if agent is None else agent.stated_before or agent.tokens_before
        found[node] = Checkpoint(
            origin=str(origin),
            tokens_before=tokens,
            trigger=None if agent is None else agent.trigger,
            behind=_native_id(store, loaded.record, state, state.surface.shadowed.get(node, ())),
        )
    return found


def _tokens_before(loaded: LoadedSession, operation: Operation) -> int:
    """Of the plan on which it was made, as counted."""
    row = next(row for row in loaded.operations if row.operation == operation.id)
    return tokens_of(loaded.plan_before(row))


def tokens_of(state: PlanState) -> int:
    """Of the whole surface, as counted."""
    entries, members = state.entries, state.surface.members
    return sum(entries[seq].tokens for node in state.surface.nodes for seq in members[node])


def _native_id(
    store: Store, record: SessionRecord, state: PlanState, gone: Sequence[NodeId]
) -> str | None:
    """Of the last record that was taken away."""
    seqs = [seq for node in gone[::-1] for seq in reversed(state.surface.members[node])]
    last = next((seq for seq in seqs if isinstance(seq, int)), None)
    return None if last is None else store.events(record, [last])[0].native_id
