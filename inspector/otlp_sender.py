"""Spans on their way to a collector, by OpenTelemetry's own exporter. Only imported where it is
installed.

The exporter takes every answer below 400 for a success, and does not read what a collector says
that it left out. Here a redirect is none (nothing is sent on to another host), and spans count as
taken only if all of them were.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace.export import SpanExportResult

Refusal = Callable[[str], Exception]


class _Session(requests.Session):
    """Notes how the newest request was answered."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.why: str | None = None
        self.trust_env = not is_loopback(url)  # no proxy between this machine and itself

    def request(self, *arguments: Any, **named: Any) -> requests.Response:
        self.why = None
        try:
            answer = super().request(*arguments, **named | {"allow_redirects": False})
        except requests.RequestException as error:
            self.why = f"it cannot be reached ({type(error).__name__})"
            raise
        if not 200 <= answer.status_code < 300:
            self.why = f"it answered {answer.status_code}"
        elif left_out := rejected(answer.content):
            self.why = f"it rejected {left_out} of the spans"
        return answer


def sender(url: str, seconds: float, refusal: Refusal) -> Callable[[Sequence[Any]], None]:
    """A function that sends spans to this URL within so many seconds, or raises a refusal."""
    # What the exporter would print is in the refusal.
    for name in ("opentelemetry.exporter.otlp.proto.http.trace_exporter", "urllib3.connectionpool"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    session = _Session(url)
    exporter = OTLPSpanExporter(endpoint=url, timeout=seconds, session=session)

    def send(spans: Sequence[Any]) -> None:
        result = exporter.export(spans)
        if result is not SpanExportResult.SUCCESS or session.why is not None:
            why = session.why or "the spans could not be sent"
            raise refusal(
                f"The collector at {url} did not take the spans: {why}; what it took before is "
                "noted, so run the same command again."
            )

    return send


def rejected(answer: bytes) -> int:
    """How many spans a collector says that it left out."""
    try:
        found = ExportTraceServiceResponse.FromString(answer)
    except Exception:  # noqa: BLE001 - an answer in another form says nothing
        return 0
    return int(found.partial_success.rejected_spans)


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine itself."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
