"""The stages inside turns: items, approvals, compactions, retries."""

from __future__ import annotations

from compress.events import ContentBlock
from tests.compress.decisions.story import Story, decided, listed


def test_an_item_runs_from_its_first_event_in_progress_to_its_completion() -> None:
    story = Story()
    story.says("go")
    story.record(listed(("a", "pending"), ("b", "pending")))
    begun = story.record(listed(("a", "in_progress"), ("b", "pending")))
    story.runs("c1", "runner", "Exit code 0\n2 passed")
    done = story.record(listed(("a", "completed"), ("b", "pending")))
    item = story.only("plan_item")
    assert (item.stage.title, item.first_seq, item.outcome, item.open) == (
        *("a", begun),
        *("success", False),
    )
    assert [(e.kind, e.text) for e in item.evidence] == [
        ("totals", "2 passed"),
        ("exit_code", "shell runner"),
        ("status", "completed"),
    ]
    assert done in item.source_event_seqs


def test_a_reworded_item_is_the_same_and_a_finished_one_is_not_told_again() -> None:
    story = Story()
    story.says("go")
    story.record(listed(("keep", "pending"), ("a", "in_progress")))
    story.record(listed(("keep", "pending"), ("a, in detail", "completed")))
    story.record(listed(("keep", "pending"), ("a, reworded", "completed")))
    story.record(listed(("new", "completed"), ("other", "completed")))
    # "keep" was dropped unbegun; what was first listed as completed never ran as far as is known.
    assert [p.stage.title for p in story.points("plan_item")] == ["a"]


def test_an_item_that_is_listed_no_more_is_over_and_unknown() -> None:
    story = Story()
    story.says("go")
    story.record(listed(("a", "in_progress")))
    story.record(listed(("b", "pending")))
    item = story.only("plan_item")
    assert (item.open, item.outcome) == (False, "unknown")


def test_a_result_belongs_to_the_item_in_whose_time_its_call_was_made() -> None:
    story = Story()
    story.says("go")
    story.record(listed(("a", "in_progress"), ("b", "pending")))
    call = story.calls("c1", "write", path="x.py", content="1")
    story.record(listed(("a", "completed"), ("b", "in_progress")))
    result = story.returns("c1", "ok")
    first, second = story.points("plan_item")
    assert [file.source_event_seqs for file in first.files] == [(call, result)]
    assert second.files == ()


def test_a_refused_call_is_an_approval_and_no_failure() -> None:
    story = Story()
    story.says("go")
    story.calls("c1", "shell", command="rm -r x", description="Clean up")
    story.returns(
        "c1", "refused", True, decided("rejected", "c1", message="not that"), declined=True
    )
    story.ends()
    approval, turn = story.only("approval"), story.only("turn")
    assert (approval.outcome, approval.rationale) == ("aborted", "Clean up")
    assert [s.text for s in approval.steering] == [s.text for s in turn.steering] == ["not that"]
    assert [e.kind for e in turn.evidence] == ["status"]


def test_an_allowed_call_is_over_when_it_has_run() -> None:
    story = Story()
    story.says("go")
    story.calls("c1", "shell", command="deploy")
    story.logs("approval/request", id="q1", callId="c1", reason="needs the network")
    assert story.only("approval").open
    story.logs("approval/decision", id="q1", decision="approved")
    assert story.only("approval").open
    story.returns("c1", "Exit code 0")
    approval = story.only("approval")
    assert (approval.open, approval.outcome, approval.rationale) == (
        *(False, "success"),
        "needs the network",
    )
    assert approval.stage.title == "shell deploy"


def test_what_nobody_decided_ends_with_the_turn_and_stays_unknown() -> None:
    story = Story()
    story.says("go")
    story.logs("approval/request", text="may I?")
    story.ends()
    approval = story.only("approval")
    assert (approval.open, approval.outcome, approval.stage.title) == (False, "unknown", "may I?")


def test_an_answer_is_the_reason() -> None:
    story = Story()
    story.says("go")
    story.calls("c1", "ask")
    story.returns("c1", "…", None, decided("answered", "c1", question="Which?", message="Left"))
    approval = story.only("approval")
    assert (approval.stage.title, approval.rationale, approval.outcome) == (
        *("Which?", "Left"),
        "success",
    )


def test_a_plan_that_was_handed_in_is_accepted_or_rejected() -> None:
    for decision, outcome in (("approved", "success"), ("rejected", "aborted")):
        story = Story()
        story.says("go")
        story.calls(
            "c1",
            "hand_in",
            ("artifact/update", {"meta": {"kind": "plan", "explanation": "# The way\n1. Go"}}),
            ("approval/request", {"meta": {"call": "c1"}}),
        )
        story.returns("c1", "…", None, decided(decision, "c1"), declined=decision == "rejected")
        plan = story.only("plan")
        assert (plan.stage.title, plan.summary, plan.outcome) == (
            *("The way", "# The way\n1. Go"),
            outcome,
        )


def test_a_compaction_has_its_summary_and_its_figures() -> None:
    story = Story()
    story.says("go")
    story.logs("compact/start", trigger="auto", pre_tokens=155_000)
    story.logs("compact/summary")
    text = ContentBlock(kind="text", text="So far: all.")
    story.record(("context/message", {"blocks": (text,), "meta": {"checkpoint": "agent"}}))
    story.record(("user/message", {"blocks": (text,), "meta": {"copy": True}}))
    story.logs("compact/end")
    compaction = story.only("compaction")
    assert (compaction.outcome, compaction.summary) == ("success", "So far: all.")
    assert [(e.text, e.value) for e in compaction.evidence] == [("pre_tokens", 155_000)]
    assert story.only("turn").steering == ()


def test_a_compaction_that_never_ended_is_aborted() -> None:
    story = Story()
    story.says("go")
    story.logs("compact/start")
    story.says("hello?")
    assert story.only("compaction").outcome == "aborted"


def test_attempts_at_the_same_thing_are_one_stage() -> None:
    story = Story()
    story.says("go")
    first = story.runs("c1", "make all", "Exit code 2\nerror: x.c")
    assert story.points("retry") == []
    story.runs("c2", "make all", "Exit code 2\nerror: y.c")
    assert story.only("retry").open
    last = story.runs("c3", "cd src && make all", "Exit code 0")
    chain = story.only("retry")
    assert (chain.outcome, chain.summary, chain.open) == ("retry", "3 attempts, 2 failed", False)
    assert (chain.first_seq, chain.sources.outcome) == (first - 1, (last - 1, last))
    assert [e.text for e in chain.evidence if e.kind == "error"] == ["error: x.c", "error: y.c"]


def test_attempts_that_never_worked_are_a_failure() -> None:
    story = Story()
    story.says("go")
    story.runs("c1", "make", "Exit code 2")
    story.runs("c2", "make", "Exit code 2")
    story.ends()
    assert story.only("retry").outcome == "failure"


def test_calls_at_the_same_time_are_no_attempts() -> None:
    story = Story()
    story.says("go")
    story.calls("c1", "shell", command="make")
    story.calls("c2", "shell", command="make")
    story.returns("c1", "Exit code 2")
    story.returns("c2", "Exit code 0")
    story.ends()
    assert story.points("retry") == []


def test_requests_that_were_made_again_are_one_stage() -> None:
    story = Story()
    story.says("go")
    story.logs("retry", message="status 529", attempt=1)
    story.logs("retry", message="status 529", attempt=2)
    answer = story.replies("here")
    chain = story.only("retry")
    assert (chain.outcome, chain.summary, chain.sources.outcome) == (
        *("retry", "3 attempts, 2 failed"),
        (answer,),
    )


def test_one_error_that_ended_the_turn_is_no_retry() -> None:
    story = Story()
    story.says("go")
    story.logs("error", message="bad request", kind="api_error")
    story.ends("error")
    assert story.points("retry") == []
    assert story.only("turn").outcome == "failure"
