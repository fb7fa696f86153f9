"""Pressure as lines of text for a person. Pure: a report in, lines out."""

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
    resampled,
    short,
    sparkline,
    table,
)
from inspector.reports import PressureReport
from inspector.sanitize import line
from inspector.widgets.figures import percent

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
    """What the tokens are, the largest part first; tool results by tool below. A share is one of
    the window, as the gauge's is; of what is used only where no window is known."""
    parts = {key.replace("_", " "): n for key, n in report.composition.model_dump().items() if n}
    total = report.window or report.used
    rows: list[Sequence[str | Cell]] = []
    for name, tokens in sorted(parts.items(), key=lambda part: (-part[1], part[0])):
        rows.append(_part(name, tokens, total))
        if name == "tool results":
            tools = sorted(report.tool_results_by_tool.items(), key=lambda t: (-t[1], t[0]))
            rows.extend(_part(f"  {tool}", n, total, inner=True) for tool, n in tools[:LISTED])
    columns = (
        Column("WHAT", most=22),
        Column("TOKENS", "right", most=9),
        Column("OF WINDOW" if report.window else "OF USED", "right", most=9),
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
    return f"{sparkline(shares, len(shares))}  {counted(len(inputs), 'request')}{compacted}"


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
    return "not in sight" if steps is None else f"in about {counted(steps, 'step')}"


def _trust(report: PressureReport) -> str:
    error = report.error
    if not error.n or error.median_ape_increment is None:
        return "No provider figures to judge the meter by."
    return (
        f"The meter's own error here: {error.median_ape_increment * 100:.1f} % of an increment "
        f"(median of {counted(error.n, 'request')})"
    )
