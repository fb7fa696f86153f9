"""What the commit of a pack leaves behind: on the plan, in the audit, in files, in copies."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from compress.packs.draft import EmptyPackError
from inspector.export_files import ExportFileError
from inspector.pack_reports import PackReport
from inspector.packs import PackPlaceError
from inspector.usecases import UseCases
from storage.errors import StorageError, StoreUnusableError
from tests.inspector.kilns import AWAY, OTHER, packed, plan_texts, store_of, write_logs
from tests.inspector.logs import NAME, Log, rows, usecases
from tests.resuming import Planned
from tests.summary_sessions.codex_log import CodexLog
from tests.summary_sessions.pi_log import PiLog

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return write_logs(tmp_path)


@pytest.fixture
def cases(log: Log, tmp_path: Path) -> Iterator[UseCases]:
    with store_of(tmp_path) as opened:
        yield opened


# Commit


def test_a_commit_appends_the_text_and_undo_takes_it_back(cases: UseCases) -> None:
    before = plan_texts(cases)
    handle = cases.pack(NAME, "kiln degrees")
    assert plan_texts(cases) == before, "a preview writes nothing"
    report = cases.commit_pack(handle, NAME)
    assert report.operation == "o1"
    assert plan_texts(cases) == [*before, handle.report.text]
    node = rows(cases)[-1]
    assert (node.type, node.tokens) == ("context/message", report.tokens)
    assert node.headline.startswith("pack of ")
    assert "kiln degrees" in node.headline
    cases.undo(NAME)
    assert plan_texts(cases) == before
    cases.redo(NAME)
    assert plan_texts(cases) == [*before, handle.report.text]


def test_a_query_that_no_json_takes_can_be_committed(cases: UseCases) -> None:
    assert cases.commit_pack(cases.pack(NAME, "kiln \udcff"), NAME).operation == "o1"
    assert "for 'kiln ?'" in cases.audit(NAME)[-1].rule


def test_what_the_agent_adds_stands_behind_it(cases: UseCases, log: Log) -> None:
    cases.commit_pack(cases.pack(NAME, "kiln"), NAME)
    log.user("Go on.")
    cases.ingest([log.path])
    assert plan_texts(cases)[-1] == "Go on."
    assert "<context-pack" in plan_texts(cases)[-2]


def test_a_commit_in_the_midst_of_a_step_stands_behind_its_result(
    cases: UseCases, log: Log
) -> None:
    log.assistant({"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "ls"}})
    cases.ingest([log.path])
    cases.commit_pack(cases.pack(NAME, "kiln"), NAME)
    log.result("t9", "kiln.py")
    cases.ingest([log.path])
    found = [row.type for row in rows(cases)][-3:]
    assert found == ["assistant/message", "tool/result", "context/message"]


def test_the_audit_says_what_was_packed(cases: UseCases) -> None:
    report = cases.commit_pack(cases.pack(NAME, "kiln degrees"), NAME)
    row = cases.audit(NAME)[-1]
    assert (row.operation, row.kind, row.origin) == ("o1", "pack", "user")
    count = len(packed(report))
    assert count > 1
    assert row.rule == f"{count} beliefs for 'kiln degrees', {report.tokens} of 4000 tokens"
    assert "+  <context-pack" in cases.audit_diff(NAME, "o1")
    told = [json.loads(line) for line in cases.audit_raw(NAME, "o1").splitlines()[1:]]
    assert [event["type"] for event in told] == ["pack/commit", "context/message"]
    assert {b["id"] for b in told[0]["meta"]["beliefs"]} == {b.belief for b in packed(report)}
    named = {seq for line in packed(report) for seq in line.source_event_seqs}
    assert set(told[1]["source_event_seqs"]) == {*named, "o1"}
    assert cases.verify(NAME).intact


def test_beliefs_of_other_sessions_are_named_in_the_facts(cases: UseCases) -> None:
    cases.commit_pack(cases.pack(None, "kiln"), NAME)
    facts, message = (json.loads(line) for line in cases.audit_raw(NAME, "o1").splitlines()[1:])
    sessions = {belief["session"] for belief in facts["meta"]["beliefs"]}
    assert sessions == {NAME, OTHER, AWAY}
    own = [b for b in facts["meta"]["beliefs"] if b["session"] == NAME]
    assert set(message["source_event_seqs"]) == {s for b in own for s in b["seqs"]} | {"o1"}


def test_a_pack_of_one_session_does_not_go_to_another(cases: UseCases) -> None:
    with pytest.raises(PackPlaceError, match=f"points to events of {NAME}"):
        cases.commit_pack(cases.pack(NAME, "kiln"), OTHER)


def test_an_empty_pack_is_not_committed(cases: UseCases, tmp_path: Path) -> None:
    handle = cases.pack(NAME, "nothingholdsthis")
    with pytest.raises(EmptyPackError):
        cases.commit_pack(handle, NAME)
    assert not (tmp_path / "packs").exists()
    assert cases.audit(NAME) == []


def test_a_compaction_takes_a_pack_into_its_region(cases: UseCases) -> None:
    cases.commit_pack(cases.pack(NAME, "kiln"), NAME)
    found = rows(cases)
    preview = cases.preview(NAME, start=found[0].seq, end=found[-1].seq)
    cases.commit(preview)
    assert len(rows(cases)) == 1
    cases.undo(NAME)
    assert rows(cases)[-1].type == "context/message"


# Files


def test_a_commit_leaves_both_files_beside_the_store(cases: UseCases, tmp_path: Path) -> None:
    handle = cases.pack(NAME, "kiln")
    report = cases.commit_pack(handle, NAME)
    markdown, document = (Path(name) for name in report.files)
    assert markdown.parent == document.parent == tmp_path / "packs"
    assert stat.S_IMODE(markdown.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(markdown.stat().st_mode) == stat.S_IMODE(document.stat().st_mode) == 0o600
    assert markdown.read_text() == f"{report.text}\n"
    value = json.loads(document.read_text())
    assert value["lines"][0]["class"] == report.lines[0].retention
    assert PackReport.model_validate(value).lines == report.lines
    cases.undo(NAME)
    again = cases.commit_pack(handle, NAME)
    assert again.files == report.files, "the same pack, the same files"


def test_packs_of_one_text_for_two_queries_are_both_kept(cases: UseCases) -> None:
    one, other = cases.pack(NAME, "kiln"), cases.pack(NAME, "kiln ?")
    assert one.report.text == other.report.text
    first = cases.commit_pack(one, NAME)
    second = cases.commit_pack(other, NAME)
    assert second.operation == "o3"
    assert set(first.files).isdisjoint(second.files)


def test_files_are_written_where_they_are_asked_for(cases: UseCases, tmp_path: Path) -> None:
    handle = cases.pack(NAME, "kiln")
    out = tmp_path / "out"
    out.mkdir()
    report = cases.save_pack(handle, out)
    assert sorted(out.iterdir()) == sorted(Path(name) for name in report.files)
    for name in ("kiln", "kiln2.md", "kiln3.json"):
        made = cases.save_pack(handle, tmp_path / name).files
        stem = name.partition(".")[0]
        assert made == (str(tmp_path / f"{stem}.md"), str(tmp_path / f"{stem}.json"))
    assert cases.audit(NAME) == []


def test_a_file_that_is_there_is_never_replaced_and_none_stays_alone(
    cases: UseCases, tmp_path: Path
) -> None:
    (tmp_path / "kiln.json").write_text("mine")
    handle = cases.pack(NAME, "kiln")
    with pytest.raises(ExportFileError, match=r"kiln\.json is there already"):
        cases.save_pack(handle, tmp_path / "kiln")
    assert not (tmp_path / "kiln.md").exists()
    assert (tmp_path / "kiln.json").read_text() == "mine"
    with pytest.raises(ExportFileError):
        cases.commit_pack(handle, NAME, place=tmp_path / "kiln")
    assert cases.audit(NAME) == [], "no operation without its files"


def test_files_go_where_the_commit_fails(cases: UseCases, tmp_path: Path) -> None:
    handle = cases.pack(NAME, "kiln")

    def fail() -> str:
        raise StoreUnusableError("no room")

    with pytest.raises(StorageError, match="no room"):
        cases._packing.committed(handle, NAME, tmp_path / "kiln", fail)
    assert not list(tmp_path.glob("kiln.*"))


def test_a_store_in_memory_keeps_no_files(log: Log, tmp_path: Path) -> None:
    opened = usecases(":memory:", tmp_path)
    opened.ingest([log.path])
    assert opened.commit_pack(opened.pack(NAME, "kiln"), NAME).files == ()
    opened.close()


# Copies for the agents


def _log_of(agent: str, folder: Path) -> Path:
    if agent == "claude":
        log = Log(folder)
        log.user("The kiln is hot.")
        log.assistant({"type": "text", "text": "It is."})
        log.user("And now?")
        log.assistant({"type": "text", "text": "Still."})
        return log.path
    made: Any = CodexLog(NAME, "/p", NOON) if agent == "codex" else PiLog(NAME, "/p", NOON)
    for ask, answer in (("The kiln is hot.", "It is."), ("And now?", "Still.")):
        made.user(ask)
        made.says(answer)
    path = folder / f"{'rollout-2026-01-02T12-00-00-' if agent == 'codex' else ''}{NAME}.jsonl"
    path.write_text("".join(f"{line}\n" for line in made.lines))
    return path


@pytest.mark.parametrize("agent", ["claude", "codex", "pi"])
def test_a_copy_that_the_agent_resumes_carries_the_pack(agent: str, tmp_path: Path) -> None:
    with Planned(_log_of(agent, tmp_path), tmp_path, "plain") as planned:
        assert planned.store.find(planned.name).agent == agent
        handle = planned.cases.pack(planned.name, "kiln")
        planned.cases.commit_pack(handle, planned.name)
        copied = planned.copy()
        sent = [b.text for message in copied.read_back for b in message.blocks]
        assert sent == [b.text for message in copied.planned for b in message.blocks]
        assert handle.report.text in sent
        assert sent.index(handle.report.text) == len(sent) - 1
