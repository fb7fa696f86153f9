"""``ullage serve``: the app in a browser."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspector.cli_shell import Shell, example, paths_argument, store_options
from inspector.cli_values import Whole

if TYPE_CHECKING:
    from inspector.web.server import WebServer

_KEPT = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "PYTHONPATH",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
)
_KEPT_BEGINNINGS = ("LC_", "ULLAGE_", "XDG_")
"""What a window's process needs of the environment, beside what tells where agents keep logs; keys
of providers and the like stay behind."""


class ServeError(Exception):
    """The app cannot be served."""

    code = "serve"
    choices: tuple[object, ...] = ()


@click.command(
    short_help="Serve the app to a browser, on this machine only.",
    epilog=example("ullage serve", "ullage serve --port 8123 ~/.claude/projects"),
)
@paths_argument
@store_options
@click.option(
    "--port", default=0, type=Whole(0, 65_535), metavar="N", help="Else any that is free."
)
@click.option(
    "--windows",
    default=4,
    type=Whole(1, 32),
    metavar="N",
    show_default=True,
    help="Open at once, at most.",
)
@click.option(
    "--font-size",
    default=16,
    type=Whole(6, 48),
    metavar="N",
    show_default=True,
    help="In pixels.",
)
@click.pass_obj
def serve(shell: Shell, paths: tuple[Path, ...], port: int, windows: int, font_size: int) -> None:
    """Serve the app to a browser on this machine, until Ctrl-C.

    The address that is printed opens it once; each time one is used, the next is printed. Nobody
    else gets in: other programs and web pages on this machine do not know it."""
    for path in paths:
        if not path.exists():
            raise click.UsageError(f"{path} is neither a file nor a folder")
    try:
        from inspector.web.server import WebServer
    except ImportError as error:
        raise ServeError(
            f"The browser needs {error.name}, which is not installed: "
            "pip install 'ullage[serve]' brings it."
        ) from error

    # What every window would be refused with is refused here, where it can be read.
    with shell.usecases(makes=True):
        pass

    import asyncio

    server = WebServer(
        _command(shell, paths),
        reduced(os.environ, _of_agents()),
        opened=lambda url: shell.note(f"Opened. For another browser: {url}"),
        most=windows,
        font_size=font_size,
    )
    try:
        asyncio.run(_serve(shell, server, port))
    except OSError as error:
        raise ServeError(
            f"Port {port} cannot be listened on ({error.strerror}): name another with --port, or "
            "none for any that is free."
        ) from error


async def _serve(shell: Shell, server: WebServer, port: int) -> None:
    import asyncio

    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(name, ended.set)
    await server.start(port)
    print(server.url, flush=True)
    shell.note("Open it in a browser on this machine; it opens once. Ctrl-C ends all windows.")
    try:
        await ended.wait()
    finally:
        await server.stop()


def _command(shell: Shell, paths: tuple[Path, ...]) -> list[str]:
    """What a window runs: the app on the same store and paths."""
    settings = [
        f"--db={value}" if name == "db" else f"--set={name}={value}"
        for name, value in shell.flags.items()
    ]
    named = [str(path.expanduser().resolve()) for path in paths]
    return [sys.executable, "-m", "inspector.cli", "open", *settings, "--", *named]


def _of_agents() -> frozenset[str]:
    from storage.sources.discovery import variables
    from storage.sources.registry import registry

    return variables(registry(), Path.home())


def reduced(environment: Mapping[str, str], more: frozenset[str]) -> dict[str, str]:
    """What of the environment a window's process gets."""
    return {
        name: value
        for name, value in environment.items()
        if name in _KEPT or name in more or name.startswith(_KEPT_BEGINNINGS)
    }
