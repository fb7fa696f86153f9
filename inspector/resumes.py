"""A session's plan as a session of its own, in the agent's format: the way back to the agent."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from compress.events import NodeId
from compress.plan import PlanState
from inspector.copies import plan_copy, tokens_of
from inspector.export_files import named_path
from inspector.loaded import PLAN_VIEW, LoadedSession
from inspector.locations import Locations
from inspector.reports import SessionHeader, Track
from inspector.resume_reports import ResumeReport
from inspector.session_rows import state_of
from storage.catalog import SessionRecord
from storage.resume.base import Composed, ResumeRefusedError
from storage.resume.files import fingerprint, write_new
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
    own = state.surface.nodes
    if request.track == "plan":
        own = tuple(loaded.fold(PLAN_VIEW, request.at).nodes)
    copy = plan_copy(store, loaded, state, own, session_id=request.session_id, made_at=request.now)
    composed = writer.compose(copy)
    path = _path(composed, locations, record, writer.label, request)
    if not request.dry_run:
        _write(path, composed, record)
    return ResumeReport(
        session=header,
        track=request.track,
        at_seq=record.last_seq if request.at is None else request.at,
        agent=record.agent,
        session_id=request.session_id,
        path=str(path),
        folder=composed.folder,
        command=_command(composed, path),
        tokens=tokens_of(state),
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
        return named_path(request.out).resolve() / composed.place.name
    folder = composed.folder
    if folder is not None and not (Path(folder).is_absolute() and Path(folder).is_dir()):
        raise ResumeRefusedError(
            f"{label} resumes a session in its project's folder only, and {folder} is "
            "not there: make the folder, or write the copy elsewhere: "
            "ullage resume SESSION --out DIR."
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
