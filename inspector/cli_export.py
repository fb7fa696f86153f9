"""``ullage export``: beyond one machine, as a lake of Parquet files or as spans to a collector."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspector.cli_shell import Shell, example, json_option, store_options
from inspector.cli_values import Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inspector.lake_reports import LakeReport, SpansReport

COLLECTOR = "http://127.0.0.1:4318"
"""Where a collector of OpenTelemetry listens on the machine itself."""


@click.command(
    short_help="Bring a lake of Parquet files, or a collector, up to the store.",
    epilog=example(
        "ullage export --lake /data/lake",
        "ullage export --otlp",
        "ullage export --otlp https://collector.example:4318",
    ),
)
@click.option(
    "--lake",
    metavar="DIR",
    type=Place(),
    help="Events, operations and decision points as partitioned Parquet; its README.md tells how.",
)
@click.option(
    "--otlp",
    metavar="URL",
    is_flag=False,
    flag_value=COLLECTOR,
    help=f"Decision points as OpenTelemetry spans; without a URL to {COLLECTOR}.",
)
@click.option("--unmasked", is_flag=True, help="Leave secrets as they stand in the log.")
@store_options
@json_option
@click.pass_obj
def export(shell: Shell, *, lake: Path | None, otlp: str | None, unmasked: bool) -> None:
    """Bring what the store holds, of all sessions, to where other programs read it. What is there
    already is left alone: call it as often as you like, nothing is lost and nothing doubled.

    Secrets are masked by rule, unless --unmasked."""
    if (lake is None) == (otlp is None):
        raise click.UsageError("name one place: --lake DIR or --otlp [URL]")
    with shell.usecases() as usecases, shell.progress() as progress:
        if lake is not None:
            to_lake = usecases.export_lake(lake, masked=not unmasked, progress=progress)
        else:
            to_spans = usecases.export_spans(
                otlp or COLLECTOR, masked=not unmasked, progress=progress
            )
        is_empty = not usecases.sessions(1)
    if is_empty:
        shell.note_empty_store()
    if lake is not None:
        shell.document(to_lake, lambda _: _lake_text(to_lake))
    else:
        shell.document(to_spans, lambda _: _spans_text(to_spans))


def _lake_text(report: LakeReport) -> Iterable[str]:
    from inspector.cli_paint import counted
    from inspector.sanitize import clean

    if not report.files:
        yield f"{clean(report.lake)} has everything already"
        return
    rows = ", ".join(
        (
            counted(report.events, "event"),
            counted(report.operations, "event of operations", "events of operations"),
            counted(report.decisions, "decision point"),
        )
    )
    of = counted(report.sessions, "session")
    yield f"{rows} of {of} added to {clean(report.lake)} in {counted(report.files, 'file')}"
    yield from _masked(report.masked)


def _spans_text(report: SpansReport) -> Iterable[str]:
    from inspector.cli_paint import counted
    from inspector.sanitize import clean

    if not report.spans:
        yield f"{clean(report.endpoint)} has everything already"
    else:
        of = counted(report.sessions, "session")
        yield f"{counted(report.spans, 'span')} of {of} sent to {clean(report.endpoint)}"
    if report.running:
        yield f"{counted(report.running, 'stage')} still running: sent once ended"
    if report.undated:
        yield f"{counted(report.undated, 'decision point')} without a time: not sent"
    yield from _masked(report.masked)


def _masked(masked: int) -> Iterable[str]:
    from inspector.cli_paint import counted

    if masked:
        yield f"{counted(masked, 'secret')} masked; --unmasked leaves them as they are"
