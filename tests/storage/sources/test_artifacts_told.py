"""Plans and lists as each agent's log tells them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compress.artifacts.harvest import ArtifactHarvest, wanted
from compress.artifacts.values import Artifact
from compress.entries import entry_of
from compress.events import SessionEvent
from storage.sources.base import SourceAdapter
from storage.sources.claude import ClaudeAdapter
from storage.sources.codex import CodexAdapter
from storage.sources.pi_lists import list_items
from tests.derivation import read, records
from tests.storage.sources import codex_logs as codex
from tests.storage.sources import pi_logs as pi


def harvest(events: list[SessionEvent], agent: str = "") -> tuple[Artifact, ...]:
    entries = [entry_of(event, [0] * len(event.blocks)) for event in events]
    asked = set(wanted(entries))
    found = ArtifactHarvest(agent, "s")
    for entry, event in zip(entries, events, strict=True):
        found.feed(entry, event.blocks if entry.seq in asked else ())
    return found.artifacts()


def artifacts_in(adapter: SourceAdapter, path: Path) -> tuple[Artifact, ...]:
    _, events = read(adapter, path)
    return harvest(next(iter(events.values())))


def told(artifact: Artifact) -> list[tuple[str, str]]:
    return [(step.title, step.status) for step in artifact.steps]


# Made logs


def test_codex_proposes_a_plan_as_an_item_of_its_own() -> None:
    plan = "# Cache\n\n" + "Long. " * 500 + "\n\n1. Add it\n2. Use it\n"
    later = plan.replace("Add it", "Add it well")
    rows = [codex.meta(), codex.note("item_completed", item={"type": "Plan", "text": plan})]
    log = codex.events(rows)
    assert log[-1].meta["items"] == [
        {"text": "Add it", "status": "pending"},
        {"text": "Use it", "status": "pending"},
    ]
    (found,) = harvest(log)
    assert (found.kind, found.status, found.text) == ("document", "proposed", plan)
    assert CodexAdapter().blocks(rows[-1], 0) == log[-1].blocks, "read again from the record alone"
    rows.append(codex.note("item_completed", item={"type": "Plan", "text": later}))
    (found,) = harvest(codex.events(rows))
    assert [title for title, _ in told(found)] == ["Add it well", "Use it"]


def test_codex_keeps_a_plan_by_its_tool_and_a_plan_file_by_patches() -> None:
    patch = "*** Begin Patch\n*** Add File: docs/plans/a.md\n+# A\n+- [ ] one\n+- [ ] two\n"
    tick = "*** Begin Patch\n*** Update File: docs/plans/a.md\n@@\n-- [ ] one\n+- [x] one\n"
    end = "*** End Patch\n"
    plan = '{"plan": [{"step": "one", "status": "in_progress"}], "explanation": "why"}'
    log = codex.events(
        [
            codex.meta(),
            codex.item("custom_tool_call", name="apply_patch", input=patch + end, call_id="a"),
            codex.item("custom_tool_call_output", call_id="a", output="Success"),
            codex.call("b", "update_plan", plan),
            codex.output("b", "Plan updated"),
            codex.item("custom_tool_call", name="apply_patch", input=tick + end, call_id="c"),
            codex.item("custom_tool_call_output", call_id="c", output="Success"),
        ]
    )
    document, steps = harvest(log)
    assert told(document) == [("one", "completed"), ("two", "pending")]
    assert (steps.kind, steps.summary, told(steps)) == ("plan", "why", [("one", "in_progress")])


def test_pi_keeps_lists_by_its_extensions() -> None:
    todos = [{"id": 1, "text": "one", "done": True}, {"id": 2, "text": "two", "done": False}]
    result = pi.message(
        "r", "a", "toolResult", [], toolCallId="c", toolName="todo", details={"todos": todos}
    )
    steps = [{"step": 1, "text": "first", "completed": False}]
    data = {"enabled": False, "executing": True, "todos": steps}
    rows = [
        pi.HEADER,
        pi.message("u", None, "user", "go"),
        pi.answer("a", "u", pi.call("c"), stop="toolUse"),
        result,
        pi.entry("custom", "x", "r", customType="plan-mode", data=data),
    ]
    todo, plan = harvest(pi.events(rows))
    assert (todo.kind, told(todo)) == ("todo", [("one", "completed"), ("two", "pending")])
    assert (plan.kind, told(plan)) == ("plan", [("first", "pending")])
    assert pi.texts(rows) == pi.texts(rows[:-1]), "no list stands on the surface"


@pytest.mark.parametrize(
    ("state", "items"),
    [
        ({"todos": [{"content": "a", "status": "in_progress"}]}, [("a", "in_progress")]),
        ({"todos": [{"text": "a", "status": "cancelled"}, {"text": "b"}]}, [("b", "pending")]),
        ({"todos": [{"text": 3}, 4, None, {}]}, []),
        ({"todos": "a"}, None),
        (None, None),
        ([1], None),
    ],
)
def test_an_extension_of_pi_may_put_anything_there(state: Any, items: Any) -> None:
    found = list_items(state)
    assert (None if found is None else [(i["text"], i["status"]) for i in found]) == items


# Real logs, checked by hand against their records


def lines_of(adapter: SourceAdapter, path: Path) -> tuple[list[SessionEvent], dict[int, int]]:
    """The events of a log, and the line of each event's record."""
    reader = adapter.open(path)
    events: list[SessionEvent] = []
    lines: dict[int, int] = {}
    for record in records(path.read_bytes()):
        for derived in reader.feed(record):
            events.extend(derived.events)
            lines.update((int(event.seq), record.line) for event in derived.events)
    return events, lines


@pytest.mark.corpus
def test_a_session_with_a_plan_and_three_to_do_lists(corpus: Path) -> None:
    path = corpus / "claude" / "entire-2.1.7-compact3-interrupts.jsonl"
    events, lines = lines_of(ClaudeAdapter(), path)
    document, *lists = harvest(events)
    assert document.path == "/Users/usea/.claude/plans/curious-noodling-sloth.md"
    assert document.title == (
        "Implementation Plan: Initial Attribution Calculation for Manual-Commit"
    )
    assert [step.title for step in document.steps] == [
        "cmd/entire/cli/checkpoint/checkpoint.go (lines 318-343)",
        "cmd/entire/cli/checkpoint/committed.go (line 338)",
        "cmd/entire/cli/strategy/manual_commit_attribution.go (NEW FILE)",
        "cmd/entire/cli/strategy/manual_commit_condensation.go (line ~115)",
    ]
    assert (document.status, document.current_step, document.stale) == ("approved", 1, False)
    # Write, Edit, ExitPlanMode (call and update), and the approval in its result.
    assert [lines[int(seq)] for seq in document.source_event_seqs] == [147, 170, 173, 173, 174]

    def places(artifact: Artifact) -> list[tuple[int, int]]:
        """Of each step, the lines that first listed it and that completed it."""
        return [
            (lines[int(step.source_event_seqs[0])], lines[int(step.source_event_seqs[-1])])
            for step in artifact.steps
        ]

    assert [found.status for found in lists] == ["completed"] * 3
    ends = (194, 194, 194, 204, 211, 224, 234, 293)
    assert places(lists[0]) == [(176, end) for end in ends]
    assert places(lists[1]) == [(420, 429), (420, 429), (420, 472), (429, 472), (420, 478)]
    assert places(lists[2]) == [(601, 632), (601, 662), (601, 681), (601, 754)]


@pytest.mark.corpus
def test_a_session_with_tasks_and_a_plan_file(corpus: Path) -> None:
    path = corpus / "claude" / "entire-2.1.29-image.jsonl"
    events, lines = lines_of(ClaudeAdapter(), path)
    document, tasks = harvest(events)
    assert document.path is not None
    assert document.path.endswith("/docs/plans/2026-02-03-session-end-tracking.md")
    heads = [3, 7, 30, 80, 187, 195, 201, 215]
    assert [step.lines[0] for step in document.steps if step.lines] == heads
    assert {step.status for step in document.steps} == {"unknown"}
    assert [lines[int(seq)] for seq in document.source_event_seqs] == [155]
    assert told(tasks) == [
        ("Add EndedAt field to session State struct", "completed"),
        ("Add Claude Code session-end hook constant and installation", "completed"),
        ("Add markSessionEnded helper and Claude handler", "completed"),
        ("Update Gemini handleGeminiSessionEnd and fix logging", "completed"),
        ("Run verification (fmt, lint, tests)", "completed"),
    ]
    completed = [lines[int(step.source_event_seqs[-1])] for step in tasks.steps]
    assert completed == [210, 254, 306, 329, 464]


@pytest.mark.corpus
def test_one_plan_file_that_held_five_plans(corpus: Path) -> None:
    path = corpus / "claude" / "entire-skills-2.1.108-long.jsonl"
    found = artifacts_in(ClaudeAdapter(), path)
    plans = [one for one in found if (one.path or "").endswith("cheerful-meandering-badger.md")]
    # The second was refused, rewritten under another title, and then approved.
    assert [(plan.title, plan.status) for plan in plans] == [
        ("Collab Skill: Dispatch Script + Auto-Approve Permissions", "replaced"),
        ("Collab Skill: Clean, Implement, Compare, Pick", "replaced"),
        ("Should Collab Move to the Entire CLI?", "replaced"),
        ("Rewrite SKILL.md as thin CLI wrapper", "replaced"),
        ("Remove turn ordering from dual-session mode", "approved"),
    ]
    assert all(not plan.stale for plan in plans)
    (tasks,) = (one for one in found if one.kind == "todo")
    assert (tasks.status, len(tasks.steps)) == ("completed", 26)
