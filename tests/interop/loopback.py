"""A server on the loopback that an agent under test asks, and that keeps what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server(ThreadingHTTPServer):
    """``asked``: the bodies of the requests that count, in order."""

    daemon_threads = True
    asked: list[dict[str, Any]]

    def handle_error(self, *_: object) -> None:
        """An agent that ends cuts its connections: nothing to tell."""


class Handler(BaseHTTPRequestHandler):
    """Quiet, and with what every answer needs."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def send(self, status: int, kind: str, body: bytes) -> None:
        """A whole answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(handler: type[Handler]) -> Iterator[Server]:
    """Until the end of the block, on a port that the system picks."""
    server = Server(("127.0.0.1", 0), handler)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="provider")
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
