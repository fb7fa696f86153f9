"""``ullage install``, ``ullage uninstall``, and ``ullage hook``, which agents run."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspector.cli_shell import Shell, example, json_option, put_bytes
from inspector.cli_values import store_name

if TYPE_CHECKING:
    from inspector.cli_paint import Paint
    from inspector.install_reports import InstallReport
    from inspector.integrations.target import Place

HOOK_SECONDS = 20.0
"""After which a hook ends, whatever it is at; agents wait for 30."""
LARGEST_INPUT = 32 << 20
"""Bytes that a hook reads of what it is given."""


@click.command(
    short_help="Let pins survive an agent's own compaction.",
    epilog=example(
        "ullage install claude --dry-run", "ullage install claude", "ullage install pi --project"
    ),
)
@click.argument("agent", metavar="claude|codex|pi")
@click.option("--project", is_flag=True, help="Only in this folder: its own settings.")
@click.option("--dry-run", is_flag=True, help="Show what would be changed, and write nothing.")
@click.option(
    "--db",
    type=store_name,
    metavar="FILE",
    help="The store that the hooks use, if not the usual one.",
)
@json_option
@click.pass_obj
def install(shell: Shell, *, agent: str, project: bool, dry_run: bool, db: str | None) -> None:
    """Add Ullage's hooks to an agent's settings. Before the agent compacts, its log is read; after
    that, pinned messages, open items and decision points come back into its context, in at most
    as many tokens as the setting hook_budget says. For pi the summary itself is Ullage's.

    One file is changed, with a backup beside it; ullage uninstall puts it back."""
    from inspector.integrations.installing import install as installed
    from inspector.integrations.journal import Journal
    from inspector.integrations.program import this_program

    report = installed(agent, _place(project), this_program(db), Journal(), dry_run=dry_run)
    shell.document(report, lambda paint: install_text(report, paint))


@click.command(
    short_help="Take away what install added.",
    epilog=example("ullage uninstall claude", "ullage uninstall pi --project --dry-run"),
)
@click.argument("agent", metavar="claude|codex|pi")
@click.option("--project", is_flag=True, help="From this folder's own settings.")
@click.option("--dry-run", is_flag=True, help="Show what would be changed, and write nothing.")
@json_option
@click.pass_obj
def uninstall(shell: Shell, *, agent: str, project: bool, dry_run: bool) -> None:
    """Take Ullage's hooks out of an agent's settings, and nothing else: byte for byte what was
    there, where nothing else was changed since."""
    from inspector.integrations.installing import uninstall as uninstalled
    from inspector.integrations.journal import Journal

    report = uninstalled(agent, _place(project), Journal(), dry_run=dry_run)
    shell.document(report, lambda paint: install_text(report, paint, removing=True))


def install_text(report: InstallReport, paint: Paint, *, removing: bool = False) -> Iterator[str]:
    """The file, what changed in it, and what is left to do."""
    from inspector.sanitize import NEWLINE_MARK, clean, wrap

    name = clean(report.path, NEWLINE_MARK)
    if not report.changed:
        away = " holds nothing of Ullage's" if removing else " is as it should be"
        yield f"Nothing to do: {name}{away}."
    elif report.written:
        yield f"{'Deleted' if report.removes_file else 'Changed'}: {name}"
    else:
        yield f"Would be {'deleted' if report.removes_file else 'changed'}: {name}"
    if report.file != report.path:
        yield f"  which is a link to {clean(report.file, NEWLINE_MARK)}"
    if report.backup is not None:
        yield f"As it was before: {clean(report.backup, NEWLINE_MARK)}"
    if report.diff and not report.written:
        yield ""
        for text in report.diff.splitlines():
            shown = clean(text, NEWLINE_MARK)
            yield paint(shown, "green") if text.startswith("+") else shown
    if report.notes:
        yield ""
        for note in report.notes:
            yield from (paint(row, "yellow") for row in wrap(clean(f"note: {note}"), paint.width))
    if report.changed and not report.written:
        yield paint("A dry run: nothing was written.", "dim")


def _place(project: bool) -> Place:
    from inspector.integrations.target import Place

    return Place(Path.home(), os.environ, Path.cwd() if project else None)


@click.command(
    hidden=True,
    context_settings={"ignore_unknown_options": True},
    epilog=example("ullage hook claude session-start < call.json"),
)
@click.argument("words", nargs=-1)
@click.option("--db", metavar="FILE")
@click.pass_obj
def hook(shell: Shell, words: tuple[str, ...], db: str | None) -> None:
    """What an agent runs around its compaction: ullage hook AGENT EVENT, with JSON on stdin.

    It never stands in the agent's way: whatever goes wrong, it prints nothing, ends with 0 within
    seconds, and leaves a note in the error log."""
    if db is not None:
        shell.flags["db"] = db
    ending = threading.Timer(HOOK_SECONDS, _give_up)
    ending.daemon = True
    ending.start()
    printed = b""
    try:
        printed = _answer(shell, words)
    except BaseException as error:  # noqa: BLE001 - also a panic of the tokenizer, and Ctrl-C
        _note(error)
    ending.cancel()
    if printed:
        _quietly(lambda: put_bytes(printed))


def _answer(shell: Shell, words: tuple[str, ...]) -> bytes:
    from inspector.hooks import HookError, answer

    if len(words) != 2:
        raise HookError("A hook is called with an agent and an event.")
    given = sys.stdin.buffer.read(LARGEST_INPUT + 1)
    if len(given) > LARGEST_INPUT:
        raise HookError(f"The hook was given more than {LARGEST_INPUT:,} bytes.")
    with shell.usecases(makes=True) as usecases:
        return answer(usecases, *words, given)


def _give_up() -> None:
    """Not by an exception: what hangs may be deep in a library. The store bears it."""
    from inspector.hooks import HookError

    _note(HookError(f"The hook took longer than {HOOK_SECONDS:g} seconds."))
    os._exit(0)


def _note(error: BaseException) -> None:
    from inspector import mishaps

    _quietly(lambda: mishaps.record(error))


def _quietly(act: Callable[[], object]) -> None:
    try:
        act()
    except Exception:  # noqa: BLE001 - nobody is there to be told
        return
