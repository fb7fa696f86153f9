"""The rule-based summary: what stands in it, in which order, under any budget."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.compaction.digest import digest
from compress.compaction.errors import BudgetError
from compress.compaction.identifiers import identifiers
from compress.compaction.loss import lost_by
from compress.compaction.service import preview_region
from compress.compaction.summary import summarise
from compress.compaction.values import Summary
from tests.compress.logs import COUNTER, Log, logs


def work() -> Log:
    """A small repair: instructions, reads, an edit, a failing and a passing test run, a todo
    list."""
    log = Log()
    log.user("Fix the parser. Never touch poetry.lock.")
    log.fact(
        "artifact/update",
        kind="todo",
        items=[{"text": "write a test", "status": "pending"}],
    )
    log.assistant("reading", "r", r={"file_path": "src/parse.py"})
    log.result("r", "def parse_header():\n    pass\n" * 40)
    log.assistant(
        "", "e", e={"file_path": "src/parse.py", "old_string": "pass", "new_string": "return 1"}
    )
    log.result("e", "ok")
    log.assistant("", "w", w={"file_path": "tests/test_parse.py", "content": "assert True"})
    log.result("w", "ok")
    log.assistant("", "t", t={"command": "pytest -x tests"})
    log.result("t", "collected\ntests/test_parse.py:12: AssertionError\n1 failed", error=True)
    log.assistant("", "b", b={"command": "make watch", "run_in_background": True})
    log.result("b", "started job 77")
    log.steer("use tabs, not spaces")
    log.fact(
        "artifact/update",
        kind="todo",
        items=[
            {"text": "write a test", "status": "completed"},
            {"text": "mend parse_header", "status": "in_progress"},
            {"text": "update the docs", "status": "pending"},
        ],
    )
    log.assistant("The header is parsed now; see `parse_header`.")
    log.user("thanks, go on")
    log.assistant("going on " + "word " * 400)
    return log


def summary_of(log: Log, budget: int = 4_000) -> Summary:
    session = log.session()
    return summarise(digest(session, session.plan.surface.nodes), COUNTER, budget)


def section(summary: Summary, title: str) -> str:
    return summary.text.split(f"## {title}\n")[1].split("\n\n## ")[0]


def test_instructions_stand_verbatim_with_their_events_in_log_order() -> None:
    assert section(summary_of(work()), "User instructions") == (
        "- [event 1] Fix the parser. Never touch poetry.lock.\n"
        "- [event 13] use tabs, not spaces\n"
        "- [event 16] thanks, go on"
    )


def test_the_first_request_stands_whole_before_any_name() -> None:
    rules = "".join(f"\n{n}. Never change the table number {n} of the store." for n in range(1, 15))
    log = Log()
    log.user(f"Find the lost readings.{rules}")
    for number in range(60):
        names = " ".join(f"read_part_{chr(97 + n)}{number}_of_gauge" for n in range(12))
        log.assistant(f"See {names}.", "r", r={"file_path": f"src/gauges/part{number}.py"})
        log.result("r", names)
    log.user("go on")
    summary = summary_of(log, 600)
    assert rules.strip().replace("\n", "\n  ") in section(summary, "User instructions")
    assert not summary.degraded


def test_open_items_stand_and_finished_ones_are_not_brought_back() -> None:
    assert section(summary_of(work()), "Open items") == (
        "- mend parse_header (in progress)\n- update the docs"
    )


def test_files_say_what_was_done_to_them() -> None:
    lines = section(summary_of(work()), "Files")
    assert "src/parse.py: changed ×1, read ×1" in lines
    assert "tests/test_parse.py: created" in lines


def test_unresolved_errors_keep_their_telling_lines_until_the_call_succeeds() -> None:
    log = work()
    assert "tests/test_parse.py:12: AssertionError" in section(summary_of(log), "Unresolved errors")
    log.assistant("", "t2", t2={"command": "pytest -x tests"})
    log.result("t2", "1 passed")
    assert "Unresolved errors" not in summary_of(log).text


def test_running_jobs_are_remembered() -> None:
    assert "make watch [event 11]" in section(summary_of(work()), "Running jobs")


def test_a_job_whose_exit_code_a_later_call_states_runs_no_longer() -> None:
    log = Log()
    log.user("watch the build")
    log.assistant("", "b", b={"command": "make watch", "run_in_background": True})
    log.result("b", "started as bash_7")
    assert "make watch" in section(summary_of(log), "Running jobs")
    log.assistant("", "o", o={"bash_id": "bash_7"})
    log.result("o", "still building")
    assert "make watch" in section(summary_of(log), "Running jobs")
    log.assistant("", "p", p={"bash_id": "bash_7"})
    log.result("p", "built\n<exit_code>0</exit_code>")
    assert "Running jobs" not in summary_of(log).text


def test_the_first_request_stands_before_rules_that_were_injected_as_a_message() -> None:
    log = Log()
    log.user("rule " * 3_000)
    log.user("Mend the parser, and keep its signature.")
    log.assistant("reading")
    for number in range(40):
        log.user(f"a small remark, number {number}")
    assert "Mend the parser, and keep its signature." in summary_of(log, 512).text


def test_calls_that_failed_alike_stand_once() -> None:
    log = Log()
    log.user("go")
    for call in ("one", "two", "three"):
        log.assistant("", call, **{call: {"command": f"run {call}"}})
        log.result(call, "src/a.py:3: BrokenError", error=True)
    errors = section(summary_of(log), "Unresolved errors")
    assert errors.count("BrokenError") == 1
    assert "and 2 more calls" in errors


def test_the_agents_last_words_stand_with_their_beginning_and_their_end() -> None:
    log = Log()
    log.user("go")
    middle = [f"line {number} of a long report" for number in range(200)]
    log.assistant("\n".join(["The parser is mended.", *middle, "Next: the docs."]))
    said = section(summary_of(log, 700), "Reported")
    assert "The parser is mended." in said
    assert "Next: the docs." in said


def test_names_stand_by_the_file_that_they_were_named_in_and_a_series_is_cut() -> None:
    log = Log()
    log.user("go")
    fields = " ".join(f"field_{number}" for number in range(30))
    log.assistant("", "r", r={"file_path": "src/frame.py"})
    log.result("r", f"class FrameReader: read_frame write_frame {fields}")
    names = section(summary_of(log), "Names")
    assert "- In frame.py: " in names
    assert "FrameReader" in names
    assert names.count("field_") == 3
    assert "… and 27 more" in names


def test_a_member_of_an_object_is_told_from_a_file_by_the_extensions_of_the_session() -> None:
    log = Log()
    log.user("go")
    log.assistant("", "r", r={"command": "list"})
    log.result("r", "src/app/main.go util.go t.Fatal\nand no more")
    names = section(summary_of(log), "Names")
    assert "util.go" in names
    assert "t.Fatal" not in names


def test_sections_come_by_priority_and_empty_ones_are_left_out() -> None:
    titles = [line[3:] for line in summary_of(work()).text.split("\n") if line.startswith("## ")]
    assert titles == [
        "User instructions",
        "Open items",
        "Running jobs",
        "Unresolved errors",
        "Reported",
        "Last steps",
        "Files",
        "Commands",
        "Finished items",
        "Names",
    ]


def test_a_long_message_is_degraded_to_headline_and_pointer_and_reported() -> None:
    log = work()
    log.user("always " * 3_000)
    log.user("last")
    summary = summary_of(log, 1_000)
    assert "- [event 18] always always" in summary.text
    assert "…" in section(summary, "User instructions")
    assert [line.endswith("[event 18]") for line in summary.degraded] == [True]


def test_many_messages_become_one_line_of_pointers() -> None:
    log = Log()
    for number in range(200):
        log.user(f"message number {number} " * 10)
    summary = summary_of(log, 256)
    assert "messages: the first at event 2, the last at" in section(summary, "User instructions")
    assert "message number 199" in summary.text
    assert "message number 0 " in summary.text


def test_lists_are_capped_and_say_how_many_they_leave_out() -> None:
    log = Log()
    log.user("go")
    for number in range(300):
        log.assistant("", f"c{number}", **{f"c{number}": {"file_path": f"src/f{number}.py"}})
        log.result(f"c{number}")
    files = section(summary_of(log, 1_000), "Files").split("\n")
    left_out = int(files[-1].split()[3])
    assert len(files) - 1 + left_out == 300


def test_pointers_above_the_budget_are_refused_with_both_numbers() -> None:
    with pytest.raises(BudgetError, match=r"take \d+ tokens, more than the budget of 20"):
        summary_of(work(), 20)


def test_the_agents_own_summary_is_merged_not_nested() -> None:
    log = work()
    log.compact(1, 17, "The agent's words about parse_header and poetry.lock")
    log.user("more " * 300)
    text = summary_of(log).text
    assert "The agent's words about parse_header" in section(
        summary_of(log), "Earlier summary by the agent"
    )
    assert "Never touch poetry.lock." in text


@settings(max_examples=50, deadline=None)
@given(logs(), st.sampled_from([256, 512, 1_000, 4_000, 32_000]))
def test_it_never_exceeds_its_budget_and_states_its_size(log: Log, budget: int) -> None:
    try:
        summary = summary_of(log, budget)
    except BudgetError:
        return
    assert summary.tokens == COUNTER.count(summary.text) <= budget


def test_identifiers_are_told_by_shape() -> None:
    text = (
        r"see src/a/b.py:12 and https://ex.org/p?q=1, call run_all() or camelCase; v1.2.3 ab12cd9"
    )
    assert [name for name, _ in identifiers(text)] == [
        "src/a/b.py",
        "https://ex.org/p?q=1",
        "run_all",
        "camelCase",
        "v1.2.3",
        "ab12cd9",
    ]
    assert list(identifiers("plain words of any language, así, и так, 的")) == []
    assert [name for name, _ in identifiers(r"C:\repo\main.c and \nWarning")] == [r"C:\repo\main.c"]


def test_what_is_lost_is_what_stands_nowhere_any_more() -> None:
    log = work()
    preview = preview_region(log.session(), 1, 15, budget=400)
    log.commit(preview.draft)
    session = log.session()
    lost = lost_by(session, session.plan.surface.shadowed["o3"])
    assert lost.identifiers == preview.lost.identifiers
    assert "poetry.lock" not in lost.identifiers
    assert lost.instructions == ()


def test_the_agents_own_compaction_is_judged_by_the_same_measure() -> None:
    log = work()
    theirs = log.compact(1, 17, "We mended parse_header.")
    session = log.session()
    lost = lost_by(session, session.plan.surface.shadowed[theirs])
    assert "poetry.lock" in lost.identifiers
    assert "parse_header" not in lost.identifiers
    assert "use tabs, not spaces [event 13]" in lost.instructions
    assert len(lost.errors) == 1


def test_a_checkpoint_in_a_resumed_copy_is_an_earlier_summary_and_no_request() -> None:
    first = work()
    nodes = first.nodes()
    made = preview_region(first.session(), nodes[0], nodes[-1], budget=1_000)
    copy = Log()
    copy.user(made.draft.events[2].blocks[0].text)
    copy.user("now the docs")
    copy.assistant("word " * 400)
    found = digest(copy.session(), copy.nodes())
    assert [one.text for one in found.said] == ["now the docs"]
    assert len(found.earlier) == 1
    summary = summary_of(copy)
    assert "This is a checkpoint" not in summary.text
    assert "### User instructions" in section(summary, "Earlier summary by the agent")
    assert "never touch poetry.lock" in summary.text.lower()
