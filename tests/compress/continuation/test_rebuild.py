"""The context rebuilder: what stands in it, in which order, under one budget."""

from __future__ import annotations

import pytest

from compress.continuation.errors import LocksExceedBudgetError
from compress.continuation.values import Continuation
from compress.decisions.values import TouchedFile
from compress.pins import pin_draft
from tests.compress.continuation.stories import candidate, context, decided, repair, section
from tests.compress.logs import COUNTER, Log

FILE = TouchedFile(path="src/parse.py", action="changed", source_event_seqs=(5,))


def names(made: Continuation) -> list[str]:
    return [part.name for part in made.sections]


def test_the_sections_stand_in_their_order_and_are_counted_whole() -> None:
    made = context(repair())
    assert names(made) == ["instructions", "open_items", "errors", "turns"]
    assert made.tokens == COUNTER.count(made.text)
    for part in made.sections:
        assert part.tokens == COUNTER.count(part.text)
        assert part.text in made.text


def test_it_says_that_it_is_no_request_and_where_its_raw_is() -> None:
    head = context(repair()).text.split("\n\n")[0]
    assert "context, not a request" in head
    assert "claude s1 up to event 8" in head
    assert "[event N]" in head


def test_the_users_words_stand_with_their_events() -> None:
    assert section(context(repair()), "instructions") == (
        "- [event 1] Fix the parser in src/parse.py. Never touch poetry.lock.\n"
        "- [event 8] go on with parse_header"
    )


def test_open_items_stand_and_finished_ones_never_come_back() -> None:
    made = context(repair())
    assert section(made, "open_items") == "- mend parse_header (in progress)\n- update the docs"
    assert "write a test" not in made.text


def test_an_unresolved_error_stands_with_its_telling_lines() -> None:
    lines = section(context(repair()), "errors").split("\n")
    assert lines[0] == "- Bash pytest -x tests [event 5]"
    assert "  tests/test_parse.py:12: AssertionError" in lines


def test_recent_turns_are_whole_units_in_log_order() -> None:
    turns = section(context(repair()), "turns")
    heads = [line.split(":")[0] for line in turns.split("\n") if line.startswith("- [event")]
    assert heads == [
        "- [event 1] user",
        "- [event 2] agent",
        "- [event 2] call",
        "- [event 3] result",
        "- [event 4] call",
        "- [event 5] result",
        "- [event 7] agent",
        "- [event 8] user",
    ]


def long_turns(steps: int = 12) -> Log:
    """Steps that each read a file of about 900 tokens, named after its number."""
    log = Log()
    log.user("read them all")
    for number in range(steps):
        log.assistant(
            f"file {number}", f"c{number}", **{f"c{number}": {"file_path": f"f{number}.py"}}
        )
        log.result(f"c{number}", f"content of file {number}\n" * 150)
    return log


def test_where_room_is_short_calls_are_told_by_what_they_did() -> None:
    made = context(long_turns(), 600)
    turns = section(made, "turns")
    assert "- [event 24] Bash f11.py" in turns
    assert "content of file" not in turns
    part = next(part for part in made.sections if part.name == "turns")
    assert (part.items, part.degraded) == (13, 12), "the user's words stand as they are"


def test_without_compression_a_unit_stands_word_for_word_or_it_is_said_to_be_left_out() -> None:
    made = context(long_turns(), 4_000, type_aware=False)
    turns = section(made, "turns")
    assert turns.count("content of file 11\n") == 149
    assert "- [event 2] left out: 684 tokens" in turns.split("\n")
    assert "content of file 0" not in turns


def test_what_is_left_over_has_the_newest_stand_word_for_word() -> None:
    turns = section(context(long_turns(), 3_000), "turns")
    assert turns.count("content of file 11\n") == 149
    assert "- [event 2] Bash f0.py" in turns


def test_of_what_the_agent_said_before_the_headline_stands() -> None:
    log = Log()
    log.user("begin")
    for number in range(6):
        log.assistant(f"Report {number} is done. " + f"It says that part {number} holds. " * 40)
    turns = section(context(log, 900), "turns").split("\n")
    assert turns[-1].startswith("- [event 7] agent: Report 5 is done. It says that part 5")
    assert "- [event 2] agent: Report 0 is done.…" in turns


def test_after_the_agents_own_compaction_the_turns_behind_it_stand() -> None:
    log = repair()
    log.compact(1, 8, "what the agent said of it")
    made = context(log)
    turns = section(made, "turns")
    assert "- [event 7] agent: The header fails for lines without a colon." in turns
    assert "what the agent said of it" not in turns


def test_what_was_rewound_is_no_turn() -> None:
    log = repair()
    log.rebase([1, 2, 3])
    made = context(log)
    assert "colon" not in made.text
    assert "[event 2]" in section(made, "turns")


def test_a_moment_of_the_past_knows_nothing_newer() -> None:
    made = context(repair(), at=3)
    assert "up to event 3" in made.text
    assert "pytest" not in made.text
    assert "mend parse_header" not in made.text


class TestPins:
    def pinned(self) -> Log:
        log = repair()
        log.commit(pin_draft(log.plan(), 3))
        return log

    def test_a_pinned_unit_stands_whole_and_word_for_word(self) -> None:
        made = context(self.pinned())
        assert names(made)[0] == "pinned"
        assert section(made, "pinned") == (
            "### [event 2] agent\n```\nreading it\n```\n"
            '### [event 2] call\n```\nBash {"file_path":"src/parse.py"}\n```\n'
            "### [event 3] result\n```\ndef parse_header(line):\n    return line.split(':')\n```"
        )
        assert "[event 3]" not in section(made, "turns")

    def test_it_is_never_trimmed_all_else_is(self) -> None:
        log = self.pinned()
        least = _least(log)
        made = context(log, least)
        assert names(made) == ["pinned"]
        assert section(made, "pinned") == section(context(log), "pinned")
        assert made.tokens == least

    def test_where_it_alone_exceeds_the_budget_both_numbers_are_named(self) -> None:
        log = self.pinned()
        least = _least(log)
        with pytest.raises(LocksExceedBudgetError) as refused:
            context(log, least - 1)
        assert (refused.value.least, refused.value.budget) == (least, least - 1)
        assert f"take {least:,} tokens, more than the budget of {least - 1:,}" in str(refused.value)
        assert "unpin" in str(refused.value)

    def test_one_that_the_agent_compacted_away_stands_too(self) -> None:
        log = self.pinned()
        log.compact(1, 8, "gone")
        assert "return line.split(':')" in section(context(log), "pinned")

    def test_no_fence_in_it_ends_its_block(self) -> None:
        log = Log()
        log.user("keep\n```\n# not ours\n````\nthis")
        log.commit(pin_draft(log.plan(), 1))
        assert section(context(log), "pinned") == (
            "### [event 1] user\n`````\nkeep\n```\n# not ours\n````\nthis\n`````"
        )


def _least(log: Log) -> int:
    with pytest.raises(LocksExceedBudgetError) as refused:
        context(log, 1)
    return refused.value.least


def test_a_budget_below_the_header_is_refused_with_both_numbers() -> None:
    with pytest.raises(LocksExceedBudgetError, match=r"header alone takes \d+ .* budget of 10:"):
        context(repair(), 10)


def test_an_empty_log_is_a_header() -> None:
    made = context(Log())
    assert made.sections == ()
    assert made.availability.share == 1.0


def test_decision_points_stand_in_log_order_and_say_how_many_are_left_out() -> None:
    points = [
        decided(f"stage {n} was long to tell of", first=n * 10, last=n * 10 + 5) for n in range(30)
    ]
    made = context(repair(), 1_200, decisions=points)
    told = section(made, "decisions").split("\n")
    places = [int(line.split("[event ")[1].split("]")[0]) for line in told if "[event" in line]
    assert places == sorted(places)
    assert places[-1] == 295
    part = next(part for part in made.sections if part.name == "decisions")
    assert part.items + part.left_out == 30
    assert part.left_out > 0


def test_a_turn_that_only_answered_is_no_decision() -> None:
    talk = decided("what is it?", first=2, last=3, rationale=None)
    work = decided("mend it", first=4, last=5, summary="mended it", rationale=None, files=[FILE])
    made = context(repair(), decisions=[talk, work])
    assert section(made, "decisions").startswith("- [event 5] turn 1: mend it [success]")
    assert "what is it?" not in made.text


class TestRetrieved:
    FOUND = "The header ends at the first blank line, says the standard."

    def test_what_the_query_finds_stands(self) -> None:
        made = context(repair(), query="header", candidates=[candidate(self.FOUND, 2)])
        assert self.FOUND in section(made, "retrieved")
        assert [(line.packed, line.reason) for line in made.lines] == [(True, "packed")]

    def test_what_stands_in_another_part_is_not_told_twice(self) -> None:
        words = "Fix the parser in src/parse.py.  Never touch poetry.lock."
        made = context(repair(), query="parser", candidates=[candidate(words, 1)])
        assert section(made, "retrieved") == ""
        assert [(line.packed, line.reason) for line in made.lines] == [(False, "standing")]

    def test_every_candidate_has_a_line_where_there_is_no_room_at_all(self) -> None:
        found = [candidate(f"{self.FOUND} {n}", n, match=n) for n in range(1, 5)]
        made = context(repair(), _least(repair()), query="header", candidates=found)
        assert names(made) == []
        assert [line.reason for line in made.lines] == ["over_budget"] * 4

    def test_the_order_of_the_candidates_changes_nothing(self) -> None:
        found = [candidate(f"{self.FOUND} {n}", n, match=n % 3) for n in range(1, 9)]
        one = context(repair(), 600, query="header", candidates=found)
        assert context(repair(), 600, query="header", candidates=found[::-1]) == one


class TestAvailability:
    def test_names_that_do_not_stand_are_listed_the_most_likely_first(self) -> None:
        log = Log()
        log.user("begin")
        log.assistant("", "a", a={"file_path": "src/often.py"})
        log.assistant("", "b", b={"file_path": "src/once.py"})
        log.assistant("", "c", c={"file_path": "src/often.py"})
        log.assistant("word " * 400)
        found = context(log, _least(log)).availability
        assert found.missing[:2] == ("src/often.py", "src/once.py")
        assert (found.standing, found.share) == (0, 0.0)

    def test_where_all_stands_nothing_is_missing(self) -> None:
        found = context(repair()).availability
        assert found.identifiers == found.standing > 2
        assert (found.missing, found.instructions, found.errors) == ((), (), ())
        assert (found.instructions_of, found.errors_of) == (2, 1)

    def test_words_and_errors_that_do_not_stand_are_named_with_their_events(self) -> None:
        found = context(repair(), _least(repair())).availability
        assert found.instructions == (
            "Fix the parser in src/parse.py. Never touch poetry.lock. [event 1]",
            "go on with parse_header [event 8]",
        )
        assert found.errors == (
            "Bash pytest -x tests: tests/test_parse.py:12: AssertionError [event 5]",
        )
