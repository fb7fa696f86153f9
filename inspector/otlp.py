"""Decision points as OpenTelemetry spans, sent to a collector over HTTP, each once.

Ids follow from the decision points: the same stage has the same span id from every machine that
reads the log, all stages of a session the same trace id. Only stages that have ended are sent, for
a span is never changed; a stage inside a turn is a child of the span of the turn.

Attributes are those of the semantic conventions for generative AI (*GenAI agent spans*, in
development as of 1.41) where they have one, else ``ullage.*``. A turn is ``invoke_agent``; for the
other kinds of stages the operation is their own name, which the conventions allow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from compress.decisions.values import DecisionPoint
from compress.errors import CompressError
from inspector.decision_parquet import MissingExtraError
from inspector.decisions import current_points
from inspector.lake_reports import SpansReport
from inspector.lake_texts import readable
from inspector.masking import Masker
from inspector.settings import Settings
from storage import lake
from storage.catalog import SessionRecord
from storage.ingest import Progress
from storage.sent import Sent, sent_to
from storage.store import Store

TRACES = "/v1/traces"
"""Where a collector takes spans, behind its address (OTLP/HTTP)."""
_BATCH = 200
"""Spans in one request."""
_SECONDS = 10.0
"""How long one request may take, retries included."""
_PROVIDERS = {"claude": "anthropic", "codex": "openai", "gemini": "gcp.gemini"}
"""Agents of one provider; of others the log does not always tell."""


class CollectorError(CompressError):
    """The collector cannot be asked, or took nothing."""

    code = "collector"


def export_spans(
    store: Store,
    endpoint: str,
    settings: Settings,
    *,
    now: float,
    masked: bool = True,
    progress: Progress | None = None,
) -> SpansReport:
    """Sends what this collector was not sent yet.

    Raises :class:`CollectorError`, :class:`storage.sent.SentError` and
    :class:`inspector.decision_parquet.MissingExtraError`. What was taken until then is noted.
    """
    url = address(endpoint)
    send = _sender(url)
    masker = Masker() if masked else None
    figures = {"sessions": 0, "spans": 0, "undated": 0, "running": 0}
    with sent_to(store.path, url) as sent:
        sessions = lake.sessions(store)
        for done, found in enumerate(sessions):
            if progress is not None:
                progress(done, len(sessions), Path(found.session.path))
            points = current_points(store, found.session, settings, now=now)
            spans = _new_spans(found.session, points, sent, masker, figures)
            before = figures["spans"]
            while batch := list(islice(spans, _BATCH)):
                send([span for _, span in batch])
                sent.note(identifier for identifier, _ in batch)
                figures["spans"] += len(batch)
            figures["sessions"] += figures["spans"] > before
        if progress is not None and sessions:
            progress(len(sessions), len(sessions), Path(sessions[-1].session.path))
    return SpansReport(endpoint=url, masked=masker.masked if masker else 0, **figures)


def address(endpoint: str) -> str:
    """The URL that takes the spans. Raises :class:`CollectorError`."""
    try:
        parts = urlsplit(endpoint)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, is_usable = SplitResult("", "", "", "", ""), False
    if not is_usable:
        raise CollectorError(
            f"{endpoint} is no address of a collector; give one like http://127.0.0.1:4318."
        )
    if parts.username is not None or parts.password is not None:
        raise CollectorError(
            "The address holds a password; give credentials in OTEL_EXPORTER_OTLP_HEADERS instead."
        )
    path = parts.path if parts.path.strip("/") else TRACES
    return parts._replace(path=path, fragment="").geturl()


def trace_id(session: SessionRecord) -> int:
    """128 bits that all spans of a session share."""
    text = f"ullage trace {session.agent}\0{session.native_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:16], "big") or 1


def span_id(point: DecisionPoint) -> int:
    """64 bits of the decision point's own id."""
    return int(point.id[:16], 16) or 1


def _new_spans(
    session: SessionRecord,
    points: Sequence[DecisionPoint],
    sent: Sent,
    masker: Masker | None,
    figures: dict[str, int],
) -> Iterator[tuple[str, Any]]:
    turns = [point for point in points if point.stage.kind == "turn"]
    for point in points:
        if point.open:
            figures["running"] += 1
        elif point.started_at is None and point.ended_at is None:
            figures["undated"] += 1
        elif point.id not in sent:
            shown = point if masker is None else masker.point(point)
            yield point.id, _span(session, shown, _turn_of(point, turns))


def _turn_of(point: DecisionPoint, turns: Sequence[DecisionPoint]) -> DecisionPoint | None:
    if point.stage.kind == "turn":
        return None
    first = int(point.first_seq)
    around = (t for t in turns if int(t.first_seq) <= first <= int(t.last_seq))
    return next(around, None)


def _span(session: SessionRecord, point: DecisionPoint, turn: DecisionPoint | None) -> Any:
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - only who exports has it
    from opentelemetry.sdk.trace import ReadableSpan  # noqa: PLC0415
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope  # noqa: PLC0415
    from opentelemetry.trace import SpanContext, SpanKind, TraceFlags  # noqa: PLC0415
    from opentelemetry.trace.status import Status, StatusCode  # noqa: PLC0415

    def context(of: DecisionPoint) -> Any:
        flags = TraceFlags(TraceFlags.SAMPLED)
        return SpanContext(trace_id(session), span_id(of), is_remote=False, trace_flags=flags)

    began = point.started_at if point.started_at is not None else point.ended_at
    ended = point.ended_at if point.ended_at is not None else began
    assert began is not None
    assert ended is not None
    codes = {"success": StatusCode.OK, "retry": StatusCode.OK, "failure": StatusCode.ERROR}
    return ReadableSpan(
        name=f"{_operation(point)} {session.agent}",
        context=context(point),
        parent=None if turn is None else context(turn),
        resource=Resource({"service.name": "ullage"}),
        attributes=attributes(session, point),
        kind=SpanKind.INTERNAL,
        instrumentation_scope=InstrumentationScope("ullage"),
        status=Status(codes.get(point.outcome, StatusCode.UNSET)),
        start_time=round(began * 1e6) * 1_000,
        end_time=round(max(began, ended) * 1e6) * 1_000,
    )


def _operation(point: DecisionPoint) -> str:
    kind = point.stage.kind
    return "invoke_agent" if kind == "turn" else kind


def attributes(session: SessionRecord, point: DecisionPoint) -> dict[str, Any]:
    """What a span says of its decision point; empty fields are left out."""
    found: dict[str, Any] = {
        "gen_ai.operation.name": _operation(point),
        "gen_ai.provider.name": _PROVIDERS.get(session.agent, session.agent),
        "gen_ai.agent.name": session.agent,
        "gen_ai.agent.version": session.agent_version,
        "gen_ai.conversation.id": session.native_id,
        "gen_ai.request.model": session.model,
        "error.type": point.outcome if point.outcome in ("failure", "aborted") else None,
        "ullage.decision.id": point.id,
        "ullage.session": session.name,
        "ullage.session.parent": session.parent_native_id,
        "ullage.project": point.project,
        "ullage.stage.kind": point.stage.kind,
        "ullage.stage.index": point.stage.index,
        "ullage.stage.title": point.stage.title,
        "ullage.outcome": point.outcome,
        "ullage.summary": point.summary,
        "ullage.rationale": point.rationale,
        "ullage.steering": [f"{item.kind}: {item.text}" for item in point.steering],
        "ullage.evidence": [f"{item.kind}: {item.text}" for item in point.evidence],
        "ullage.files": [f"{file.action} {file.path}" for file in point.files],
        "ullage.stage.tokens": point.stage_tokens,
        "ullage.event.first": int(point.first_seq),
        "ullage.event.last": int(point.last_seq),
    }
    return {name: _plain(value) for name, value in found.items() if value not in (None, "", [])}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [readable(item) for item in value]
    return readable(value) if isinstance(value, str) else value


def _sender(url: str) -> Any:
    """A function that has the collector take spans, or raises."""
    try:
        from inspector.otlp_sender import sender  # noqa: PLC0415 - needs what is not always there
    except ImportError as error:
        raise MissingExtraError(
            "Spans need OpenTelemetry's exporter, which is not installed: "
            "pip install 'ullage[otel]' brings it."
        ) from error
    return sender(url, _SECONDS, CollectorError)
