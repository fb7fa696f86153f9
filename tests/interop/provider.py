"""A provider on the loopback that answers every request with one word and keeps what it was sent.

Speaks as much of OpenAI's Responses API, and of Gemini's, as an agent needs to finish a turn.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import zstandard

from tests.interop.loopback import Handler, serving

ANSWER = "Understood."
SNAPSHOT = "<state_snapshot>All is well.</state_snapshot>"
"""The summary that Gemini CLI is given."""


@dataclass
class Provider:
    """Running. ``requests``: the bodies of all requests for an answer, in order."""

    port: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def provider() -> Iterator[Provider]:
    """Serves until the end of the block, on a port that the system picks."""
    with serving(_Handler) as server:
        yield Provider(server.server_address[1], server.asked)


class _Handler(Handler):
    def do_GET(self) -> None:  # noqa: N802 - as http.server calls it
        self._body()
        # A web socket is asked for first: the agent is told to do without.
        status = 426 if "Upgrade" in self.headers else 404
        self.send(status, "application/json", b'{"error": {"message": "not here"}}')

    def do_POST(self) -> None:  # noqa: N802 - as http.server calls it
        body = self._body()
        asked = self.path.partition("?")[0]
        if asked.endswith(":generateContent"):
            # Gemini CLI's compression; it asks twice.
            self.send(200, "application/json", json.dumps(_gemini_answer(SNAPSHOT)).encode())
            return
        if not asked.endswith(("/responses", ":streamGenerateContent")):
            self.send(200, "application/json", b"{}")
            return
        requests = self.server.asked
        requests.append(json.loads(body))
        stream = _stream(len(requests)) if asked.endswith("/responses") else _gemini_stream()
        self.send(200, "text/event-stream", stream)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            data = b"".join(pieces)
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        packed = self.headers.get("Content-Encoding", "")
        if packed == "zstd":
            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
        return gzip.decompress(data) if packed == "gzip" else data


def _stream(number: int) -> bytes:
    """The server-sent events of one answer."""
    message = {
        "type": "message",
        "id": f"msg_{number}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
    }
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 102,
    }
    name = f"resp_{number}"
    done = {"id": name, "status": "completed", "output": [message], "usage": usage}
    events = [
        {"type": "response.created", "response": {"id": name}},
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {"type": "response.completed", "response": done},
    ]
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def _gemini_stream() -> bytes:
    """The one event of an answer of Gemini's."""
    return f"data: {json.dumps(_gemini_answer(ANSWER))}\r\n\r\n".encode()


def _gemini_answer(text: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 100,
            "candidatesTokenCount": 2,
            "totalTokenCount": 102,
        },
    }
