"""What ``ullage export`` answers with."""

from __future__ import annotations

from inspector.reports import Report


class LakeReport(Report):
    """What came into a lake; nothing where it had everything already."""

    lake: str
    """The folder."""
    sessions: int = 0
    """That something came from."""
    events: int = 0
    operations: int = 0
    decisions: int = 0
    """Rows that were added; a revision is a row of its own."""
    files: int = 0
    masked: int = 0
    """Secrets that a mark stands for."""


class SpansReport(Report):
    """What went to a collector; nothing where it had everything already."""

    endpoint: str
    sessions: int = 0
    """That something came from."""
    spans: int = 0
    undated: int = 0
    """Decision points without a time: no span."""
    running: int = 0
    """Stages that still run: sent once they have ended."""
    masked: int = 0
