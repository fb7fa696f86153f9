"""What ``ullage artifacts --json`` prints, and the signs of a step wherever it is shown."""

from __future__ import annotations

from compress.artifacts.values import Artifact, StepStatus
from compress.events import NodeId
from inspector.reports import Report, SessionHeader

STEP_MARKS: dict[StepStatus, str] = {
    "completed": "✓",
    "in_progress": "▸",
    "pending": "○",
    "unknown": "·",
}


class ArtifactReport(Report):
    """One artifact, and what of it would stand in context."""

    artifact: Artifact
    context: str
    """The current step and one on each side in full; a pointer line for every other step."""


class ArtifactsReport(Report):
    """``ullage artifacts SESSION --json``: in the order in which they began."""

    session: SessionHeader
    at_seq: NodeId | None
    """The newest event that they know of."""
    artifacts: tuple[ArtifactReport, ...]
