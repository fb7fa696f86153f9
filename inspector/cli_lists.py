"""Operations, hits, ingests and the doctor's findings as lines of text for a person. Pure: a report
in, lines out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from inspector.cli_compaction import losses
from inspector.cli_output import EMPTY_STORE, LONGEST_ID, project_name, shortened
from inspector.cli_paint import Cell, Column, Paint, age, counted, short, size, table
from inspector.findings import finding
from inspector.reports import (
    AuditRow,
    DoctorReport,
    IngestReport,
    OperationReport,
    SearchHit,
    SessionRow,
)
from inspector.sanitize import line, wrap
from inspector.widgets.figures import percent

SHOWN = 5
"""Damaged lines and notes that are listed; all are in the JSON."""


def audit_text(
    rows: Sequence[AuditRow], now: float, paint: Paint, *, of_all: bool = False
) -> Iterator[str]:
    """Every operation, one line each; ``of_all`` sessions: with the session of each, and without
    the losses, which are judged for one session only."""
    if not rows:
        yield "No operations: nothing was pinned or compacted, and the agent did not compact."
        return
    ids = shortened([row.session for row in rows if row.session is not None])
    columns = (
        Column("SESSION" if of_all else "", most=LONGEST_ID),
        Column("OP", "right", most=7),
        Column("KIND", most=8),
        Column("BY", most=6),
        Column("STATE", most=10),
        Column("REGION", most=15),
        Column("COUNTED", most=17),
        Column("" if of_all else "LOST", "right", most=6),
        Column("RULE", flexible=True),
        Column("AGE", "right", most=4),
    )
    yield from table(
        columns, [_audit_cells(row, now, ids if of_all else {}) for row in rows], paint
    )


def _audit_cells(row: AuditRow, now: float, ids: Mapping[str, str]) -> list[str | Cell]:
    region = f"{row.region.start} … {row.region.end}" if row.region else "–"
    tokens = "–"
    if row.tokens_before is not None:
        tokens = f"{short(row.tokens_before)} → {short(row.tokens_after)}"
    lost = sum(total for _, _, total in losses(row.lost))
    state = Cell(row.state, () if row.state == "standing" else ("dim",))
    seen = None if row.at is None else now - row.at
    rule = row.note or row.rule
    if row.superseded_by is not None:
        rule = f"superseded by {row.superseded_by}; {rule}"
    return [
        ids.get(row.session or "", ""),
        str(row.operation),
        row.kind,
        row.origin,
        state,
        region,
        tokens,
        f"{lost:,}" if lost else "" if ids else "–",
        rule,
        age(seen),
    ]


def search_text(
    query: str,
    hits: Sequence[SearchHit],
    sessions: Mapping[str, SessionRow],
    now: float,
    paint: Paint,
) -> Iterator[str]:
    """The hits, the best first, each with its session's project, title and age; ``sessions`` by
    id."""
    if not sessions:
        yield from EMPTY_STORE
        return
    if said := finding(query, hits):
        yield said
    if not hits:
        return
    columns: tuple[Column, ...] = (
        Column("SESSION", most=LONGEST_ID),
        Column("PROJECT", most=12),
        Column("TITLE", most=max(12, (paint.width - 70) // 3)),
        Column("AGE", "right", most=4),
        Column("SEQ", "right", most=7),
        Column("TYPE", most=17),
        Column("TEXT", flexible=True),
    )
    dropped = {"PROJECT", "TYPE"} if paint.width < 130 else set()
    ids = shortened([hit.session for hit in hits])
    rows = []
    for hit in hits:
        cells = {
            "SESSION": ids[hit.session],
            "SEQ": str(hit.seq),
            "TYPE": hit.type,
            "TEXT": hit.excerpt or hit.headline,
            **_session_facts(sessions.get(hit.session), now),
        }
        rows.append([cells[column.title] for column in columns if column.title not in dropped])
    shown = [column for column in columns if column.title not in dropped]
    yield from table(shown, rows, paint)


def _session_facts(row: SessionRow | None, now: float) -> dict[str, str]:
    if row is None:
        return {"PROJECT": "–", "TITLE": "–", "AGE": "–"}
    seen = None if row.last_event_at is None else now - row.last_event_at
    return {"PROJECT": project_name(row.project), "TITLE": row.title or "–", "AGE": age(seen)}


def ingest_text(report: IngestReport, paint: Paint) -> Iterator[str]:
    """What was read, and what could not be."""
    read = f"{counted(report.records, 'record')}, {counted(report.events, 'event')}"
    found = read if report.records else "nothing new"
    if not report.files:
        yield "No log was found where agents keep theirs; ullage doctor lists the places."
        yield "Name the logs, or a folder of them: ullage ingest PATH"
        return
    yield f"{counted(report.files, 'file')}, {found} in {report.seconds:.1f} s"
    if report.damaged:
        damaged_lines = counted(len(report.damaged), "damaged line")
        yield paint(f"{damaged_lines}, each left out alone:", "yellow")
        damaged = [f"{damage.file}:{damage.line}: {damage.reason}" for damage in report.damaged]
        yield from _listed(damaged, paint)
    if report.notes:
        yield paint(
            f"{counted(len(report.notes), 'file')} passed over or not understood:", "yellow"
        )
        yield from _listed(report.notes, paint)


def _listed(items: Sequence[str], paint: Paint) -> Iterator[str]:
    for item in items[:SHOWN]:
        yield line(f"  {item}", paint.width)
    if len(items) > SHOWN:
        yield f"  … and {len(items) - SHOWN} more (--json lists all)"


def operation_text(
    report: OperationReport, did: str, rows: Sequence[AuditRow], paint: Paint
) -> Iterator[str]:
    """What an operation ``did``, and to what; ``rows`` tell the kinds of other operations."""
    kinds = {row.operation: row.kind for row in rows}
    targets = [
        f"{target} ({kinds[target]})" if target in kinds else str(target)
        for target in report.targets
    ]
    yield line(f"{report.operation}: {did} {', '.join(targets)}".rstrip(), paint.width)
    yield f"The plan has {report.surface_tokens:,} tokens as counted."
    if report.head is not None:
        yield paint(f"Head of the audit: {report.head}", "dim")


def doctor_text(report: DoctorReport, paint: Paint) -> Iterator[str]:
    """Sources, store, tokenizer, and each setting with its origin."""
    yield paint("Sources", "bold")
    columns = (
        Column("AGENT", most=10),
        Column("FILES", "right", most=8),
        Column("RECORDS", "right", most=10),
        Column("KNOWN", "right", most=7),
        Column("PROBLEMS", "right", most=8),
        Column("ROOT", flexible=True, paths=True),
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
    inexact = {source.agent: source.approximate for source in report.sources if source.approximate}
    for why in inexact.values():
        yield from (paint(row, "yellow") for row in wrap(why, paint.width))
    notes = [note for source in report.sources for note in source.notes]
    if notes:
        shows = "that shows nothing, or less than it holds"
        show = "that show nothing, or less than they hold"
        yield paint(f"{counted(len(notes), f'file {shows}', f'files {show}')}:", "yellow")
        yield from _listed(notes, paint)
    for title, facts in (("Store", _readable(report.store)), ("Tokenizer", report.tokenizer)):
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


def _readable(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Sizes with a unit, counts with separators."""
    return {
        key.replace("bytes", "size"): (size(value) if "bytes" in key else f"{value:,}")
        if isinstance(value, int)
        else value
        for key, value in facts.items()
    }


def _facts(facts: Iterable[tuple[str, Any]], paint: Paint) -> Iterator[str]:
    for key, value in facts:
        shown = ", ".join(map(str, value)) if isinstance(value, dict | list | tuple) else value
        yield line(f"{key.replace('_', ' '):<20}  {shown}", paint.width)
