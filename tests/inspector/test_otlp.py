"""Decision points as spans: each sent once, as the conventions have it, to nobody but the named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.otlp import CollectorError, address
from inspector.usecases import UseCases
from storage.sent import SentError, sent_to
from tests.inspector.collector import Collector, attributes, collecting
from tests.inspector.conftest import Ullage
from tests.inspector.logs import NAME, Log, usecases

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="install ullage[otel]")

KEY = "sk-" + "ant-" + "FAKEFAKEFAKEFAKEFAKE0000"


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Two turns that ended, the second one badly, and one that runs."""
    log = Log(tmp_path)
    log.user("make it work")
    log.step(1, size=3)
    log.assistant({"type": "text", "text": "It works."})
    log.user(f"use the key {KEY}")
    log.assistant({"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "pytest"}})
    failed = {"type": "tool_result", "tool_use_id": "t9", "is_error": True,
              "content": "Exit code 1\n1 failed in 0.1s"}  # fmt: skip
    log._write("user", {"role": "user", "content": [failed]})
    log.assistant({"type": "text", "text": "It failed."})
    log.user("go on")
    return log


@pytest.fixture
def cases(tmp_path: Path, log: Log) -> Iterator[UseCases]:
    opened = usecases(tmp_path / "own.db", tmp_path)
    opened.ingest([log.path])
    yield opened
    opened.close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


def test_a_turn_is_a_span_by_the_conventions(cases: UseCases, collector: Collector) -> None:
    report = cases.export_spans(collector.url)
    points = {row.point.id: row.point for row in cases.decisions(NAME).rows}
    ended = [point for point in points.values() if not point.open]
    assert report.spans == len(ended) == len(collector.spans)
    assert report.running == len(points) - len(ended) == 1
    assert collector.paths == ["/v1/traces"]
    span = next(s for s in collector.spans if attributes(s)["ullage.stage.title"] == "make it work")
    point = points[attributes(span)["ullage.decision.id"]]
    assert span.name == "invoke_agent claude"
    assert span.span_id == bytes.fromhex(point.id[:16])
    assert point.started_at is not None
    assert point.ended_at is not None
    assert span.start_time_unix_nano == point.started_at * 1e9
    assert span.end_time_unix_nano == point.ended_at * 1e9
    told = attributes(span)
    assert told["gen_ai.operation.name"] == "invoke_agent"
    assert told["gen_ai.provider.name"] == "anthropic"
    assert told["gen_ai.agent.name"] == "claude"
    assert told["gen_ai.conversation.id"] == NAME
    assert told["gen_ai.request.model"] == "claude-sonnet-4-5"
    assert told["ullage.event.first"] == point.first_seq


def test_what_failed_is_an_error_in_the_same_trace(cases: UseCases, collector: Collector) -> None:
    cases.export_spans(collector.url)
    turns = [s for s in collector.spans if attributes(s)["ullage.stage.kind"] == "turn"]
    assert len({span.trace_id for span in collector.spans}) == 1
    failed = next(s for s in turns if attributes(s)["ullage.outcome"] == "failure")
    assert failed.status.code == 2  # STATUS_CODE_ERROR
    assert attributes(failed)["error.type"] == "failure"
    assert all(not span.parent_span_id for span in turns)


def test_a_stage_within_a_turn_is_a_child_of_its_span(
    ullage: Ullage, store: Path, tmp_path: Path, collector: Collector
) -> None:
    (tmp_path / "own.db").write_bytes(store.read_bytes())
    assert ullage("export", "--otlp", collector.url, db=tmp_path / "own.db").code == 0
    turns = {s.span_id for s in collector.spans if attributes(s)["ullage.stage.kind"] == "turn"}
    within = [s for s in collector.spans if attributes(s)["ullage.stage.kind"] != "turn"]
    assert within
    assert {span.parent_span_id for span in within} <= turns


def test_a_second_export_sends_only_what_ended_since(
    cases: UseCases, log: Log, collector: Collector
) -> None:
    first = cases.export_spans(collector.url)
    assert cases.export_spans(collector.url).spans == 0
    log.assistant({"type": "text", "text": "Went on."})
    log.user("once more")
    cases.ingest([log.path])
    assert cases.export_spans(collector.url).spans == 1
    ids = [span.span_id for span in collector.spans]
    assert len(ids) == len(set(ids)) == first.spans + 1


def test_what_was_not_taken_is_sent_again_under_the_same_ids(
    cases: UseCases, collector: Collector
) -> None:
    collector.statuses = [400]
    with pytest.raises(CollectorError, match="answered 400"):
        cases.export_spans(collector.url)
    assert collector.spans == []
    sent = cases.export_spans(collector.url).spans
    assert sent == len(collector.spans) > 0


def test_a_redirect_is_not_followed_and_no_success(cases: UseCases, collector: Collector) -> None:
    with collecting() as elsewhere:
        collector.statuses, collector.location = [307], f"{elsewhere.url}/v1/traces"
        with pytest.raises(CollectorError, match="answered 307"):
            cases.export_spans(collector.url)
        assert elsewhere.paths == []


def test_spans_that_a_collector_rejects_were_not_taken(
    cases: UseCases, collector: Collector
) -> None:
    collector.rejected = 1
    with pytest.raises(CollectorError, match="rejected 1 of the spans"):
        cases.export_spans(collector.url)
    collector.rejected = 0
    assert cases.export_spans(collector.url).spans > 0


def test_another_collector_gets_all_of_it(cases: UseCases, collector: Collector) -> None:
    first = cases.export_spans(collector.url).spans
    with collecting() as other:
        assert cases.export_spans(other.url).spans == first
        assert sorted(s.span_id for s in other.spans) == sorted(s.span_id for s in collector.spans)


def test_secrets_are_masked_unless_told_otherwise(cases: UseCases, collector: Collector) -> None:
    assert cases.export_spans(collector.url).masked > 0
    assert KEY not in repr(collector.spans)
    with collecting() as other:
        cases.export_spans(other.url, masked=False)
        assert KEY in repr(other.spans)


def test_a_line_that_a_kill_cut_short_is_no_id(tmp_path: Path) -> None:
    store = str(tmp_path / "own.db")
    with sent_to(store, "here") as sent:
        sent.note(["a" * 32, "b" * 32])
    path = next((tmp_path / "sent").iterdir())
    path.write_bytes(path.read_bytes() + b"c" * 20)
    with sent_to(store, "here") as sent:
        assert "b" * 32 in sent
        assert "c" * 20 not in sent
        sent.note(["d" * 32])
        with pytest.raises(SentError, match="is running"), sent_to(store, "here"):
            pass
    assert path.read_text().split() == ["a" * 32, "b" * 32, "d" * 32]


def test_an_address_is_checked_before_anything_is_sent() -> None:
    assert address("http://127.0.0.1:4318") == "http://127.0.0.1:4318/v1/traces"
    assert address("https://c.example:4318/") == "https://c.example:4318/v1/traces"
    assert address("http://c.example/otlp/v1/traces") == "http://c.example/otlp/v1/traces"
    for wrong in ("collector:4318", "ftp://c.example", "http://", "", "http://[::1", "http://h:x"):
        with pytest.raises(CollectorError, match="is no address"):
            address(wrong)
    with pytest.raises(CollectorError, match="OTEL_EXPORTER_OTLP_HEADERS"):
        address("https://me:secret@c.example")


def test_where_nobody_listens_one_line_says_so(ullage: Ullage, store: Path, tmp_path: Path) -> None:
    (tmp_path / "own.db").write_bytes(store.read_bytes())
    outcome = ullage("export", "--otlp", "http://127.0.0.1:9", db=tmp_path / "own.db")
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    assert "cannot be reached" in outcome.err
