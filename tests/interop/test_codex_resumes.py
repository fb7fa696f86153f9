"""Codex itself resumes a copy, and asks its provider for exactly the plan.

What it adds of its own stands around the plan: its base instructions before, today's settings
and the new prompt behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.interop.agents import PROBE
from tests.interop.conftest import Codex
from tests.interop.wire import Line, plain
from tests.resuming import PLANS, PlanKind, Planned, printed
from tests.storage.resume.test_codex import ROWS
from tests.storage.sources.codex_logs import call, data, item, output, said

pytestmark = pytest.mark.interop

LONG = ("entire-0.125.0-prefix", "opk-0.34.0-long")
OWN_STARTS = ("<", "# AGENTS.md instructions")
"""How a text begins that Codex itself writes in the user's name."""


def check(sent: Sequence[Line], planned: Sequence[Line]) -> None:
    before, behind = sent[:1], sent[1 + len(planned) :]
    assert [line[0] for line in before] == ["developer"]
    assert sent[1 : 1 + len(planned)] == planned
    said = [str(line[4]) for line in behind if line[0] == "user"]
    assert PROBE in said
    assert all(text == PROBE or text.startswith(OWN_STARTS) for text in said)
    assert {line[0] for line in behind} <= {"user", "developer"}


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"),
    [("yt-0.106.0", kind) for kind in PLANS]
    + [(name, kind) for name in LONG for kind in ("plain", "pins")]
    + [("entire-skills-0.118.0", kind) for kind in ("plain", "micro", "pins")],
)
def test_codex_sends_the_plan(
    corpus: Path, tmp_path: Path, codex: Codex, name: str, kind: PlanKind
) -> None:
    with Planned(corpus / "codex" / f"{name}.jsonl", tmp_path, kind, codex.environment) as plan:
        copy = plan.copy()
    assert copy.operations or kind == "plain"
    check(codex.sends(copy), plain(printed(copy.planned)))


def test_codex_sends_calls_of_every_kind(tmp_path: Path, codex: Codex) -> None:
    log = tmp_path / "rollout-2026-01-01T00-00-00-019f0000-0000-7000-8000-000000000001.jsonl"
    patch = "*** Begin Patch\n*** End Patch"
    more = [
        said("user", "Ünd weiter 😀"),
        item("custom_tool_call", name="apply_patch", input=patch, call_id="c2"),
        item("custom_tool_call_output", call_id="c2", output="Done"),
        call("open"),
        said("user", "Never mind."),
        call("c3"),
        output("c3", [{"type": "input_text", "text": "in parts"}]),
    ]
    log.write_bytes(data([*ROWS, *more]))
    with Planned(log, tmp_path, "plain", codex.environment) as plan:
        copy = plan.copy()
    sent = codex.sends(copy)
    check(sent, plain(printed(copy.planned)))
    assert ("user", "tool_result", "open", "null", "aborted", None, 0) in sent
