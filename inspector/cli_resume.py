"""``ullage resume``: a session's plan as a session that the agent resumes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector.cli_completion import complete_session
from inspector.cli_shell import Shell, example, json_option, store_options
from inspector.cli_values import Place, seq

if TYPE_CHECKING:
    from inspector.cli_paint import Paint
    from inspector.resume_reports import ResumeReport


@click.command(
    short_help="Write a copy that the agent resumes; print the command.",
    epilog=example("ullage resume last", "ullage resume last --dry-run --json"),
)
@click.argument("session", shell_complete=complete_session)
@click.option(
    "--track",
    type=click.Choice(["plan", "agent"]),
    default="plan",
    show_default=True,
    help="With your operations, or as the agent itself would resume.",
)
@click.option("--at", type=seq, metavar="SEQ", help="Copy the state at this event.")
@click.option(
    "--out",
    type=Place(file_okay=False),
    metavar="DIR",
    help="Write to this folder instead of the agent's own.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing, but say what would be written.")
@store_options
@json_option
@click.pass_obj
def resume(
    shell: Shell, *, session: str, track: Any, at: int | str | None, out: Path | None, dry_run: bool
) -> None:
    """Write a copy of the session that the agent itself resumes: a new session, with an id of its
    own, that holds your plan. The original is not touched."""
    with shell.usecases(session) as usecases:
        found = usecases.find(session)
        report = usecases.resume(found, track=track, at=at, out=out, dry_run=dry_run)
    shell.document(report, lambda paint: resume_text(report, paint))


def resume_text(report: ResumeReport, paint: Paint) -> Iterator[str]:
    """What was written, and the command on a line of its own, whole, so that it can be copied."""
    from inspector.cli_output import heading
    from inspector.cli_paint import counted
    from inspector.sanitize import NEWLINE_MARK, clean, wrap

    state = f"{report.track} at event {report.at_seq}"
    size = f"{counted(report.nodes, 'node')}, {report.tokens:,} tokens as counted"
    path = clean(report.path, NEWLINE_MARK)
    yield from heading(report.session, paint, f"{state} · {size}")
    yield ""
    if report.written:
        yield f"Written: {path}"
        yield "The original was only read. Resume the copy:"
    else:
        yield f"Would be written ({counted(report.records, 'record')}): {path}"
        yield "A dry run: nothing was written. The copy would be resumed, under another id, with:"
    yield ""
    yield f"  {clean(report.command, NEWLINE_MARK)}"
    if report.note is not None:
        yield ""
        yield from (
            paint(row, "yellow") for row in wrap(clean(f"note: {report.note}"), paint.width)
        )
