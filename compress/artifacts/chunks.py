"""What of an artifact stands in context: the current step and its neighbours, in full; of every
other step a line that says where it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compress.artifacts.values import Artifact, ArtifactStatus, ArtifactStep

NEIGHBOURS = 1
_NAMED = 100
"""Characters of a title in a pointer line."""


def in_context(artifact: Artifact) -> str:
    """The artifact as lines of context: title, summary and pointer; then its steps in order, those
    around the current one in full, the others as pointer lines. One without steps is its summary
    and pointer. Every step stands in it exactly once."""
    return "\n".join(_lines(artifact))


def in_full(artifact: Artifact) -> frozenset[int]:
    """Numbers of the steps that stand in full. None where no step is current: then all that is
    left to do is known from the titles."""
    if artifact.current_step is None:
        return frozenset()
    first = max(artifact.current_step - NEIGHBOURS, 1)
    last = min(artifact.current_step + NEIGHBOURS, len(artifact.steps))
    return frozenset(range(first, last + 1))


def pointer(artifact: Artifact, step: int | None = None) -> str:
    """Where the whole is: ``ullage artifacts SESSION ID --step N`` prints it."""
    return f"[artifact {artifact.id}]" if step is None else f"[artifact {artifact.id} step {step}]"


def _lines(artifact: Artifact) -> Iterator[str]:
    yield f"{artifact.title} ({state(artifact.status)}) {pointer(artifact)}"
    if artifact.summary != artifact.title:
        yield from _quoted(artifact.summary)
    full = in_full(artifact)
    for step in artifact.steps:
        if step.number in full:
            current = " ← current" if step.number == artifact.current_step else ""
            yield f"{step.number}. {step.title}{_said(step)}{current}"
            if step.text != step.title:
                yield from _quoted(step.text)
        else:
            yield pointer_line(artifact, step)


def pointer_line(artifact: Artifact, step: ArtifactStep) -> str:
    """Number, title, status and pointer of a step."""
    title = step.title if len(step.title) <= _NAMED else step.title[: _NAMED - 1] + "…"
    return f"{step.number}. {title}{_said(step)} {pointer(artifact, step.number)}"


def state(status: ArtifactStatus) -> str:
    """A status as words."""
    return status.replace("_", " ")


def progress(artifact: Artifact) -> str:
    """``2 of 5 steps done``; the number of steps alone where nothing tells what is done."""
    steps = artifact.steps
    if not steps:
        return "no steps"
    counted = "1 step" if len(steps) == 1 else f"{len(steps):,} steps"
    if all(step.status == "unknown" for step in steps):
        return counted
    return f"{sum(step.status == 'completed' for step in steps):,} of {counted} done"


def _said(step: ArtifactStep) -> str:
    return "" if step.status == "unknown" else f" ({step.status.replace('_', ' ')})"


def _quoted(text: str) -> Iterator[str]:
    """Set off, so that no line of a text can be taken for that of a step."""
    for part in _trimmed(text.split("\n")):
        yield f"   {part}".rstrip()


def _trimmed(lines: Sequence[str]) -> Sequence[str]:
    stop = len(lines)
    while stop > 1 and not lines[stop - 1].strip():
        stop -= 1
    return lines[:stop]
