"""Usage as lines of text for a person. Pure: a report in, lines out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.cli_output import LONGEST_ID, shortened
from inspector.cli_paint import Cell, Column, Paint, counted, short, table
from inspector.sanitize import line
from inspector.usage_reports import TokenTotals, UsageBy, UsageReport, UsageRow, UsageShare

_UNTOLD: Mapping[UsageBy, str] = {"day": "undated", "model": "unknown"}
_PART = "↳ sub-agents"
_NONE = TokenTotals()


def usage_text(report: UsageReport, paint: Paint) -> Iterator[str]:
    """One line a day, session, model or agent, below it what of that sub-agents spent; then the
    total, and what the figures leave open."""
    yield paint(line(_title(report), paint.width), "bold")
    if not report.rows:
        yield "No request with figures of a provider; read logs with: ullage ingest"
    else:
        yield from _table(report, paint)
    for text in _remarks(report):
        yield paint(line(text, paint.width), "dim")


def _title(report: UsageReport) -> str:
    since = f" from {report.since}" if report.since else ""
    until = f" to {report.until}" if report.until else ""
    where = f", days of {report.zone}" if report.by == "day" or since or until else ""
    return f"Tokens by {report.by}{since}{until}{where}"


def _table(report: UsageReport, paint: Paint) -> Iterator[str]:
    named = report.by == "session"
    titled = named and paint.width >= 100
    columns = (
        Column(report.by.upper(), most=LONGEST_ID if named else 32),
        Column("REQUESTS", "right", most=9),
        Column("INPUT", "right", most=8),
        Column("CACHE READ", "right", most=10),
        Column("WRITTEN", "right", most=8),
        Column("OUTPUT", "right", most=8),
        Column("ERRORS" if report.total.total.errors else "", "right", most=6),
        Column("TITLE" if titled else "", flexible=titled),
    )
    ids = shortened([row.key for row in report.rows if row.key is not None]) if named else {}
    lines: list[list[str | Cell]] = []
    for row in report.rows:
        lines.extend(_cells(_label(row, report.by, ids), row, row.title or "" if titled else ""))
    if len(report.rows) > 1:
        lines.extend(_cells("total", report.total, ""))
    yield from table(columns, lines, paint)


def _label(row: UsageRow, by: UsageBy, ids: Mapping[str, str]) -> str:
    if row.key is None:
        return _UNTOLD.get(by, "unknown")
    return ids.get(row.key, row.key)


def _cells(label: str, share: UsageShare, title: str) -> Iterator[list[str | Cell]]:
    yield [label, *_figures(share.total), title]
    if share.subagents != _NONE:
        yield [Cell(_PART, ("dim",)), *(Cell(t, ("dim",)) for t in _figures(share.subagents)), ""]


def _figures(figures: TokenTotals) -> list[str]:
    return [
        f"{figures.requests:,}",
        short(figures.input),
        short(figures.cache_read),
        short(figures.cache_creation),
        short(figures.output),
        f"{figures.errors:,}" if figures.errors else "",
    ]


def _remarks(report: UsageReport) -> Iterator[str]:
    total, undated = report.total.total, report.undated.total
    if (report.since or report.until) and undated != _NONE:
        number = counted(undated.requests, "request")
        yield f"{number} without a time, of {short(undated.output)} output tokens: not counted here"
    if total.lower_bounds:
        number = counted(total.lower_bounds, "reply", "replies")
        yield f"{number} without an end in the log: the output is at least this"
    if total.unknown:
        yield f"{counted(total.unknown, 'request')} with a figure that the provider did not tell"
