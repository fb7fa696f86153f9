"""A compaction as lines of text for a person: what changes, by which rule, what is lost, and the
summary. Pure: a report in, lines out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.cli_output import heading
from inspector.cli_paint import (
    Cell,
    Column,
    Paint,
    bar,
    counted,
    pressure_style,
    short,
    table,
)
from inspector.reports import CompactionReport, LostReport, NodeFate
from inspector.sanitize import clean, line, wrap
from inspector.widgets.figures import percent

LISTED = 8
"""Items of a list that are shown before the rest is counted."""
SUMMARY_LINES = 40
"""Lines of the summary that are shown unless all are asked for."""


def compaction_text(
    report: CompactionReport, paint: Paint, *, nodes: bool = False, full: bool = False
) -> Iterator[str]:
    """A preview, or what was committed, under the session's heading. ``nodes``: with every node's
    fate; ``full``: with the whole summary."""
    yield from heading(report.session, paint)
    yield from compaction_lines(report, paint, nodes=nodes, full=full)
    yield ""
    if report.operation is None:
        yield "A preview: nothing was written. Do it with --commit."
    else:
        yield f"Committed as {report.operation}. Take it back: ullage undo {report.session.id}"
        if report.head is not None:
            yield paint(f"Head of the audit: {report.head}", "dim")


def compaction_lines(
    report: CompactionReport, paint: Paint, *, nodes: bool = False, full: bool = False
) -> Iterator[str]:
    """The change, what it costs, what becomes of the nodes, what is lost, and the summary."""
    region = f"{report.region.start} … {report.region.end}" if report.region else "none"
    yield line(f"region {region} at event {report.at_seq}", paint.width)
    yield ""
    yield from _change(report, paint)
    yield line(
        f"prompt cache: {report.cache_invalidated_tokens:,} tokens are sent anew;"
        f" floor (overhead, pins, tail): {report.floor:,}",
        paint.width,
    )
    if report.oversized_units:
        s = "" if len(report.oversized_units) == 1 else "s"
        told = f"unit{s} larger than the budget: event{s} {_listed(report.oversized_units)}"
        yield line(told, paint.width)
    for warning in report.warnings:
        yield from (paint(row, "yellow") for row in wrap(clean(f"note: {warning}"), paint.width))
    yield ""
    yield from fates(report.nodes, paint, each=nodes)
    yield ""
    yield from lost_lines(report.lost, paint)
    if report.summary is not None:
        yield ""
        yield from _summary(report.summary.text, report.summary.tokens, paint, full=full)


def _summary(text: str, tokens: int, paint: Paint, *, full: bool) -> Iterator[str]:
    yield paint(f"Summary, {tokens:,} tokens as counted", "bold")
    lines = wrap(clean(text), paint.width - 2)
    shown = lines if full or len(lines) <= SUMMARY_LINES else lines[: SUMMARY_LINES - 1]
    yield from (f"│ {text}" for text in shown)
    if len(shown) < len(lines):
        yield f"… {counted(len(lines) - len(shown), 'more line')} (--full shows all)"


def _change(report: CompactionReport, paint: Paint) -> Iterator[str]:
    for name, tokens, pressure in (
        ("before", report.tokens_before, report.pressure_before),
        ("after", report.tokens_after, report.pressure_after),
    ):
        share = pressure
        if share is None:
            share = tokens / report.tokens_before if report.tokens_before else 0.0
        drawn = paint(bar(share, max(12, min(40, paint.width - 48))), pressure_style(share))
        of = "" if pressure is None else f" {percent(pressure):>6} of the window"
        yield f"{name:<6} ▕{drawn}▏ {tokens:>9,} tokens{of}"


def fates(nodes: Sequence[NodeFate], paint: Paint, *, each: bool) -> Iterator[str]:
    """The fates by rule, and where ``each`` is wanted, those of every node."""
    yield from _fates_by_rule(nodes, paint)
    if each:
        yield ""
        yield from _fates_by_node(nodes, paint)


def _fates_by_rule(nodes: Sequence[NodeFate], paint: Paint) -> Iterator[str]:
    """How many nodes each rule decides on, and their counted tokens; what frees most first."""
    groups: dict[tuple[str, str], list[NodeFate]] = {}
    for node in nodes:
        groups.setdefault((node.fate, node.rule), []).append(node)
    rows: list[tuple[int, int, tuple[str | Cell, ...]]] = []
    for (fate, rule), group in groups.items():
        before, after = (
            sum(node.tokens_before for node in group),
            sum(node.tokens_after for node in group),
        )
        cells = (fate, str(len(group)), f"{short(before)} → {short(after)}", rule)
        rows.append((after - before, -before, cells))
    columns = (
        Column("FATE", most=8),
        Column("NODES", "right", most=7),
        Column("COUNTED TOKENS", most=18),
        Column("RULE", flexible=True),
    )
    ordered = sorted(rows, key=lambda row: row[:2])
    yield from table(columns, [cells for _, _, cells in ordered], paint)


def _fates_by_node(nodes: Sequence[NodeFate], paint: Paint) -> Iterator[str]:
    """What becomes of every node, in the order of the surface."""
    columns = (
        Column("SEQ", "right", most=7),
        Column("FATE", most=8),
        Column("COUNTED TOKENS", most=20),
        Column("RULE", flexible=True),
    )
    rows = [
        (str(n.seq), n.fate, f"{n.tokens_before:,} → {n.tokens_after:,}", n.rule) for n in nodes
    ]
    yield from table(columns, rows, paint)


def losses(lost: LostReport) -> list[tuple[str, Sequence[str], int]]:
    """(kind, items listed, how many in all), of kinds with a loss; the gravest first. Reports from
    before there were totals say 0: there everything is listed."""
    rows = (
        ("instruction", lost.instructions, lost.instructions_total),
        ("error", lost.errors, lost.errors_total),
        ("identifier", lost.identifiers, lost.identifiers_total),
    )
    return [(kind, items, max(total, len(items))) for kind, items, total in rows if items or total]


def lost_lines(lost: LostReport, paint: Paint) -> Iterator[str]:
    """What no longer stands anywhere on the surface, a line a kind."""
    found = losses(lost)
    if not found:
        yield "Nothing would be lost that this can tell."
        return
    yield paint("No longer anywhere on the surface", "bold")
    for kind, items, total in found:
        listed = f" (--json lists {len(items):,})" if len(items) < total else ""
        yield line(f"  {counted(total, kind)}{listed}: {_listed(items, total)}", paint.width)


def _listed(items: Sequence[object], total: int | None = None) -> str:
    shown = ", ".join(line(str(item), 60) for item in items[:LISTED])
    more = (len(items) if total is None else total) - len(items[:LISTED])
    return f"{shown}, … {more:,} more" if more else shown
