"""A window of the app as a person sees it, at the end of its websocket."""

from __future__ import annotations

import asyncio

import pyte
from aiohttp import ClientWebSocketResponse, WSMsgType

PATIENCE = 60
"""Seconds that a busy machine may take for what is awaited."""


class Terminal:
    """What a person would see in a window."""

    def __init__(self, socket: ClientWebSocketResponse, columns: int = 100, rows: int = 30) -> None:
        self.socket = socket
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)

    async def type(self, keys: str) -> None:
        await self.socket.send_json(["stdin", keys])

    async def shows(self, text: str) -> None:
        """Returns once this stands in the window."""
        async with asyncio.timeout(PATIENCE):
            while not any(text in row for row in self.screen.display):
                message = await self.socket.receive()
                assert message.type is WSMsgType.BINARY, message
                self._stream.feed(message.data)

    async def ends(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while (await self.socket.receive()).type is WSMsgType.BINARY:
                pass
