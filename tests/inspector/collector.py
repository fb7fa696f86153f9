"""A collector of OpenTelemetry spans on the loopback, as far as an exporter can tell."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Collector:
    """What it was sent, and how it answers."""

    spans: list[Any] = field(default_factory=list)
    """Of all requests that it took, in order."""
    paths: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    """Of the next answers; 200 when there are no more."""
    location: str = ""
    rejected: int = 0
    url: str = ""

    def answer(self, path: str, body: bytes) -> tuple[int, bytes]:
        from opentelemetry.proto.collector.trace.v1 import (  # noqa: PLC0415
            trace_service_pb2 as service,
        )

        self.paths.append(path)
        status = self.statuses.pop(0) if self.statuses else 200
        answer = service.ExportTraceServiceResponse()
        if status == 200:
            answer.partial_success.rejected_spans = self.rejected
            if not self.rejected:
                found = service.ExportTraceServiceRequest.FromString(body)
                self.spans += [
                    span
                    for resource in found.resource_spans
                    for scope in resource.scope_spans
                    for span in scope.spans
                ]
        return status, answer.SerializeToString()


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that listens until the block ends."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = collector.answer(self.path, body)
            self.send_response(status)
            if collector.location:
                self.send_header("Location", collector.location)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def attributes(span: Any) -> dict[str, Any]:
    """The attributes of a span as plain values."""
    return {item.key: _value(item.value) for item in span.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind)
