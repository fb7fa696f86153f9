"""Sections on a compaction's summary, its loss, and an operation's diff."""

from __future__ import annotations

from itertools import groupby

from inspector.reports import AuditRow, CompactionReport, LostReport
from inspector.widgets import figures
from inspector.widgets.text_pane import Section

_LOST = (
    ("instructions", "user instructions"),
    ("errors", "errors"),
    ("identifiers", "identifiers"),
)


def summary_sections(report: CompactionReport) -> list[Section]:
    """The summary as it would stand, with the tokens of its sections."""
    if report.summary is None:
        return [Section("No summary: only old tool results are replaced by receipts.", "muted")]
    sizes = " · ".join(
        f"{title} {figures.tokens(count)}" for title, count in report.summary.sections.items()
    )
    return [Section(f"tokens as counted: {sizes}", "muted"), Section(report.summary.text)]


def lost_sections(report: CompactionReport) -> list[Section]:
    """What no longer stands anywhere on the surface."""
    sections = loss(report.lost)
    if report.oversized_units:
        names = ", ".join(figures.event_name(seq) for seq in report.oversized_units)
        sections.append(Section(names, "warm", "units larger than the budget"))
    return sections


def loss(lost: LostReport) -> list[Section]:
    """One section a kind."""
    sections = []
    for name, title in _LOST:
        values: tuple[str, ...] = getattr(lost, name)
        if values:
            text = "\n".join(f"• {value}" for value in values)
            shown, total = len(values), getattr(lost, f"{name}_total")
            figure = f"{shown:,} of {total:,}" if total > shown else f"{shown:,}"
            sections.append(Section(text, "text", f"lost {title} ({figure})"))
    return sections or [Section("Nothing that was named is lost.", "muted")]


def audit_sections(row: AuditRow, diff: str) -> list[Section]:
    """What was lost, then the diff."""
    return [*loss(row.lost), Section("", title="diff"), *diff_sections(diff)]


def diff_sections(diff: str) -> list[Section]:
    """A unified diff, each run of like lines in its tone."""
    runs = groupby(diff.split("\n"), key=_diff_tone)
    return [Section("\n".join(rows), tone) for tone, rows in runs]


def _diff_tone(row: str) -> str:
    if row.startswith(("+++", "---", "@@")):
        return "accent"
    if row.startswith("+"):
        return "calm"
    return "hot" if row.startswith("-") else "muted"
