"""Commands on the store as a whole: open, ingest, watch, sessions, search, usage, doctor, schema,
demo."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspector.cli_days import day_options, days
from inspector.cli_growth import Growth
from inspector.cli_shell import (
    ENDING,
    Shell,
    example,
    json_option,
    json_options,
    on_signals,
    paths_argument,
    put,
    settings_option,
    store_options,
)
from inspector.cli_values import Place, TakesQuery, Whole

if TYPE_CHECKING:
    from datetime import datetime

    from inspector.reports import IngestReport
    from inspector.usage_reports import UsageBy
    from inspector.usecases import UseCases

Tell = Callable[[str], None]
_OWN = ("--help", "--version")
"""Options that a person may take for commands."""
_NEAR = 0.7
"""How alike a word must be to a command for a slip of the finger: 0 to 1."""
NOTE_SECONDS = 30
"""How long a note in the app is seen."""


@click.command(
    "open",
    short_help="Open the app on all logs found here, or on PATHs.",
    epilog=example("ullage", "ullage ~/.claude/projects", "ullage session.jsonl"),
)
@click.argument("paths", nargs=-1, type=Place())
@store_options
@click.pass_obj
def open_(shell: Shell, paths: tuple[Path, ...]) -> None:
    """Open the app on every agent's logs found on this machine, live, or on these files or
    folders. This is what `ullage` does without a command."""
    for path in paths:
        if not path.exists():
            raise _neither(str(path))
    if not _on_terminal():
        raise NoTerminalError("The app needs a terminal; without one, try `ullage sessions`.")
    if _for_browser():
        from inspector.web.orphan import end_with_parent

        end_with_parent()
    with shell.usecases(makes=True) as usecases:
        usecases.narrow(paths)
        run_app(usecases, paths)


def run_app(
    usecases: UseCases, paths: tuple[Path, ...], opened: Callable[[Tell], None] = lambda _: None
) -> None:
    """Run the app, following these paths (none: all logs on this machine), until it is left, or
    told to end by a signal. ``opened`` gets a function that shows a note in it, from any
    thread."""
    import gc

    from inspector.app import UllageApp

    app = UllageApp(usecases, watch=list(paths))
    app.theme = f"ullage-{usecases.settings.theme}"

    def tell(text: str) -> None:
        with suppress(RuntimeError):  # it has been left meanwhile
            app.call_from_thread(app.notify, text, timeout=NOTE_SECONDS)

    opened(tell)
    # The program itself is no garbage; looking through it now and then would stop the screen.
    gc.freeze()
    with on_signals(ENDING, app.exit):
        app.run()


def _neither(word: str) -> click.UsageError:
    """Why a first word is refused; the nearest command, where one is near."""
    import difflib

    context = click.get_current_context().find_root()
    group = context.command
    names = sorted(group.commands) if isinstance(group, click.Group) else []
    names += [option.lstrip("-") for option in _OWN]
    near = next(iter(difflib.get_close_matches(word, names, n=1, cutoff=_NEAR)), None)
    meant = f"--{near}" if f"--{near}" in _OWN else near
    hint = f"; did you mean `ullage {meant}`?" if near else ""
    return click.UsageError(f"{word} is neither a command nor a file or folder{hint}", context)


class NoTerminalError(Exception):
    """The app was asked for where it cannot be drawn."""

    code = "no_terminal"
    choices: tuple[object, ...] = ()


def _on_terminal() -> bool:
    return _for_browser() or (sys.stdin.isatty() and sys.stdout.isatty())


def _for_browser() -> bool:
    """What is drawn goes to the server that started this process."""
    return "TEXTUAL_DRIVER" in os.environ


@click.command(
    short_help="Read logs into the store.",
    epilog=example("ullage ingest", "ullage ingest ~/.codex/sessions --json"),
)
@paths_argument
@store_options
@json_option
@click.pass_obj
def ingest(shell: Shell, paths: tuple[Path, ...]) -> None:
    """Read logs into the store: all that are found on this machine, or these files or folders.

    The logs themselves are only read. What is already in the store costs next to nothing."""
    from inspector.cli_lists import ingest_text

    with shell.usecases(makes=True) as usecases, shell.progress() as progress:
        report = usecases.ingest(list(paths), progress)
        if paths and not report.events:
            _refuse_unless_known(usecases, paths, report)
    shell.document(report, lambda paint: ingest_text(report, paint))


def _refuse_unless_known(usecases: UseCases, paths: Sequence[Path], report: IngestReport) -> None:
    """Nothing came in. That is well where all was read before; where nothing of it was ever
    understood, it is a refusal, the second time too."""
    from inspector.cli_paint import counted

    usecases.narrow(paths)
    if usecases.sessions():
        return
    below = [path.resolve() for path in paths]
    known = (note for source in usecases.doctor().sources for note in source.notes)
    notes = report.notes or [
        note for note in known if any(note.startswith((f"{p}:", f"{p}/")) for p in below)
    ]
    named = ", ".join(map(str, paths))
    if not notes:
        raise NothingUnderstoodError(f"{named} holds no log: name a log, or a folder of logs.")
    more = f" (and {counted(len(notes) - 1, 'more file')})" if len(notes) > 1 else ""
    raise NothingUnderstoodError(
        f"Nothing was read: {notes[0]}{more}; the README lists the agents whose logs are read."
    )


class NothingUnderstoodError(Exception):
    """Paths were named, and nothing in them is a log that is understood."""

    code = "nothing_understood"
    choices: tuple[object, ...] = ()


@click.command(
    short_help="Read logs into the store as they grow, until Ctrl-C.",
    epilog=example("ullage watch", "ullage watch ~/.claude/projects --db watch.db"),
)
@paths_argument
@store_options
@click.pass_obj
def watch(shell: Shell, paths: tuple[Path, ...]) -> None:
    """Read logs into the store, and go on reading as they grow, without a screen, until Ctrl-C.
    A line tells which session grew, and by how much."""
    stop = threading.Event()  # what is under way is finished first
    signals = (signal.SIGINT, *ENDING)
    with on_signals(signals, stop.set), shell.usecases(makes=True) as usecases:
        shell.note("watching; Ctrl-C ends it")
        with shell.progress() as show:
            growth = Growth(usecases.sessions)

            def notify() -> None:
                done, in_all, _ = progress = usecases.progress()
                show(*progress)
                for text in growth.lines(backlog=done < in_all):
                    shell.text(text)
                sys.stdout.flush()

            usecases.watch(list(paths), stop, notify)


@click.command(epilog=example("ullage sessions", "ullage sessions --limit 5 --json"))
@click.option("--limit", type=Whole(), metavar="N", help="The newest N only.")
@store_options
@json_options
@click.pass_obj
def sessions(shell: Shell, limit: int | None) -> None:
    """List the sessions in the store, the newest first."""
    from inspector.cli_output import sessions_text

    with shell.usecases() as usecases:
        rows = usecases.sessions(limit)
    shell.listing(rows, lambda paint: sessions_text(rows, shell.now(), paint))


@click.command(
    cls=TakesQuery,
    short_help="Search the full text of all sessions.",
    epilog=example("ullage search 'connection refused'", "ullage search retry --jsonl"),
)
@click.argument("words", nargs=-1, required=True, metavar="QUERY")
@click.option(
    "--limit", type=Whole(), metavar="N", default=20, show_default=True, help="Hits at most."
)
@store_options
@json_options
@click.pass_obj
def search(shell: Shell, words: tuple[str, ...], limit: int) -> None:
    """Search the full text of all sessions for events that hold the words of QUERY."""
    from inspector.cli_lists import search_text

    query = " ".join(words)
    with shell.usecases() as usecases:
        hits = usecases.search(query, limit)
        rows = [] if shell.machine else usecases.sessions()
    sessions = {row.id: row for row in rows}
    shell.listing(hits, lambda paint: search_text(query, hits, sessions, shell.now(), paint))


@click.command(
    short_help="Sum tokens by day, session, model or agent.",
    epilog=example(
        "ullage usage --since 2026-03-01 --zone Europe/Berlin", "ullage usage --by model --json"
    ),
)
@click.option(
    "--by",
    type=click.Choice(("day", "session", "model", "agent")),
    default="day",
    show_default=True,
    help="What a row is.",
)
@day_options
@store_options
@json_options
@click.pass_obj
def usage(
    shell: Shell, by: UsageBy, zone: str, since: datetime | None, until: datetime | None
) -> None:
    """Sum the tokens that the providers reported for all requests in the store.

    A request that stands in several logs (a fork, a resumed copy) counts once. Sub-agents are
    part of the figures, and shown apart below them. Only tokens: there are no prices here."""
    from inspector.cli_usage import usage_text

    first, last = days(since, until)
    with shell.usecases() as usecases:
        report = usecases.usage(by, zone=zone, since=first, until=last)
    shell.document(report, lambda paint: usage_text(report, paint), report.rows)


@click.command(
    short_help="Tell what is found, and where each setting is from.",
    epilog=example("ullage doctor", "ullage doctor --json"),
)
@store_options
@json_option
@click.pass_obj
def doctor(shell: Shell) -> None:
    """Tell what is found, what is understood, the state of the store, and where each setting's
    value comes from."""
    from inspector.cli_lists import doctor_text

    if shell.has_store:
        with shell.usecases() as usecases:
            report = usecases.doctor()
    else:
        from inspector.usecases import doctor_without_store

        report = doctor_without_store(shell.loaded)
    shell.document(report, lambda paint: doctor_text(report, paint))


@click.command(
    short_help="List the schemas of --json, or print one.",
    epilog=example("ullage schema", "ullage schema show"),
)
@click.argument("name", required=False)
def schema(name: str | None) -> None:
    """List the JSON Schemas of what --json prints, or print one."""
    from inspector.schemas import names, schema_text

    if name is None:
        for each, title in names():
            put(f"{each:<14}  {title}")
    else:
        put(schema_text(name).rstrip("\n"))


@click.command(
    short_help="Replay a bundled session; needs no agent.",
    epilog=example("ullage demo", "ullage demo --rate 4", "ullage demo --once"),
)
@click.option("--once", is_flag=True, help="Write it all at once, print a report, and leave.")
@click.option(
    "--rate",
    type=click.FloatRange(min=0.1, max=1000),
    metavar="X",
    default=1.0,
    show_default=True,
    help="Speed: at 1 the replay takes about a minute, at 4 a quarter of that.",
)
@settings_option
@click.pass_obj
def demo(shell: Shell, once: bool, rate: float) -> None:
    """Replay a bundled session, live, in a throw-away store. Needs no agent and leaves nothing
    behind. Without a terminal it prints the report of --once."""
    from inspector.demo import run_live, run_once

    if once or not _on_terminal():
        run_once(shell)
    else:
        run_live(shell, rate, run_app)
