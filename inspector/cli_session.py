"""Commands on one session: show, pressure, compact, pin, unpin, undo, redo.

SESSION is an id, a unique prefix of one, ``last``, or the path of a log, which is then read into
the store first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from inspector.cli_completion import complete_session
from inspector.cli_shell import Shell, example, json_option, json_options, store_options
from inspector.cli_values import Whole, seq

if TYPE_CHECKING:
    from compress.reduction.values import Budget
    from inspector.cli_paint import Paint
    from inspector.reports import CompactionMode, OperationReport
    from inspector.usecases import UseCases

F = TypeVar("F", bound=Callable[..., Any])

_session = click.argument("session", shell_complete=complete_session)


def _moment_options(function: F) -> F:
    """``--track`` and ``--at``: which state of the session is meant."""
    function = click.option("--at", type=seq, metavar="SEQ", help="The state at this event.")(
        function
    )
    return click.option(
        "--track",
        type=click.Choice(["agent", "plan"]),
        default="agent",
        show_default=True,
        help="The agent's own surface, or the one with your operations.",
    )(function)


def _state_options(function: F) -> F:
    """``--live`` beside them."""
    live = click.option(
        "--live", is_flag=True, help="As the running agent saw it, where that differs."
    )
    return _moment_options(live(function))


@click.command(
    short_help="Show the surface: what the model sees, node by node.",
    epilog=example(
        "ullage show last", "ullage show last --messages --json", "ullage show 4f --at 9"
    ),
)
@_session
@click.option("--messages", is_flag=True, help="The exact message list, in full.")
@_state_options
@store_options
@json_options
@click.pass_obj
def show(
    shell: Shell, *, session: str, messages: bool, track: Any, at: int | str | None, live: bool
) -> None:
    """Show the surface: what is in the model's context window, in order."""
    from inspector.cli_output import messages_text, surface_text

    with shell.usecases(session) as usecases:
        found = usecases.find(session)
        if messages:
            exact = usecases.messages(found, track=track, at=at, live=live)
            shell.document(exact, lambda paint: messages_text(exact, paint), exact.messages)
        else:
            report = usecases.surface(found, track=track, at=at, live=live)
            shell.document(report, lambda paint: surface_text(report, paint), report.nodes)


@click.command(
    short_help="Show how full the window is, and with what.",
    epilog=example("ullage pressure last", "ullage pressure last --resume --json"),
)
@_session
@click.option("--resume", is_flag=True, help="As a resume would send it, where that differs.")
@click.option("--live", is_flag=True, hidden=True)
@_moment_options
@store_options
@json_option
@click.pass_obj
def pressure(
    shell: Shell, *, session: str, track: Any, at: int | str | None, live: bool, resume: bool
) -> None:
    """Show how full the window of the running agent is, with what, how it got there, and what
    comes next."""
    if live and resume:
        raise click.UsageError("--live and --resume exclude each other")
    from inspector.cli_gauges import pressure_text

    with shell.usecases(session) as usecases:
        found = usecases.find(session)
        report = usecases.pressure(found, track=track, at=at, live=not resume)
    shell.document(report, lambda paint: pressure_text(report, paint))


def _budget(value: str) -> int | str:
    if value == "own" or (value.endswith("%") and 0 < _number(value[:-1]) <= 100):
        return value
    if not value.isdecimal() or int(value) == 0:
        raise click.BadParameter(f"{value!r} is neither a number of tokens nor `own`")
    return int(value)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


@click.command(
    short_help="Preview a compaction; --commit does it.",
    epilog=example(
        "ullage compact last --auto",
        "ullage compact last --from 12 --to 87 --budget 2000 --commit",
        "ullage compact last --before-compaction 1 --budget own",
    ),
)
@_session
@click.option("--from", "start", type=seq, metavar="SEQ", help="First node of the region.")
@click.option("--to", "end", type=seq, metavar="SEQ", help="Last node of the region.")
@click.option("--auto", "automatic", is_flag=True, help="The region that the policy would take.")
@click.option("--micro", is_flag=True, help="Clear old tool results only.")
@click.option("--reduce", type=seq, metavar="SEQ", help="This tool result alone, as squeeze does.")
@click.option("--at", type=seq, metavar="SEQ", help="Preview on the state at this event.")
@click.option(
    "--before-compaction",
    type=Whole(),
    metavar="K",
    help="Beside the agent's own K-th compaction: what would have been kept there instead.",
)
@click.option(
    "--budget",
    type=_budget,
    metavar="N|own|N%",
    help="Tokens of the summary at most; own: as many as the agent's summary has. With --reduce, "
    "of the result.",
)
@click.option("--pin", "pins", type=seq, multiple=True, metavar="SEQ", help="Keep this node.")
@click.option("--nodes", is_flag=True, help="Show what becomes of every single node.")
@click.option("--full", is_flag=True, help="Show the whole summary, however long.")
@click.option("--commit", is_flag=True, help="Do it.")
@store_options
@json_option
@click.pass_obj
def compact(
    shell: Shell,
    *,
    session: str,
    start: int | str | None,
    end: int | str | None,
    automatic: bool,
    micro: bool,
    reduce: int | str | None,
    at: int | str | None,
    before_compaction: int | None,
    budget: Any,
    pins: tuple[int | str, ...],
    nodes: bool,
    full: bool,
    commit: bool,
) -> None:
    """Preview a compaction: what goes, what stays, what is lost, what it costs. Nothing is written
    without --commit. Without a region, the policy chooses one."""
    from inspector.cli_compaction import compaction_text
    from inspector.cli_comparison import comparison_text

    mode = _mode(start, end, automatic, micro, reduce)
    past = at is not None or before_compaction is not None
    if at is not None and before_compaction is not None:
        raise click.UsageError("--at and --before-compaction exclude each other")
    if before_compaction is not None and (automatic or micro):
        raise click.UsageError(
            "--before-compaction takes the region that the agent took, or --from and --to: leave "
            "--auto and --micro out"
        )
    if commit and past:
        from inspector.compactions import RequestError

        raise RequestError(
            "A moment of the past cannot be compacted, only the present: leave --at and "
            "--before-compaction out, or --commit."
        )
    if reduce is not None and (past or pins):
        raise click.UsageError("--reduce is about one result of the present: leave the rest out")
    if isinstance(budget, str) and budget != "own" and reduce is None:
        raise click.UsageError("--budget N% is for --reduce; elsewhere name a number of tokens")
    if budget == "own" and before_compaction is None:
        raise click.UsageError("--budget own needs --before-compaction, to know which summary")
    with shell.usecases(session) as usecases:
        found = usecases.find(session)
        if before_compaction is not None and start is None:
            report = usecases.compare(found, before_compaction, budget=budget, pins=pins)
        else:
            preview = usecases.preview(
                found,
                start=start if reduce is None else reduce,
                end=end,
                mode=mode,
                at=at,
                before_compaction=before_compaction,
                budget=budget if reduce is None else None,
                strength=_strength(budget) if reduce is not None else None,
                pins=pins,
            )
            report = usecases.commit(preview) if commit else preview.report

    def human(paint: Paint) -> Iterator[str]:
        if report.theirs is not None:
            return comparison_text(report, report.theirs, paint, nodes=nodes, full=full)
        return compaction_text(report, paint, nodes=nodes, full=full)

    shell.document(report, human)


def _strength(budget: int | str | None) -> Budget | None:
    from compress.reduction.values import Budget

    return None if budget is None else Budget.parse(str(budget))


def _mode(
    start: int | str | None,
    end: int | str | None,
    automatic: bool,
    micro: bool,
    reduce: int | str | None,
) -> CompactionMode:
    region = start is not None or end is not None
    if region + automatic + micro + (reduce is not None) > 1:
        raise click.UsageError("--from/--to, --auto, --micro and --reduce exclude each other")
    if reduce is not None:
        return "reduce"
    if region and (start is None or end is None):
        raise click.UsageError("a region needs both --from and --to")
    if micro:
        return "micro"
    return "region" if region else "auto"


def _operation(
    shell: Shell, session: str, did: str, act: Callable[[UseCases, str], OperationReport]
) -> None:
    """Carry out one operation and print what it ``did``, and to what."""
    from inspector.cli_lists import operation_text

    with shell.usecases(session) as usecases:
        found = usecases.find(session)
        report = act(usecases, found)
        of_operations = did in ("undid", "redid") and not shell.machine
        rows = usecases.audit(found, judged=False) if of_operations else []
    shell.document(report, lambda paint: operation_text(report, did, rows, paint))


@click.command(epilog=example("ullage pin last 3 17"))
@_session
@click.argument("seqs", nargs=-1, required=True, type=seq, metavar="SEQ...")
@store_options
@json_option
@click.pass_obj
def pin(shell: Shell, session: str, seqs: tuple[int | str, ...]) -> None:
    """Pin nodes: no compaction of yours removes them."""
    _operation(shell, session, "pinned", lambda usecases, found: usecases.pin(found, seqs))


@click.command(epilog=example("ullage unpin last 17"))
@_session
@click.argument("seqs", nargs=-1, required=True, type=seq, metavar="SEQ...")
@store_options
@json_option
@click.pass_obj
def unpin(shell: Shell, session: str, seqs: tuple[int | str, ...]) -> None:
    """Take pins away."""
    _operation(shell, session, "unpinned", lambda usecases, found: usecases.unpin(found, seqs))


@click.command(
    short_help="Undo an operation of yours.",
    epilog=example("ullage undo last", "ullage undo last o3 --cascade"),
)
@_session
@click.argument("operation", type=seq, required=False)
@click.option("--cascade", is_flag=True, help="Undo later operations that build on it, too.")
@store_options
@json_option
@click.pass_obj
def undo(shell: Shell, session: str, operation: int | str | None, cascade: bool) -> None:
    """Undo an operation of yours; without a name, the newest one that stands and is no
    pin.

    A pin is undone by its name (ullage audit lists it), or taken away with ullage unpin."""
    _operation(
        shell,
        session,
        "undid",
        lambda usecases, found: usecases.undo(found, operation, cascade=cascade),
    )


@click.command(
    short_help="Redo an operation that was undone.",
    epilog=example("ullage redo last", "ullage redo last o3"),
)
@_session
@click.argument("operation", type=seq, required=False)
@store_options
@json_option
@click.pass_obj
def redo(shell: Shell, session: str, operation: int | str | None) -> None:
    """Redo an operation that was undone; without a name, the newest."""
    _operation(shell, session, "redid", lambda usecases, found: usecases.redo(found, operation))
