"""An artifact's state → its record."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from compress.artifacts.lists import ItemList
from compress.artifacts.plans import PlanText
from compress.artifacts.values import (
    FINISHED,
    Artifact,
    ArtifactKind,
    ArtifactStatus,
    ArtifactStep,
)
from compress.events import NodeId

SUMMARY = 400
"""Characters of a summary."""
_HEADINGS = 12
"""Headings and steps that a made summary names."""

About = tuple[str, str]
"""Agent, and native id of the session."""


def of_list(about: About, found: ItemList) -> Artifact:
    """The record of a list. It has no title of its own: its first item serves."""
    steps = found.steps()
    own = line(found.summary[0]) if found.summary is not None else ""
    titles = [step.title for step in steps]
    seqs = {found.first, found.newest, *(s for step in steps for s in step.source_event_seqs)}
    if found.summary is not None:
        seqs.add(found.summary[1])
    if found.replaced is not None:
        seqs.add(found.replaced)
    status = found.status
    return Artifact(
        id=_id(about, found.kind, found.number),
        kind=found.kind,
        title=next((title for title in titles if title), found.kind),
        summary=own or _made("", titles) or found.kind,
        summary_made=not own,
        steps=steps,
        current_step=current_step(steps, status),
        status=status,
        source_event_seqs=tuple(sorted(seqs, key=order)),
    )


def of_plan(about: About, plan: PlanText) -> Artifact:
    """The record of a document."""
    document = plan.document
    steps = plan.steps()
    status = plan.status(steps)
    own = line(document.lead)
    headings = list(document.headings) or [step.title for step in steps]
    names = (document.title, own[:200], plan.path.rpartition("/")[2], *headings, "document")
    title = next(name for name in names if name)
    return Artifact(
        id=_id(about, "document", plan.number),
        kind="document",
        title=title,
        summary=own or _made(document.title, headings) or title,
        summary_made=not own,
        steps=steps,
        current_step=current_step(steps, status),
        status=status,
        path=plan.path or None,
        text=plan.text or "",
        stale=plan.stale,
        source_event_seqs=tuple(sorted(set(plan.seqs), key=order)),
    )


def _id(about: About, kind: ArtifactKind, number: int) -> str:
    identity = "\0".join((*about, kind, str(number)))
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def current_step(steps: Sequence[ArtifactStep], status: ArtifactStatus) -> int | None:
    """The first step in progress, else the first that is not completed."""
    if status in FINISHED:
        return None
    for wanted in (("in_progress",), ("pending", "unknown")):
        for step in steps:
            if step.status in wanted:
                return step.number
    return None


def _made(title: str, headings: Sequence[str]) -> str:
    """A summary of a title and headings."""
    named = " · ".join(heading for heading in headings[:_HEADINGS] if heading)
    more = len(headings) - _HEADINGS
    rest = f" · and {more} more" if more > 0 else ""
    return line(f"{title}: {named}{rest}" if title and named else title or f"{named}{rest}")


def line(text: str) -> str:
    """A text in one line, cut to the length of a summary."""
    line = " ".join(text[: 8 * SUMMARY].split())
    return line if len(line) <= SUMMARY else line[: SUMMARY - 1] + "…"


def order(seq: NodeId) -> tuple[int, str]:
    """Key of events in rising order."""
    return (seq, "") if isinstance(seq, int) else (0, seq)
