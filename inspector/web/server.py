"""The server: a page, its few files, and the websocket of each window.

Bound to loopback. Every request passes the gate; a window's process is started only behind it, and
only while there are fewer than the most that were allowed. When the server stops, all of them end.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from string import Template

from aiohttp import WSCloseCode, WSMsgType, web

from inspector.web.frames import (
    MOST_FRAME,
    Focused,
    Pinged,
    Resized,
    Typed,
    frame_of,
    size_of,
)
from inspector.web.gate import COOKIE, Gate, loopback_names
from inspector.web.process import AppProcess
from storage.resources import asset

MOST_WINDOWS = 4
"""Processes at once; each takes some 60 MB."""
RESIZE_SECONDS = 0.1
"""Of the sizes that a window sends within this time, the app hears the last."""
STOP_SECONDS = 0.2

_OF_TEXTUAL = {
    "textual.js": ("static/js/textual.js", "text/javascript"),
    "xterm.css": ("static/css/xterm.css", "text/css"),
    "RobotoMono-VariableFont_wght.ttf": (
        "static/fonts/RobotoMono-VariableFont_wght.ttf",
        "font/ttf",
    ),
    "RobotoMono-Italic-VariableFont_wght.ttf": (
        "static/fonts/RobotoMono-Italic-VariableFont_wght.ttf",
        "font/ttf",
    ),
}
_OWN = {"page.js": "text/javascript", "page.css": "text/css"}

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    "img-src 'self' data:; connect-src 'self' ws://$host; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WebServer:
    """``command`` and ``environment`` are those of each window's process; ``opened`` is called
    with the next address each time one was used."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        opened: Callable[[str], None] = lambda _: None,
        most: int = MOST_WINDOWS,
        font_size: int = 16,
    ) -> None:
        self._command = tuple(command)
        self._environment = dict(environment)
        self._opened = opened
        self._most = most
        self._font_size = font_size
        self._gate = Gate(())
        self._windows: dict[web.WebSocketResponse, AppProcess | None] = {}
        self._files = _static_files()
        self._page = Template(asset("web/page.html").decode())
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """That opens the app in a browser, once."""
        return f"http://127.0.0.1:{self.port}/?token={self._gate.token}"

    @property
    def windows(self) -> int:
        """How many are open."""
        return len(self._windows)

    async def start(self, port: int = 0) -> None:
        """Listen on loopback; port 0: any free one. Raises ``OSError`` where the port is taken."""
        listener = socket.create_server(("127.0.0.1", port))
        self.port = listener.getsockname()[1]
        self._gate = Gate(loopback_names(self.port))
        app = web.Application(middlewares=[self._guard], client_max_size=MOST_FRAME)
        app.router.add_get("/", self._index)
        app.router.add_get("/ws", self._websocket)
        app.router.add_get("/static/{name}", self._static)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=STOP_SECONDS)
        await self._runner.setup()
        await web.SockSite(self._runner, listener).start()

    async def stop(self) -> None:
        """Close every window, and return when every process is gone."""
        windows = list(self._windows.items())
        closing = [_closed(window) for window, _ in windows]
        ending = [process.stop() for _, process in windows if process is not None]
        await asyncio.gather(*closing, *ending)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    # What is asked for

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        headers = request.headers
        why = self._gate.stranger(headers.get("Host"), headers.get("Origin"))
        if why is not None:
            return web.Response(status=403, text=why, headers=_HEADERS)
        if "token" in request.query and request.path == "/" and request.method == "GET":
            return self._admitted(request)
        if not self._gate.knows(request.cookies.get(COOKIE)):
            why = "Open the address that ullage serve printed last; each one opens once."
            return web.Response(status=401, text=why, headers=_HEADERS)
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = web.Response(status=error.status, text=error.reason)
        if not response.prepared:
            policy = Template(_POLICY).substitute(host=headers["Host"])
            response.headers.update({**_HEADERS, "Content-Security-Policy": policy})
        return response

    def _admitted(self, request: web.Request) -> web.Response:
        """A token for a cookie; the address without it is what stays in the browser's history."""
        cookie = self._gate.admit(request.query["token"])
        if cookie is None:
            why = "This address was used, or is wrong; ullage serve printed the one that opens."
            return web.Response(status=401, text=why, headers=_HEADERS)
        self._opened(self.url)
        response = web.Response(status=303, headers={**_HEADERS, "Location": "/"})
        response.set_cookie(COOKIE, cookie, httponly=True, samesite="Strict", path="/")
        return response

    async def _index(self, request: web.Request) -> web.Response:
        page = self._page.substitute(host=request.headers["Host"], font_size=self._font_size)
        return web.Response(text=page, content_type="text/html")

    async def _static(self, request: web.Request) -> web.Response:
        found = self._files.get(request.match_info["name"])
        if found is None:
            raise web.HTTPNotFound
        body, content_type = found
        return web.Response(body=body, content_type=content_type)

    # Windows

    async def _websocket(self, request: web.Request) -> web.StreamResponse:
        # A page always says where it comes from; what does not is no page.
        if request.headers.get("Origin") is None:
            raise web.HTTPForbidden
        if len(self._windows) >= self._most:
            why = f"{self._most} windows are open: close one of them first."
            return web.Response(status=503, text=why)
        window = web.WebSocketResponse(heartbeat=15, max_msg_size=MOST_FRAME)
        self._windows[window] = None
        process: AppProcess | None = None
        try:
            await window.prepare(request)
            size = size_of(request.query.get("width"), request.query.get("height"))
            size = size or Resized(80, 24)
            process = AppProcess(
                self._command,
                self._environment,
                write=window.send_bytes,
                tell=window.send_str,
                close=window.close,
            )
            self._windows[window] = process
            await process.start(size.columns, size.rows)
            await _converse(window, process)
        finally:
            try:
                if process is not None:
                    await asyncio.shield(process.stop())
                await _closed(window)
            finally:
                del self._windows[window]
        return window


async def _closed(window: web.WebSocketResponse) -> None:
    with suppress(Exception):
        await asyncio.wait_for(window.close(code=WSCloseCode.GOING_AWAY), STOP_SECONDS)


async def _converse(window: web.WebSocketResponse, process: AppProcess) -> None:
    """Hands on what the window sends until it is closed. What is no frame is passed over."""
    wanted: Resized | None = None
    timer: asyncio.Task[None] | None = None

    async def resize() -> None:
        nonlocal timer
        await asyncio.sleep(RESIZE_SECONDS)
        timer = None
        if wanted is not None:
            await process.set_terminal_size(wanted.columns, wanted.rows)

    try:
        async for message in window:
            frame = frame_of(message.data) if message.type == WSMsgType.TEXT else None
            match frame:
                case Typed(text):
                    await process.send_bytes(text.encode())
                case Resized():
                    wanted = frame
                    timer = timer or asyncio.create_task(resize())
                case Pinged(what):
                    await window.send_json(["pong", what])
                case Focused(kind):
                    await process.send_meta({"type": kind})
    finally:
        if timer is not None:
            timer.cancel()


def _static_files() -> Mapping[str, tuple[bytes, str]]:
    """The files of the page, by name: all that is ever served."""
    package = files("textual_serve")
    found = {
        name: (package.joinpath(path).read_bytes(), kind)
        for name, (path, kind) in _OF_TEXTUAL.items()
    }
    return found | {name: (asset(f"web/{name}"), kind) for name, kind in _OWN.items()}
