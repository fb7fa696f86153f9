"""Plans, to-do lists and plan documents on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from inspector.cli_completion import complete_session
from inspector.cli_shell import Shell, example, json_options, store_options
from inspector.cli_values import Whole, seq

if TYPE_CHECKING:
    from compress.artifacts.values import ArtifactStep
    from inspector.artifact_reports import ArtifactReport, ArtifactsReport
    from inspector.cli_paint import Paint


@click.command(
    short_help="List plans and to-do lists, step by step.",
    epilog=example(
        "ullage artifacts last",
        "ullage artifacts last 4f1c",
        "ullage artifacts last 4f1c --step 3",
        "ullage artifacts last --at 120 --json",
    ),
)
@click.argument("session", shell_complete=complete_session)
@click.argument("artifact", required=False)
@click.option("--step", type=Whole(), metavar="N", help="Only this step, in full.")
@click.option("--full", is_flag=True, help="The whole document, or every step.")
@click.option("--at", type=seq, metavar="SEQ", help="As they stood at this event.")
@store_options
@json_options
@click.pass_obj
def artifacts(
    shell: Shell,
    *,
    session: str,
    artifact: str | None,
    step: int | None,
    full: bool,
    at: int | str | None,
) -> None:
    """List the plans, to-do lists and plan documents of a session with their steps.

    ARTIFACT is an id, or its beginning: what of it stands in context – the current step and its
    neighbours in full, a pointer for every other one. A pointer [artifact ID step N] is followed
    with ARTIFACT and --step."""
    from inspector.artifacts import artifact_named, step_text

    if (step is not None or full) and artifact is None:
        raise click.UsageError("--step and --full need the ARTIFACT that is meant")
    if step is not None and full:
        raise click.UsageError("--step and --full exclude each other")
    with shell.usecases(session) as usecases:
        report = usecases.artifacts(usecases.find(session), at=at)
    if artifact is None:
        shell.document(report, lambda paint: _listed(report, paint), report.artifacts)
        return
    named = artifact_named(report, artifact)
    if step is not None:
        text = step_text(named.artifact, step)
    elif full:
        one = named.artifact
        text = one.text or "\n".join(part.text for part in one.steps)
    else:
        text = named.context
    shell.document(named, lambda paint: _lines(text))


def _lines(text: str) -> Iterator[str]:
    from inspector.sanitize import clean

    yield clean(text)


def _listed(report: ArtifactsReport, paint: Paint) -> Iterator[str]:
    from inspector.cli_output import heading
    from inspector.cli_paint import counted

    count = counted(len(report.artifacts), "plan or list", "plans and lists")
    yield from heading(report.session, paint, count)
    if not report.artifacts:
        yield "No plan, no to-do list and no plan document in this log."
    for one in report.artifacts:
        yield ""
        yield from _outline(one, paint)


def _outline(one: ArtifactReport, paint: Paint) -> Iterator[str]:
    from compress.artifacts.chunks import progress, state
    from inspector.sanitize import line

    found = one.artifact
    facts = [found.kind, state(found.status), progress(found), found.id]
    if found.stale:
        facts.append("its file was changed in a way that cannot be followed")
    yield paint(line(found.title, paint.width), "bold")
    yield paint(line(" · ".join([*facts, found.path or ""]).rstrip(" ·"), paint.width), "dim")
    made = " (made of its headings)" if found.summary_made else ""
    if found.summary != found.title and not (found.summary_made and found.steps):
        yield line(f"  {found.summary}{made}", paint.width)
    width = len(str(len(found.steps)))
    for step in found.steps:
        yield _step(step, width, paint, current=step.number == found.current_step)


def _step(step: ArtifactStep, width: int, paint: Paint, *, current: bool) -> str:
    from inspector.artifact_reports import STEP_MARKS
    from inspector.sanitize import line

    text = line(f"  {step.number:>{width}} {STEP_MARKS[step.status]} {step.title}", paint.width)
    if current:
        return paint(text, "bold", "cyan")
    return paint(text, "dim") if step.status == "completed" else text
