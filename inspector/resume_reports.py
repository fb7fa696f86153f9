"""What ``ullage resume`` answers."""

from __future__ import annotations

from compress.events import NodeId
from inspector.reports import Report, SessionHeader, Track


class ResumeReport(Report):
    """``ullage resume SESSION``: a copy that the agent resumes."""

    session: SessionHeader
    """The session that was copied."""
    track: Track
    at_seq: NodeId | None
    agent: str
    session_id: str
    """Of the copy, in the agent's own terms."""
    path: str
    """The new file."""
    command: str
    """What to type in a shell to go on with the copy."""
    folder: str | None = None
    """The folder that the command changes to, where the agent asks for one."""
    tokens: int
    """Of the copied surface, as counted."""
    counter: str
    nodes: int
    records: int
    """Lines of the new file."""
    written: bool
    """False for a dry run: nothing was written."""
    note: str | None = None
    """What must be done before the command works."""
