"""Real sessions of Claude Code, each with several plans: the copy holds exactly the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage.resume.base import ResumeRefusedError
from tests.conftest import CORPUS
from tests.resuming import PLANS, Copied, PlanKind, Planned, printed
from tests.storage.resume.claude_recipe import check_recipe

SESSIONS = sorted((CORPUS / "claude").glob("*.jsonl")) if CORPUS else []
SUB_AGENTS = [path for path in SESSIONS if "subagent" in path.stem or "sidechain" in path.stem]
MAIN = [path for path in SESSIONS if path not in SUB_AGENTS]
OPEN = ("entire-skills-2.1.108-long", "entire-skills-2.1.119")
"""They end with a call that has no result."""


def check(copied: Copied) -> None:
    check_recipe(copied.path.read_bytes().splitlines(), copied.report.session_id)
    assert printed(copied.read_back) == printed(copied.planned)


@pytest.mark.corpus
@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize(
    "log", [log for log in MAIN if log.stem not in OPEN], ids=lambda path: path.stem
)
def test_the_copy_holds_exactly_the_plan(log: Path, tmp_path: Path, kind: PlanKind) -> None:
    with Planned(log, tmp_path, kind) as planned:
        check(planned.copy())


@pytest.mark.corpus
@pytest.mark.parametrize("name", OPEN)
def test_an_open_call_is_refused_but_not_the_moment_before_it(
    corpus: Path, tmp_path: Path, name: str
) -> None:
    with Planned(corpus / "claude" / f"{name}.jsonl", tmp_path, "plain") as planned:
        with pytest.raises(ResumeRefusedError, match="has no result yet") as caught:
            planned.copy()
        check(planned.copy(int(str(caught.value.choices[0]))))


@pytest.mark.corpus
@pytest.mark.parametrize("log", SUB_AGENTS, ids=lambda path: path.stem)
def test_a_sub_agents_session_is_refused(log: Path, tmp_path: Path) -> None:
    with (
        Planned(log, tmp_path, "plain") as planned,
        pytest.raises(ResumeRefusedError, match="sub-agent's session"),
    ):
        planned.copy()
