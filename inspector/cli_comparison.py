"""Two compactions of the same moment as lines for a person: the agent's own beside the preview of
ours. Pure: a report in, lines out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len

from inspector.cli_compaction import LISTED, SUMMARY_LINES, fates, losses
from inspector.cli_output import heading
from inspector.cli_paint import Cell, Column, Paint, counted, table
from inspector.reports import AgentSide, CompactionReport, LostReport, SummaryReport
from inspector.sanitize import clean, line, wrap
from inspector.widgets.figures import percent

_BESIDE = 100
"""Columns of a terminal from which on the summaries stand side by side."""
_UNREADABLE = "It cannot be read: the agent keeps it encrypted."


def comparison_text(
    report: CompactionReport,
    theirs: AgentSide,
    paint: Paint,
    *,
    nodes: bool = False,
    full: bool = False,
) -> Iterator[str]:
    """What the agent's compaction kept and what ours would have kept, under the session's heading.
    ``nodes``: with every node's fate; ``full``: with the whole summaries."""
    yield from heading(report.session, paint)
    why = f" ({theirs.trigger})" if theirs.trigger else ""
    yield line(
        f"the agent's own compaction at event {theirs.operation}{why}, and ours at event "
        f"{report.at_seq}, just before it",
        paint.width,
    )
    yield ""
    yield from _figures(report, theirs, paint)
    for warning in report.warnings:
        yield from (paint(row, "yellow") for row in wrap(clean(f"note: {warning}"), paint.width))
    for title, found in (
        ("Lost by the agent", theirs.lost),
        ("Lost by ours", report.lost),
        ("Lost by the agent, kept by ours", report.kept_only_here),
        ("Lost by ours, kept by the agent", report.kept_only_there),
    ):
        yield ""
        yield from _listed(title, found, paint)
    yield ""
    yield from fates(report.nodes, paint, each=nodes)
    yield ""
    yield from _summaries(theirs.summary, report.summary, paint, full=full)
    yield ""
    yield "A look at the past: nothing was written, and nothing can be committed there."


def _figures(report: CompactionReport, theirs: AgentSide, paint: Paint) -> Iterator[str]:
    columns = (
        Column("", most=31),
        Column("THE AGENT", "right", most=18),
        Column("OURS", "right", most=18),
    )
    ours = report.summary
    rows: list[tuple[str, str, str]] = [
        ("summary, tokens as counted", _tokens(theirs.summary), _tokens(ours)),
        ("window before", f"{theirs.tokens_before:,}", f"{report.tokens_before:,}"),
        ("window after", f"{theirs.tokens_after:,}", f"{report.tokens_after:,}"),
        ("pressure after", percent(theirs.pressure_after), percent(report.pressure_after)),
        (
            "sent anew past the prompt cache",
            f"{theirs.cache_invalidated_tokens:,}",
            f"{report.cache_invalidated_tokens:,}",
        ),
    ]
    for kind in ("instructions", "errors", "identifiers"):
        shown = (f"{getattr(lost, f'{kind}_total'):,}" for lost in (theirs.lost, report.lost))
        rows.append((f"lost {kind}", *shown))  # type: ignore[arg-type]
    cells: list[Sequence[str | Cell]] = [tuple(row) for row in rows]
    yield from table(columns, cells, paint)


def _tokens(summary: SummaryReport | None) -> str:
    return "–" if summary is None else f"{summary.tokens:,}"


def _listed(title: str, lost: LostReport, paint: Paint) -> Iterator[str]:
    found = losses(lost)
    yield paint(title, "bold")
    if not found:
        yield "  nothing"
    for kind, items, total in found:
        shown = ", ".join(line(item, 60) for item in items[:LISTED])
        more = f", … {total - LISTED:,} more" if total > LISTED else ""
        yield line(f"  {counted(total, kind)}: {shown}{more}", paint.width)


def _summaries(
    theirs: SummaryReport | None, ours: SummaryReport | None, paint: Paint, *, full: bool
) -> Iterator[str]:
    """Side by side where there is room, else one after the other."""
    beside = paint.width >= _BESIDE
    width = (paint.width - 3) // 2 if beside else paint.width - 2
    left, right = (
        _lines(title, summary, width, full=full)
        for title, summary in (("the agent's summary", theirs), ("ours", ours))
    )
    if beside:
        for first, second in zip_longest(left, right, fillvalue=""):
            yield f"{first}{' ' * (width - cell_len(first))} │ {second}".rstrip()
        return
    yield from left
    yield ""
    yield from right


def _lines(title: str, summary: SummaryReport | None, width: int, *, full: bool) -> list[str]:
    if summary is None:
        return [f"{title}", _UNREADABLE]
    lines = wrap(clean(summary.text), width)
    left = 0 if full or len(lines) <= SUMMARY_LINES else len(lines) - SUMMARY_LINES + 1
    shown = lines[: len(lines) - left]
    if left:
        shown.append(line(f"… {counted(left, 'more line')} (--full shows all)", width))
    return [f"{title}, {summary.tokens:,} tokens", *shown]
