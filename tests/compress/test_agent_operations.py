"""The agent's own operations, read from its log for the audit."""

from __future__ import annotations

from compress.compaction.agent import agent_operations
from compress.events import Replace
from tests.compress.test_plan import talk


def test_a_compaction_is_one_row_with_its_span_and_figures() -> None:
    log = talk()
    before = sum(entry.tokens for entry in log.entries.values())
    theirs = log.compact(1, 5, "s" * 40, keep=[1])
    (op,) = agent_operations(log.entries.values())
    assert (op.kind, op.seq, op.shadowed) == ("compact", theirs, (2, 3, 4, 5))
    assert op.tokens_before == before
    assert op.tokens_after == before - sum(log.entries[n].tokens for n in (2, 3, 4, 5)) + 10
    assert op.trigger == "auto"
    assert op.summary == theirs


def test_copies_of_what_is_kept_belong_to_the_compaction() -> None:
    log = talk()
    log.fact("compact/start", trigger="manual", pre_tokens=1_234)
    seq = log.add("context/message", op=Replace(start=1, end=7), meta={"checkpoint": "agent"})
    copy = log.add("user/message", log.events[5].blocks, role="user", source_event_seqs=(6,))
    log.fact("compact/end")
    log.user("later " * 50)
    (op,) = agent_operations(log.entries.values())
    assert op.seq == seq
    assert op.stated_before == 1_234
    assert op.tokens_after == log.entries[copy].tokens
    end = copy + 1
    assert op.last == end, "the surface after it is that with the copies"
    assert op.told == (seq - 1, end)


def test_cleared_results_are_one_row() -> None:
    log = talk()
    log.add("tool/result", op=Replace(start=3, end=3, live_only=True))
    log.add("tool/result", op=Replace(start=5, end=5, live_only=True))
    log.assistant("next")
    (op,) = agent_operations(log.entries.values())
    assert (op.kind, op.shadowed) == ("micro", (3, 5))
    assert op.tokens_before - op.tokens_after == log.entries[3].tokens + log.entries[5].tokens


def test_rewinds_branches_and_clears_are_named() -> None:
    log = talk()
    log.rebase([1, 2, 3], "rewind")
    log.user("other way")
    log.rebase([1, 2, 3, 4, 5], "branch")
    log.rebase([], "clear")
    kinds = [op.kind for op in agent_operations(log.entries.values())]
    assert kinds == ["rewind", "branch", "clear"]


def test_a_start_that_nothing_followed_is_shown_as_unfinished() -> None:
    log = talk()
    start = log.fact("compact/start", trigger="auto")
    log.user("a later turn")
    log.compact(1, 9)
    first, second = agent_operations(log.entries.values())
    assert (first.seq, first.finished, first.shadowed) == (start, False, ())
    assert second.finished


def test_a_compaction_that_ended_has_its_checkpoint_as_summary() -> None:
    log = talk()
    first = log.compact(1, 3)
    log.user("more")
    second = log.compact(first, 5)
    found = agent_operations(log.entries.values())
    assert [op.summary for op in found] == [first, second]


def test_what_is_told_of_one_compaction_is_not_told_of_the_next() -> None:
    log = talk()
    first = log.compact(1, 3)
    log.user("more")
    log.add("context/message", op=Replace(start=first, end=5), meta={"checkpoint": "agent"})
    one, other = agent_operations(log.entries.values())
    assert one.told == (first - 1, first + 1), "its start and its end"
    assert one.last == first + 1
    assert other.told == ()


def test_the_start_of_the_next_turn_is_no_part_of_it() -> None:
    log = talk()
    theirs = log.add("context/message", op=Replace(start=1, end=5), meta={"checkpoint": "agent"})
    again = log.context("a file that the agent reads again")
    log.user("go on")
    (op,) = agent_operations(log.entries.values())
    assert (op.seq, op.last) == (theirs, again)
