"""``ullage rebuild``: one context to go on with, after a compaction or in a fresh session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspector.cli_completion import complete_session
from inspector.cli_shell import Shell, example, json_option, store_options
from inspector.cli_values import Place, compression_option, seq, tokens

if TYPE_CHECKING:
    from inspector.cli_paint import Paint
    from inspector.rebuild_reports import AvailabilityReport, MissingReport, RebuildReport

LISTED = 6
"""Missing names, words and errors that are shown before the rest is counted."""
_WHOLE = 1_000
"""Cells of a line that is to be copied: the terminal folds it."""


@click.command(
    short_help="Rebuild a context to go on with, under one budget.",
    epilog=example(
        "ullage rebuild last",
        "ullage rebuild last --budget 4000 --query 'finish the parser'",
        "ullage rebuild last --at 120 --save handover.md",
        "ullage rebuild last --json | jq -r .text",
    ),
)
@click.argument("session", shell_complete=complete_session)
@click.option(
    "--budget",
    type=tokens,
    metavar="TOKENS",
    help="Of the whole context; without it as many as a summary may have.",
)
@click.option("--query", metavar="Q", help="What comes next; else the newest words and open items.")
@click.option("--at", type=seq, metavar="SEQ", help="From what was known at this event.")
@compression_option(
    "Tell calls by what they did and render beliefs by their class; or all verbatim."
)
@click.option("--commit", is_flag=True, help="Put it on SESSION's plan; ullage undo takes it back.")
@click.option(
    "--save",
    type=Place(),
    metavar="DIR|FILE",
    help="Write it to two new files, .md and .json, of this name or in this folder.",
)
@store_options
@json_option
@click.pass_obj
def rebuild(
    shell: Shell,
    *,
    session: str,
    budget: int | None,
    query: str | None,
    at: int | str | None,
    commit: bool,
    save: Path | None,
) -> None:
    """Rebuild what is needed to go on with SESSION into one text of at most so many tokens: pins
    whole, the user's words, open items, unresolved errors, decision points, what the query finds,
    names in use, and the newest turns. It says what of the session does not stand in it."""
    with shell.usecases(session) as usecases:
        handle = usecases.rebuild(usecases.find(session), budget=budget, query=query, at=at)
        report = handle.report
        if commit:
            report = usecases.commit_rebuild(handle, place=save)
        elif save is not None:
            report = usecases.save_rebuild(handle, save)
    past = handle.past
    shell.document(report, lambda paint: rebuild_text(report, paint, past=past))


def rebuild_text(report: RebuildReport, paint: Paint, *, past: bool = False) -> Iterator[str]:
    """The figures, the sections, what does not stand, and the context. ``past``: of a moment that
    cannot be put on the plan any more."""
    from inspector.cli_paint import Column, table
    from inspector.sanitize import clean, line, wrap

    yield paint(line(f"{report.session} at event {report.at_seq}", paint.width), "bold")
    asked = " ".join(report.query.split())
    yield line(f"going on with: {asked or 'nothing in particular'}", paint.width)
    if report.query_source == "session":
        yield from (paint(text, "dim") for text in wrap(_taken_from(report), paint.width))
    way = "compressed by class" if report.compression else "verbatim"
    figures = f"{report.tokens:,} of {report.budget:,} tokens by {report.counter}"
    yield line(f"{figures} · {way} ({report.compression_source})", paint.width)
    if report.note is not None:
        yield from (paint(text, "yellow") for text in wrap(clean(report.note), paint.width))
        return
    yield ""
    columns = (
        Column("SECTION", most=30),
        Column("TOKENS", "right", most=9),
        Column("STAND", "right", most=7),
        Column("SHORTENED", "right", most=9),
        Column("LEFT OUT", "right", most=8),
    )
    rows = [
        (
            part.title,
            f"{part.tokens:,}",
            f"{part.items:,}",
            f"{part.degraded:,}",
            f"{part.left_out:,}",
        )
        for part in report.sections
    ]
    yield from table(columns, rows, paint)
    yield ""
    yield from _missing(report.availability, paint)
    yield ""
    yield paint(f"The context, {report.tokens:,} tokens", "bold")
    yield from (f"│ {text}" for text in wrap(clean(report.text), paint.width - 2))
    yield ""
    for path in report.files:
        yield line(f"Written: {path}", _WHOLE)
    if report.operation is not None:
        done = f"Committed as {report.operation}. Take it back: ullage undo {report.session}"
        yield line(done, _WHOLE)
    elif not report.files:
        ways = "--save writes it to files."
        if not past:
            ways = "--commit puts it on the plan, --save in files."
        yield paint(f"A preview: nothing was written. {ways}", "dim")


def _taken_from(report: RebuildReport) -> str:
    """Where the query is from that nobody gave."""
    from inspector.cli_paint import counted

    seqs, items = report.query_seqs, report.query_items
    events = "events" if len(seqs) > 1 else "event"
    words = f"the words of {events} {' and '.join(map(str, seqs))}" if seqs else ""
    found = ", ".join(filter(None, (words, counted(items, "open item") if items else "")))
    return f"  ({found or 'no words of a user'}; --query says it otherwise)"


def _missing(found: AvailabilityReport, paint: Paint) -> Iterator[str]:
    from inspector.sanitize import line
    from inspector.widgets.figures import percent

    names = found.identifiers
    told = f"{percent(found.share)} of the {names.of:,} names most likely needed again stand in it"
    yield paint(
        told if names.of else "The session names nothing that is likely needed again", "bold"
    )
    for kind, missing in (
        ("names", found.identifiers),
        ("instructions", found.instructions),
        ("errors", found.errors),
    ):
        if missing.total:
            yield line(f"  without {_listed(kind, missing)}", paint.width)


def _listed(kind: str, missing: MissingReport) -> str:
    from inspector.sanitize import line

    shown = ", ".join(line(item, 60) for item in missing.items[:LISTED])
    more = missing.total - len(missing.items[:LISTED])
    rest = f", … {more:,} more" if more > 0 else ""
    return f"{missing.total:,} of {missing.of:,} {kind}: {shown}{rest}"
