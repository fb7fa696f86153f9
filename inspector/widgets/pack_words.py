"""What is said of a pack: what a commit comes to, the facts of a line. Pure: reports in, words
out."""

from __future__ import annotations

from inspector.pack_reports import PackLineReport, PackReport
from inspector.sanitize import NEWLINE_MARK, clean
from inspector.widgets import figures
from inspector.widgets.pack_list import reason_words, source_words, tokens_words
from inspector.widgets.tones import Cells


def figures_words(report: PackReport, *, stale: bool) -> Cells:
    """What the pack holds and weighs, for the title bar."""
    packed = sum(row.packed for row in report.lines)
    state = "by class" if report.compression else "all verbatim"
    used = f"{figures.tokens(report.tokens)} of {figures.tokens(report.budget)} tokens"
    return [
        (f"{packed:,} of {len(report.lines):,} lines · {state}  ", "muted"),
        (f"{used} ", "hot" if report.overflow else "faint" if stale else "accent"),
    ]


def confirmation(report: PackReport) -> str:
    """What a commit comes to."""
    packed = sum(row.packed for row in report.lines)
    return (
        f"Append this pack to the plan: {figures.counted(packed, 'line')}, {report.tokens:,} "
        f"tokens of {report.budget:,} as counted? An undo takes it out again."
    )


def line_facts(row: PackLineReport) -> str:
    """Where a line comes from, what it costs and why it is in or out."""
    facts = [
        f"{row.type.replace('_', ' ')} · {row.retention} · {tokens_words(row)} tokens",
        (
            f"{reason_words(row)}, {row.strategy.replace('_', ' ')}, rank {row.rank}, "
            f"score {row.score:.3f}"
        ),
        f"{source_words(row)}  {clean(row.label, NEWLINE_MARK)}",
    ]
    if row.fell_back is not None:
        facts.append(f"A {row.fell_back.replace('_', ' ')} would cost more than the text itself.")
    if row.duplicate_of is not None:
        facts.append(f"The same text as {row.duplicate_of}.")
    return "\n".join(facts)
