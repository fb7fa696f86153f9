"""What ``ullage squeeze --json`` and ``ullage raw --json`` print."""

from __future__ import annotations

from compress.reduction.values import Reduction
from inspector.reports import Report


class StageRow(Report):
    """What one stage of the pipeline removed."""

    name: str
    lines_removed: int
    tokens_removed: int = 0
    notes: tuple[str, ...] = ()


class SqueezeReport(Report):
    """``ullage squeeze --json``."""

    text: str
    """What is shown: the header, then what stays. The output itself where nothing was gained."""
    tokens_before: int
    tokens_after: int
    counter: str
    """Which counter made the figures."""
    estimated: bool = False
    """``tokens_before`` is an estimate: the output was too large to be counted whole."""
    lines_before: int
    lines_after: int
    bytes: int
    """Of the whole output."""
    profile: str
    stages: tuple[StageRow, ...]
    verdicts: tuple[str, ...] = ()
    """Totals and summary lines, as they stand in the output."""
    exit_code: int | None
    """``None``: not known, since the output came through a pipe."""
    raw: str | None
    """The pointer of the whole output, for ``ullage raw``; ``None`` where it was not kept."""
    notes: tuple[str, ...] = ()


class SqueezedResult(Report):
    """A tool's result in a session, reduced."""

    text: str
    profile: str
    stages: tuple[StageRow, ...]
    """Empty where the result passed untouched."""
    tokens_before: int
    tokens_after: int
    lines_before: int
    lines_after: int


class OutputRow(Report):
    """One element of ``ullage raw --json``."""

    pointer: str
    bytes: int
    at: float
    """Seconds since 1970."""
    command: str | None
    exit_code: int | None


def stage_rows(reduction: Reduction) -> tuple[StageRow, ...]:
    """The stages of a reduction, for a report."""
    return tuple(
        StageRow(
            name=stage.name,
            lines_removed=stage.lines_removed,
            tokens_removed=stage.tokens_removed,
            notes=stage.notes,
        )
        for stage in reduction.stages
    )


def squeezed_report(reduction: Reduction) -> SqueezedResult:
    """A reduction, for a report."""
    return SqueezedResult(
        text=reduction.text,
        profile=reduction.profile,
        stages=stage_rows(reduction),
        tokens_before=reduction.tokens_before,
        tokens_after=reduction.tokens_after,
        lines_before=reduction.lines_before,
        lines_after=reduction.lines_after,
    )
