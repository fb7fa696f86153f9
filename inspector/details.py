"""Everything about one node, for the detail pane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compress.entries import LogEntry
from compress.events import NodeId
from compress.operations import is_operation_id
from inspector.contents import Contents
from inspector.loaded import PLAN_VIEW, LoadedSession
from inspector.reports import EventDetail, MessageBlock, NodeReport
from inspector.surface_rows import SurfaceRows
from storage.errors import UnknownEventError
from storage.store import Store

RAW_LIMIT = 4 << 20
"""Characters of raw record that a detail carries."""


def event_detail(
    store: Store, loaded: LoadedSession, view: SurfaceRows, seq: NodeId
) -> EventDetail:
    """The node that an event belongs to, its content, its raw records and its history.

    Raises :class:`UnknownEventError`.
    """
    state = loaded.plan()
    if seq not in state.entries:
        raise UnknownEventError(
            f"Session {loaded.record.name} has no event {seq}; it has 1 to "
            f"{loaded.record.last_seq}."
        )
    entry = state.entries[seq]
    node = seq if entry.node is None else entry.node
    members = state.surface.members.get(node) or (node,)
    if node in state.surface.members:
        measured = loaded.measured(state)
        events = Contents(store, loaded.record, state, measured=measured)(node).events
    else:
        # A log-only event stands nowhere; it is shown for itself.
        events = tuple(store.events(loaded.record, [int(seq)]))
    raw, provenance = raw_of(store, loaded, members)
    row = view.node(node)
    return EventDetail(
        node=row,
        blocks=tuple(
            MessageBlock(kind=b.kind, id=b.id, name=b.name, input=b.input, text=b.text)
            for event in events
            for b in event.blocks
        ),
        raw=raw,
        provenance=provenance,
        operations=tuple(_history(loaded, row)),
        sub_agent=_sub_agent(store, loaded, [state.entries[seq] for seq in members]),
    )


def _sub_agent(store: Store, loaded: LoadedSession, log: Sequence[LogEntry]) -> str | None:
    calls = {call for entry in log for call in entry.results}
    if not calls:
        return None
    agents = {entry.meta.get("agent") for entry in log}
    return next(
        (
            child.name
            for child in store.children(loaded.record)
            if child.native_id in agents or child.parent_call_id in calls
        ),
        None,
    )


def raw_of(store: Store, loaded: LoadedSession, members: Sequence[NodeId]) -> tuple[str, str]:
    """The raw records of these events, each once and on a line of its own, and the place where the
    first of them stands."""
    lines: list[str] = []
    provenance = ""
    seen: set[tuple[str, int]] = set()
    for seq in members:
        if is_operation_id(seq):
            provenance = provenance or f"operation event {seq} of the user's strand"
            continue
        for record in store.raw(loaded.record, int(seq)):
            if (record.path, record.offset) in seen:
                continue
            seen.add((record.path, record.offset))
            provenance = provenance or f"{record.path}, line {record.line}, byte {record.offset}"
            lines.append(record.raw.decode("utf-8", errors="replace"))
    return "\n".join(lines)[:RAW_LIMIT], provenance


def raw_content(store: Store, loaded: LoadedSession, seq: int) -> Iterator[bytes]:
    """The text of a tool's result; of any other event, the record that it stands in, as the log
    has it; in pieces. Raises :class:`UnknownEventError` at once."""
    (event,) = store.events(loaded.record, [seq])
    texts = [block.text for block in event.blocks if block.text]
    if event.type == "tool/result" and texts:
        return iter(["\n".join(texts).encode("utf-8", "surrogatepass")])
    return store.raw_pieces(loaded.record, seq)


def _history(loaded: LoadedSession, row: NodeReport) -> list[str]:
    """What became of a node, beyond what its row says itself."""
    state, node = loaded.plan(), row.seq
    said = []
    if node in state.pins and not row.pinned:
        said.append("pinned")
    if node in state.restored and not row.restored:
        said.append("restored by its pin: the agent removed it")
    agent = loaded.fold(PLAN_VIEW)
    if node in agent.removed_by:
        said.append(f"removed from the agent's surface by event {agent.removed_by[node]}")
    for operation in state.operations.values():
        standing = state.states[operation.id].state
        if node in operation.own:
            said.append(f"made by operation {operation.id} ({operation.kind}, {standing})")
        elif node in operation.named():
            said.append(f"touched by operation {operation.id} ({operation.kind}, {standing})")
    return said
