"""Artifact: a plan, a to-do list or a document that the agent works through, and its steps."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from compress.events import NodeId

ArtifactKind = Literal["todo", "plan", "document"]
"""``todo``: a list of tasks. ``plan``: a list of steps, kept by a tool of the agent's.
``document``: a text, from plan mode or from a file in a folder for plans."""

StepStatus = Literal["pending", "in_progress", "completed", "unknown"]
"""``unknown``: the artifact has no field or box that says so."""

ArtifactStatus = Literal[
    "proposed", "rejected", "approved", "pending", "in_progress", "completed", "replaced"
]
"""``proposed``, ``rejected``, ``approved``: a plan that a person is asked about, as long as no step
of it says more. ``pending``: no step has begun. ``completed``: every step is. ``replaced``: a later
artifact took its place, or it was taken away."""

FINISHED: frozenset[ArtifactStatus] = frozenset({"completed", "replaced", "rejected"})
"""Of an artifact that holds no open step, whatever its steps say."""

Seqs = tuple[NodeId, ...]
"""Events, in rising order, without repeats."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ArtifactStep(_Value):
    """One step. Numbers count from 1 within the artifact."""

    number: int
    title: str
    """One line, at most 200 characters."""
    status: StepStatus
    text: str
    """The whole step, as the agent wrote it; of a document, its lines."""
    lines: tuple[int, int] | None = None
    """Of a document: its first and last line, from 1."""
    source_event_seqs: Seqs
    """Of a list: the events that first listed it and that gave it its status. Of a document: the
    newest event that changed the document."""


class Artifact(_Value):
    """One artifact in its newest state."""

    id: str
    """16 hex digits, from agent, session, kind and place among the artifacts of its kind: the same
    from every machine that reads the log, and while the artifact grows."""
    kind: ArtifactKind
    title: str
    summary: str
    """What it is about, at most 400 characters; never empty."""
    summary_made: bool
    """The artifact had no summary of its own: this one is made of its title and headings."""
    steps: tuple[ArtifactStep, ...]
    current_step: int | None
    """Number of the step that is worked on: the first in progress, else the first that is not
    completed; ``None`` where there is none, or the artifact is finished."""
    status: ArtifactStatus
    path: str | None = None
    """The file of a document, as the agent named it."""
    text: str = ""
    """The whole document, where the log holds it; empty for a list."""
    stale: bool = False
    """The file was changed in a way that the log does not let one follow: ``text`` is older."""
    source_event_seqs: Seqs
