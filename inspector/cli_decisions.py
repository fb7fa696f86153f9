"""Decision points on the command line: listed, filtered, exported."""

from __future__ import annotations

import os.path
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from inspector.cli_completion import complete_session
from inspector.cli_days import day_options, days
from inspector.cli_shell import Shell, example, json_options, put, put_bytes, store_options
from inspector.cli_values import HERE, Place, TakesProject, project_option

if TYPE_CHECKING:
    from datetime import datetime

    from compress.decisions.values import Level, OutcomeKind, StageKind
    from inspector.decision_choice import Wanted
    from inspector.decision_exports import Format
    from inspector.decision_reports import DecisionsReport
    from inspector.usecases import UseCases

_FORMS = ("text", "json", "jsonl", "csv", "md", "parquet")
_OUTCOMES = ("success", "failure", "retry", "aborted", "unknown")
_KINDS = ("turn", "plan_item", "plan", "approval", "compaction", "retry")


@click.command(
    cls=TakesProject,
    short_help="List what was decided and done, stage by stage; export it.",
    epilog=example(
        "ullage decisions last",
        "ullage decisions --project . --outcome failure --since 2026-03-01",
        "ullage decisions last --project",
        "ullage decisions last --out decisions.csv",
        "ullage decisions --format jsonl | jq .summary",
    ),
)
@click.argument("session", required=False, shell_complete=complete_session)
@project_option(
    "Only sessions that ran in this folder or below it; without DIR in SESSION's, or in the one "
    "you are in."
)
@day_options
@click.option("--outcome", multiple=True, type=click.Choice(_OUTCOMES), help="How it ended.")
@click.option("--stage", multiple=True, type=click.Choice(_KINDS), help="What kind of stage.")
@click.option(
    "--level",
    multiple=True,
    type=click.Choice(("L2", "L3")),
    help="Of the session's memory (L2) or the project's (L3).",
)
@click.option("--full", is_flag=True, help="The lines of each record, not one for each.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also older records of a project's memory than are shown at once.",
)
@click.option("--format", "form", type=click.Choice(_FORMS), help="What to print or write.")
@click.option(
    "--out",
    "--export",
    "out",
    metavar="FILE",
    type=Place(),
    help="Write to a new file: .jsonl, .csv, .md or .parquet.",
)
@click.option("--force", is_flag=True, help="With --out: replace a file that is there.")
@click.option("--unmasked", is_flag=True, help="Leave secrets as they stand in the log.")
@store_options
@json_options
@click.pass_obj
def decisions(
    shell: Shell,
    *,
    session: str | None,
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    zone: str,
    outcome: tuple[OutcomeKind, ...],
    stage: tuple[StageKind, ...],
    level: tuple[Level, ...],
    full: bool,
    everything: bool,
    form: str | None,
    out: Path | None,
    force: bool,
    unmasked: bool,
) -> None:
    """List the decision points of a SESSION, or of all: for each stage that was completed what was
    done, why, how it ended, what the user said to it, and which events say so.

    Secrets are masked by rule, unless --unmasked. CSV cells that a spreadsheet could take for a
    formula get a leading apostrophe; texts in Markdown stand in code."""
    from inspector.decision_choice import Wanted

    form = _form(shell, form, out)
    first, last = days(since, until)
    if force and out is None:
        raise click.UsageError("--force needs --out FILE")
    own = project == HERE and session is not None
    folder = "." if project == HERE else project
    wanted = Wanted(
        # The name as it is, links kept.
        project=None if folder is None else os.path.abspath(os.path.expanduser(folder)),  # noqa: PTH100, PTH111
        since=first,
        until=last,
        outcomes=outcome,
        kinds=stage,
        levels=level,
        whole=everything or form != "text",
        masked=not unmasked,
    )
    with shell.usecases(session) as usecases:
        found = None if session is None else usecases.find(session)
        if found is not None and own:
            wanted, found = replace(wanted, project=usecases.project_of(found)), None
        if out is not None:
            _export(shell, usecases, out, found, wanted, zone=zone, form=form, force=force)
            return
        with shell.progress() as progress:
            report = usecases.decisions(found, wanted, zone=zone, progress=progress)
    narrower = any((first, last, outcome, stage, level))
    if wanted.project is not None and not report.rows and not narrower:
        shell.note(f"No session in the store was in {wanted.project} and has decision points.")
    chosen = any((project, first, last, outcome, stage, level))
    _print(shell, report, form, full=full, of_all=found is None, chosen=chosen)
    _remark(shell, report)


def _form(shell: Shell, form: str | None, out: Path | None) -> str:
    """What is printed or written; ``--json`` and ``--jsonl`` are forms, too."""
    if shell.machine:
        flag = "json" if shell.as_json else "jsonl"
        if form not in (None, flag):
            raise click.UsageError(f"--{flag} and --format {form} exclude each other")
        form = flag
    if out is not None and form in ("text", "json"):
        raise click.UsageError(f"--out writes jsonl, csv, md or parquet, not {form}")
    if form in ("json", "jsonl"):
        shell.as_json, shell.as_jsonl = form == "json", form == "jsonl"
    return form or ("" if out is not None else "text")


def _export(
    shell: Shell,
    usecases: UseCases,
    out: Path,
    session: str | None,
    wanted: Wanted,
    *,
    zone: str,
    form: str,
    force: bool,
) -> None:
    from inspector.cli_paint import counted
    from inspector.decision_exports import format_named

    with shell.progress() as progress:
        written = usecases.export_decisions(
            out,
            session,
            wanted,
            form=cast("Format", form) if form else format_named(out),
            zone=zone,
            force=force,
            progress=progress,
        )
    shell.note(f"{counted(written.records, 'record')} written to {written.path}")
    _tell_masked(shell, written.masked)


def _print(
    shell: Shell, report: DecisionsReport, form: str, *, full: bool, of_all: bool, chosen: bool
) -> None:
    from inspector.cli_decision_text import decisions_text
    from inspector.decision_exports import csv_text, markdown, written

    if form == "parquet":
        if sys.stdout.isatty():
            raise click.UsageError("Parquet is no text for a terminal: name a file with --out")
        for piece in written(report.points, "parquet"):
            put_bytes(piece)
    elif form in ("csv", "md"):
        for text in (csv_text if form == "csv" else markdown)(report.points):
            put(text, end="")
    else:
        shell.listing(
            report.points,
            lambda paint: decisions_text(report, paint, full=full, of_all=of_all, chosen=chosen),
        )


def _remark(shell: Shell, report: DecisionsReport) -> None:
    from inspector.cli_paint import counted, short

    if report.undated:
        shell.note(f"{counted(report.undated, 'record')} without a time: in no range of days")
    if report.hidden:
        number = counted(report.hidden, "older record")
        shell.note(
            f"{number} of the project's memory not shown ({short(report.hidden_tokens)} tokens): "
            "--all lists them"
        )
    _tell_masked(shell, report.masked)


def _tell_masked(shell: Shell, masked: int) -> None:
    from inspector.cli_paint import counted

    if masked:
        shell.note(f"{counted(masked, 'secret')} masked; --unmasked leaves them as they are")
