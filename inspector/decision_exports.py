"""Decision points as JSON Lines, CSV and Markdown. Pure: records in, text out.

JSON Lines hold the records as they are, in ASCII. CSV and Markdown are made for people's programs,
in which a text of a log must stay a text: it goes through the one door for text, and then

* in CSV a line of a cell that a spreadsheet could take for a formula gets a leading apostrophe;
  to have the cell back as it was, take one apostrophe from every line that matches
  :data:`FORMULA`;
* in Markdown it stands in code spans and fences that are longer than any run of backticks in it,
  where no renderer reads markup, links, images or HTML.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import PurePath
from typing import Literal

from compress.decisions.values import DecisionPoint
from compress.errors import CompressError
from inspector.decision_parquet import parquet
from inspector.sanitize import NEWLINE_MARK, clean, wrap

FORMULA = re.compile(r"^'*[^\S\n]*[=+\-@\uff1d\uff0b\uff0d\uff20]", re.MULTILINE)
"""Beginnings that make a formula of a cell, blanks and apostrophes before them aside (OWASP, *CSV
Injection*); tabs and carriage returns are no longer there. The full-width signs count as well."""
COLUMNS = (
    *("id", "revision", "level", "open", "agent", "session", "project"),
    *("stage_kind", "stage_index", "stage_title", "outcome", "summary", "rationale"),
    *("steering", "evidence", "files", "source_event_seqs", "first_seq", "last_seq"),
    *("tokens", "stage_tokens", "started_at", "ended_at", "left_out", "sources"),
)
_FOLD = 100

Format = Literal["jsonl", "csv", "md", "parquet"]
_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".md": "md",
    ".markdown": "md",
    ".parquet": "parquet",
}


class UnknownFormatError(CompressError):
    """A file's name does not tell its form."""

    code = "unknown_format"


def format_named(path: PurePath) -> Format:
    """The form that the end of a file's name tells. Raises :class:`UnknownFormatError`."""
    found = _SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise UnknownFormatError(
            f"{path} does not tell its format; end it in .jsonl, .csv, .md or .parquet.",
            list(_SUFFIXES),
        )
    return found


def written(points: Sequence[DecisionPoint], form: Format) -> Iterator[bytes]:
    """The records as the bytes of a file.

    Raises :class:`inspector.decision_parquet.MissingExtraError`.
    """
    if form == "parquet":
        return iter([parquet(points)])
    forms = {"jsonl": jsonl, "csv": csv_text, "md": markdown}
    return (piece.encode("utf-8") for piece in forms[form](points))


def jsonl(points: Iterable[DecisionPoint]) -> Iterator[str]:
    """One record a line, newline included: the schema is ``ullage schema decision``."""
    for point in points:
        yield _json(point.model_dump(mode="json")) + "\n"


def csv_text(points: Iterable[DecisionPoint]) -> Iterator[str]:
    """A heading and a line a record; lists and the sources of fields as JSON. Times in UTC."""
    yield _csv_line(COLUMNS)
    for point in points:
        yield _csv_line(_cells(point))


def _cells(point: DecisionPoint) -> Sequence[object]:
    whole = point.model_dump(mode="json", exclude_defaults=True)
    stage = point.stage
    cells: tuple[object, ...] = (
        *(point.id, point.revision, point.level, str(point.open).lower(), point.agent),
        *(point.session, point.project, stage.kind, stage.index, stage.title, point.outcome),
        *(point.summary, point.rationale),
        *(_json(whole.get(name, [])) for name in ("steering", "evidence", "files")),
        _json(list(point.source_event_seqs)),
        *(point.first_seq, point.last_seq, point.tokens, point.stage_tokens),
        *(iso(point.started_at), iso(point.ended_at)),
        *(point.left_out, _json(whole.get("sources", {}))),
    )
    return [_cell(cell) if isinstance(cell, str) else cell for cell in cells]


def _cell(text: str) -> str:
    return FORMULA.sub(lambda found: "'" + found[0], clean(text))


def _csv_line(cells: Sequence[object]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_NONNUMERIC).writerow(cells)
    return line.getvalue()


def markdown(points: Sequence[DecisionPoint]) -> Iterator[str]:
    """A section a session, below it one a record."""
    yield "# Decision points\n"
    if not points:
        yield "\nNone.\n"
    for _, group in groupby(points, key=lambda point: (point.agent, point.session)):
        of_session = list(group)
        first = of_session[0]
        where = f" in {code(first.project)}" if first.project else ""
        yield f"\n## {code(first.agent)} session {code(first.session)}{where}\n"
        for point in of_session:
            yield from _section(point)


def _section(point: DecisionPoint) -> Iterator[str]:
    stage = point.stage
    yield f"\n### {stage.kind.replace('_', ' ')} {stage.index}: {point.state}\n\n"
    yield f"{code(stage.title)}\n\n"
    for name, value in _facts(point):
        yield f"- {name}: {value}\n"
    if point.summary and point.summary != stage.title:
        yield f"\nWhat was done:\n\n{fence(point.summary)}"
    if point.rationale:
        yield f"\nWhy:\n\n{fence(point.rationale)}"
    for item in point.steering:
        events = _events(item.source_event_seqs)
        yield f"\nThe user, {item.kind}, {events}\n"
        if item.text:
            yield f"\n{fence(item.text)}"
    proof = (
        (f"{e.kind}: {code(_value(e.text, e.value))}", e.source_event_seqs) for e in point.evidence
    )
    touched = ((f"{f.action} {code(f.path)}", f.source_event_seqs) for f in point.files)
    yield from _list("Evidence", proof)
    yield from _list("Files", touched)


def _list(title: str, items: Iterable[tuple[str, Sequence[int | str]]]) -> Iterator[str]:
    rows = [f"- {words}, {_events(seqs)}\n" for words, seqs in items]
    if rows:
        yield f"\n{title}:\n\n"
        yield from rows


def _facts(point: DecisionPoint) -> Iterator[tuple[str, str]]:
    times = [iso(time) for time in (point.started_at, point.ended_at)]
    if any(times):
        yield "time", " to ".join(time or "?" for time in times)
    yield "events", f"{point.first_seq} to {point.last_seq}"
    yield "weight", f"{point.stage_tokens:,} tokens, as a record {point.tokens:,} ({point.level})"
    yield "id", code(point.id)
    if point.left_out:
        yield "left out", f"{point.left_out:,} further items"


def _value(text: str, value: int | None) -> str:
    return text if value is None else f"{text} = {value}"


def _events(seqs: Sequence[int | str]) -> str:
    return f"{'event' if len(seqs) == 1 else 'events'} {', '.join(map(str, seqs))}"


def code(text: str) -> str:
    """The text as a code span: on one line, by a fence that does not occur in it."""
    shown = clean(text, NEWLINE_MARK).strip() or " "
    fence_ = "`" * (_longest_run(shown) + 1)
    blank = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence_}{blank}{shown}{blank}{fence_}"


def fence(text: str) -> str:
    """The text as a fenced block, folded; its fence is longer than any run of backticks in it."""
    rows = [row for part in clean(text).split("\n") for row in wrap(part, _FOLD)]
    mark = "`" * max(3, _longest_run(text) + 1)
    return "\n".join([f"{mark}text", *rows, mark, ""])


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def iso(time: float | None) -> str:
    """``2026-03-01T09:30:00Z``; empty for unknown."""
    if time is None:
        return ""
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
