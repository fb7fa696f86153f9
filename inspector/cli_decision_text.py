"""Decision points as lines of text for a person. Pure: a report in, lines out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from compress.decisions.text import memory_text
from compress.decisions.values import DecisionPoint
from inspector.cli_output import shortened
from inspector.cli_paint import Cell, Column, Paint, Style, short, table
from inspector.decision_exports import iso
from inspector.decision_reports import DecisionRow, DecisionsReport
from inspector.sanitize import clean, line, wrap

_STYLES: dict[str, Style] = {
    "success": "green",
    "failure": "red",
    "retry": "yellow",
    "aborted": "magenta",
    "unknown": "dim",
    "running": "cyan",
}


def decisions_text(
    report: DecisionsReport, paint: Paint, *, full: bool, of_all: bool, chosen: bool = False
) -> Iterator[str]:
    """One line a record, or its lines of memory where it is wanted in ``full``; of several
    sessions under the name of each. ``chosen``: only some were asked for."""
    if not report.rows:
        asked = "No decision point is like that; leave out an option to see more."
        yield asked if chosen else "No decision point here; read logs with: ullage ingest"
        return
    names = shortened(list(dict.fromkeys(row.session for row in report.rows)))
    for number, (session, group) in enumerate(groupby(report.rows, key=lambda row: row.session)):
        rows = list(group)
        if of_all:
            if number:
                yield ""
            where = rows[0].point.project or "unknown folder"
            heading = f"{names[session]} · {rows[0].point.agent} · {where}"
            yield paint(line(heading, paint.width), "bold")
        yield from _full(rows, paint) if full else _table(rows, paint)


def _full(rows: Sequence[DecisionRow], paint: Paint) -> Iterator[str]:
    for row in rows:
        point = row.point
        first, *rest = memory_text(point).split("\n")
        seqs = f"#{point.first_seq}–{point.last_seq}"
        lead = line(f"{seqs}  {point.level}  {first}", paint.width)
        yield paint(lead, _STYLES[point.state])
        for text in rest:
            yield from (f"    {folded}" for folded in wrap(clean(text, " "), paint.width - 4))


def _table(rows: Sequence[DecisionRow], paint: Paint) -> Iterator[str]:
    columns = (
        Column("EVENTS", most=13),
        Column("STAGE", most=14),
        Column("OUTCOME", most=8),
        Column("LEVEL", most=5),
        Column("ENDED" if paint.width >= 100 else "", most=16),
        Column("TOKENS", "right", most=7),
        Column("TITLE", flexible=True),
    )
    yield from table(columns, [_cells(row.point, paint) for row in rows], paint)


def _cells(point: DecisionPoint, paint: Paint) -> list[str | Cell]:
    state = point.state
    ended = iso(point.ended_at)[:16].replace("T", " ") if paint.width >= 100 else ""
    return [
        f"{point.first_seq}–{point.last_seq}",
        f"{point.stage.kind.replace('_', ' ')} {point.stage.index}",
        Cell(state, (_STYLES[state],)),
        point.level,
        Cell(ended, ("dim",)),
        short(point.stage_tokens),
        point.stage.title,
    ]
