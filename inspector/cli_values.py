"""What an option or an argument may be: each type refuses in one sentence that says what it takes.

A word that is empty, as of a variable of a script that is unset, is never the folder one is in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

_MOST = 1_000_000_000
"""Of any number. Figures beyond that are slips of the finger."""
_SEQ_DIGITS = 18
PROJECT = "--project"
HERE = "\0"
"""What ``--project`` is without a folder: nothing that anybody could type."""


class Whole(click.IntRange):
    """A whole number between two others, both included."""

    def __init__(self, least: int = 1, most: int = _MOST) -> None:
        super().__init__(least, most)
        self._range = f"from {least:,} to {most:,}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            text = f"{value} is no whole number {self._range}"
            raise click.BadParameter(text, ctx, param) from None

    def _describe_range(self) -> str:
        """What click adds to the help; of a number without a bound that matters, nothing."""
        return "" if self.max == _MOST else self._range


tokens = Whole()
"""Of a budget. No window is as large by far."""


def seq(value: str) -> int | str:
    """A seq of the agent's log (``120``), or an event of the user's operations (``o3``)."""
    text = value.strip()
    if re.fullmatch(r"o?[0-9]+", text) is None:
        raise click.BadParameter(
            f"{value!r} is no event: give its number as ullage show lists it, like 120, or an "
            "operation as ullage audit does, like o3"
        )
    if len(text) > _SEQ_DIGITS:
        raise click.BadParameter(f"{value} is greater than the number of any event")
    return text if text.startswith("o") else int(text)


def store_name(value: str) -> str:
    """What ``--db`` may be given."""
    if not value.strip():
        raise click.BadParameter("the name is empty: name the store's file, or leave --db out")
    return value


class Place(click.Path):
    """A file or a folder to write to. It need not be there."""

    def __init__(self, *, file_okay: bool = True) -> None:
        super().__init__(file_okay=file_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            self.fail("the name is empty: a dot (.) is the folder you are in", param, ctx)
        return super().convert(value, param, ctx)


class TakesQuery(click.Command):
    """A command that is given a query, which may begin like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.possibilities:
                raise
            refused = error.message.rstrip(".")
            raise click.UsageError(
                f"{refused}. A query that begins with - follows --: {ctx.command_path} -- …",
                ctx,
            ) from None


class TakesProject(click.Command):
    """A command whose ``--project`` may stand alone, or before a folder. Where a command takes any
    words, the one behind it is a folder only if there is such a folder, or if it looks like a
    path."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        end = given.index("--") if "--" in given else len(given)
        for at in range(end):
            if given[at] == PROJECT and not self._leads(given[at + 1 : end]):
                given[at] = f"{PROJECT}={HERE}"
        return super().parse_args(ctx, given)

    def _leads(self, behind: list[str]) -> bool:
        if not behind or behind[0].startswith("-"):
            return False
        takes_words = any(param.nargs == -1 for param in self.params)
        return not takes_words or _is_folder(behind[0])


class TakesProjectAndQuery(TakesQuery, TakesProject):
    """Both."""


def _is_folder(word: str) -> bool:
    if word.startswith(("/", "./", "../", "~")) or word in (".", ".."):
        return True
    try:
        return bool(word) and Path(word).is_dir()
    except (OSError, ValueError):
        return False


def project_option(text: str) -> Callable[[F], F]:
    """``--project [DIR]``, of a command that is a :class:`TakesProject`: ``None``, :data:`HERE` or
    a folder."""
    return click.option(
        PROJECT, type=_folder, metavar="[DIR]", help=text, shell_complete=_complete_folder
    )


def _complete_folder(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="dir")]


def _folder(value: str) -> str:
    if not value.strip():
        raise click.BadParameter("the name is empty: name a folder, or leave it out")
    return value


def _keep_compression(ctx: click.Context, _: click.Parameter, value: bool | None) -> None:
    if value is not None:
        ctx.obj.flags["type_aware_compression"] = value


def compression_option(text: str) -> Callable[[F], F]:
    """``--compression`` and ``--no-compression``: the setting, for this run."""
    return click.option(
        "--compression/--no-compression",
        default=None,
        expose_value=False,
        callback=_keep_compression,
        help=text,
    )
