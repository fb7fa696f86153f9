"""Artifacts follow from what the log states, event by event."""

from __future__ import annotations

from typing import Any

import pytest

from compress.artifacts.harvest import ArtifactHarvest, wanted
from compress.artifacts.standing import standing_items
from compress.artifacts.values import Artifact
from compress.entries import LogEntry, entry_of
from compress.events import ContentBlock, SessionEvent


class Log:
    """A session, told event by event."""

    def __init__(self) -> None:
        self.events: list[SessionEvent] = []

    def add(self, event_type: Any, *blocks: ContentBlock, **meta: Any) -> int:
        seq = len(self.events) + 1
        event = SessionEvent(
            seq=seq, type=event_type, native_id=f"n{seq}", blocks=blocks, meta=meta
        )
        self.events.append(event)
        return seq

    def todo(self, *items: str, kind: str = "todo", **meta: Any) -> int:
        """Items as ``+done``, ``>in progress``, ``open``."""
        statuses = {"+": "completed", ">": "in_progress"}
        listed = [
            {"text": item.lstrip("+>"), "status": statuses.get(item[:1], "pending")}
            for item in items
        ]
        return self.add("artifact/update", kind=kind, items=listed, **meta)

    def call(self, name: str, value: Any, call: str = "") -> str:
        call = call or f"c{len(self.events)}"
        block = ContentBlock(kind="tool_call", id=call, name=name, input=value)
        self.add("assistant/message", block)
        return call

    def result(self, call: str, *, failed: bool = False) -> int:
        return self.add("tool/result", ContentBlock(kind="tool_result", id=call, is_error=failed))

    def write(self, path: str, text: str, *, failed: bool = False) -> None:
        self.result(self.call("Write", {"file_path": path, "content": text}), failed=failed)

    def edit(self, path: str, old: str, new: str, *, failed: bool = False) -> None:
        value = {"file_path": path, "old_string": old, "new_string": new}
        self.result(self.call("Edit", value), failed=failed)

    def propose(self, plan: str, path: str = "") -> str:
        call = self.call("ExitPlanMode", {"plan": plan})
        document = {"call": call, "field": "plan", **({"path": path} if path else {})}
        self.add("artifact/update", kind="plan", items=[], document=document)
        return call

    def decide(self, call: str, decision: str) -> int:
        return self.add("approval/decision", call=call, decision=decision)

    def entries(self) -> list[LogEntry]:
        return [entry_of(event, [0] * len(event.blocks)) for event in self.events]

    def artifacts(self) -> tuple[Artifact, ...]:
        entries = self.entries()
        asked = set(wanted(entries))
        harvest = ArtifactHarvest("an agent", "s")
        for entry, event in zip(entries, self.events, strict=True):
            harvest.feed(entry, event.blocks if entry.seq in asked else ())
        return harvest.artifacts()

    def open_items(self) -> list[str]:
        items = standing_items(reversed(self.entries()))
        return [item.text for item in items if item.status != "completed"]


def told(artifact: Artifact) -> list[tuple[str, str]]:
    return [(step.title, step.status) for step in artifact.steps]


# Lists


def test_a_list_keeps_its_id_while_its_items_change_their_state() -> None:
    log = Log()
    first = log.todo(">Read", "Write", "Run")
    (begun,) = log.artifacts()
    second = log.todo("+Read", ">Write", "Run")
    (found,) = log.artifacts()
    assert found.id == begun.id
    assert told(found) == [("Read", "completed"), ("Write", "in_progress"), ("Run", "pending")]
    assert (found.status, found.current_step) == ("in_progress", 2)
    assert [step.source_event_seqs for step in found.steps] == [
        (first, second),
        (first, second),
        (first,),
    ]
    assert found.source_event_seqs == (first, second)


def test_the_current_step_is_the_one_in_progress_else_the_first_not_done() -> None:
    for items, current in (
        (("a", ">b", "c"), 2),
        (("+a", "b", "c"), 2),
        (("a", "+b"), 1),
        (("+a", "+b"), None),
    ):
        log = Log()
        log.todo(*items)
        assert log.artifacts()[0].current_step == current


def test_another_list_takes_the_place_of_one_that_was_not_finished() -> None:
    log = Log()
    log.todo("+a", "b")
    second = log.todo("x", "y")
    old, new = log.artifacts()
    assert (old.status, old.current_step) == ("replaced", None)
    assert old.source_event_seqs[-1] == second
    assert (new.status, new.current_step) == ("pending", 1)
    assert old.id != new.id


def test_a_finished_list_stays_finished_and_a_cleared_one_is_taken_away() -> None:
    log = Log()
    log.todo("+a", "+b")
    log.todo("x")
    log.todo()
    assert [found.status for found in log.artifacts()] == ["completed", "replaced"]
    assert log.open_items() == []


def test_a_plan_of_the_agents_tool_is_no_to_do_list_and_brings_its_own_summary() -> None:
    log = Log()
    log.todo("a", "b")
    log.todo(">x", "y", kind="plan", explanation="First x, since y needs it.")
    todo, plan = log.artifacts()
    assert (todo.kind, plan.kind) == ("todo", "plan")
    assert (plan.summary, plan.summary_made) == ("First x, since y needs it.", False)
    assert (todo.summary, todo.summary_made) == ("a · b", True)


@pytest.mark.parametrize(
    "items", [None, 3, "a", [], [1, None], [{}], [{"text": None, "status": {}}], {"a": 1}]
)
def test_what_is_no_list_raises_nothing(items: Any) -> None:
    log = Log()
    log.add("artifact/update", kind="todo", items=items)
    log.add("artifact/update", kind=[], items=items, document={"call": 3, "path": []})
    for found in log.artifacts():
        assert found.title
        assert found.summary


# Documents

PLAN = "# Cache\n\n## 1. Add it\ntext\n\n## 2. Use it\n"


def test_a_plan_is_proposed_then_approved_and_its_text_is_whole() -> None:
    log = Log()
    call = log.propose(PLAN, "/h/.claude/plans/x.md")
    (found,) = log.artifacts()
    assert (found.kind, found.status, found.path) == (
        "document",
        "proposed",
        "/h/.claude/plans/x.md",
    )
    assert found.text == PLAN
    decided = log.decide(call, "approved")
    (found,) = log.artifacts()
    assert (found.status, found.current_step) == ("approved", 1)
    assert found.source_event_seqs[-1] == decided
    assert [step.text for step in found.steps] == ["## 1. Add it\ntext\n", "## 2. Use it\n"]
    assert [step.lines for step in found.steps] == [(3, 5), (6, 7)]


def test_a_rejected_plan_holds_no_open_step_until_it_is_written_anew() -> None:
    log = Log()
    log.decide(log.propose(PLAN, "p.md"), "rejected")
    (found,) = log.artifacts()
    assert (found.status, found.current_step) == ("rejected", None)
    log.propose(PLAN.replace("# Cache", "# Smaller cache"), "p.md")
    (found,) = log.artifacts()
    assert (found.title, found.status) == ("Smaller cache", "proposed")


def test_after_an_approval_another_title_is_another_plan() -> None:
    log = Log()
    log.decide(log.propose(PLAN, "p.md"), "approved")
    log.edit("p.md", "text", "more text")
    assert len(log.artifacts()) == 1, "the same plan, in another state"
    log.edit("p.md", "# Cache", "# Index")
    old, new = log.artifacts()
    assert (old.title, old.status) == ("Cache", "replaced")
    assert (new.title, new.status, new.current_step) == ("Index", "pending", 1)
    assert "more text" in new.text


def test_a_file_in_a_folder_for_plans_is_followed_by_its_writes_and_edits() -> None:
    log = Log()
    log.write("/p/docs/plans/a.md", "# A\n\n- [ ] one\n- [ ] two\n")
    log.write("/p/docs/notes/a.md", "# Notes\n\n- [ ] no\n- [ ] no\n")
    log.write("/p/plans/a.py", "- [ ] no\n")
    log.edit("/p/docs/plans/a.md", "- [ ] one", "- [x] one")
    log.edit("/p/docs/plans/a.md", "- [ ] two", "- [x] two", failed=True)
    (found,) = log.artifacts()
    assert told(found) == [("one", "completed"), ("two", "pending")]
    assert (found.status, found.current_step, found.stale) == ("in_progress", 2, False)


def test_a_change_that_failed_or_has_no_result_changed_nothing() -> None:
    log = Log()
    log.write("plans/a.md", PLAN, failed=True)
    log.call("Write", {"file_path": "plans/a.md", "content": PLAN})
    assert log.artifacts() == ()


def test_an_edit_that_cannot_be_followed_leaves_the_older_text_and_says_so() -> None:
    log = Log()
    log.write("plans/a.md", PLAN)
    log.edit("plans/a.md", "what a person wrote there", "x")
    (found,) = log.artifacts()
    assert (found.stale, found.text) == (True, PLAN)
    log.write("plans/a.md", PLAN + "more\n")
    assert not log.artifacts()[0].stale


def test_a_plan_that_is_asked_about_without_a_path_is_the_file_with_its_text() -> None:
    log = Log()
    log.write("/h/plans/x.md", PLAN)
    log.decide(log.propose(PLAN.strip()), "approved")
    (found,) = log.artifacts()
    assert (found.path, found.status) == ("/h/plans/x.md", "approved")


def test_a_proposed_text_may_be_the_events_own_content() -> None:
    log = Log()
    text = ContentBlock(kind="text", text=PLAN)
    log.add("artifact/update", text, kind="plan", items=[], document={})
    (found,) = log.artifacts()
    assert (found.title, found.text, found.status) == ("Cache", PLAN, "proposed")


def test_a_summary_is_the_lead_or_made_of_title_and_headings() -> None:
    log = Log()
    log.write("plans/a.md", "# T\n\nWhat it is for.\n\n## 1. One\n\n## 2. Two\n")
    log.write("plans/b.md", "# T\n\n## 1. One\n\n## 2. Two\n")
    own, made = log.artifacts()
    assert (own.summary, own.summary_made) == ("What it is for.", False)
    assert (made.summary, made.summary_made) == ("T: 1. One · 2. Two", True)


# What is open


def test_the_newest_list_or_a_later_plan_says_what_is_open() -> None:
    log = Log()
    log.todo("+a", "b")
    assert log.open_items() == ["b"]
    items = [{"text": "x", "status": "pending"}]
    log.add("artifact/update", kind="plan", items=items, document={"call": "c", "field": "plan"})
    assert log.open_items() == ["x"]
    log.decide("c", "rejected")
    assert log.open_items() == ["b"], "a plan that was refused is nothing to do"
    log.todo("+a", "+b")
    assert log.open_items() == []


def test_an_approved_plan_whose_list_is_done_is_not_open_again() -> None:
    log = Log()
    items = [{"text": "x", "status": "pending"}]
    log.add("artifact/update", kind="plan", items=items, document={"call": "c", "field": "plan"})
    log.decide("c", "approved")
    log.todo("+do x")
    assert log.open_items() == []
