"""The app behind the gate, attacked and used: a real server, a real app in each window."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType
from aiohttp.client_exceptions import WSServerHandshakeError

from inspector.cli_serve import reduced
from inspector.web.server import WebServer
from tests.conftest import REPOSITORY
from tests.inspector.conftest import Ullage
from tests.inspector.logs import Log
from tests.inspector.web.terminal import PATIENCE, Terminal


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = Log(logs, "served")
    log.user("Why is the needle in the haystack?")
    log.step(1, size=40)
    return [
        sys.executable, "-m", "inspector.cli", "open", f"--db={tmp_path / 'store.db'}", "--",
        str(logs),
    ]  # fmt: skip


@asynccontextmanager
async def served(command: list[str], **options: Any) -> AsyncIterator[WebServer]:
    environment = {**reduced(os.environ, frozenset()), "PYTHONPATH": str(REPOSITORY)}
    server = WebServer(command, environment, **options)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def stranger() -> AsyncIterator[ClientSession]:
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as client:
        yield client


@asynccontextmanager
async def guest(server: WebServer) -> AsyncIterator[ClientSession]:
    """A browser that used the address."""
    async with stranger() as client:
        async with client.get(server.url) as response:
            assert response.status == 200
            assert str(response.url) == base(server) + "/"
        yield client


def base(server: WebServer) -> str:
    return f"http://127.0.0.1:{server.port}"


@asynccontextmanager
async def window(
    client: ClientSession, server: WebServer, **options: Any
) -> AsyncIterator[Terminal]:
    headers = {"Origin": base(server), **options.pop("headers", {})}
    url = f"{base(server)}/ws?width=100&height=30"
    async with client.ws_connect(url, headers=headers, **options) as socket:
        yield Terminal(socket)


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.05)


async def test_it_opens_types_and_redraws(command: list[str]) -> None:
    async with served(command) as server, guest(server) as client, window(client, server) as here:
        await here.shows("needle")
        await here.type("f")
        await here.shows("Type words")
        await here.type("haystack")
        await here.shows("1 event")
        await here.socket.send_json(["ping", "17"])
        async with asyncio.timeout(PATIENCE):
            while (message := await here.socket.receive()).type is not WSMsgType.TEXT:
                pass
        assert message.json() == ["pong", "17"]
        await here.type("\x11")
        await here.ends()
        await eventually(lambda: server.windows == 0)


async def test_without_a_token_nothing_is_told_and_nothing_is_started(command: list[str]) -> None:
    async with served(command) as server, stranger() as client:
        for path in ("/", "/static/textual.js", "/static/", "/ws", "/download/x", "/?token=guess"):
            async with client.get(base(server) + path) as response:
                assert response.status == 401, path
                assert "Ullage" not in await response.text()
        with pytest.raises(WSServerHandshakeError) as refusal:
            async with window(client, server):
                pass
        assert refusal.value.status == 401
        assert server.windows == 0


async def test_a_used_token_opens_nothing(command: list[str]) -> None:
    told: list[str] = []
    async with served(command, opened=told.append) as server:
        used = server.url
        async with stranger() as looking, looking.head(used) as response:
            assert response.status == 401
        async with guest(server), stranger() as other:
            async with other.get(used) as response:
                assert response.status == 401
            assert told == [server.url]
            assert server.url != used


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Host": "rebind.evil:8765", "Origin": "http://rebind.evil:8765"},
        {"Host": "rebind.evil"},
    ],
    ids=["foreign origin", "no origin of its own", "another port", "rebound name", "foreign host"],
)
async def test_w01_w02_a_stolen_cookie_serves_no_foreign_page(
    command: list[str], headers: dict[str, str]
) -> None:
    async with served(command) as server, guest(server) as client:
        for path in ("/", "/static/page.js", "/?token=x", "/ws"):
            async with client.get(base(server) + path, headers=headers) as response:
                assert response.status == 403
        with pytest.raises(WSServerHandshakeError) as refusal:
            async with window(client, server, headers=headers):
                pass
        assert refusal.value.status == 403
        assert server.windows == 0


async def test_a_socket_that_does_not_say_where_it_comes_from_is_refused(
    command: list[str],
) -> None:
    async with served(command) as server, guest(server) as client:
        with pytest.raises(WSServerHandshakeError) as refusal:
            await client.ws_connect(f"{base(server)}/ws")
        assert refusal.value.status == 403
        assert server.windows == 0


async def test_w07_pages_are_hardened_and_folders_are_not_listed(command: list[str]) -> None:
    async with served(command) as server, guest(server) as client:
        async with client.get(base(server)) as response:
            policy = response.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "script-src 'self';" in policy
            assert response.headers["X-Frame-Options"] == "DENY"
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            page = await response.text()
            assert "http:" not in page
            assert "https:" not in page
        cookie = next(iter(client.cookie_jar))
        assert cookie["httponly"]
        assert cookie["samesite"] == "Strict"
        for name in ("page.js", "page.css", "textual.js", "xterm.css"):
            async with client.get(f"{base(server)}/static/{name}") as response:
                assert response.status == 200
        for path in ("/static/", "/static", "/static/..%2fserver.py", "/download/x", "/etc/passwd"):
            async with client.get(base(server) + path) as response:
                assert response.status == 404


async def test_a_storm_of_windows_starts_no_more_than_the_most(command: list[str]) -> None:
    async with served(command, most=2) as server, guest(server) as client:
        opened: list[ClientWebSocketResponse] = []
        refused: list[int] = []

        async def attempt() -> None:
            try:
                url, headers = f"{base(server)}/ws", {"Origin": base(server)}
                opened.append(await client.ws_connect(url, headers=headers))
            except WSServerHandshakeError as error:
                refused.append(error.status)

        await asyncio.gather(*[attempt() for _ in range(30)])
        assert len(opened) == 2
        assert refused == [503] * 28
        assert server.windows == 2
        for socket in opened:
            await socket.close()
        await eventually(lambda: server.windows == 0)


async def test_w06_odd_frames_and_a_storm_of_sizes_leave_the_window_alive(
    command: list[str],
) -> None:
    async with served(command) as server, guest(server) as client, window(client, server) as here:
        socket = here.socket
        await here.shows("needle")
        for odd in (
            '{"not":"list"}',
            "[]",
            "",
            "[" * 5_000,
            '["stdin"]',
            '["resize",{"width":{}}]',
        ):
            await socket.send_str(odd)
        await socket.send_bytes(b"\xff\x00")
        for size in range(500):
            await socket.send_json(["resize", {"width": size * 1_000, "height": size}])
        await here.type("f")
        await here.shows("Type words")


async def test_w06_a_giant_frame_ends_its_own_window_only(command: list[str]) -> None:
    async with served(command) as server, guest(server) as client, window(client, server) as other:
        await other.shows("needle")
        async with window(client, server) as here:
            await here.socket.send_str("x" * 1_000_000)
            await here.ends()
        await eventually(lambda: server.windows == 1)
        await other.type("f")
        await other.shows("Type words")


async def test_a_closed_window_ends_its_process(command: list[str]) -> None:
    async with served(command) as server, guest(server) as client:
        async with window(client, server) as here:
            await here.shows("needle")
            process = next(iter(server._windows.values()))
            assert process is not None
            assert process._process is not None
            pid = process._process.pid
        await eventually(lambda: server.windows == 0)
        assert is_gone(pid)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_all_processes_are_gone_soon_after_the_server(
    command: list[str], ending: signal.Signals, tmp_path: Path
) -> None:
    """Also of a server that had no moment to say so, and of apps that would not listen."""
    serve = [
        sys.executable,
        "-m",
        "inspector.cli",
        "serve",
        f"--db={tmp_path / 'b.db'}",
        command[-1],
    ]
    process = await asyncio.create_subprocess_exec(
        *serve, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, cwd=REPOSITORY
    )
    assert process.stdout is not None
    url = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode().strip()
    root = url.partition("/?")[0]
    try:
        async with stranger() as client:
            async with client.get(url) as response:
                assert response.status == 200
            socket = await client.ws_connect(f"{root}/ws", headers={"Origin": root})
            await Terminal(socket).shows("needle")
            children = children_of(process.pid)
            assert len(children) == 1
            process.send_signal(ending)
            began = time.monotonic()
            await asyncio.wait_for(process.wait(), PATIENCE)
            await eventually(lambda: all(map(is_gone, children)))
            print(f"gone after {time.monotonic() - began:.2f} s")
            await socket.close()
    finally:
        if process.returncode is None:
            process.kill()


def children_of(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["--db", "{log}"], "store"),
        (["--db", "{store}", "--set", "window=abc"], "window"),
        (["--db", "{store}", "--set", "nokey=1"], "nokey"),
    ],
)
def test_what_no_window_could_open_is_refused_at_once(
    ullage: Ullage, tmp_path: Path, asked: list[str], says: str
) -> None:
    log = Log(tmp_path, "served")
    log.user("no store")
    places = {"log": log.path, "store": tmp_path / "store.db"}
    done = ullage("serve", *[word.format(**places) for word in asked])
    assert done.code == 1
    assert done.out == ""
    assert says in done.err


def test_a_window_inherits_no_secrets() -> None:
    environment = {
        "HOME": "/home/sam",
        "PATH": "/bin",
        "LC_ALL": "C.UTF-8",
        "ULLAGE_DB": "x",
        "CODEX_HOME": "/c",
        "ANTHROPIC_API_KEY": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "SSH_AUTH_SOCK": "/tmp/agent",
    }
    kept = reduced(environment, frozenset({"CODEX_HOME"}))
    assert set(kept) == {"HOME", "PATH", "LC_ALL", "ULLAGE_DB", "CODEX_HOME"}
