"""``ullage pack``: what the logs know about a question, under a budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspector.cli_completion import complete_session
from inspector.cli_shell import Shell, example, json_options, store_options
from inspector.cli_values import (
    HERE,
    Place,
    TakesProjectAndQuery,
    compression_option,
    project_option,
    tokens,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from click.shell_completion import CompletionItem

    from compress.beliefs.values import Strategy


def _complete_words(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Only the first word may be a session."""
    return [] if ctx.params.get("words") else complete_session(ctx, param, incomplete)


@click.command(
    cls=TakesProjectAndQuery,
    short_help="Pack what the logs know about QUERY.",
    epilog=example(
        "ullage pack 'why does the parser drop empty lines'",
        "ullage pack last 'retry limit' --budget 2000 --without 3fa1 --verbatim 9c02",
        "ullage pack last 'retry limit' --project --commit",
        "ullage pack last '' --json",
    ),
)
@click.argument(
    "words", nargs=-1, required=True, metavar="[SESSION] QUERY", shell_complete=_complete_words
)
@click.option("--budget", type=tokens, metavar="TOKENS", help="Of the whole pack.")
@project_option(
    "Look in all sessions of this folder; without DIR of SESSION's, or of the one you are in."
)
@compression_option(
    "Render what is no fact by its headline, and what passed by a stub; or all verbatim."
)
@click.option("--verbatim", multiple=True, metavar="ID", help="Render this belief whole.")
@click.option("--headline", multiple=True, metavar="ID", help="… by its first sentence.")
@click.option(
    "--query-headline", multiple=True, metavar="ID", help="… by the sentence that fits QUERY best."
)
@click.option("--stub", multiple=True, metavar="ID", help="… by a pointer alone.")
@click.option("--without", multiple=True, metavar="ID", help="Leave this belief out.")
@click.option("--with", "with_", multiple=True, metavar="ID", help="Pack this one before others.")
@click.option("--allow-overflow", is_flag=True, help="Let pins alone exceed the budget.")
@click.option("--commit", is_flag=True, help="Put it on SESSION's plan; ullage undo takes it back.")
@click.option(
    "--save",
    type=Place(),
    metavar="DIR|FILE",
    help="Write it to two new files, .md and .json, of this name or in this folder.",
)
@click.option("--all", "all_", is_flag=True, help="Show all candidates, also those left out.")
@store_options
@json_options
@click.pass_obj
def pack(
    shell: Shell,
    *,
    words: tuple[str, ...],
    budget: int | None,
    project: str | None,
    verbatim: tuple[str, ...],
    headline: tuple[str, ...],
    query_headline: tuple[str, ...],
    stub: tuple[str, ...],
    without: tuple[str, ...],
    with_: tuple[str, ...],
    allow_overflow: bool,
    commit: bool,
    save: Path | None,
    all_: bool,
) -> None:
    """Pack what the logs know about QUERY into one text of at most so many tokens: a preview, with
    the reason for every line. With one argument, it is the QUERY, asked of the whole store; with
    two, of the session SESSION, whose pins come first, whole. Any text is a legal query; an empty
    one ('') takes what is newest and most used.

    ID is a belief's, or a beginning of it that no other has, as the preview prints it."""
    from inspector.cli_packs import pack_text

    session, query = _told_apart(words)
    if commit and session is None:
        raise click.UsageError("--commit needs a SESSION: ullage pack SESSION QUERY --commit")
    ways: dict[Strategy, tuple[str, ...]] = {
        "verbatim": verbatim,
        "headline": headline,
        "query_headline": query_headline,
        "stub": stub,
    }
    _refuse_contradictions((("with", with_), ("without", without)))
    _refuse_contradictions(ways.items())
    wished = {name: way for way, names in ways.items() for name in names}
    with shell.usecases(session) as usecases:
        found = None if session is None else usecases.find(session)
        handle = usecases.pack(
            found,
            query,
            budget=budget,
            project=_project(project, session),
            overrides=wished,
            included=with_,
            excluded=without,
            allow_overflow=allow_overflow,
            abbreviated=True,
        )
        report = handle.report
        is_empty = not report.lines and not usecases.sessions(1)
        if commit and found is not None:
            report = usecases.commit_pack(handle, found, place=save)
        elif save is not None:
            report = usecases.save_pack(handle, save)
    if is_empty:
        shell.note_empty_store()
    named = [*with_, *without, *wished]
    shell.document(
        report, lambda paint: pack_text(report, paint, every=all_, named=named), report.lines
    )


def _project(named: str | None, session: str | None) -> Path | bool:
    """The folder that is meant; ``True``: the session's own."""
    if named is None:
        return False
    if named == HERE:
        return True if session is not None else Path.cwd()
    return Path(named)


def _refuse_contradictions(named: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Where two options name the same line."""
    seen: dict[str, str] = {}
    for option, names in named:
        for name in names:
            other = seen.setdefault(name, option)
            if other != option:
                one, two = (f"--{given} {name}".replace("_", "-", 1) for given in (other, option))
                raise click.UsageError(f"{one} and {two} exclude each other")


def _told_apart(words: tuple[str, ...]) -> tuple[str | None, str]:
    if len(words) > 2:
        raise click.UsageError(
            f"{len(words)} arguments: put the QUERY in quotes, as in ullage pack last 'two words'"
        )
    return (None, words[0]) if len(words) == 1 else (words[0], words[1])
