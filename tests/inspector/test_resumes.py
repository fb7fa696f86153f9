"""A copy that the agent resumes: what is written, where, and when it is refused."""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import pytest

from inspector.reports import Track
from inspector.resumes import new_session_id
from inspector.settings import load_settings
from inspector.usecases import UseCases
from storage.resume.base import ResumeRefusedError
from storage.resume.files import write_new
from storage.sources.registry import registry
from storage.store import Store
from tests.inspector.conftest import Ullage
from tests.inspector.logs import NAME, Log
from tests.storage.resume.claude_recipe import check_recipe

NOW = 1_780_000_000.0
"""2026-05-28, long after the log's own times."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    return folder


@pytest.fixture
def log(tmp_path: Path, project: Path) -> Log:
    """A session in the agent's own folder, of a project that exists."""
    folder = tmp_path / ".claude" / "projects" / _encoded(project)
    folder.mkdir(parents=True)
    made = Log(folder)
    made.user("Fix the parser.", cwd=str(project))
    for number in range(4):
        made.step(number)
    made.assistant({"type": "text", "text": "Done."})
    made.user("And the lexer?")
    made.assistant({"type": "text", "text": "Done, too."})
    return made


def _encoded(path: Path) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in str(path))


@pytest.fixture
def cases(log: Log, tmp_path: Path) -> Iterator[UseCases]:
    loaded = load_settings({}, environment={}, folder=tmp_path, config_file=tmp_path / "none")
    opened = UseCases(
        Store(":memory:", registry()), loaded, environment={}, home=tmp_path, clock=lambda: NOW
    )
    opened.ingest([log.path])
    yield opened
    opened.close()


def plan_texts(cases: UseCases, session: str, track: str = "plan") -> list[tuple[str, str]]:
    found = cases.messages(session, track="plan" if track == "plan" else "agent")
    return [(m.role, b.text or str(b.id)) for m in found.messages for b in m.blocks]


def test_the_copy_stands_beside_the_original(cases: UseCases, log: Log, project: Path) -> None:
    before = sha256(log.path.read_bytes()).hexdigest()
    report = cases.resume(NAME)
    path = Path(report.path)
    assert path.parent == log.path.parent
    assert path.stem == report.session_id != NAME
    assert UUID(report.session_id).version == 7
    assert report.command == f"cd '{project}' && claude --resume {report.session_id}"
    assert shlex.split(report.command)[1] == report.folder == str(project)
    assert report.note is None
    assert report.written
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = path.read_bytes().splitlines()
    assert len(lines) == report.records
    check_recipe(lines, report.session_id)
    assert sha256(log.path.read_bytes()).hexdigest() == before
    assert sorted(os.listdir(path.parent)) == sorted([log.path.name, path.name])  # noqa: PTH208


def test_the_copy_holds_the_plan(cases: UseCases) -> None:
    rows = cases.view(NAME, track="plan").rows(0, 100)
    cases.pin(NAME, [rows[2].seq])
    preview = cases.preview(NAME, start=rows[0].seq, end=rows[8].seq)
    assert cases.commit(preview).operation
    report = cases.resume(NAME)
    copy = cases.find(report.path)
    assert plan_texts(cases, copy, "agent") == plan_texts(cases, NAME)
    assert plan_texts(cases, copy, "agent") != plan_texts(cases, NAME, "agent")
    assert report.tokens == cases.view(NAME, track="plan").tokens
    first = json.loads(Path(report.path).read_bytes().splitlines()[0])
    assert first["compactMetadata"]["preTokens"] > report.tokens
    assert first["logicalParentUuid"] in log_uuids(cases)


def log_uuids(cases: UseCases) -> set[str]:
    path = Path(next(row.path for row in cases.sessions() if row.id == NAME))
    return {json.loads(line)["uuid"] for line in path.read_bytes().splitlines()}


def test_the_agents_own_track_can_be_copied_too(cases: UseCases) -> None:
    rows = cases.view(NAME, track="plan").rows(0, 100)
    cases.commit(cases.preview(NAME, start=rows[0].seq, end=rows[8].seq))
    copy = cases.find(cases.resume(NAME, track="agent").path)
    assert plan_texts(cases, copy, "agent") == plan_texts(cases, NAME, "agent")


def test_a_past_moment_can_be_copied(cases: UseCases) -> None:
    seq = cases.view(NAME).rows(0, 3)[-1].seq
    report = cases.resume(NAME, at=seq)
    assert report.at_seq == seq
    assert report.nodes == 3


def test_what_came_since_the_log_was_read_is_copied_too(cases: UseCases, log: Log) -> None:
    log.user("One more thing.")
    assert b"One more thing." in Path(cases.resume(NAME).path).read_bytes()


def test_the_copy_is_one_family_with_the_original(cases: UseCases) -> None:
    cases.find(cases.resume(NAME).path)
    rows = {row.id: row for row in cases.sessions()}
    assert {row.relation for row in rows.values()} == {"main", "fork"}
    assert sum(row.parent == NAME for row in rows.values()) == 1
    # What both hold is found once.
    assert len(cases.search('"Fix the parser"')) == 1


@pytest.mark.parametrize("track", ["plan", "agent"])
def test_what_the_requests_cost_is_counted_once(cases: UseCases, track: Track) -> None:
    rows = cases.view(NAME, track="plan").rows(0, 100)
    cases.commit(cases.preview(NAME, start=rows[0].seq, end=rows[8].seq))
    before = cases.usage().total
    cases.find(cases.resume(NAME, track=track).path)
    assert cases.usage().total == before


def test_a_dry_run_writes_nothing(cases: UseCases, log: Log) -> None:
    report = cases.resume(NAME, dry_run=True)
    assert not report.written
    assert report.records > 0
    assert [path.name for path in log.path.parent.iterdir()] == [log.path.name]


def test_a_named_folder_gets_the_copy_and_a_note(cases: UseCases, tmp_path: Path) -> None:
    report = cases.resume(NAME, out=tmp_path / "out")
    assert Path(report.path).parent == tmp_path / "out"
    assert report.note is not None
    assert "projects/" in report.note


def test_a_log_from_elsewhere_goes_to_the_agents_folder(cases: UseCases, log: Log) -> None:
    moved = log.path.rename(log.path.parents[3] / log.path.name)
    session = cases.find(str(moved))
    assert Path(cases.resume(session).path).parent == log.path.parent


def test_a_log_that_is_gone_can_still_be_copied(cases: UseCases, log: Log) -> None:
    log.path.unlink()
    check_recipe(
        Path((report := cases.resume(NAME)).path).read_bytes().splitlines(), report.session_id
    )


# Refusals


def refused(cases: UseCases, session: str = NAME) -> str:
    with pytest.raises(ResumeRefusedError) as caught:
        cases.resume(session)
    return str(caught.value)


def test_without_the_projects_folder_it_is_refused(cases: UseCases, project: Path) -> None:
    project.rmdir()
    assert f"{project} is not there: make the folder" in refused(cases)


def test_without_a_folder_of_the_agents_it_is_refused(
    cases: UseCases, log: Log, tmp_path: Path
) -> None:
    session = cases.find(str(log.path.rename(tmp_path / log.path.name)))
    log.path.parent.rmdir()
    (tmp_path / ".claude" / "projects").rmdir()
    assert "No folder of Claude Code's sessions is found here" in refused(cases, session)


def test_a_running_session_is_refused(log: Log, tmp_path: Path) -> None:
    log.user("Go on.", timestamp="2026-05-28T20:26:39.000Z")
    os.utime(log.path, (NOW, NOW))
    loaded = load_settings({}, environment={}, folder=tmp_path, config_file=tmp_path / "none")
    store = Store(":memory:", registry())
    cases = UseCases(store, loaded, environment={}, home=tmp_path, clock=lambda: NOW + 1)
    cases.ingest([log.path])
    assert f"{NAME} is running: wait until its turn ends" in refused(cases)
    # A moment that the person names is whole, whatever goes on behind it.
    assert cases.resume(NAME, at=cases.events(NAME)).written
    cases.close()


def test_an_agent_without_a_writer_is_refused(cases: UseCases, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    rows = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]
    chat.write_text("".join(json.dumps(row) + "\n" for row in rows))
    session = cases.find(str(chat))
    assert f"{session} is a session of chat, whose format no copy" in refused(cases, session)


def test_a_log_that_is_rewritten_meanwhile_is_refused(
    cases: UseCases, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(path: Path, lines: tuple[bytes, ...]) -> None:
        write_new(path, lines)
        log.path.write_bytes(b"other\n")

    monkeypatch.setattr("inspector.resumes.write_new", write)
    assert "was rewritten while it was copied" in refused(cases)
    assert [path.name for path in log.path.parent.iterdir()] == [log.path.name]


# Ids


def test_ids_of_copies_sort_by_time() -> None:
    ids = [new_session_id(NOW + n, bytes([255 - n] * 10)) for n in range(3)]
    assert ids == sorted(ids)
    assert {UUID(name).version for name in ids} == {7}
    assert {UUID(name).variant for name in ids} == {UUID(int=0x8 << 60).variant}
    # RFC 9562, section A.6: the example of version 7.
    assert UUID(new_session_id(1_645_557_742.0, bytes(10))).hex[:12] == "017f22e279b0"


# The command


def test_the_command_prints_what_to_type(ullage: Ullage, log: Log, tmp_path: Path) -> None:
    done = ullage("resume", log.path, "--out", tmp_path / "out")
    assert done.code == 0
    (path,) = (tmp_path / "out").iterdir()
    assert f"Written: {path}" in done.out
    assert (
        f"\n  cd {shlex.quote(str(tmp_path / 'my project'))} && claude --resume {path.stem}\n"
        in (done.out)
    )


def test_the_document_has_the_promised_fields(ullage: Ullage, log: Log, tmp_path: Path) -> None:
    value = ullage("resume", log.path, "--out", tmp_path / "out", "--json").value
    assert {"path", "session_id", "command", "agent", "tokens"} <= set(value)
    assert value["agent"] == "claude"
    assert Path(value["path"]).is_file()


def test_a_dry_run_says_so(ullage: Ullage, log: Log, tmp_path: Path) -> None:
    done = ullage("resume", log.path, "--out", tmp_path / "out", "--dry-run")
    assert "nothing was written" in done.out
    assert not (tmp_path / "out").exists()


def test_a_refusal_is_one_sentence(ullage: Ullage, log: Log) -> None:
    log.assistant({"type": "tool_use", "id": "t", "name": "Bash", "input": {}})
    done = ullage("resume", log.path, "--json")
    assert done.code == 1
    assert done.value["error"]["code"] == "resume_refused"
    assert done.value["error"]["choices"]
    assert done.err.count("\n") == 1
