"""Turns: title, steering, and how they ended."""

from __future__ import annotations

import pytest

from tests.compress.decisions.story import Story


def test_a_turn_that_runs_is_open_and_unknown() -> None:
    story = Story()
    story.says("fix it")
    story.runs("c1", "make", "Exit code 0")
    turn = story.only("turn")
    assert (turn.open, turn.outcome, turn.ended_at) == (True, "unknown", None)
    assert (turn.started_at, turn.stage.title, turn.summary) == (1001.0, "fix it", "shell make")


@pytest.mark.parametrize(
    ("results", "outcome"),
    [
        ([("make", "Exit code 0")], "success"),
        ([("make", "Exit code 2")], "failure"),
        ([("make", "Exit code 2"), ("make", "Exit code 0")], "success"),
        # Left failed, whatever else went well; and the last word was not the failure.
        ([("make", "Exit code 2"), ("ls", "Exit code 0")], "unknown"),
        ([("ls", "Exit code 0"), ("make", "Exit code 2")], "failure"),
        # Nothing is said.
        ([("make", "done")], "unknown"),
        ([], "unknown"),
        # Exit code 1 without a word of an error is an answer, not a failure.
        ([("grep x y", "Exit code 1")], "unknown"),
        ([("compare a b", "Exit code 1\nOnly in a: z")], "unknown"),
        ([("build", "Exit code 1\nError: no")], "failure"),
        ([("find . -name x", "Exit code 1\nError: denied")], "success"),
        # Totals weigh more than an exit code that a pipe hides, and a pipe's says nothing.
        ([("runner | tail", "Exit code 0\n3 failed, 1 passed")], "failure"),
        ([("runner | tail", "Exit code 0\n4 passed")], "success"),
        ([("make | tail", "Exit code 0")], "unknown"),
        ([("make", "Exit code 2"), ("make | tail", "Exit code 0")], "unknown"),
        # What was left before good totals is past.
        ([("ls x", "Exit code 2"), ("runner", "Exit code 0\n4 passed")], "success"),
        ([("runner", "Exit code 0\n4 passed"), ("ls x", "Exit code 2")], "failure"),
        # A count of zero is no failure.
        ([("runner", "Exit code 0\n4 passed, 0 failed")], "success"),
    ],
)
def test_the_outcome_follows_from_exit_codes_and_totals(
    results: list[tuple[str, str]], outcome: str
) -> None:
    story = Story()
    story.says("go")
    for place, (command, text) in enumerate(results):
        story.runs(f"c{place}", command, text)
    story.ends()
    assert story.only("turn").outcome == outcome


def test_a_change_after_a_failure_leaves_the_outcome_unknown() -> None:
    story = Story()
    story.says("go")
    story.runs("c1", "runner", "Exit code 1\n1 failed")
    story.calls("c2", "edit", path="a.py", old_string="x", new_string="y")
    story.returns("c2", "ok")
    story.ends()
    turn = story.only("turn")
    assert turn.outcome == "unknown"
    assert [(file.path, file.action) for file in turn.files] == [("a.py", "changed")]


def test_what_only_looks_never_makes_a_failure() -> None:
    story = Story()
    story.says("go")
    story.calls("c1", "read", path="a.py")
    story.returns("c1", "no such file", True)
    story.ends()
    turn = story.only("turn")
    assert (turn.outcome, turn.evidence[0].kind, len(turn.evidence)) == ("unknown", "status", 1)


@pytest.mark.parametrize("reason", ["interrupted", "aborted"])
def test_an_interruption_is_steering_and_what_follows_corrects_it(reason: str) -> None:
    story = Story()
    story.says("go left")
    end = story.ends(reason)
    said = story.says("no, right")
    first, second = story.points("turn")
    assert first.outcome == "aborted"
    assert [(s.kind, s.text, s.source_event_seqs) for s in first.steering] == [
        ("interruption", "", (end,))
    ]
    assert [(s.kind, s.text, s.source_event_seqs) for s in second.steering] == [
        ("correction", "no, right", (said,))
    ]


def test_words_by_the_way_are_steering() -> None:
    story = Story()
    story.says("go")
    seq = story.logs("steering/message", text="and quickly")
    (steering,) = story.only("turn").steering
    assert (steering.kind, steering.text, steering.source_event_seqs) == (
        *("message", "and quickly"),
        (seq,),
    )


def test_the_title_is_the_persons_not_the_programs() -> None:
    story = Story()
    story.says("<opened_file>a.py</opened_file> <note>x</note>")
    first = story.events[-1]
    block = first.blocks[0].model_copy(update={"text": "\n# Please\nfix it"})
    story.record(("user/message", {"blocks": (block,), "node": first.node}))
    turn = story.only("turn")
    assert (turn.stage.title, turn.sources.title) == ("Please", (2,))


def test_a_turn_that_goes_on_after_its_end_is_a_turn_of_its_own() -> None:
    story = Story()
    story.says("go")
    story.ends()
    story.replies("one more thing")
    first, second = story.points("turn")
    assert (first.open, second.open) == (False, True)
    assert (second.stage.title, second.sources.title) == ("go", (1,))


def test_the_reason_is_an_answer_else_a_commits_body_else_an_explanation() -> None:
    story = Story()
    story.says("go")
    story.calls("c1", "plan", ("artifact/update", {"meta": {"kind": "plan"}}), explanation="to see")
    assert story.only("turn").rationale == "to see"
    commit = story.runs("c2", "git commit -m 'Fix it' -m 'It was off by one.'", "Exit code 0")
    turn = story.only("turn")
    assert (turn.rationale, turn.sources.rationale) == ("It was off by one.", (commit - 1,))
    story.calls("c3", "ask")
    story.returns("c3", "yes", None, ("approval/decision", {"meta": {}}))
    story.record(
        ("approval/decision", {"meta": {"decision": "answered", "call": "c3", "message": "Left"}})
    )
    assert story.only("turn").rationale == "Left"


def test_an_error_of_the_provider_that_nothing_follows_is_a_failure() -> None:
    story = Story()
    story.says("go")
    error = story.logs("error", message="overloaded")
    story.says("again")
    first = story.points("turn")[0]
    assert (first.outcome, first.sources.outcome) == ("failure", (error,))
    story = Story()
    story.says("go")
    story.logs("error", message="parent x is not in the file", kind="gap")
    story.ends()
    assert story.only("turn").outcome == "unknown"
