"""``ullage squeeze``: the output of a command or a pipe, reduced to what matters in it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from inspector.cli_shell import (
    ENDING,
    Shell,
    error_document,
    example,
    json_option,
    on_signals,
    put,
    store_options,
)
from inspector.cli_stream import Pipe, Printing, Watch

if TYPE_CHECKING:
    from compress.reduction.values import Budget
    from inspector.squeezing import Squeezing


def _budget(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Budget | None:
    from compress.reduction.values import Budget, BudgetError

    try:
        return None if value is None else Budget.parse(value)
    except BudgetError as error:
        raise click.BadParameter(str(error)) from error


@click.command(
    short_help="Run a command, or read a pipe; show what matters of it.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=example(
        "ullage squeeze -- pytest -x",
        "make 2>&1 | ullage squeeze --budget 25%",
        "ullage squeeze --as cargo-test --json -- cargo test",
    ),
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option(
    "--as",
    "profile",
    default="auto",
    show_default=True,
    metavar="PROFILE|auto",
    help="Whose output it is, by name (ullage profiles); auto: by the command and the output.",
)
@click.option(
    "--budget", callback=_budget, metavar="TOKENS|N%", help="How much may stay; else by profile."
)
@click.option(
    "--raw", "--verbose", "raw", is_flag=True, help="Filter nothing; keep it all the same."
)
@click.option("--stream", is_flag=True, help="Show the output on stderr while it comes.")
@click.option("--pty", is_flag=True, help="Let the command take its output for a terminal.")
@store_options
@json_option
@click.pass_obj
def squeeze(
    shell: Shell,
    *,
    command: tuple[str, ...],
    profile: str,
    budget: Budget | None,
    raw: bool,
    stream: bool,
    pty: bool,
) -> None:
    """Run COMMAND, or read standard input, and print its output with everything left out that
    says nothing: progress, repetitions, what passed. Errors, totals and the exit code stay.

    The whole output is kept in the store; the receipt names it for `ullage raw`. The exit code is
    the command's own, 128 + n where signal n ended it. Signals are passed on to the command."""
    if raw and shell.machine:
        raise click.UsageError("--raw and --json exclude each other: ullage raw prints the whole")
    if not command and sys.stdin.isatty():
        raise click.UsageError("name a command behind --, or pipe an output into it")
    if not command and pty:
        raise click.UsageError("--pty is for a command: name one behind --")
    with ExitStack() as stack:
        # What may be refused is refused before anything runs.
        squeezing = _squeezing(shell, stack, profile, command, budget)
        source = _started(shell, stack, command, pty=pty) if command else _piped(stack)
        whole = raw or (not shell.machine and squeezing.detail_wanted)
        if whole:
            receipt = _shown_whole(shell, squeezing, source)
        else:
            receipt = _shown_squeezed(shell, squeezing, source, Watch(stream=stream))
    for note in (*source.remarks, *squeezing.keeping.notes, *receipt):
        shell.note(f"ullage: {note}")
    if source.leaves_with:
        click.get_current_context().exit(source.leaves_with)


class _Source(Protocol):
    """Where an output comes from."""

    exit_code: int | None
    """Of the command, once it has ended; ``None`` where there is none that we know."""

    @property
    def leaves_with(self) -> int | None:
        """The exit code to leave with."""

    @property
    def remarks(self) -> Sequence[str]:
        """What the person should know about its end."""

    def chunks(self) -> Iterator[bytes]: ...


def _started(shell: Shell, stack: ExitStack, command: Sequence[str], *, pty: bool) -> _Source:
    from inspector.running import CommandError, Running

    running = Running(command, pty=pty)
    try:
        stack.enter_context(running.started())
    except CommandError as error:
        if shell.machine:
            put(error_document(error.code, str(error)))
        shell.note(f"ullage: {error}")
        click.get_current_context().exit(error.exit_code)
    return running


def _piped(stack: ExitStack) -> _Source:
    pipe = Pipe()
    for number in (signal.SIGINT, *ENDING):
        stack.enter_context(on_signals((number,), partial(pipe.stop, number)))
    return pipe


def _squeezing(
    shell: Shell,
    stack: ExitStack,
    profile: str,
    command: Sequence[str],
    budget: Budget | None,
) -> Squeezing:
    from inspector.profile_choice import profiles_in
    from inspector.squeezing import Squeezing, keeping_in

    return Squeezing(
        profiles_in(Path.cwd()),
        stack.enter_context(keeping_in(shell.settings.db)),
        named=profile,
        command=command,
        budget=budget,
    )


# In both: a reader of ours who leaves costs the command nothing. It goes on, and is kept.


def _shown_squeezed(shell: Shell, squeezing: Squeezing, source: _Source, watch: Watch) -> list[str]:
    """Prints what matters of an output, once it has ended; gives the receipt."""
    for data in source.chunks():
        squeezing.feed(data)
        watch.saw(data)
    watch.done()
    squeezed = squeezing.finish(shell.now(), source.exit_code)
    report = squeezed.report
    printing = Printing()
    if shell.machine:
        printing.document(shell, report)
        return []
    printing.write(squeezed.data)
    printing.end()
    about = "about " if report.estimated else ""
    figures = f"{about}{report.tokens_before:,} → {report.tokens_after:,} tokens"
    return [_receipt(f"{figures} ({report.profile})", source.exit_code, report.raw)]


def _shown_whole(shell: Shell, squeezing: Squeezing, source: _Source) -> list[str]:
    """Prints an output as it comes; gives the receipt."""
    printing = Printing()
    size = 0
    for data in source.chunks():
        squeezing.keeping.feed(data)
        printing.write(data)
        size += len(data)
    printing.end()
    pointer = squeezing.keeping.finish(shell.now(), squeezing.command, source.exit_code)
    return [_receipt(f"all {size:,} bytes", source.exit_code, pointer)]


def _receipt(figures: str, exit_code: int | None, pointer: str | None) -> str:
    code = [] if exit_code is None else [f"exit {exit_code}"]
    whole = [] if pointer is None else [f"whole: ullage raw {pointer}"]
    return " · ".join([figures, *code, *whole])
