"""The app in a real browser: opened by its address, typed into, a node pinned, a region compacted.

It draws on a canvas, so what a person sees is read from a second channel: what the page's own
websocket receives, drawn by a terminal of the test's. Runs where playwright and a Chromium are
installed (``ULLAGE_CHROMIUM``, else ``chromium`` on the PATH), and is skipped elsewhere.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pyte
import pytest

from storage.sources.registry import registry
from storage.store import Store
from tests.conftest import REPOSITORY
from tests.inspector.logs import Log

playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("ULLAGE_CHROMIUM") or shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: set ULLAGE_CHROMIUM"),
]
PATIENCE = 60
QUIET = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SIZE = {"width": 1280, "height": 800}


class Page:
    """A page of the app, and what its websocket got."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.screen = pyte.Screen(200, 60)
        self._stream = pyte.ByteStream(self.screen)
        self.refused: list[str] = []
        page.on("websocket", self._listen)
        page.on("console", self._hear)

    def _listen(self, socket: Any) -> None:
        self.screen.reset()
        socket.on("framereceived", self._take)

    def _take(self, payload: str | bytes) -> None:
        if isinstance(payload, bytes):
            self._stream.feed(payload)

    def _hear(self, message: Any) -> None:
        if message.type == "error":
            self.refused.append(message.text)

    async def shows(self, text: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not any(text in row for row in self.screen.display):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError("\n".join(self.screen.display)) from None

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.page.keyboard.press(key)


@asynccontextmanager
async def browsing(url: str) -> AsyncIterator[tuple[Page, Any]]:
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        try:
            context = await browser.new_context(viewport=SIZE)
            yield Page(await context.new_page()), context
        finally:
            await browser.close()


@asynccontextmanager
async def serving(logs: Path, db: Path) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "inspector.cli", "serve", f"--db={db}", str(logs),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, cwd=REPOSITORY,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
        yield line.decode().strip()
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), PATIENCE)


async def test_it_opens_types_pins_and_compacts(tmp_path: Path) -> None:
    logs, db = tmp_path / "logs", tmp_path / "store.db"
    logs.mkdir()
    log = Log(logs, "served")
    log.user("Why is the needle in the haystack?")
    for step in range(1, 8):
        log.step(step, size=400)
    async with serving(logs, db) as url, browsing(url) as (page, _):
        await page.page.goto(url)
        assert page.page.url == url.partition("?")[0]
        await page.shows("needle")
        await page.press("Enter")
        await page.shows("Compact")
        await page.press("Home", "p")
        await page.shows("Pinned")
        await page.press("j", "Space", "j", "j", "j", "c")
        await page.shows("Commit")
        await page.press("y")
        await page.shows("not yet")
        await page.press("y")
        await page.shows("Committed")
        picture = await page.page.screenshot()
        assert len(picture) > 10_000
        assert not page.refused, page.refused
    store = Store(db, registry())
    try:
        events = store.operations(store.find("served"))
        assert [row.event.type for row in events][:2] == ["pin/add", "compact/start"]
    finally:
        store.close()


async def test_another_sites_page_gets_nothing(tmp_path: Path) -> None:
    """A page of another origin, in the browser that holds the cookie."""
    logs = tmp_path / "logs"
    logs.mkdir()
    Log(logs, "served").user("Why is the needle in the haystack?")
    async with serving(logs, tmp_path / "store.db") as url, browsing(url) as (page, context):
        await page.page.goto(url)
        await page.shows("needle")
        root = url.partition("/?")[0]
        evil = await context.new_page()
        body = base64.b64encode(b"<p>hello</p>").decode()
        await evil.goto(f"data:text/html;base64,{body}")
        opened = await evil.evaluate(
            """root => new Promise(done => {
                 const socket = new WebSocket(root.replace("http", "ws") + "/ws");
                 socket.onopen = () => done("open"); socket.onerror = () => done("refused");
               })""",
            root,
        )
        assert opened == "refused"
        fetched = await evil.evaluate(
            'root => fetch(root + "/static/page.js").then(() => "read", () => "refused")', root
        )
        assert fetched == "refused"
        framed = await evil.evaluate(
            """root => new Promise(done => {
                 const frame = document.createElement("iframe");
                 frame.onload = () => done(String(frame.contentDocument));
                 frame.src = root; document.body.append(frame);
               })""",
            root,
        )
        assert framed == "null"
