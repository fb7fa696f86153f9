"""A pack as lines for a person: the candidates, each with the reason, then the text. Pure: a report
in, lines out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from inspector.cli_output import shortened
from inspector.cli_paint import Cell, Column, Paint, Style, counted, table
from inspector.pack_reports import PackLineReport, PackReport
from inspector.sanitize import clean, line, wrap

_WHY: Mapping[str, str] = {
    "packed": "",
    "locked": "pinned",
    "duplicate": "duplicate",
    "below_floor": "no match",
    "over_budget": "no room",
    "excluded": "taken out",
    "standing": "stands already",
}
_WHOLE = 1_000
"""Cells of a line that is to be copied: the terminal folds it."""
LEFT_OUT = 10
"""Candidates that are out and shown, unless all are asked for."""


def pack_text(
    report: PackReport, paint: Paint, *, every: bool = False, named: Collection[str] = ()
) -> Iterator[str]:
    """The figures, the candidates and the pack, then what was or can be done with it. ``named``:
    candidates, or beginnings of their ids, that are shown in any case."""
    where = report.session if report.scope == "session" else f"the {report.scope}"
    asked = f"“{report.query}”" if report.query.strip() else "what is newest and most used"
    yield paint(line(f"{asked} in {where}", paint.width), "bold")
    yield from (line(text, paint.width) for text in _figures(report))
    if report.overflow:
        told = f"{report.overflow:,} tokens above the budget, as was allowed"
        yield paint(line(told, paint.width), "red")
    if report.note is not None:
        yield from (paint(text, "yellow") for text in wrap(clean(report.note), paint.width))
    if not report.lines:
        yield ""
        yield "Nothing is packed."
        if report.query.strip():
            yield from _elsewhere(report, paint)
        else:
            yield "There is no event yet."
        return
    yield ""
    yield from _candidates(report.lines, paint, every=every, named=tuple(named))
    yield ""
    yield paint(f"The pack, {report.tokens:,} tokens", "bold")
    yield from (f"│ {text}" for text in wrap(clean(report.text), paint.width - 2))
    yield ""
    yield from _done(report, paint)


def _figures(report: PackReport) -> Iterator[str]:
    packed = sum(row.packed for row in report.lines)
    raw = sum(row.tokens_raw for row in report.lines if row.packed)
    way = "compressed by class" if report.compression else "verbatim"
    way += f" ({report.compression_source})"
    yield f"{packed} of {counted(len(report.lines), 'candidate')} packed · {way}"
    yield (f"{report.tokens:,} of {report.budget:,} tokens by {report.counter}, of {raw:,} raw")


def _candidates(
    rows: Sequence[PackLineReport], paint: Paint, *, every: bool, named: tuple[str, ...]
) -> Iterator[str]:
    columns: tuple[Column, ...] = (
        Column("", most=1),
        Column("RANK", "right", most=4),
        Column("ID", most=24),
        Column("TYPE", most=13),
        Column("CLASS", most=9),
        Column("STRATEGY", most=14),
        Column("TOKENS", "right", most=15),
        Column("WHY", most=24),
        Column("WHAT", flexible=True, paths=True),
    )
    if paint.width < 100:
        columns = tuple(column for column in columns if column.title not in ("TYPE", "STRATEGY"))
    out = [row for row in rows if not row.packed]
    kept = {row.belief for row in (out if every else out[:LEFT_OUT])}
    shown = [
        row for row in rows if row.packed or row.belief in kept or row.belief.startswith(named)
    ]
    shown.sort(key=lambda row: row.rank)
    ids = shortened([row.belief for row in rows])
    yield from table(columns, [_cells(row, ids, columns) for row in shown], paint)
    if len(shown) < len(rows):
        yield f"… {len(rows) - len(shown):,} more left out (--all shows them)"


def _cells(
    row: PackLineReport, ids: Mapping[str, str], columns: Sequence[Column]
) -> list[str | Cell]:
    styles: tuple[Style, ...] = () if row.packed else ("dim",)
    strategy = f"{row.strategy}*" if row.fell_back else row.strategy
    tokens = f"{row.tokens_raw:,}"
    if row.tokens_rendered != row.tokens_raw:
        tokens += f" → {row.tokens_rendered:,}"
    why = _WHY[row.reason]
    if row.duplicate_of is not None:
        why = f"same as {ids.get(row.duplicate_of, row.duplicate_of)}"
    texts = {
        "": "●" if row.packed else "·",
        "RANK": str(row.rank),
        "ID": ids[row.belief],
        "TYPE": row.type.replace("_", " "),
        "CLASS": row.retention,
        "STRATEGY": strategy,
        "TOKENS": tokens,
        "WHY": why,
        "WHAT": _what(row),
    }
    return [Cell(texts[column.title], styles) for column in columns]


def _elsewhere(report: PackReport, paint: Paint) -> Iterator[str]:
    """Where else a query that found nothing could be asked."""
    wider = {
        "session": "--project asks all sessions of its folder; without SESSION, all are asked.",
        "project": "Without --project, all sessions are asked.",
        "store": "ullage search lists what holds other words; '' packs what is newest.",
    }
    yield paint(wider[report.scope], "dim")


def _what(row: PackLineReport) -> str:
    first = row.rendered.strip().partition("\n")[0]
    # A call's label is its tool.
    return f"{row.label} {first}" if row.type == "action" else row.label or first


def _done(report: PackReport, paint: Paint) -> Iterator[str]:
    for path in report.files:
        yield line(f"Written: {path}", _WHOLE)
    if report.operation is not None:
        done = f"Committed as {report.operation}. Take it back: ullage undo {report.session}"
        yield line(done, _WHOLE)
    elif not report.files:
        yield "A preview: nothing was written."
        way = "--save writes it to files."
        if report.session is not None:
            way = f"--commit puts it on the plan, {way}"
        yield paint(way, "dim")
