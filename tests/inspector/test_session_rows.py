"""The list of sessions: what is newest, what belongs below what, and how one is named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.usecases import UseCases
from storage.errors import UnknownSessionError
from tests.inspector.logs import NAME, Log, usecases

OTHER = "bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee"
AGENT = "a1b2c3"
LATE = "9999-12-31T23:59:59.000Z"
JANUARY = 1_767_312_000.0
"""2026-01-02 00:00 UTC, some hours before the times in the logs."""


@pytest.fixture
def cases(tmp_path: Path) -> Iterator[UseCases]:
    opened = usecases(tmp_path / "store.db", tmp_path)
    yield opened
    opened.close()


def written(folder: Path, name: str, days: float, **more: object) -> Path:
    """A log that was last written so many days after the second of January."""
    log = Log(folder, name)
    log.user(f"Words of {name}.", **more)
    os.utime(log.path, (JANUARY + days * 86_400,) * 2)
    return log.path


def ids(cases: UseCases) -> list[str]:
    return [row.id for row in cases.sessions()]


def test_the_session_that_was_heard_of_last_comes_first(cases: UseCases, tmp_path: Path) -> None:
    written(tmp_path, "absurd", 3, timestamp=LATE)
    written(tmp_path, "timeless", 2, timestamp="yesterday")
    written(tmp_path, "later", 9, timestamp="2026-01-09T00:00:00.000Z")
    written(tmp_path, "copied", 30, timestamp="2026-01-03T00:00:00.000Z")
    cases.ingest([tmp_path])
    assert ids(cases) == ["later", "absurd", "timeless", "copied"]


def test_a_sub_agent_stands_below_the_session_that_started_it(
    cases: UseCases, tmp_path: Path
) -> None:
    written(tmp_path, NAME, 1)
    written(tmp_path, OTHER, 5, timestamp="2026-01-05T00:00:00.000Z")
    newest = {"isSidechain": True, "sessionId": NAME, "timestamp": "2026-01-08T00:00:00.000Z"}
    written(tmp_path, f"agent-{AGENT}", 9, **newest)
    cases.ingest([tmp_path])
    assert ids(cases) == [NAME, f"agent-{AGENT}", OTHER]
    assert cases.sessions()[1].parent == NAME
    assert cases.find("last") == OTHER, "the newest of a person's own"


def test_sub_agents_that_name_each_other_are_listed_all_the_same(
    cases: UseCases, tmp_path: Path
) -> None:
    for name, parent in (("agent-1", "agent-2"), ("agent-2", "agent-1"), ("agent-3", "agent-3")):
        written(tmp_path, name, 1, isSidechain=True, sessionId=parent)
    cases.ingest([tmp_path])
    assert sorted(ids(cases)) == ["agent-1", "agent-2", "agent-3"]


def test_a_result_says_which_sub_agent_tells_it(cases: UseCases, tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.user("Look for timers.")
    call = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "Find them"}}
    log.assistant(call)
    log.result("toolu_1", "Six of them.", toolUseResult={"agentId": AGENT})
    log.step(2)
    written(tmp_path, f"agent-{AGENT}", 1, isSidechain=True, sessionId=NAME)
    cases.ingest([tmp_path])
    told = {
        row.headline: cases.detail(NAME, row.seq).sub_agent for row in cases.surface(NAME).nodes
    }
    assert told["Six of them."] == f"agent-{AGENT}"
    assert told["content of file 2"] is None


def test_a_side_chain_in_the_file_belongs_to_the_call_that_began_it(
    cases: UseCases, tmp_path: Path
) -> None:
    log = Log(tmp_path)
    log.user("Look for timers.")
    call = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "Find them"}}
    log.assistant(call)
    main = log._last
    log._last = None
    log.user("Find them", isSidechain=True)
    log._last = main
    log.result("toolu_1", "Six of them.")
    cases.ingest([tmp_path])
    (side,) = (row.id for row in cases.sessions() if row.relation == "subagent")
    result = next(row for row in cases.surface(NAME).nodes if row.headline == "Six of them.")
    assert cases.detail(NAME, result.seq).sub_agent == side


def test_no_name_is_no_session_even_where_there_is_only_one(
    cases: UseCases, tmp_path: Path
) -> None:
    written(tmp_path, NAME, 1)
    cases.ingest([tmp_path])
    with pytest.raises(UnknownSessionError, match="No session is named"):
        cases.find("")


def test_a_session_is_named_by_the_beginning_of_its_name_or_by_its_file(
    cases: UseCases, tmp_path: Path
) -> None:
    path = written(tmp_path, NAME, 1)
    written(tmp_path, OTHER, 1)
    assert cases.find(str(path)) == NAME
    cases.ingest([tmp_path])
    assert cases.find("aaaa") == NAME
    written(tmp_path, NAME[:-1] + "f", 1)
    cases.ingest([tmp_path])
    with pytest.raises(UnknownSessionError, match="several sessions") as refusal:
        cases.find("aaaa")
    assert refusal.value.choices == (NAME, NAME[:-1] + "f")
    assert cases.find("aaaa…f") == NAME[:-1] + "f"
    with pytest.raises(UnknownSessionError, match="is a folder, not a log"):
        cases.find(str(tmp_path))
    with pytest.raises(UnknownSessionError, match="ullage sessions lists them"):
        cases.find("zzz")
    with pytest.raises(UnknownSessionError, match="ullage sessions lists them"):
        cases.find("%")
