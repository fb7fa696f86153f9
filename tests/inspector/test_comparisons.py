"""What would have been kept where the agent compacted, beside what it kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compress.errors import CompressError
from inspector.compactions import RequestError
from inspector.reports import CompactionReport
from inspector.usecases import UseCases
from tests.inspector.logs import NAME, Log, usecases

SUMMARY = "We looked at files; see /p/f3.py and the helper parse_header. " * 40
RULE = "Never push to main before the reviewer of ticket QX-77 agrees."


@pytest.fixture
def log(tmp_path: Path) -> Log:
    log = Log(tmp_path)
    log.user(f"Fix the parser. {RULE}")
    for number in range(12):
        log.step(number)
    log.compact(SUMMARY)
    log.user("Go on.")
    log.step(50)
    return log


@pytest.fixture
def cases(log: Log, tmp_path: Path) -> Iterator[UseCases]:
    made = usecases(":memory:", tmp_path)
    made.ingest([log.path])
    yield made
    made.close()


def test_both_sides_speak_of_the_same_moment(cases: UseCases) -> None:
    report = cases.compare(NAME, 1)
    theirs = report.theirs
    assert theirs is not None
    preview = cases.preview(NAME, before_compaction=1, budget="own").report
    assert (
        report.model_copy(
            update={
                "theirs": None,
                "kept_only_here": preview.kept_only_here,
                "kept_only_there": preview.kept_only_there,
            }
        )
        == preview
    )
    assert theirs.tokens_before == report.tokens_before
    assert {node.seq for node in report.nodes} >= set(theirs.shadowed_seqs)


def test_the_agents_side_is_what_its_log_says(cases: UseCases) -> None:
    (operation,) = cases.agent_compactions(NAME)
    theirs = cases.compare(NAME, 1).theirs
    assert theirs is not None
    assert theirs.operation == operation
    assert (theirs.trigger, theirs.stated_before) == ("auto", 150_000)
    assert theirs.summary is not None
    assert theirs.summary.text.strip() == SUMMARY.strip()


def test_our_summary_has_no_more_tokens_than_the_agents(cases: UseCases) -> None:
    report = cases.compare(NAME, 1)
    assert report.theirs is not None
    assert report.summary is not None
    assert report.theirs.summary is not None
    assert report.summary.tokens <= report.theirs.summary.tokens
    smaller = cases.compare(NAME, 1, budget=200).summary
    assert smaller is not None
    assert smaller.tokens <= 200


def test_what_one_side_kept_and_the_other_lost_is_told(cases: UseCases) -> None:
    report = cases.compare(NAME, 1)
    assert report.theirs is not None
    assert [text for text in report.theirs.lost.instructions if RULE in text]
    assert [text for text in report.kept_only_here.instructions if RULE in text]
    assert not [text for text in report.lost.instructions if RULE in text]
    assert "/p/f3.py" not in report.theirs.lost.identifiers
    assert "/p/f4.py" in report.theirs.lost.identifiers


def test_the_audit_judges_the_agents_own_by_the_same_measure(cases: UseCases) -> None:
    theirs = cases.compare(NAME, 1).theirs
    assert theirs is not None
    (row,) = (row for row in cases.audit(NAME) if row.kind == "compact")
    assert (row.operation, row.compaction, row.trigger) == (theirs.operation, 1, "auto")
    assert row.lost == theirs.lost
    assert row.stated_before == 150_000
    assert theirs.summary is not None
    assert row.summary_tokens == theirs.summary.tokens
    assert row.cache_invalidated_tokens == row.tokens_after


def test_ours_and_the_agents_rows_hold_the_same_facts(cases: UseCases) -> None:
    nodes = cases.surface(NAME).nodes
    cases.commit(cases.preview(NAME, start=nodes[1].seq, end=nodes[-1].seq))
    ours, theirs = (
        next(row for row in cases.audit(NAME) if row.origin == by) for by in ("user", "agent")
    )
    for row in (ours, theirs):
        assert row.summary_tokens
        assert row.cache_invalidated_tokens
        assert row.tokens_before is not None
        assert row.tokens_after is not None
        assert row.tokens_after < row.tokens_before
        assert cases.audit_diff(NAME, row.operation)


def test_the_raw_of_an_operation_is_what_was_written(cases: UseCases, log: Log) -> None:
    nodes = cases.surface(NAME).nodes
    done = cases.commit(cases.preview(NAME, start=nodes[1].seq, end=nodes[-1].seq)).operation
    assert done is not None
    head, *lines = cases.audit_raw(NAME, done).split("\n")
    assert head == "o1, o2, o3, o4 of the user's strand"
    assert [json.loads(text)["type"] for text in lines] == [
        "compact/start", "compact/summary", "user/message", "compact/end",
    ]  # fmt: skip
    (theirs,) = cases.agent_compactions(NAME)
    place, *records = cases.audit_raw(NAME, theirs).split("\n")
    assert place.startswith(str(log.path))
    written = log.path.read_text().split("\n")
    assert set(records) <= set(written)
    assert [json.loads(text).get("subtype") for text in records] == ["compact_boundary", None]


def test_operations_of_ours_from_before_have_no_part_in_the_agents_side(
    tmp_path: Path,
) -> None:
    log = Log(tmp_path)
    log.user(f"Fix the parser. {RULE}")
    for number in range(12):
        log.step(number)
    cases = usecases(":memory:", tmp_path)
    cases.ingest([log.path])
    nodes = [row.seq for row in cases.surface(NAME).nodes]
    cases.pin(NAME, [nodes[0]])
    cases.commit(cases.preview(NAME, start=nodes[1], end=nodes[10]))
    log.compact(SUMMARY)
    log.user("Go on.")
    cases.ingest([log.path])
    report = cases.compare(NAME, 1)
    theirs = report.theirs
    assert theirs is not None
    assert set(theirs.shadowed_seqs) == set(nodes)
    assert {node.seq for node in report.nodes if node.fate == "pinned"} == {nodes[0]}
    assert theirs.tokens_before == cases.pressure(NAME, at=report.at_seq).used
    assert [text for text in report.kept_only_here.instructions if RULE in text]
    cases.close()


def test_a_preview_of_the_past_cannot_be_committed(cases: UseCases) -> None:
    (operation,) = cases.agent_compactions(NAME)
    assert isinstance(operation, int)
    seqs = [node.seq for node in cases.surface(NAME, at=operation - 4).nodes]
    for preview in (
        cases.preview(NAME, before_compaction=1),
        cases.preview(NAME, start=seqs[0], end=seqs[-2], at=operation - 4),
    ):
        with pytest.raises(RequestError, match="a moment of the past: only the present"):
            cases.commit(preview)


def test_a_comparison_that_cannot_be_made_says_why(cases: UseCases, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="compacted this session once"):
        cases.compare(NAME, 2)
    folder = tmp_path / "other"
    folder.mkdir()
    log = Log(folder)
    log.user("Hello.")
    other = usecases(":memory:", folder)
    other.ingest([log.path])
    assert other.agent_compactions(NAME) == ()
    with pytest.raises(RequestError, match="never compacted"):
        other.compare(NAME, 1)
    other.close()


# Real logs


def _boundaries(path: Path) -> list[tuple[dict[str, Any], str]]:
    """Of a Claude Code log, straight from its records: each compaction's facts and summary."""
    found: list[tuple[dict[str, Any], str]] = []
    facts: dict[str, Any] = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(text)
        if row.get("subtype") == "compact_boundary":
            facts = row["compactMetadata"]
        elif row.get("isCompactSummary"):
            content = row["message"]["content"]
            words = content if isinstance(content, str) else content[0]["text"]
            found.append((facts, words))
    return found


@pytest.mark.corpus
def test_at_every_real_compaction_ours_loses_less_at_equal_tokens(
    corpus: Path, tmp_path: Path
) -> None:
    """Every compaction of the agent that its log tells of, with its own words and figures."""
    cases = usecases(":memory:", tmp_path)
    compared = 0
    for path in sorted((corpus / "claude").glob("*.jsonl")):
        told = _boundaries(path)
        if not told:
            continue
        cases.ingest([path])
        session = cases.find(str(path))
        for number, (facts, words) in enumerate(told, 1):
            report = cases.compare(session, number)
            theirs = report.theirs
            assert theirs is not None
            assert theirs.summary is not None
            assert theirs.summary.text.strip() == words.strip()
            assert (theirs.trigger, theirs.stated_before) == (facts["trigger"], facts["preTokens"])
            _loses_less(report)
            compared += 1
    cases.close()
    assert compared >= 7


def _loses_less(report: CompactionReport) -> None:
    ours, theirs = report.lost, report.theirs
    assert theirs is not None
    assert report.summary is not None
    assert theirs.summary is not None
    assert report.summary.tokens <= theirs.summary.tokens
    assert report.tokens_after <= theirs.tokens_after <= theirs.tokens_before
    assert ours.instructions_total <= theirs.lost.instructions_total
    assert ours.identifiers_total < theirs.lost.identifiers_total
    only_here = report.kept_only_here.identifiers_total
    only_there = report.kept_only_there.identifiers_total
    assert only_here - only_there == theirs.lost.identifiers_total - ours.identifiers_total


@pytest.mark.corpus
def test_every_compaction_of_any_agent_is_compared_or_refused_in_a_sentence(
    corpus: Path, tmp_path: Path
) -> None:
    cases = usecases(":memory:", tmp_path)
    cases.ingest([corpus / "pi", corpus / "dsh", corpus / "codex"])
    seen, refusals = 0, list[CompressError]()
    for row in cases.sessions():
        for number, operation in enumerate(cases.agent_compactions(row.id), 1):
            seen += 1
            try:
                report = cases.compare(row.id, number)
            except CompressError as refusal:
                refusals.append(refusal)
            else:
                assert report.theirs is not None
                assert report.theirs.operation == operation
    cases.close()
    assert seen
    assert all(str(refusal).endswith(".") for refusal in refusals)
    assert {refusal.code for refusal in refusals} <= {"request", "no_gain", "budget"}
