"""The process behind one window: the app, drawn into a pipe.

``AppService`` of textual-serve speaks the protocol; here it is told what to run (a list, never a
shell), what of the environment to hand on, and to end in time. It overrides two methods that are
not public, so the version is pinned, and a test runs it.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

PATIENCE = 1.0
"""Seconds that the app has to end by itself, and then again once it was told to terminate."""
MOST_PIPE = 4 * 1024 * 1024
"""Bytes of one packet of the app's: a whole large screen is far below."""


class AppProcess(AppService):
    """One app. ``write``, ``tell`` and ``close`` lead to its window."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        write: Callable[[bytes], Awaitable[None]],
        tell: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[object]],
    ) -> None:
        async def closed() -> None:
            await close()

        super().__init__(
            command[0],
            write_bytes=write,
            write_str=tell,
            close=closed,
            download_manager=DownloadManager(),
        )
        self._arguments = tuple(command)
        self._inherited = dict(environment)

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        return {
            **self._inherited,
            "TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver",
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "TEXTUAL_FPS": "60",
            "COLUMNS": str(width),
            "ROWS": str(height),
        }

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        self._process = process = await asyncio.create_subprocess_exec(
            *self._arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._build_environment(width, height),
            limit=MOST_PIPE,
        )
        assert process.stdin is not None
        self._stdin = process.stdin
        return process

    async def on_meta(self, data: bytes) -> None:
        """The app ends, or wants something that it has no need of: to have a page or a file
        opened."""
        if b'"exit"' in data:
            await self.remote_close()

    async def on_packed(self, payload: bytes) -> None:
        """No file is handed out."""

    async def stop(self) -> None:
        """Ends the app: asks, then tells, then kills. Returns when it is gone."""
        process, task, self._task = self._process, self._task, None
        if process is None:
            return
        with suppress(Exception):
            await asyncio.wait_for(self.send_meta({"type": "quit"}), PATIENCE)
        for end in (None, process.terminate, process.kill):
            with suppress(ProcessLookupError):
                if end is not None:
                    end()
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(process.wait()), PATIENCE)
            if process.returncode is not None:
                break
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
