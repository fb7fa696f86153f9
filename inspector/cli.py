"""The command line: ``ullage``.

Only click is imported here; a command imports what it needs when it runs, so that ``--help`` and
completion are fast. What a command refuses is one line on stderr and exit code 1; wrong usage is
exit code 2; what nobody foresaw goes, with its traceback, to a log file that the line names.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from inspector import (
    cli_artifacts,
    cli_audit,
    cli_decisions,
    cli_export,
    cli_install,
    cli_mcp,
    cli_pack,
    cli_profiles,
    cli_raw,
    cli_rebuild,
    cli_resume,
    cli_serve,
    cli_session,
    cli_squeeze,
    cli_store,
)
from inspector.cli_completion import CommandsAndFiles
from inspector.cli_shell import OutputError, Shell, error_document, put, put_all

DONE, REFUSED, INTERRUPTED = 0, 1, 130
_WAYS_OUT = {"stale_node": "ullage show SESSION lists the events that stand."}
"""What the engine cannot say: which command helps."""
_OBJECTS = 100_000
"""How many more objects a command may make than it gives up before it looks for garbage."""
NO_ROOM = (errno.ENOSPC, errno.EIO)


@click.group(
    cls=CommandsAndFiles,
    default="open",
    default_if_no_args=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Settings: config.toml, .ullage.toml, ULLAGE_…, flags; see ullage doctor.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _param, value: _version(ctx) if value else None,
    help="Print the version and leave.",
)
def cli() -> None:
    """What is in a coding agent's context window, why, and how to change it safely.

    Without a command: open the app on every agent's logs found on this machine, live.

    SESSION is an id, a unique prefix of one, the path of a log, or `last`.
    """


def _version(ctx: click.Context) -> None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        put(f"ullage {version('ullage')}")
    except PackageNotFoundError:
        put("ullage, not installed: run from its source folder")
    put_all()
    ctx.exit()


for _command in (
    cli_store.open_,
    cli_store.ingest,
    cli_store.watch,
    cli_store.sessions,
    cli_session.show,
    cli_session.pressure,
    cli_artifacts.artifacts,
    cli_squeeze.squeeze,
    cli_raw.raw,
    cli_profiles.profiles,
    cli_store.search,
    cli_session.compact,
    cli_session.pin,
    cli_session.unpin,
    cli_session.undo,
    cli_session.redo,
    cli_audit.audit,
    cli_decisions.decisions,
    cli_export.export,
    cli_pack.pack,
    cli_rebuild.rebuild,
    cli_resume.resume,
    cli_serve.serve,
    cli_mcp.mcp,
    cli_install.install,
    cli_install.uninstall,
    cli_install.hook,
    cli_store.usage,
    cli_store.doctor,
    cli_store.schema,
    cli_store.demo,
):
    cli.add_command(_command)


def main() -> None:
    """The entry point of the ``ullage`` command."""
    # What is loaded lives as long as the program: to look through it for garbage again and again
    # is a tenth of the time until something is shown. The app has figures of its own.
    gc.set_threshold(_OBJECTS)
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str], shell: Shell | None = None) -> int:
    """Run one command line and return its exit code."""
    shell = Shell() if shell is None else shell
    _prepare_streams()
    if "_ULLAGE_COMPLETE" in os.environ:
        cli.main(list(arguments), prog_name="ullage")  # click completes, and leaves
    try:
        # Not ``cli.main``: it would answer a broken pipe with exit code 1.
        with cli.make_context("ullage", list(arguments), obj=shell) as context:
            cli.invoke(context)
        put_all()
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except BrokenPipeError:
        # Whoever read has had enough.
        _write_nowhere()
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the last door: no traceback at a person
        return _refuse(shell, error)
    return DONE


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        # None where the caller closed it (``>&-``).
        stream = getattr(sys, name) or open(os.devnull, "w")  # noqa: SIM115, PTH123
        setattr(sys, name, stream)
        # A terminal that cannot show a character shows a question mark.
        reconfigure: Callable[..., Any] | None = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _write_nowhere() -> None:
    """What is still buffered must not raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)


def _refuse(shell: Shell, error: Exception) -> int:
    """One line for a person, and the document for a program. The typed errors of all packages have
    a ``code`` and ``choices``; their message is the sentence to read."""
    # click prints --help by itself, not through ``put``.
    if isinstance(error, OSError) and error.errno in NO_ROOM and error.filename is None:
        error = OutputError(f"the output cannot be written: {error.strerror}.")
    if isinstance(error, OutputError):
        _write_nowhere()
        shell.note(f"ullage: {error}")
        return REFUSED
    code, choices = getattr(error, "code", None), getattr(error, "choices", ())
    if isinstance(code, str):
        message = str(error)
    else:
        code, choices = "unexpected", ()
        message = _unexpected(error)
    if shell.machine:
        try:
            put(error_document(code, message, choices))
            put_all()
        except (OutputError, BrokenPipeError):
            _write_nowhere()
    way = _WAYS_OUT.get(code)
    shell.note(f"ullage: {message}" if way is None else f"ullage: {message} {way}")
    if choices and not shell.machine:
        shell.note(f"  choices: {', '.join(map(str, choices))}")
    return REFUSED


def _unexpected(error: Exception) -> str:
    from inspector.mishaps import record

    place = record(error)
    kept = f"the details are in {place}" if place else "the details could not be written anywhere"
    return f"something unexpected happened ({type(error).__name__}); {kept}."


if __name__ == "__main__":
    main()
