"""Shell completion: commands beside files in the first place, the sessions of the store by id.

Nothing here may fail or take long: a shell waits, and has no place for a message.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem
from click_default_group import DefaultGroup

from inspector.cli_shell import Shell

_VALUED = ("--db", "--set")
"""Options of the app that take the next word."""
OFFERED = 50
"""The newest sessions that are offered."""


class CommandsAndFiles(DefaultGroup):  # type: ignore[misc]
    """A group whose first word is a command, or else a path for the default command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # While completing, no word yet means that a command may still come.
        if ctx.resilient_parsing and not args:
            return click.Group.parse_args(self, ctx, args)
        self._refuse_before_command(ctx, args)
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def _refuse_before_command(self, ctx: click.Context, args: list[str]) -> None:
        """Options that stand before a command would be taken for those of the app, and the command
        for a path."""
        if ctx.resilient_parsing or not args or not args[0].startswith("-"):
            return
        own = {name for param in self.params for name in param.opts} | set(ctx.help_option_names)
        if args[0] in own or "--" in args:
            return
        valued = False
        for at, word in enumerate(args):
            if not valued and word in self.commands and not Path(word).exists():
                turned = shlex.join([word, *args[:at], *args[at + 1 :]])
                raise click.UsageError(f"options stand behind the command: ullage {turned}", ctx)
            valued = word in _VALUED

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Bash clears what came before the order to complete files, so that goes first."""
        commands: list[CompletionItem] = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            return commands
        return [CompletionItem(incomplete, type="file"), *commands]


def complete_session(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """``last``, the newest sessions of the store, and files."""
    items = [CompletionItem(incomplete, type="file")]
    if "last".startswith(incomplete):
        items.append(CompletionItem("last", help="the newest session"))
    with suppress(Exception):
        items += _sessions(ctx.find_object(Shell) or Shell(), incomplete)
    return items


def _sessions(shell: Shell, incomplete: str) -> list[Any]:
    if not Path(shell.settings.db).is_file():
        return []
    with shell.usecases() as usecases:
        rows = usecases.sessions(OFFERED)
    return [
        CompletionItem(row.id, help=_one_line(row.title))
        for row in rows
        if row.id.startswith(incomplete) and row.id.isprintable() and " " not in row.id
    ]


def _one_line(title: str | None) -> str | None:
    from inspector.sanitize import line

    return None if title is None else line(title, 60)
