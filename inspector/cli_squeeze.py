"""``ullage squeeze`` and ``ullage raw``: tool output for people, reduced and whole."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
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
    put_all,
    put_bytes,
    store_options,
)

if TYPE_CHECKING:
    from compress.reduction.values import Budget
    from inspector.cli_paint import Paint
    from inspector.squeeze_reports import OutputRow, SqueezeReport
    from inspector.squeezing import Squeezing

_LISTED = 20
_CHUNK = 64 << 10


def _budget(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Budget | None:
    from compress.reduction.values import Budget, BudgetError

    try:
        return None if value is None else Budget.parse(value)
    except BudgetError as error:
        raise click.BadParameter(str(error)) from error


@click.command(
    short_help="Run a command, or read a pipe, and show what matters of its output.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=example(
        "ullage squeeze -- pytest -x",
        "make 2>&1 | ullage squeeze --budget 25%",
        "ullage squeeze --as cargo-test --json -- cargo test",
    ),
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option("--as", "profile", default="auto", show_default=True, metavar="PROFILE|auto")
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
            receipt = _shown_squeezed(shell, squeezing, source, _Watch(stream=stream))
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
    pipe = _Pipe()
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


def _shown_squeezed(
    shell: Shell, squeezing: Squeezing, source: _Source, watch: _Watch
) -> list[str]:
    """Prints what matters of an output, once it has ended; gives the receipt."""
    for data in source.chunks():
        squeezing.feed(data)
        watch.saw(data)
    watch.done()
    squeezed = squeezing.finish(shell.now(), source.exit_code)
    report = squeezed.report
    printing = _Printing()
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
    printing = _Printing()
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


class _Printing:
    """Bytes to stdout: as they are to a pipe, cleaned to a terminal. Ends quietly where the
    reader leaves."""

    def __init__(self, *, force: bool = False) -> None:
        import codecs

        self._plain = force or not sys.stdout.isatty()
        self.left = False
        """The reader has left."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: bytes, *, last: bool = False) -> None:
        """Raises :class:`inspector.cli_shell.OutputError` on a full disk."""
        with self._to_a_reader():
            if self._plain:
                put_bytes(data)
            else:
                from inspector.sanitize import clean

                put(clean(self._decoder.decode(data, last)), end="")
                put_all()

    def document(self, shell: Shell, report: SqueezeReport) -> None:
        """The report as JSON."""
        with self._to_a_reader():
            shell.document(report, lambda _: ())
            put_all()

    def end(self) -> None:
        """What is left of a character that was cut."""
        self.write(b"", last=True)

    @contextmanager
    def _to_a_reader(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            # What comes now goes nowhere, so that nothing raises again.
            self.left = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Pipe:
    """Standard input, until it ends or a signal ends it: then what came is what there is.

    Of a Ctrl-C the program before the pipe hears too; what it says then is waited for, unless
    another signal comes.
    """

    remarks: Sequence[str] = ()
    _PATIENCE = 3.0
    _LOOK = 0.1

    def __init__(self) -> None:
        self.exit_code: int | None = None
        self._signals: list[int] = []

    @property
    def leaves_with(self) -> int | None:
        return 128 + self._signals[0] if self._signals else None

    def stop(self, number: int) -> None:
        self._signals.append(number)

    def chunks(self) -> Iterator[bytes]:
        import select

        stream = sys.stdin.fileno()
        silence = 0.0
        while len(self._signals) < 2 and not (self._signals and silence >= self._PATIENCE):
            ready, _, _ = select.select([stream], [], [], self._LOOK)
            silence = 0.0 if ready else silence + self._LOOK
            if ready:
                data = os.read(stream, _CHUNK)
                if not data:
                    return
                yield data


class _Watch:
    """What a person sees while a command runs: one line on a terminal, or all of it."""

    _EVERY = 0.1

    def __init__(self, *, stream: bool) -> None:
        self._stream = stream
        self._terminal = sys.stderr.isatty()
        self._live = self._terminal and not stream
        self._begun = self._shown = time.monotonic()
        self._lines = 0
        self._drawn = False

    def saw(self, data: bytes) -> None:
        """A piece of the output came."""
        self._lines += data.count(b"\n")
        with suppress(OSError):
            if self._stream and not self._terminal:
                sys.stderr.flush()
                sys.stderr.buffer.write(data)
                sys.stderr.flush()
            elif self._stream:
                from inspector.sanitize import clean

                print(clean(data.decode("utf-8", "replace")), end="", file=sys.stderr, flush=True)
            elif self._live and time.monotonic() - self._shown >= self._EVERY:
                self._shown = time.monotonic()
                self._draw(data)

    def done(self) -> None:
        """Leaves nothing of the line behind."""
        if self._drawn:
            with suppress(OSError):
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _draw(self, data: bytes) -> None:
        import shutil

        from inspector.sanitize import line

        self._drawn = True
        newest = data.rstrip().rpartition(b"\n")[2].rpartition(b"\r")[2].decode("utf-8", "replace")
        seconds = int(self._shown - self._begun)
        text = line(
            f"{self._lines:,} lines · {seconds} s · {newest}",
            shutil.get_terminal_size().columns - 1,
        )
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


@click.command(
    short_help="Print a kept output, byte for byte.",
    epilog=example("ullage raw 3f9a04c1", "ullage raw last:17", "ullage raw"),
)
@click.argument("pointer", required=False)
@click.option("--force", is_flag=True, help="To a terminal too, print the bytes as they are.")
@store_options
@json_option
@click.pass_obj
def raw(shell: Shell, pointer: str | None, force: bool) -> None:
    """Print a kept output, byte for byte: POINTER is what a receipt of `ullage squeeze` names, or
    SESSION:SEQ for a tool's result in a session, as receipts in a context window have it (any
    other event: its record). Without a POINTER, list the newest outputs.

    To a terminal, what would act on it is made visible; --force prints it as it is."""
    if pointer is None:
        _list(shell)
        return
    if shell.machine:
        raise click.UsageError("--json is for the list: an output is printed as it is")
    printing = _Printing(force=force)
    with ExitStack() as stack:
        for data in _pieces(shell, stack, pointer):
            printing.write(data)
            if printing.left:
                break
    printing.end()


def _pieces(shell: Shell, stack: ExitStack, pointer: str) -> Iterator[bytes]:
    session, colon, event = pointer.rpartition(":")
    if colon and event.isdecimal():
        usecases = stack.enter_context(shell.usecases())
        return usecases.raw_content(usecases.find(session), int(event))
    from storage.connection import Connections
    from storage.outputs import read_output

    connections = Connections(shell.settings.db)
    stack.callback(connections.close)
    return read_output(connections, pointer)


def _list(shell: Shell) -> None:
    from inspector.squeeze_reports import OutputRow
    from storage.connection import Connections
    from storage.outputs import output_runs

    connections = Connections(shell.settings.db)
    try:
        rows = [
            OutputRow(
                pointer=run.pointer,
                bytes=run.size,
                at=run.at,
                command=run.command,
                exit_code=run.exit_code,
            )
            for run in output_runs(connections, _LISTED)
        ]
    finally:
        connections.close()
    shell.listing(rows, lambda paint: _rows(rows, shell.now(), paint))


def _rows(rows: Sequence[OutputRow], now: float, paint: Paint) -> Iterator[str]:
    from inspector.cli_paint import Column, age, table

    if not rows:
        yield "No output is kept yet. Keep one: ullage squeeze -- COMMAND"
        return
    columns = (
        Column("POINTER", most=64),
        Column("BYTES", "right", most=13),
        Column("EXIT", "right", most=4),
        Column("AGE", "right", most=4),
        Column("COMMAND", flexible=True),
    )
    cells = [
        [
            row.pointer,
            f"{row.bytes:,}",
            "–" if row.exit_code is None else str(row.exit_code),
            age(now - row.at),
            row.command or "(a pipe)",
        ]
        for row in rows
    ]
    yield from table(columns, cells, paint)
