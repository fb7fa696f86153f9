"""Plans and lists on the command line and in the app."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.screens.session import SessionScreen
from tests.inspector.conftest import Ullage
from tests.inspector.logs import Log
from tests.inspector.stage import on_stage, play, text_of

PLAN = "# Cache\n\nOne place.\n\n## 1. Add it\ntext\n\n## 2. Use it\n\n## 3. Test\n\n## 4. Say so\n"


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A plan that was approved, then a to-do list."""
    made = Log(tmp_path)
    made.user("cache it")
    made.assistant(_call("c1", "ExitPlanMode", plan=PLAN, planFilePath="/h/plans/c.md"))
    made.result("c1", "User has approved your plan.")
    todos = [
        {"content": "Add it \x1b[31m", "status": "completed", "activeForm": "Adding"},
        {"content": "Use it", "status": "in_progress", "activeForm": "Using"},
    ]
    made.assistant(_call("c2", "TodoWrite", todos=todos))
    made.result("c2", "ok")
    return made


def _call(call: str, name: str, **value: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": value}


def test_plans_and_lists_are_listed_with_their_steps(ullage: Ullage, log: Log) -> None:
    said = ullage("artifacts", log.path).out
    assert "document · approved · 4 steps" in said
    assert "/h/plans/c.md" in said
    assert "  1 · Add it" in said
    assert "todo · in progress · 1 of 2 steps done" in said
    assert "  2 ▸ Use it" in said
    assert "\x1b" not in said


def test_json_holds_every_field_and_what_stands_in_context(ullage: Ullage, log: Log) -> None:
    report = json.loads(ullage("artifacts", log.path, "--json").out)
    document, todo = report["artifacts"]
    assert set(document["artifact"]) >= {
        *("id", "kind", "title", "summary", "steps", "current_step", "status"),
        "source_event_seqs",
    }
    assert document["artifact"]["summary"] == "One place."
    assert document["artifact"]["text"] == PLAN
    assert document["artifact"]["current_step"] == 1
    assert todo["artifact"]["current_step"] == 2
    name = document["artifact"]["id"]
    assert f"4. Say so [artifact {name} step 4]" in document["context"]
    lines = ullage("artifacts", log.path, "--jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == report["artifacts"]


def test_a_pointer_is_followed_to_its_step(ullage: Ullage, log: Log) -> None:
    report = json.loads(ullage("artifacts", log.path, "--json").out)
    name = report["artifacts"][0]["artifact"]["id"]
    assert ullage("artifacts", log.path, name, "--step", 1).out == "## 1. Add it\ntext\n\n"
    assert ullage("artifacts", log.path, name[:9], "--full").out == PLAN + "\n"
    assert ullage("artifacts", log.path, name).out == report["artifacts"][0]["context"] + "\n"
    refused = ullage("artifacts", log.path, name, "--step", 5)
    assert refused.code == 1
    assert "has no step 5; its steps are 1 to 4" in refused.err
    assert ullage("artifacts", log.path, "zz").code == 1
    assert ullage("artifacts", log.path, "--step", 1).code == 2


def test_the_past_knows_only_what_came_before(ullage: Ullage, log: Log) -> None:
    (document, _) = json.loads(ullage("artifacts", log.path, "--json").out)["artifacts"]
    _, told, decided = document["artifact"]["source_event_seqs"]
    for at, status in ((told, "proposed"), (decided, "approved")):
        early = json.loads(ullage("artifacts", log.path, "--at", at, "--json").out)
        assert early["at_seq"] == at
        assert [one["artifact"]["status"] for one in early["artifacts"]] == [status]
    said = ullage("artifacts", log.path, "--at", 1).out
    assert "No plan, no to-do list" in said


async def test_a_key_puts_the_plans_in_the_place_of_the_detail() -> None:
    async with on_stage(None, "s", size=(160, 48)) as (app, pilot):
        shown = text_of(app)
        assert "plans, newest first" in shown
        assert "1 · Pass a clock to Reconnect" in shown
        assert "todo · in progress · 3 of 5 steps done" in shown
        await play(pilot, "up")
        assert "plans, newest first" in text_of(app), "the cursor moves, the plans stay"
        await play(pilot, "s")
        assert isinstance(app.screen, SessionScreen)
        assert "plans, newest first" not in text_of(app)
        assert "each further request sends" in text_of(app).lower()


async def test_plans_follow_the_time_slider() -> None:
    async with on_stage(None, "s", "less_than_sign", "less_than_sign", size=(160, 48)) as (app, _):
        assert "todo · in progress" in text_of(app)
