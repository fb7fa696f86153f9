"""``ullage raw``: kept outputs, and results of sessions, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from inspector.cli_shell import Shell, example, json_option, store_options
from inspector.cli_stream import Printing

if TYPE_CHECKING:
    from inspector.cli_paint import Paint
    from inspector.squeeze_reports import OutputRow

_LISTED = 20
_DIGITS = 10
"""Of a seq, at most."""


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
    printing = Printing(force=force)
    with ExitStack() as stack:
        for data in _pieces(shell, stack, pointer):
            printing.write(data)
            if printing.left:
                break
    printing.end()


def _pieces(shell: Shell, stack: ExitStack, pointer: str) -> Iterator[bytes]:
    session, colon, event = pointer.rpartition(":")
    if colon and event.isdecimal() and len(event) <= _DIGITS:
        usecases = stack.enter_context(shell.usecases(session))
        return usecases.raw_content(usecases.find(session), int(event))
    from storage.connection import Connections
    from storage.outputs import read_output

    shell.require_store()
    connections = Connections(shell.settings.db)
    stack.callback(connections.close)
    return read_output(connections, pointer)


def _list(shell: Shell) -> None:
    from inspector.squeeze_reports import OutputRow
    from storage.connection import Connections
    from storage.outputs import output_runs

    shell.require_store()
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
