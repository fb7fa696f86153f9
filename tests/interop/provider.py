"""A provider on the loopback that answers every request with one word and keeps what it was sent.

Speaks as much of OpenAI's Responses API, and of Gemini's, as an agent needs to finish a turn.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import zstandard

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
    running = Provider()
    server = _Server(("127.0.0.1", 0), _Handler)
    server.requests = running.requests
    running.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="provider")
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    requests: list[dict[str, Any]]

    def handle_error(self, *_: object) -> None:
        """An agent that ends cuts its connections: nothing to tell."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._body()
        # A web socket is asked for first: the agent is told to do without.
        status = 426 if "Upgrade" in self.headers else 404
        self._send(status, "application/json", b'{"error": {"message": "not here"}}')

    def do_POST(self) -> None:
        body = self._body()
        asked = self.path.partition("?")[0]
        if asked.endswith(":generateContent"):
            # Gemini CLI's compression; it asks twice.
            self._send(200, "application/json", json.dumps(_gemini_answer(SNAPSHOT)).encode())
            return
        if not asked.endswith(("/responses", ":streamGenerateContent")):
            self._send(200, "application/json", b"{}")
            return
        requests = self.server.requests
        requests.append(json.loads(body))
        stream = _stream(len(requests)) if asked.endswith("/responses") else _gemini_stream()
        self._send(200, "text/event-stream", stream)

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

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


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
