"""pi's own loader opens a copy, and gives exactly the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.agents import load_with_pi
from tests.interop.wire import of_pi, plain
from tests.resuming import PLANS, PlanKind, Planned, printed
from tests.storage.resume.test_pi import PROMPT, ROWS, SPENT
from tests.storage.sources.pi_logs import call, compaction, data, edit, entry, message

pytestmark = pytest.mark.interop


def check(log: Path, folder: Path, package: Path, kind: PlanKind) -> int:
    with Planned(log, folder, kind) as plan:
        copy = plan.copy()
    before = copy.path.read_bytes()
    assert of_pi(load_with_pi(package, copy.path, folder)) == plain(printed(copy.planned))
    # A file of an older form would have been rewritten.
    assert copy.path.read_bytes() == before
    return copy.operations


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANS)
def test_pi_loads_the_plan_of_a_long_session(
    corpus: Path, tmp_path: Path, pi: Path, kind: PlanKind
) -> None:
    log = corpus / "pi" / "pimono-large-session-v1.jsonl"
    assert check(log, tmp_path, pi, kind) or kind == "plain"


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name", ["made-c_keep", "made-e_two", "made-f_edit", "made-g_branch", "sandcastle-resumed-v3"]
)
def test_pi_loads_the_plan_of_a_short_session(
    corpus: Path, tmp_path: Path, pi: Path, name: str
) -> None:
    check(corpus / "pi" / f"{name}.jsonl", tmp_path, pi, "pins")


def test_pi_loads_entries_of_every_kind(tmp_path: Path, pi: Path) -> None:
    rows = [
        *ROWS,
        compaction("a5", "a4", "S", "a2", usage=SPENT, systemMessage=PROMPT),
        message("a6", "a5", "bashExecution", None, command="ls", output="o", exitCode=1),
        entry("custom_message", "a7", "a6", customType="k", content="c", display=True),
        entry("branch_summary", "a8", "a7", fromId="a1", summary="b"),
        edit("a9", "a8", "a3", "short"),
        message("b1", "a9", "user", "Ünd weiter \ud83d\ude00"),
        entry("model_change", "b2", "b1", provider="p", modelId="m"),
    ]
    log = tmp_path / "s.jsonl"
    log.write_bytes(data(rows))
    assert check(log, tmp_path, pi, "plain") == 0
    assert call("c1")["id"] in log.read_text()
