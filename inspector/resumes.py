"""A session's plan as a session of its own, in the agent's format: the way back to the agent."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from compress.compaction.agent import AgentOperation, agent_operations
from compress.events import NodeId
from compress.messages import NodeContent
from compress.plan import PlanState
from inspector.contents import Contents
from inspector.loaded import PLAN_VIEW, LoadedSession
from inspector.locations import Locations
from inspector.reports import SessionHeader, Track
from inspector.resume_reports import ResumeReport
from inspector.session_rows import state_of
from storage.catalog import SessionRecord
from storage.resume.base import (
    Checkpoint,
    Composed,
    CopyNode,
    Original,
    Piece,
    PlanCopy,
    ResumeRefusedError,
    SourceSession,
)
from storage.resume.files import fingerprint, write_new
from storage.resume.originals import Originals
from storage.resume.registry import writer_for
from storage.store import Store


@dataclass(frozen=True, slots=True)
class Request:
    """What to copy, and where to."""

    session_id: str
    """Of the copy (see :func:`new_session_id`)."""
    now: float
    """Seconds since 1970."""
    track: Track = "plan"
    at: NodeId | None = None
    out: Path | None = None
    """A folder that the person named, instead of the agent's own."""
    dry_run: bool = False


def new_session_id(now: float, random: bytes) -> str:
    """A UUID of version 7 (RFC 9562): the time in milliseconds, then 74 random bits of the 80
    given, so that the newest session sorts last."""
    milliseconds = int(now * 1000) & (1 << 48) - 1
    noise = int.from_bytes(random[:10], "big")
    high = milliseconds << 16 | 7 << 12 | noise >> 62 & 0xFFF
    return str(UUID(int=high << 64 | 2 << 62 | noise & (1 << 62) - 1))


def resume(
    store: Store,
    loaded: LoadedSession,
    locations: Locations,
    header: SessionHeader,
    request: Request,
) -> ResumeReport:
    """Writes the copy, or only composes it where nothing is to be written.

    Raises :class:`ResumeRefusedError`.
    """
    record = loaded.record
    writer = writer_for(record.agent, record.name)
    if request.at is None and state_of(record, request.now) == "running":
        raise ResumeRefusedError(
            f"{record.name} is running: wait until its turn ends, or copy the moment that you mean "
            f"with --at (now: {record.last_seq})."
        )
    state = _state(loaded, request)
    composed = writer.compose(_copy(store, loaded, state, request))
    path = _path(composed, locations, record, writer.label, request)
    if not request.dry_run:
        _write(path, composed, record)
    entries, members = state.entries, state.surface.members
    return ResumeReport(
        session=header,
        track=request.track,
        at_seq=record.last_seq if request.at is None else request.at,
        agent=record.agent,
        session_id=request.session_id,
        path=str(path),
        folder=composed.folder,
        command=_command(composed, path),
        tokens=sum(entries[seq].tokens for node in state.surface.nodes for seq in members[node]),
        counter=record.counter,
        nodes=len(state.surface.nodes),
        records=len(composed.lines),
        written=not request.dry_run,
        note=None if request.out is None else composed.note,
    )


def _state(loaded: LoadedSession, request: Request) -> PlanState:
    if request.track == "plan":
        return loaded.plan(request.at)
    return loaded.agent_only("resume", request.at)


# Where it goes


def _path(
    composed: Composed, locations: Locations, record: SessionRecord, label: str, request: Request
) -> Path:
    if request.out is not None:
        return request.out.expanduser().resolve() / composed.place.name
    folder = composed.folder
    if folder is not None and not (Path(folder).is_absolute() and Path(folder).is_dir()):
        raise ResumeRefusedError(
            f"{label} resumes a session in its project's folder only, and {folder} is "
            "not there: make the folder, or write the copy elsewhere with --out."
        )
    original = Path(record.path)
    roots = locations.roots(record.agent)
    home = next((root for root in roots if original.is_relative_to(root.resolve())), None)
    home = home or next((root for root in roots if root.is_dir()), None)
    if home is None:
        places = " or ".join(map(str, roots))
        raise ResumeRefusedError(
            f"No folder of {label}'s sessions is found here ({places}): name another with --out."
        )
    return Path(os.path.normpath(home / composed.place))


def _command(composed: Composed, path: Path) -> str:
    words = [word.replace("{path}", str(path)) for word in composed.command]
    command = shlex.join(words)
    return command if composed.folder is None else f"cd {shlex.quote(composed.folder)} && {command}"


def _write(path: Path, composed: Composed, record: SessionRecord) -> None:
    """Writes the copy, and proves that the original is what it was."""
    before = fingerprint(Path(record.path))
    write_new(path, composed.lines)
    if before is not None and not before.fits():
        path.unlink()
        raise ResumeRefusedError(
            f"{record.path} was rewritten while it was copied, so the copy was taken away again: "
            "try once more."
        )


# What is in it


def _copy(store: Store, loaded: LoadedSession, state: PlanState, request: Request) -> PlanCopy:
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
        session_id=request.session_id,
        made_at=request.now,
        changed_from=_changed_from(loaded, state, request),
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


def _changed_from(loaded: LoadedSession, state: PlanState, request: Request) -> int:
    nodes = state.surface.nodes
    if request.track == "agent":
        return len(nodes)
    own = loaded.fold(PLAN_VIEW, request.at).nodes
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
        told = None if operation is None else operation.events[1].meta.get("tokens_before")
        gone: Sequence[NodeId] = state.surface.shadowed.get(node, ())
        found[node] = Checkpoint(
            origin=str(origin),
            tokens_before=told if agent is None else agent.stated_before or agent.tokens_before,
            trigger=None if agent is None else agent.trigger,
            behind=_native_id(store, loaded.record, state, gone),
        )
    return found


def _native_id(
    store: Store, record: SessionRecord, state: PlanState, gone: Sequence[NodeId]
) -> str | None:
    """Of the last record that was taken away."""
    seqs = [seq for node in gone[::-1] for seq in state.surface.members[node]]
    last = next((seq for seq in seqs if isinstance(seq, int)), None)
    return None if last is None else store.events(record, [last])[0].native_id
