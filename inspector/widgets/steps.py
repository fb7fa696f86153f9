"""Plans and to-do lists in the detail pane: pure functions from a report to sections."""

from __future__ import annotations

import re
from textwrap import indent

from compress.artifacts.chunks import progress, state
from compress.artifacts.values import Artifact, ArtifactStep
from inspector.artifact_reports import STEP_MARKS, ArtifactsReport
from inspector.widgets import figures
from inspector.widgets.text_pane import Section

_MARKS = re.compile(r"(?:[#0-9.)*+\s-]|\[[ xX]\])*")
"""What stands before a title: marks of headings and lists, numbers, a box."""


def sections_of_artifacts(report: ArtifactsReport) -> list[Section]:
    """The newest artifact first; of each its state, its steps, and the current one in full."""
    if not report.artifacts:
        return [Section("No plan, no to-do list and no plan document up to here.", "muted")]
    return [section for one in reversed(report.artifacts) for section in _sections(one.artifact)]


def _sections(artifact: Artifact) -> list[Section]:
    facts = [artifact.kind, state(artifact.status), progress(artifact)]
    facts.append(f"since {figures.event_name(artifact.source_event_seqs[0])}")
    if artifact.stale:
        facts.append("its file is newer than this")
    head = [" · ".join(facts)]
    if artifact.path:
        head.append(artifact.path)
    if not artifact.summary_made:
        head.append(artifact.summary)
    found = [Section("\n".join(head), "muted", artifact.title)]
    found += [_step(artifact, step) for step in artifact.steps]
    if not artifact.steps and artifact.text:
        found.append(Section(artifact.text))
    return found


def _step(artifact: Artifact, step: ArtifactStep) -> Section:
    text = f"{step.number:>3} {STEP_MARKS[step.status]} {step.title}"
    if step.number == artifact.current_step:
        more = "" if _says_no_more(step) else "\n" + indent(step.text.rstrip(), " " * 6)
        return Section(text + more, "accent")
    return Section(text, "muted" if step.status == "completed" else "text")


def _says_no_more(step: ArtifactStep) -> bool:
    """The text is the title, behind a list's mark or a box at most."""
    text = step.text.strip()
    marks = text.removesuffix(step.title)
    return marks != text and _MARKS.fullmatch(marks) is not None
