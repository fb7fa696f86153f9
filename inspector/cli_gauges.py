"""Pressure and compaction as lines of text for a person. Pure: a report in, lines out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from inspector.cli_output import heading
from inspector.cli_paint import (
    Cell,
    Column,
    Paint,
    bar,
    percent,
    pressure_style,
    resampled,
    short,
    sparkline,
    table,
)
from inspector.reports import CompactionReport, NodeFate, PressureReport
from inspector.sanitize import clean, line, wrap

LISTED = 8
"""Items of a list that are shown before the rest is counted."""


def pressure_text(report: PressureReport, paint: Paint) -> Iterator[str]:
    """Gauge, composition, curve, thresholds, forecast, and how far the meter can be trusted."""
    yield from heading(
        report.session, paint, f"{report.track} track, {report.view} view at {report.at_seq or 0}"
    )
    yield ""
    yield from gauge_lines(report, paint)
    yield ""
    yield from composition_lines(report, paint)
    curve = _curve(report, paint)
    if curve:
        yield ""
        yield curve
    yield ""
    yield line(_forecast(report), paint.width)
    yield line(_trust(report), paint.width)


def gauge_lines(report: PressureReport, paint: Paint) -> Iterator[str]:
    """The bar of the window; without a window, the tokens alone."""
    source = "the provider's figure" if report.used_source == "provider" else "estimated"
    if not report.window:
        yield f"{report.used:,} tokens, {source}; the window of {report.model} is unknown"
        yield "Say how large it is: --set window=200000"
        return
    fraction = report.used / report.window
    cells = max(20, min(60, paint.width - 20))
    drawn = paint(bar(fraction, cells), pressure_style(fraction))
    yield f"▕{drawn}▏ {percent(fraction)}"
    yield line(
        f"{report.used:,} of {report.window:,} tokens, {source};"
        f" window from the {_SOURCES[report.window_source]}",
        paint.width,
    )


_SOURCES = {
    "user": "settings",
    "log": "log",
    "observed": "largest request seen",
    "table": "model table",
    "unknown": "model table",
}


def composition_lines(report: PressureReport, paint: Paint) -> Iterator[str]:
    """What the tokens are, the largest part first; tool results by tool below."""
    parts = {key.replace("_", " "): n for key, n in report.composition.model_dump().items() if n}
    total = sum(parts.values())
    rows: list[Sequence[str | Cell]] = []
    for name, tokens in sorted(parts.items(), key=lambda part: (-part[1], part[0])):
        rows.append(_part(name, tokens, total))
        if name == "tool results":
            tools = sorted(report.tool_results_by_tool.items(), key=lambda t: (-t[1], t[0]))
            rows.extend(_part(f"  {tool}", n, total, inner=True) for tool, n in tools[:LISTED])
    columns = (
        Column("WHAT", most=22),
        Column("TOKENS", "right", most=9),
        Column("SHARE", "right", most=5),
        Column("", most=24),
    )
    yield from table(columns, rows, paint)


def _part(name: str, tokens: int, total: int, *, inner: bool = False) -> Sequence[str | Cell]:
    share = tokens / total if total else 0.0
    drawn = Cell(bar(share, 24), ("dim",) if inner else ("blue",))
    return (Cell(name, ("dim",)) if inner else name, f"{tokens:,}", percent(share), drawn)


def _curve(report: PressureReport, paint: Paint) -> str:
    inputs = [r.actual_input for r in report.requests if r.actual_input is not None]
    if len(inputs) < 2:
        return ""
    full = report.window or max(inputs)
    shares = resampled([value / full for value in inputs], min(60, paint.width - 26))
    marks = len(report.compactions)
    compacted = f", compacted {marks}×" if marks else ""
    return f"{sparkline(shares, len(shares))}  {len(inputs)} requests{compacted}"


def _forecast(report: PressureReport) -> str:
    limits = report.thresholds
    if limits.micro is None or limits.compact is None:
        return "No thresholds without a window."
    parts = []
    for name, limit, steps in (
        ("micro-compaction", limits.micro, report.forecast.steps_to_micro),
        ("compaction", limits.compact, report.forecast.steps_to_compact),
    ):
        when = "reached" if report.used >= limit else _steps(steps)
        parts.append(f"{name} at {short(limit)}: {when}")
    return "; ".join(parts)


def _steps(steps: int | None) -> str:
    return "not in sight" if steps is None else f"in about {steps} steps"


def _trust(report: PressureReport) -> str:
    error = report.error
    if not error.n or error.median_ape_increment is None:
        return "No provider figures to judge the meter by."
    return (
        f"The meter's own error here: {error.median_ape_increment:.1%} of an increment (median of"
        f" {error.n} requests)"
    )


def compaction_text(report: CompactionReport, paint: Paint) -> Iterator[str]:
    """A preview, or what was committed, under the session's heading."""
    yield from heading(report.session, paint)
    yield from compaction_lines(report, paint)
    yield ""
    if report.operation is None:
        yield "A preview: nothing was written. Do it with --commit."
    else:
        yield f"Committed as {report.operation}. Take it back: ullage undo {report.session.id}"


def compaction_lines(report: CompactionReport, paint: Paint) -> Iterator[str]:
    """The change, what it costs, what is lost, and the summary."""
    region = f"{report.region.start} … {report.region.end}" if report.region else "none"
    yield line(f"region {region} at {report.at_seq} · {_fates(report.nodes)}", paint.width)
    yield ""
    yield from _change(report, paint)
    yield line(
        f"prompt cache: {report.cache_invalidated_tokens:,} tokens are sent anew;"
        f" floor (overhead, pins, tail): {report.floor:,}",
        paint.width,
    )
    if report.oversized_units:
        yield line(f"larger than the budget: {_listed(report.oversized_units)}", paint.width)
    for warning in report.warnings:
        yield paint(line(f"note: {warning}", paint.width), "yellow")
    yield ""
    yield from _lost(report, paint)
    if report.summary is not None:
        yield ""
        yield paint(f"Summary, {report.summary.tokens:,} tokens", "bold")
        yield from (f"│ {text}" for text in wrap(clean(report.summary.text), paint.width - 2))


def _fates(nodes: Sequence[NodeFate]) -> str:
    counted = Counter(node.fate for node in nodes)
    return ", ".join(f"{count} {fate}" for fate, count in counted.most_common()) or "no nodes"


def _change(report: CompactionReport, paint: Paint) -> Iterator[str]:
    for name, tokens, pressure in (
        ("before", report.tokens_before, report.pressure_before),
        ("after", report.tokens_after, report.pressure_after),
    ):
        share = pressure
        if share is None:
            share = tokens / report.tokens_before if report.tokens_before else 0.0
        drawn = paint(bar(share, 40), pressure_style(share))
        yield f"{name:<6} ▕{drawn}▏ {tokens:>9,} tokens {percent(pressure):>6}"


def _lost(report: CompactionReport, paint: Paint) -> Iterator[str]:
    lost = report.lost
    rows = (
        ("instructions", lost.instructions),
        ("errors", lost.errors),
        ("identifiers", lost.identifiers),
    )
    if not any(items for _, items in rows):
        yield "Nothing would be lost that this can tell."
        return
    yield paint("No longer anywhere on the surface", "bold")
    for name, items in rows:
        if items:
            yield line(f"  {len(items):>4} {name}: {_listed(items)}", paint.width)


def _listed(items: Sequence[object]) -> str:
    shown = ", ".join(line(str(item), 60) for item in items[:LISTED])
    return shown if len(items) <= LISTED else f"{shown}, … {len(items) - LISTED} more"
