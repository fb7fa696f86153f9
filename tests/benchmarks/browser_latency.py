"""From a key sent to the first frame received, over the websocket of ``ullage serve``.

    python -m tests.benchmarks.browser_latency [--keys 120] [LOG]

Opens a window 160 cells wide on a log (a made one of 200 steps without one), goes into its session,
and moves the cursor. Baseline in the same run: a ping that the server answers by itself, without
the app. Also prints how long all processes take to be gone after the server was told to stop.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType

from inspector.cli_serve import reduced
from inspector.web.server import WebServer
from tests.conftest import REPOSITORY
from tests.inspector.logs import Log
from tests.inspector.web.terminal import Terminal

AIM_MS = 60
QUIET = 0.4


async def drain(socket: ClientWebSocketResponse) -> None:
    """Until nothing has come for a moment."""
    while True:
        try:
            await asyncio.wait_for(socket.receive(), QUIET)
        except TimeoutError:
            return


async def answered(socket: ClientWebSocketResponse, frame: list[str], kind: WSMsgType) -> float:
    """Milliseconds until a frame of this kind comes back."""
    begun = time.perf_counter()
    await socket.send_json(frame)
    while (await asyncio.wait_for(socket.receive(), 30)).type is not kind:
        pass
    return 1_000 * (time.perf_counter() - begun)


async def measure(log: Path, db: Path, keys: int) -> dict[str, float]:
    """Moves down and up, each key after the frames of the one before."""
    command = [sys.executable, "-m", "inspector.cli", "open", f"--db={db}", "--", str(log)]
    environment = {**reduced(os.environ, frozenset()), "PYTHONPATH": str(REPOSITORY)}
    server = WebServer(command, environment)
    await server.start()
    root = f"http://127.0.0.1:{server.port}"
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as client:
        await client.get(server.url)
        url, headers = f"{root}/ws?width=160&height=48", {"Origin": root}
        async with client.ws_connect(url, headers=headers) as socket:
            window = Terminal(socket, 160, 48)
            await window.shows(" %")
            await window.type("\r")
            await window.shows("surface")
            await asyncio.sleep(2)
            await drain(socket)
            moved, pinged = [], []
            for number in range(keys):
                key = "j" if number // 10 % 2 else "k"
                moved.append(await answered(socket, ["stdin", key], WSMsgType.BINARY))
                await drain(socket)
                pinged.append(await answered(socket, ["ping", str(number)], WSMsgType.TEXT))
            begun = time.perf_counter()
            await server.stop()
            stopped = time.perf_counter() - begun
    moved.sort()
    pinged.sort()
    return {
        "keys": keys,
        "median_ms": statistics.median(moved),
        "p95_ms": moved[int(0.95 * len(moved))],
        "ping_median_ms": statistics.median(pinged),
        "stopped_s": stopped,
        "aim_ms": AIM_MS,
    }


def main() -> None:
    """Prints a table and one JSON line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("log", nargs="?", type=Path)
    parser.add_argument("--keys", type=int, default=120)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = given.log
        if log is None:
            made = Log(Path(folder), "made")
            made.user("Move through this.")
            for step in range(1, 200):
                made.step(step)
            log = Path(folder)
        found = asyncio.run(measure(log, Path(folder) / "bench.db", given.keys))
    print(f"key → frame   median {found['median_ms']:.1f} ms, p95 {found['p95_ms']:.1f} ms")
    print(f"ping → pong   median {found['ping_median_ms']:.1f} ms")
    print(f"all gone      {found['stopped_s']:.2f} s after stop")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
