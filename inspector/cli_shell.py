"""What every command stands in: its settings, the use-cases, and the ways out for text.

Data goes to stdout, notes and progress to stderr. With ``--json`` the data is one document of a
published schema, with ``--jsonl`` one line an element; both are pure ASCII, so that no byte of a
log acts on a terminal, and no byte is lost either.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector.cli_values import F, store_name
from storage.format import MEMORY

if TYPE_CHECKING:
    from pydantic import BaseModel

    from inspector.cli_paint import Paint
    from inspector.reports import Report
    from inspector.settings import Loaded, Settings
    from inspector.usecases import UseCases

Opener = Callable[["Loaded"], "UseCases"]
Human = Callable[["Paint"], Iterable[str]]


def _open(loaded: Loaded) -> UseCases:
    from inspector.usecases import open_usecases

    return open_usecases(loaded)


@dataclass(slots=True)
class Shell:
    """The state of one command. Options fill it while the command line is parsed."""

    opener: Opener = _open
    now: Callable[[], float] = time.time
    as_json: bool = False
    as_jsonl: bool = False
    flags: dict[str, Any] = field(default_factory=dict)
    """Settings that the command line gave, by name."""
    _loaded: Loaded | None = None

    @property
    def loaded(self) -> Loaded:
        """All settings with their origins, read once. Raises ``SettingsError``."""
        if self._loaded is None:
            from inspector.settings import load_settings

            self._loaded = load_settings(self.flags)
        return self._loaded

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    @property
    def machine(self) -> bool:
        """The reader of stdout is a program."""
        return self.as_json or self.as_jsonl

    @contextmanager
    def usecases(self, session: str | None = None, *, makes: bool = False) -> Iterator[UseCases]:
        """The use-cases on the store that the settings name; closed at the end.

        One that is not there yet is made only by who ``makes`` one, and where the ``session`` that
        is meant is the path of a log. Raises :class:`NoStoreError`."""
        if not makes:
            self.require_store(session)
        usecases = self.opener(self.loaded)
        try:
            yield usecases
        finally:
            usecases.close()

    @property
    def has_store(self) -> bool:
        """Whether something is at the store's place, of whatever kind."""
        db = self.settings.db
        try:
            return db == MEMORY or bool(os.stat(db))  # noqa: PTH116 - as it was typed
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, ValueError):
            return True  # opening it tells better what is wrong with it

    def require_store(self, session: str | None = None) -> None:
        """Raises :class:`NoStoreError`: an empty store, made in passing under a mistyped name,
        would be told as if it were the person's own."""
        if self.has_store:
            return
        if session is not None:
            from inspector.usecases import is_file

            if is_file(session):
                return
        db = self.settings.db
        named = f" --db {shlex.quote(db)}" if "db" in self.flags else ""
        file = f"file {session}, and no " if session is not None and "/" in session else ""
        origin = self.loaded.origins.get("db", "default")
        why = " yet" if origin == "default" else f", which {origin} names: check it"
        raise NoStoreError(
            f"There is no {file}store at {db}{why}. ullage ingest{named} makes one of the agents' "
            "logs on this machine, or of the PATHs that you add."
        )

    def paint(self) -> Paint:
        from inspector.cli_paint import paint_for

        return paint_for(sys.stdout)

    def document(
        self, report: Report, human: Human, elements: Sequence[Report] | None = None
    ) -> None:
        """Print one report: as JSON, as JSON Lines (its ``elements``, or the report itself), or as
        the lines that ``human`` makes of it."""
        if self.as_jsonl:
            self._lines([report] if elements is None else elements)
        elif self.as_json:
            self._json(report.model_dump(mode="json"))
        else:
            self._text(human)

    def listing(self, reports: Sequence[BaseModel], human: Human) -> None:
        """Print a list of reports: as one JSON list, as JSON Lines, or as ``human`` has it."""
        if self.as_jsonl:
            self._lines(reports)
        elif self.as_json:
            self._json([report.model_dump(mode="json") for report in reports])
        else:
            self._text(human)

    def _lines(self, reports: Sequence[BaseModel]) -> None:
        for report in reports:
            put(_dumped(report.model_dump(mode="json")))

    def _json(self, value: object) -> None:
        put(_dumped(value, indent=2 if sys.stdout.isatty() else None))

    def _text(self, human: Human) -> None:
        for text in human(self.paint()):
            put(text)

    def text(self, text: str) -> None:
        """Print a text that may come from a log, whatever the reader."""
        from inspector.sanitize import clean

        put(clean(text))

    def note(self, text: str) -> None:
        """A line for the person, beside the data. Lost where stderr takes none: it is no result."""
        from inspector.sanitize import clean

        with suppress(OSError):
            print(clean(text), file=sys.stderr, flush=True)

    def note_empty_store(self) -> None:
        """Beside an answer that would sound as if something had been looked through."""
        from inspector.cli_output import EMPTY_STORE

        for text in EMPTY_STORE:
            self.note(text)

    @contextmanager
    def progress(self) -> Iterator[Callable[[int, int, object], None]]:
        """A callback ``(files done, files in all, what was read)`` that keeps one line up to date
        on a terminal; in a pipe it is silent."""
        from inspector.cli_paint import bar
        from inspector.sanitize import line

        drawn = False

        def show(done: int, total: int, what: object) -> None:
            nonlocal drawn
            if sys.stderr.isatty():
                drawn = True
                share = done / total if total else 0.0
                shown = line(str(what), 40)
                end = f"{bar(share, 20)} {done}/{total} {shown}" if done < total else ""
                print(f"\r\x1b[K{end}", end="", file=sys.stderr, flush=True)

        try:
            yield show
        finally:
            if drawn:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)


ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a program to end; a terminal that is closed sends the second."""


@contextmanager
def on_signals(signals: Sequence[int], act: Callable[[], object]) -> Iterator[None]:
    """Do this, instead of what they did, when one of these signals comes."""
    # Who ignores a hang-up (nohup) wants to outlive the terminal; an ignored Ctrl-C is only the
    # mark of a job in the background.
    heard = [n for n in signals if n == signal.SIGINT or signal.getsignal(n) != signal.SIG_IGN]
    before = [(number, signal.signal(number, lambda *_: act())) for number in heard]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


class NoStoreError(Exception):
    """Something is asked of a store that was never made."""

    code = "no_store"
    choices: tuple[object, ...] = ()


class OutputError(Exception):
    """Stdout takes no more: a full disk, a device that is gone."""


def put(text: str, end: str = "\n") -> None:
    """Print one piece of data. Raises :class:`OutputError`; a reader who left is a
    ``BrokenPipeError``."""
    with _writing():
        print(text, end=end)


def put_bytes(data: bytes) -> None:
    """Bytes as they are, at once; raises as :func:`put` does. Not for a terminal."""
    with _writing():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def put_all() -> None:
    """Hand over what is buffered; raises as :func:`put` does."""
    with _writing():
        sys.stdout.flush()


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"the output cannot be written: {error.strerror}.") from error


def _dumped(value: object, indent: int | None = None) -> str:
    separators = None if indent else (",", ":")
    return json.dumps(value, ensure_ascii=True, indent=indent, separators=separators)


def error_document(code: str, message: str, choices: Sequence[object] = ()) -> str:
    """``{"error": …}`` as it is printed with ``--json``."""
    return _dumped({"error": {"code": code, "message": message, "choices": list(choices)}})


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    shell = ctx.ensure_object(Shell)
    if param.name is not None and value:
        setattr(shell, param.name, value)
    if shell.as_json and shell.as_jsonl:
        raise click.UsageError("--json and --jsonl exclude each other", ctx)


def _keep_db(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.ensure_object(Shell).flags["db"] = value


def _keep_settings(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> None:
    for pair in value:
        key, equals, text = pair.partition("=")
        if not equals:
            raise click.BadParameter(f"{pair!r} is not KEY=VALUE", ctx, param)
        ctx.ensure_object(Shell).flags[key.strip().replace("-", "_")] = text.strip()


def settings_option(function: F) -> F:
    """``--set``."""
    return click.option(
        "--set",
        metavar="KEY=VALUE",
        multiple=True,
        expose_value=False,
        callback=_keep_settings,
        help="Set a setting for this run, e.g. --set window=200000.",
    )(function)


def store_options(function: F) -> F:
    """``--db`` and ``--set``."""
    function = settings_option(function)
    return click.option(
        "--db",
        type=store_name,
        metavar="FILE",
        expose_value=False,
        callback=_keep_db,
        help="The store; :memory: for one that is gone afterwards.",
    )(function)


def json_option(function: F) -> F:
    """``--json``."""
    return click.option(
        "--json",
        "as_json",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_keep,
        help="Print one JSON document (see ullage schema).",
    )(function)


def json_options(function: F) -> F:
    """``--json`` and ``--jsonl``, where the data is a list."""
    function = click.option(
        "--jsonl",
        "as_jsonl",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_keep,
        help="Print JSON Lines, one element each.",
    )(function)
    return json_option(function)


def paths_argument(function: F) -> F:
    """``[PATH…]``: logs or folders of logs that exist."""
    return click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))(function)


def example(*lines: str) -> str:
    """An epilog that shows how a command is called."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)
