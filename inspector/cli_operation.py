"""One operation, and the check of all of them, as lines for a person. Pure: a report in, lines
out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from inspector.audit_reports import HeadReport, VerificationReport
from inspector.cli_compaction import lost_lines
from inspector.cli_paint import Paint, counted
from inspector.reports import AuditRow
from inspector.sanitize import line

_WHOLE = 1_000
"""Cells of a line that is a result by itself, or to be copied: the terminal folds it."""


def operation_facts(row: AuditRow, paint: Paint) -> Iterator[str]:
    """Who, when, which rule, which nodes, tokens before and after, what it lost and cost."""
    yield paint(line(f"{row.operation}: {row.kind}, by the {row.origin}", paint.width), "bold")
    standing = f" by {row.superseded_by}" if row.superseded_by is not None else ""
    facts = [f"{row.state}{standing}", _moment(row.at), row.rule, row.note]
    yield line(" · ".join(fact for fact in facts if fact), paint.width)
    if row.region is not None:
        nodes = f", {counted(len(row.shadowed_seqs), 'node')} taken" if row.shadowed_seqs else ""
        yield line(f"region {row.region.start} … {row.region.end}{nodes}", paint.width)
    if row.tokens_before is not None and row.tokens_after is not None:
        yield f"tokens as counted: {row.tokens_before:,} → {row.tokens_after:,}"
    if row.summary_tokens is not None:
        yield f"its summary: {row.summary_tokens:,} tokens"
    if row.cache_invalidated_tokens is not None:
        yield f"prompt cache: {row.cache_invalidated_tokens:,} tokens were sent anew"
        yield from lost_lines(row.lost, paint)
    if row.compaction is not None:
        command = f"ullage compact {row.session} --before-compaction {row.compaction} --budget own"
        yield paint(line(f"beside ours: {command}", _WHOLE), "dim")


def _moment(at: float | None) -> str:
    if at is None:
        return ""
    return datetime.fromtimestamp(at, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def verification_text(report: VerificationReport, paint: Paint) -> Iterator[str]:
    """Each finding as a sentence, or that there is none, and what was looked at."""
    for finding in report.findings:
        yield paint(line(finding.message, _WHOLE), "red")
    where = f" of session {report.session}" if report.session else ""
    looked = (
        f"{counted(report.events, 'event')} of operations{where}, "
        f"{counted(report.commits, 'commit')}"
    )
    if report.intact:
        yield line(f"Nothing was changed, removed or moved: {looked}.", _WHOLE)
    else:
        yield line(f"{counted(len(report.findings), 'finding')}: {looked}.", _WHOLE)
    if report.noted is not None:
        of = f" of session {report.noted.session}" if report.noted.session else ""
        since = f"{report.noted.since:,} since" if report.noted.since else "nothing since"
        yield line(f"The noted head is on the chain{of}; {since}.", _WHOLE)
    yield f"Head: {report.head.digest}"


def head_text(report: HeadReport) -> Iterator[str]:
    """The digest first, for a script to cut out."""
    what = "commit" if report.session is None else "event"
    of = "" if report.session is None else f" of session {report.session}"
    yield line(f"{report.digest}  {counted(report.count, what)}{of}", _WHOLE)
