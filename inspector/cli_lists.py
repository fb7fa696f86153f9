"""Operations, hits, ingests and the doctor's findings as lines of text for a person. Pure: a report
in, lines out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from inspector.cli_output import shortened
from inspector.cli_paint import Cell, Column, Paint, age, percent, short, table
from inspector.reports import AuditRow, DoctorReport, IngestReport, OperationReport, SearchHit
from inspector.sanitize import line

SHOWN = 5
"""Damaged lines and notes that are listed; all are in the JSON."""


def audit_text(rows: Sequence[AuditRow], now: float, paint: Paint) -> Iterator[str]:
    """Every operation, one line each."""
    if not rows:
        yield "No operations: nothing was pinned or compacted, and the agent did not compact."
        return
    columns = (
        Column("OP", "right", most=7),
        Column("KIND", most=8),
        Column("BY", most=6),
        Column("STATE", most=10),
        Column("REGION", most=15),
        Column("TOKENS", most=17),
        Column("LOST", "right", most=5),
        Column("RULE", flexible=True),
        Column("AGE", "right", most=4),
    )
    yield from table(columns, [_audit_cells(row, now) for row in rows], paint)


def _audit_cells(row: AuditRow, now: float) -> list[str | Cell]:
    region = f"{row.region.start} … {row.region.end}" if row.region else "–"
    tokens = "–"
    if row.tokens_before is not None:
        tokens = f"{short(row.tokens_before)} → {short(row.tokens_after)}"
    lost = len(row.lost.identifiers) + len(row.lost.instructions) + len(row.lost.errors)
    state = Cell(row.state, () if row.state == "standing" else ("dim",))
    seen = None if row.at is None else now - row.at
    rule = row.note or row.rule
    if row.superseded_by is not None:
        rule = f"superseded by {row.superseded_by}; {rule}"
    return [
        str(row.operation),
        row.kind,
        row.origin,
        state,
        region,
        tokens,
        str(lost) if lost else "–",
        rule,
        age(seen),
    ]


def search_text(hits: Sequence[SearchHit], paint: Paint) -> Iterator[str]:
    """The hits, the best first."""
    if not hits:
        yield "Nothing found."
        return
    columns = (
        Column("SESSION", most=12),
        Column("SEQ", "right", most=7),
        Column("TYPE", most=17),
        Column("HEADLINE", flexible=True),
    )
    ids = shortened([hit.session for hit in hits])
    rows = [(ids[hit.session], str(hit.seq), hit.type, hit.headline) for hit in hits]
    yield from table(columns, rows, paint)


def ingest_text(report: IngestReport, paint: Paint) -> Iterator[str]:
    """What was read, and what could not be."""
    yield (
        f"{report.files:,} files, {report.records:,} records, {report.events:,} events"
        f" in {report.seconds:.1f} s"
    )
    if report.damaged:
        yield paint(f"{len(report.damaged)} damaged lines, each left out alone:", "yellow")
        damaged = [f"{damage.file}:{damage.line}: {damage.reason}" for damage in report.damaged]
        yield from _listed(damaged, paint)
    if report.notes:
        yield paint(f"{len(report.notes)} files passed over or not understood:", "yellow")
        yield from _listed(report.notes, paint)


def _listed(items: Sequence[str], paint: Paint) -> Iterator[str]:
    for item in items[:SHOWN]:
        yield line(f"  {item}", paint.width)
    if len(items) > SHOWN:
        yield f"  … and {len(items) - SHOWN} more (--json lists all)"


def operation_text(report: OperationReport) -> Iterator[str]:
    """What became of an operation."""
    yield (
        f"{report.operation} is {report.state}; the surface has {report.surface_tokens:,} tokens"
    )


def doctor_text(report: DoctorReport, paint: Paint) -> Iterator[str]:
    """Sources, store, tokenizer, and each setting with its origin."""
    yield paint("Sources", "bold")
    columns = (
        Column("AGENT", most=10),
        Column("FILES", "right", most=8),
        Column("RECORDS", "right", most=10),
        Column("KNOWN", "right", most=7),
        Column("PROBLEMS", "right", most=8),
        Column("ROOT", flexible=True),
    )
    rows = [
        (
            source.agent,
            f"{source.files:,}",
            f"{source.records:,}",
            percent(source.recognised / source.records) if source.records else "–",
            str(source.problems),
            source.root,
        )
        for source in report.sources
    ]
    yield from table(columns, rows, paint)
    unknown: Counter[str] = Counter()
    for source in report.sources:
        unknown.update(source.unknown_types)
    if unknown:
        listed = ", ".join(f"{name} ({count})" for name, count in unknown.most_common(12))
        yield line(f"Not understood, kept whole: {listed}", paint.width)
    notes = [note for source in report.sources for note in source.notes]
    if notes:
        yield paint(f"{len(notes)} files that show nothing, or less than they hold:", "yellow")
        yield from _listed(notes, paint)
    for title, facts in (("Store", report.store), ("Tokenizer", report.tokenizer)):
        yield ""
        yield paint(title, "bold")
        yield from _facts(facts.items(), paint)
    yield ""
    yield paint("Settings", "bold")
    settings = [
        (key, str(entry.get("value")), Cell(str(entry.get("from")), ("dim",)))
        for key, entry in report.settings.items()
    ]
    plain = (Column("", most=20), Column("", most=40), Column("", flexible=True))
    yield from list(table(plain, settings, paint))[1:]


def _facts(facts: Iterable[tuple[str, Any]], paint: Paint) -> Iterator[str]:
    for key, value in facts:
        shown = ", ".join(map(str, value)) if isinstance(value, dict | list | tuple) else value
        yield line(f"{key.replace('_', ' '):<20}  {shown}", paint.width)
