"""Contexts to go on with, over a store: what they are rebuilt from, and what becomes of them."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from compress.continuation.errors import LocksExceedBudgetError
from inspector.export_files import ExportFileError
from inspector.rebuild_reports import RebuildReport
from inspector.rebuilds import PastContextError
from inspector.schemas import schema_text
from inspector.usecases import UseCases
from storage.errors import UnknownEventError
from tests.inspector.conftest import SESSION, Ullage
from tests.inspector.kilns import plan_texts, store_of, write_kiln
from tests.inspector.logs import NAME, Log, rows, usecases


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return write_kiln(tmp_path)


@pytest.fixture
def cases(log: Log, tmp_path: Path) -> Iterator[UseCases]:
    with store_of(tmp_path) as opened:
        yield opened


def titles(report: RebuildReport) -> list[str]:
    return [part.name for part in report.sections]


def test_one_text_holds_what_is_needed_to_go_on(cases: UseCases) -> None:
    report = cases.rebuild(NAME, budget=2_000).report
    assert report.tokens <= report.budget == 2_000
    assert (report.scope, report.session, report.at_seq) == ("session", NAME, cases.events(NAME))
    assert titles(report)[0] == "instructions"
    assert titles(report)[-1] == "turns"
    assert "And the glaze?" in report.text
    assert report.text.startswith("# Context of an earlier session\nThis is context, not a request")
    assert f"session claude {NAME} up to event {report.at_seq}" in report.text
    assert all(part.text in report.text for part in report.sections)


def test_without_a_query_the_newest_words_are_asked(cases: UseCases) -> None:
    report = cases.rebuild(NAME).report
    assert report.query_source == "session"
    assert report.query.endswith("\nAnd the glaze?"), "which says little by itself"
    said = [row.seq for row in rows(cases) if row.type == "user/message"]
    assert len(report.query_seqs) == 2
    assert report.query_seqs[-1] == said[-1]
    report = cases.rebuild(NAME, query="kiln limit").report
    assert (report.query, report.query_source) == ("kiln limit", "given")


def test_decision_points_of_the_session_stand_and_nothing_graduates(cases: UseCases) -> None:
    report = cases.rebuild(NAME).report
    assert "decisions" in titles(report)
    assert cases.audit(NAME) == []


def test_the_same_question_gives_the_same_bytes(cases: UseCases, tmp_path: Path) -> None:
    again = usecases(tmp_path / "store.db", tmp_path)
    for budget in (300, 1_000, 8_000):
        assert (
            cases.rebuild(NAME, budget=budget).report == again.rebuild(NAME, budget=budget).report
        )
    again.close()


def test_a_pin_stands_whole_and_both_numbers_are_named_where_it_cannot(cases: UseCases) -> None:
    result = next(row.seq for row in rows(cases) if row.type == "tool/result")
    cases.pin(NAME, [result])
    report = cases.rebuild(NAME, budget=2_000).report
    assert titles(report)[0] == "pinned"
    assert "LIMIT = 1300  # degrees of the kiln\n" + "x = 1\n" * 200 in report.text
    assert report.text.count("LIMIT = 1300") == 1
    with pytest.raises(LocksExceedBudgetError, match="more than the budget of 200") as refused:
        cases.rebuild(NAME, budget=200)
    assert cases.rebuild(NAME, budget=refused.value.least).report.tokens == refused.value.least


def test_compression_off_renders_all_verbatim(cases: UseCases) -> None:
    on, off = (cases.rebuild(NAME, compression=way).report for way in (True, False))
    assert (on.compression, on.compression_source) == (True, "chosen")
    assert (off.compression, off.compression_source) == (False, "chosen")
    assert {line.strategy for line in off.lines} == {"verbatim"}


def test_a_past_moment_knows_nothing_newer_and_stays_off_the_plan(cases: UseCases) -> None:
    first = next(row.seq for row in rows(cases) if row.type == "tool/result")
    handle = cases.rebuild(NAME, at=first)
    assert handle.report.at_seq == first
    assert "glaze" not in handle.report.text
    assert "1240 now" not in handle.report.text
    with pytest.raises(PastContextError, match=f"of event {first}, a moment of the past"):
        cases.commit_rebuild(handle)
    with pytest.raises(UnknownEventError):
        cases.rebuild(NAME, at=10_000)


def test_after_the_agents_own_compaction_the_turns_behind_it_stand(
    log: Log, cases: UseCases
) -> None:
    log.compact("They spoke of kilns.")
    cases.ingest([log.path])
    report = cases.rebuild(NAME).report
    turns = next(part for part in report.sections if part.name == "turns").text
    assert "The glaze is as it was." in turns
    assert "They spoke of kilns." not in turns


def test_what_does_not_stand_is_said(cases: UseCases) -> None:
    report = cases.rebuild(NAME, budget=110).report
    missing = report.availability
    assert missing.instructions.of == 2
    assert missing.instructions.total >= 1
    assert any("never be hotter" in one for one in missing.instructions.items)
    assert "/p/kiln.py" in missing.identifiers.items
    assert "/p/kiln.py" not in report.text
    assert missing.share < 1
    whole = cases.rebuild(NAME, budget=8_000).report.availability
    assert (whole.instructions.total, whole.errors.of) == (0, 0)


def test_a_commit_appends_the_text_undo_takes_it_back_and_a_copy_carries_it(
    cases: UseCases, tmp_path: Path
) -> None:
    before = plan_texts(cases)
    handle = cases.rebuild(NAME, budget=1_000)
    assert plan_texts(cases) == before, "a preview writes nothing"
    report = cases.commit_rebuild(handle)
    assert report.operation == "o1"
    assert {Path(name).parent for name in report.files} == {tmp_path / "packs"}
    assert Path(report.files[0]).read_text() == report.text
    assert plan_texts(cases) == [*before, handle.report.text]
    node = rows(cases)[-1]
    assert (node.type, node.tokens) == ("context/message", report.tokens)
    (row,) = cases.audit(NAME)
    assert row.kind == "pack"
    assert row.rule.endswith(f"{report.tokens} of 1000 tokens")
    copy = cases.resume(NAME, out=tmp_path)
    copied = [json.loads(line) for line in Path(copy.path).read_text().splitlines()]
    assert json.dumps(handle.report.text)[1:-1] in json.dumps(copied)
    cases.undo(NAME)
    assert plan_texts(cases) == before


def test_a_query_that_is_no_text_can_be_committed(cases: UseCases) -> None:
    report = cases.commit_rebuild(cases.rebuild(NAME, budget=1_000, query="glaze \udcff"))
    assert report.operation == "o1"
    assert plan_texts(cases)[-1] == report.text


def test_files_are_written_whole_and_never_over_others(cases: UseCases, tmp_path: Path) -> None:
    handle = cases.rebuild(NAME, budget=1_000)
    report = cases.save_rebuild(handle, tmp_path / "handover.md")
    text, document = (Path(name) for name in report.files)
    assert text.read_text() == handle.report.text
    assert json.loads(document.read_text())["tokens"] == handle.report.tokens
    assert stat.S_IMODE(text.stat().st_mode) == 0o600
    with pytest.raises(ExportFileError, match="is there already"):
        cases.commit_rebuild(handle, place=tmp_path / "handover")
    assert cases.audit(NAME) == [], "neither without the other"
    (folder := tmp_path / "out").mkdir()
    assert Path(cases.save_rebuild(handle, folder).files[0]).name.startswith("context-")


def test_an_empty_session_is_a_header(tmp_path: Path) -> None:
    made = Log(tmp_path, "empty")
    made.user("")
    opened = usecases(":memory:", tmp_path)
    opened.ingest([made.path])
    for row in opened.sessions():
        assert opened.rebuild(row.id).report.tokens < 200
    opened.close()


# On the command line


@pytest.fixture
def db(store: Path, tmp_path: Path) -> Path:
    """A copy of the store of the bundled session, to be written to."""
    return Path(shutil.copy(store, tmp_path / "store.db"))


def test_the_sections_come_with_their_figures_and_then_the_context(
    ullage: Ullage, db: Path
) -> None:
    done = ullage("rebuild", SESSION, "--budget", 1_500, db=db)
    assert done.code == 0
    rows = done.out.splitlines()
    assert rows[0].startswith(f"{SESSION} at event ")
    assert rows[1].startswith("going on with: ")
    assert rows[2].startswith("  (the words of event")
    assert rows[2].endswith("; --query says it otherwise)")
    assert "of 1,500 tokens by o200k_base · compressed by class (default)" in rows[3]
    assert any(row.startswith("Recent turns ") for row in rows)
    assert "names most likely needed again stand in it" in done.out
    assert any(row.startswith("│ # Context of an earlier session") for row in rows)
    assert rows[-1].endswith("--commit puts it on the plan, --save in files.")
    assert max(map(len, rows)) <= 80
    given = ullage("rebuild", SESSION, "--query", "kilns", db=db).out
    assert "going on with: kilns" in given
    assert "--query says it otherwise" not in given


def test_a_moment_before_everything_is_said_to_hold_nothing(ullage: Ullage, db: Path) -> None:
    done = ullage("rebuild", SESSION, "--at", 0, db=db)
    assert done.code == 0
    said = " ".join(done.out.split())
    assert "Nothing stands in it: at event 0 the session held nothing to go on with." in said
    assert "│" not in done.out
    value = ullage("rebuild", SESSION, "--at", 0, "--json", db=db).value
    assert value["note"].startswith("Nothing stands in it")
    past = ullage("rebuild", SESSION, "--at", 30, db=db).out.splitlines()[-1]
    assert past == "A preview: nothing was written. --save writes it to files."


def test_a_query_of_symbols_is_told_that_it_says_nothing(ullage: Ullage, db: Path) -> None:
    value = ullage("rebuild", SESSION, "--query", "->", "--json", db=db).value
    assert value["note"].startswith("“->” holds no letter and no digit")
    assert ullage("rebuild", SESSION, "--query", "kilns", "--json", db=db).value["note"] is None


def test_the_document_follows_its_schema_and_the_contract(ullage: Ullage, db: Path) -> None:
    value = ullage("rebuild", SESSION, "--budget", 800, "--json", db=db).value
    Draft202012Validator(json.loads(schema_text("rebuild"))).validate(value)
    assert {"query", "budget", "tokens", "text", "lines", "operation"} <= set(value)
    assert {"sections", "availability"} <= set(value)
    assert value["tokens"] <= 800
    assert "class" in value["lines"][0]


def test_it_is_refused_in_one_sentence_with_both_numbers(ullage: Ullage, db: Path) -> None:
    done = ullage("rebuild", SESSION, "--budget", 5, db=db)
    assert done.code == 1
    assert done.err.startswith("ullage: The header alone takes ")
    assert "more than the budget of 5" in done.err
    assert ullage("rebuild", SESSION, "--budget", 5, "--json", db=db).value["error"]["code"] == (
        "budget"
    )


def test_save_and_commit(ullage: Ullage, db: Path, tmp_path: Path) -> None:
    where = tmp_path / "ctx.md"
    done = ullage("rebuild", SESSION, "--budget", 600, "--commit", "--save", where, db=db)
    assert done.code == 0
    assert f"Written: {where}" in done.out
    assert "Committed as o1." in done.out
    assert where.read_text().startswith("# Context of an earlier session\n")
    assert ullage("undo", SESSION, db=db).code == 0
