"""The audit on the command line: one operation opened, the check, and the head to note."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector.audit_reports import HeadReport, VerificationReport
from inspector.reports import AuditRow, CompactionReport, OperationReport
from inspector.schemas import OperationDocument
from tests.inspector.conftest import BEFORE_COMPACTION, SESSION, Ullage
from tests.inspector.logs import NAME, Log, usecases

THEIRS = 125
"""The checkpoint of the bundled session's own compaction."""


@pytest.fixture
def db(store: Path, tmp_path: Path) -> Path:
    """The bundled session, with three operations."""
    path = tmp_path / "own.db"
    shutil.copy(store, path)
    return path


def operate(ullage: Ullage, db: Path) -> str:
    assert ullage("pin", SESSION, 133, db=db).code == 0
    made = ullage("compact", SESSION, "--from", 127, "--to", 138, "--commit", "--json", db=db)
    assert ullage("undo", SESSION, db=db).code == 0
    return str(made.value["operation"])


def tamper(db: Path, statement: str) -> None:
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute(statement)


# The check


def test_an_untouched_store_verifies_with_exit_code_0(ullage: Ullage, db: Path) -> None:
    operate(ullage, db)
    outcome = ullage("audit", "--verify", db=db)
    assert (outcome.code, outcome.err) == (0, "")
    first, head = outcome.out.splitlines()
    assert first == ("Nothing was changed, removed or moved: 6 events of operations, 3 commits.")
    assert head.startswith("Head: ")


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE operation_events SET at = 1 WHERE number = 1", "o1 of session"),
        ("DELETE FROM operation_events WHERE number = 6", "o6, the newest of session"),
        ("DELETE FROM operation_events", "o1 to o6, the newest of session"),
    ],
)
def test_each_finding_is_a_sentence_and_the_exit_code_is_1(
    ullage: Ullage, db: Path, statement: str, sentence: str
) -> None:
    operate(ullage, db)
    tamper(db, statement)
    outcome = ullage("audit", SESSION, "--verify", db=db)
    assert outcome.code == 1
    found, count, *_ = outcome.out.splitlines()
    assert found.startswith(sentence)
    assert found.endswith(".")
    assert count.startswith("1 finding: ")
    report = VerificationReport.model_validate_json(
        ullage("audit", "--verify", "--json", db=db).out
    )
    assert not report.intact
    assert [one.message for one in report.findings] == [found]
    lines = ullage("audit", "--verify", "--jsonl", db=db)
    assert (lines.code, len(lines.out.splitlines())) == (1, 1)


def test_a_head_that_was_noted_is_found_again_or_missed(ullage: Ullage, db: Path) -> None:
    done = ullage("pin", SESSION, 127, "--json", db=db)
    noted = OperationReport.model_validate_json(done.out).head
    assert noted is not None
    digest = ullage("audit", "--head", db=db).out.split()[0]
    assert digest == noted
    document = HeadReport.model_validate_json(ullage("audit", "--head", "--json", db=db).out)
    assert (document.digest, document.count) == (noted, 1)
    operate(ullage, db)
    since = ullage("audit", "--verify", "--head", noted, db=db)
    assert since.code == 0
    assert "The noted head is on the chain; 3 since." in since.out
    missed = ullage("audit", "--verify", "--head", "0" * 64, db=db)
    assert missed.code == 1
    assert "is on no chain" in missed.out
    refused = ullage("audit", "--verify", "--head", "soon", db=db)
    assert (refused.code, refused.out) == (1, "")
    assert "'soon' is no head" in refused.err


def test_the_head_of_a_session_is_that_of_its_own_operations(ullage: Ullage, db: Path) -> None:
    operate(ullage, db)
    out = ullage("audit", SESSION, "--head", db=db).out
    assert out.endswith(f"  6 events of session {SESSION}\n")
    noted = ullage("audit", SESSION, "--verify", "--head", out.split()[0], db=db)
    assert f"on the chain of session {SESSION}; nothing since." in noted.out


def test_every_commit_prints_the_head_to_be_noted(ullage: Ullage, db: Path) -> None:
    said = ullage("compact", SESSION, "--from", 127, "--to", 138, "--commit", db=db).out
    head = ullage("audit", "--head", db=db).out.split()[0]
    assert f"Head of the audit: {head}" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("--verify", "--head"),
        ("--head", "ab" * 32),
        ("--raw",),
        (SESSION, "--show", "o1", "--verify"),
        (SESSION, "--show", "o1", "--head"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(
    ullage: Ullage, store: Path, arguments: tuple[str, ...]
) -> None:
    outcome = ullage("audit", *arguments, db=store)
    assert (outcome.code, outcome.out) == (2, "")


def test_it_verifies_through_every_use_and_a_restart(tmp_path: Path) -> None:
    """Pins, a compaction, undo, redo, growth of the log, a new reading of it, another process."""
    log, db = Log(tmp_path), tmp_path / "store.db"
    log.user("Fix the parser.")
    for number in range(12):
        log.step(number)
    cases = usecases(db, tmp_path)
    cases.ingest([log.path])
    nodes = [row.seq for row in cases.surface(NAME).nodes]
    cases.pin(NAME, [nodes[0], nodes[3]])
    cases.commit(cases.preview(NAME, start=nodes[1], end=nodes[10]))
    cases.undo(NAME)
    log.step(40)
    cases.ingest([log.path])
    cases.redo(NAME)
    cases.unpin(NAME, [nodes[0]])
    head = cases.head().digest
    cases.close()
    again = usecases(db, tmp_path)
    log.path.write_text(log.path.read_text())
    again.ingest([log.path])
    log.compact("The agent's own summary.")
    again.ingest([log.path])
    found = again.verify(head=head)
    assert found.findings == ()
    assert found.noted is not None
    assert found.noted.since == 0
    assert found.events == len(
        [event for row in again.audit(NAME) if row.origin == "user" for event in _events(row)]
    )
    again.close()


def _events(row: AuditRow) -> range:
    return range(4 if row.kind == "compact" else 1)


# One operation opened


def test_an_opened_operation_tells_who_when_what_it_lost_and_cost(ullage: Ullage, db: Path) -> None:
    done = operate(ullage, db)
    ours = ullage("audit", SESSION, "--show", done, db=db).out
    theirs = ullage("audit", SESSION, "--show", THEIRS, db=db).out
    assert ours.startswith(f"{done}: compact, by the user\nundone by o6")
    assert theirs.startswith(f"{THEIRS}: compact, by the agent\nstanding · 2026-04-")
    for text in (ours, theirs):
        assert "tokens as counted: " in text
        assert "its summary: " in text
        assert "prompt cache: " in text
        assert "No longer anywhere on the surface" in text
        assert "\n--- before " in text
    assert f"ullage compact {SESSION} --before-compaction 1 --budget own" in theirs


def test_an_opened_operation_is_one_document_with_its_raw(ullage: Ullage, db: Path) -> None:
    done = operate(ullage, db)
    for name in (done, THEIRS):
        out = ullage("audit", SESSION, "--show", name, "--json", db=db).out
        document = OperationDocument.model_validate_json(out)
        assert str(document.operation.operation) == str(name)
        raw = ullage("audit", SESSION, "--show", name, "--raw", db=db).out
        assert document.raw.split("\n")[0] in raw
    assert '"isCompactSummary":true' in raw


# The past


def test_the_two_compactions_are_printed_side_by_side(
    ullage: Ullage, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("compact", SESSION, "--before-compaction", 1, "--budget", "own")
    report = CompactionReport.model_validate_json(ullage(*command, "--json", db=store).out)
    assert report.theirs is not None
    assert report.at_seq == BEFORE_COMPACTION
    assert report.theirs.operation == THEIRS
    narrow = ullage(*command, db=store).out
    assert "THE AGENT" in narrow
    assert "Lost by the agent, kept by ours" in narrow
    assert "nothing can be committed there" in narrow
    assert not [text for text in narrow.splitlines() if len(text) > 80]
    monkeypatch.setenv("COLUMNS", "140")
    wide = ullage(*command, db=store).out
    assert [text for text in wide.splitlines() if " │ " in text]


def test_a_commit_of_the_past_is_refused_with_the_reason(ullage: Ullage, store: Path) -> None:
    for moment in (("--at", 100), ("--before-compaction", 1)):
        outcome = ullage("compact", SESSION, *moment, "--commit", "--json", db=store)
        assert outcome.code == 1
        assert outcome.value["error"]["code"] == "request"
        assert "A moment of the past cannot be compacted" in outcome.err
