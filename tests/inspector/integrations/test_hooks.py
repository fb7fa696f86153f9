"""What an agent's hooks are answered: in the agent's protocol, within the budget, or nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compress.continuation.carry import Carried
from inspector.hooks import LARGEST_CONTEXT, HookError, answer
from inspector.usecases import UseCases
from storage.resources import counter
from tests.conftest import REPOSITORY
from tests.inspector.logs import NAME, Log, rows, usecases
from tests.inspector.program import ran

RULE = "The kiln must never be hotter than 1240 degrees."


def before(log: Path, **more: Any) -> dict[str, Any]:
    """As Claude Code 2.1 says it."""
    return {
        "session_id": NAME,
        "transcript_path": str(log),
        "cwd": "/home/u/demo",
        "permission_mode": "default",
        "hook_event_name": "PreCompact",
        "trigger": "auto",
        "custom_instructions": "",
        **more,
    }


def after(log: Path, **more: Any) -> dict[str, Any]:
    """As Claude Code 2.1 says it; Codex says the same and more."""
    return {
        "session_id": NAME,
        "transcript_path": str(log),
        "cwd": "/home/u/demo",
        "hook_event_name": "SessionStart",
        "source": "compact",
        "model": "claude-sonnet-4-5",
        **more,
    }


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A rule, two open items, and a decision; not compacted yet."""
    made = Log(tmp_path / "logs")
    made.path.parent.mkdir()
    made.user(RULE)
    made.assistant({"type": "text", "text": "Understood."})
    todos = [
        {"content": "mend the limit", "status": "in_progress", "activeForm": "mending"},
        {"content": "tell the potter", "status": "pending", "activeForm": "telling"},
        {"content": "read the manual", "status": "completed", "activeForm": "reading"},
    ]
    made.assistant({"type": "tool_use", "id": "t0", "name": "TodoWrite", "input": {"todos": todos}})
    made.result("t0", "Todos have been modified successfully.")
    made.assistant(
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make test"}}
    )
    made.result("t1", "Error: Exit code 2\nkiln.py:7: error: limit is 1300", is_error=True)
    for number in range(5):
        made.step(number)
    return made


@pytest.fixture
def cases(tmp_path: Path) -> Iterator[UseCases]:
    opened = usecases(tmp_path / "store.db", tmp_path)
    yield opened
    opened.close()


def asked(cases: UseCases, agent: str, event: str, words: object) -> Any:
    made = answer(cases, agent, event, json.dumps(words).encode())
    assert made.isascii()
    return json.loads(made) if made else None


def context(cases: UseCases, log: Path, agent: str = "claude") -> str:
    made = asked(cases, agent, "session-start", after(log))
    assert made is not None
    told = made["hookSpecificOutput"]
    assert set(made) == {"hookSpecificOutput"}
    assert told["hookEventName"] == "SessionStart"
    text: str = told["additionalContext"]
    return text


def pin_the_first_words(cases: UseCases) -> None:
    cases.pin(NAME, [next(row.seq for row in rows(cases) if row.type == "user/message")])


def test_before_a_compaction_the_log_is_read_and_nothing_is_said(cases: UseCases, log: Log) -> None:
    assert answer(cases, "claude", "pre-compact", json.dumps(before(log.path)).encode()) == b""
    assert cases.events(NAME) > 10


def test_before_a_compaction_what_weighs_too_much_graduates(tmp_path: Path, log: Log) -> None:
    log.user("And what next?")
    log.step(9)
    opened = usecases(tmp_path / "store.db", tmp_path, memory_tokens=0)
    asked(opened, "claude", "pre-compact", before(log.path))
    assert [row.kind for row in opened.audit(NAME)] == ["graduate"]
    opened.close()


@pytest.mark.parametrize("compacted", [False, True])
def test_pins_and_open_items_come_back_whether_the_log_tells_of_the_compaction_yet_or_not(
    cases: UseCases, log: Log, compacted: bool
) -> None:
    asked(cases, "claude", "pre-compact", before(log.path))
    pin_the_first_words(cases)
    if compacted:
        log.compact("This session is being continued. Nothing of note.")
    text = context(cases, log.path)
    assert text.startswith("# What was pinned and left open before the context was compacted\n")
    assert "context, not a request" in text
    assert f"## Pinned\n### [event 2] user\n```\n{RULE}\n```" in text
    assert "- mend the limit (in progress)\n- tell the potter" in text
    assert "read the manual" not in text, "what is finished stays finished"
    assert counter().count(text) <= 2_000


def test_the_same_log_gives_the_same_bytes(cases: UseCases, log: Log, tmp_path: Path) -> None:
    words = json.dumps(after(log.path)).encode()
    other = usecases(tmp_path / "other.db", tmp_path)
    first = answer(cases, "claude", "session-start", words)
    assert first == answer(other, "claude", "session-start", words)
    assert first == answer(cases, "claude", "session-start", words)
    other.close()


@pytest.mark.parametrize("budget", [64, 100, 150, 300, 600, 2_000, 50_000])
def test_it_is_never_above_the_budget_and_pins_are_never_a_reason_to_say_nothing(
    log: Log, tmp_path: Path, budget: int
) -> None:
    cases = usecases(tmp_path / "b.db", tmp_path, hook_budget=budget)
    cases.find(str(log.path))
    pinned = [row.seq for row in rows(cases) if row.type in ("tool/result", "user/message")]
    cases.pin(NAME, pinned)
    made = asked(cases, "claude", "session-start", after(log.path))
    if made is None:
        assert budget <= 100, "there is no room for the header and a line"
    else:
        text = made["hookSpecificOutput"]["additionalContext"]
        assert cases.carried(NAME) is not None
        assert counter().count(text) <= budget
        assert len(text.encode()) <= LARGEST_CONTEXT
        assert "pinned" in text
    if budget == 600:
        assert "too long to stand here" in text
        assert f"```\n{RULE}\n```" in text
    cases.close()


def test_a_text_of_another_script_keeps_to_the_agents_limit_too(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.user("窯の温度は決して千二百四十度を超えてはならない。" * 400)
    log.assistant({"type": "text", "text": "はい。"})
    cases = usecases(tmp_path / "j.db", tmp_path, hook_budget=50_000)
    cases.find(str(log.path))
    pin_the_first_words(cases)
    text = context(cases, log.path)
    assert len(text.encode()) <= LARGEST_CONTEXT
    assert "窯の温度" in text
    cases.close()


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "fork", "", None, 5])
def test_only_a_compaction_is_answered(cases: UseCases, log: Log, source: object) -> None:
    assert asked(cases, "claude", "session-start", after(log.path, source=source)) is None


def test_codex_asks_and_is_answered_in_the_same_words(cases: UseCases, log: Log) -> None:
    text = context(cases, log.path, "codex")
    assert "- mend the limit" in text


def test_for_pi_the_whole_summary_is_written(cases: UseCases, log: Log) -> None:
    cases.find(str(log.path))
    pin_the_first_words(cases)
    words = {"transcript_path": str(log.path), "session_id": NAME}
    summary = asked(cases, "pi", "before-compact", words)["summary"]
    assert summary.startswith("# Summary of the session so far\n")
    for part in ("Pinned", "What the user asked for", "Open items", "Unresolved errors"):
        assert f"\n## {part}\n" in summary
    assert "kiln.py:7: error: limit is 1300" in summary
    assert asked(cases, "pi", "after-compact", words)["context"] == context(cases, log.path)
    short = asked(cases, "pi", "before-compact", {**words, "tokens": 150})["summary"]
    assert counter().count(short) <= 150
    assert asked(cases, "pi", "before-compact", {**words, "tokens": 20}) is None
    assert asked(cases, "pi", "before-compact", {**words, "tokens": "many"})["summary"] == summary


def test_a_log_that_is_gone_is_known_by_its_session(cases: UseCases, log: Log) -> None:
    cases.find(str(log.path))
    kept = context(cases, log.path)
    log.path.unlink()
    assert context(cases, log.path) == kept
    assert asked(cases, "codex", "session-start", after(log.path, transcript_path=None))


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"{}",
        b'{"source": "compact", "session_id": 5, "transcript_path": ["x"]}',
        b'{"source": "compact", "session_id": "last"}',
        b'{"source": "compact", "session_id": "../../../etc/passwd", "transcript_path": "\\u0000"}',
        b'{"source": "compact", "transcript_path": "/"}',
        b'{"n": ' + b"9" * 6_000 + b"}",
    ],
)
def test_words_that_say_of_no_session_are_refused_by_name(given: bytes) -> None:
    class Untouched:
        def find(self, reference: str) -> str:
            raise AssertionError(reference)

        def keep_up(self, session: str) -> None:
            raise AssertionError(session)

        def carried(
            self,
            session: str,
            *,
            whole: bool = False,
            most: int | None = None,
            largest: int | None = None,
        ) -> Carried | None:
            raise AssertionError(session)

    for agent, event in (("claude", "session-start"), ("codex", "pre-compact")):
        if given == b"{}" and event == "session-start":
            assert answer(Untouched(), agent, event, given) == b""
            continue
        if b'"n"' in given and event == "session-start":
            continue
        with pytest.raises(HookError):
            answer(Untouched(), agent, event, given)
    for agent, event in (("claude", "stop"), ("vim", "pre-compact"), ("pi", "pre-compact")):
        with pytest.raises(HookError, match=r"There is no hook|was given no JSON"):
            answer(Untouched(), agent, event, given)


# The program itself


def hook(*words: str, given: bytes, db: Path, state: Path) -> subprocess.CompletedProcess[bytes]:
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(state),
        "XDG_STATE_HOME": str(state),
        "PYTHONPATH": str(REPOSITORY),
        "ULLAGE_DB": str(db),
    }
    return subprocess.run(
        [sys.executable, "-P", "-m", "inspector.cli", "hook", *words],
        env=environment,
        cwd=state,
        input=given,
        capture_output=True,
        check=False,
        timeout=300,
    )


def test_the_program_answers_a_huge_call_without_a_newline(tmp_path: Path, log: Log) -> None:
    db = tmp_path / "store.db"
    words = after(log.path, prompt="x" * 3_000_000, nested={"a": [[[]]]})
    done = hook("claude", "session-start", given=json.dumps(words).encode(), db=db, state=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "mend the limit" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (("claude", "session-start"), b"{"),
        (("claude", "pre-compact"), b'{"session_id": "0123456789abcdef"}'),
        (("claude",), b"{}"),
        (("claude", "session-start", "--what"), b"{}"),
    ],
)
def test_what_goes_wrong_is_noted_and_never_stands_in_the_agents_way(
    tmp_path: Path, words: tuple[str, ...], given: bytes
) -> None:
    done = hook(*words, given=given, db=tmp_path / "s.db", state=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (noted,) = tmp_path.rglob("errors.log")
    assert "Error" in noted.read_text()


def test_neither_a_damaged_store_nor_broken_settings_stand_in_its_way(
    tmp_path: Path, log: Log
) -> None:
    db = tmp_path / "store.db"
    db.write_bytes(b"no database " * 1_000)
    given = json.dumps(after(log.path)).encode()
    done = hook("claude", "session-start", given=given, db=db, state=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert db.read_bytes() == b"no database " * 1_000
    (tmp_path / ".ullage.toml").write_text("hook_budget = 'many'")
    done = hook("codex", "pre-compact", given=given, db=tmp_path / "t.db", state=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_hook_that_hangs_ends_by_itself_with_nothing(tmp_path: Path) -> None:
    """The agent never closes stdin."""
    script = (
        "import sys; from inspector import cli, cli_install; cli_install.HOOK_SECONDS = 0.5; "
        "sys.exit(cli.run(['hook', 'claude', 'session-start']))"
    )
    environment = {"PYTHONPATH": str(REPOSITORY), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.wait(timeout=120) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""
    finally:
        process.kill()
        process.communicate()
    (noted,) = tmp_path.rglob("errors.log")
    assert "took longer than 0.5 seconds" in noted.read_text()


def test_it_is_hidden_and_no_person_is_shown_it(tmp_path: Path) -> None:
    done = ran("--help", db=tmp_path / "s.db", cwd=tmp_path)
    assert b"install" in done.stdout
    assert b"\n  hook" not in done.stdout
