"""Micro-compaction: receipts for old results, on pressure only; reductions of a single one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from compress.compaction.errors import NoGainError, RegionError, UnfinishedCompactionError
from compress.compaction.micro import preview_micro, preview_reduced
from compress.compaction.policy import Policy
from compress.compaction.preview import check_commit
from compress.compaction.values import PressureInputs
from compress.events import SessionEvent
from compress.pairing import pairing
from compress.pins import pin_draft
from compress.undo import undo_draft
from tests.compress.logs import Log


def readings(count: int = 10) -> Log:
    """One request, then ``count`` commands with a result of 1,000 tokens each: results at seqs 3,
    5, 7 …"""
    log = Log()
    log.user("read them all")
    for number in range(count):
        log.assistant("", f"cat-{number}")
        log.result(f"cat-{number}", "text" * 1_000)
    return log


def test_it_starts_at_its_pressure_and_not_below() -> None:
    session = readings().session()
    assert preview_micro(session, PressureInputs(6_999, 10_000)) is None
    assert preview_micro(session, PressureInputs(7_000, 10_000)) is not None
    assert preview_micro(session, PressureInputs(7_000, None)) is None


def test_it_clears_the_oldest_until_the_pressure_is_low_enough() -> None:
    # 7,500 of 10,000: 1,500 must go, each result frees somewhat less than 1,000.
    preview = preview_micro(readings().session(), PressureInputs(7_500, 10_000))
    assert preview is not None
    cleared = [fate.node for fate in preview.fates if fate.fate == "receipt"]
    assert cleared == [3, 5]


def test_a_receipt_names_call_size_outcome_and_where_the_raw_is() -> None:
    log = readings(1)
    log.user("next")
    preview = preview_micro(log.session(), PressureInputs(9_000, 10_000))
    assert preview is not None
    assert preview.draft.events[2].blocks[0].text == (
        "[Cleared: the result of Bash cat-0 (1,000 tokens, ok) is no longer visible here. "
        "Its full text is kept: to see it again, read event 3 of the session's log.]"
    )


def test_it_waits_while_the_agent_itself_compacts() -> None:
    log = readings()
    log.fact("compact/start", trigger="auto")
    with pytest.raises(UnfinishedCompactionError, match="event 22"):
        preview_micro(log.session(), PressureInputs(7_500, 10_000))
    with pytest.raises(UnfinishedCompactionError, match="event 22"):
        preview_reduced(log.session(), 3, "less", "by hand")
    log.user("a later turn")
    assert preview_micro(log.session(), PressureInputs(7_500, 10_000)) is not None


def test_receipts_keep_their_bytes_and_places() -> None:
    log = readings()
    full = PressureInputs(7_500, 10_000)
    first = preview_micro(log.session(), full)
    assert first is not None
    log.commit(first.draft)
    assert log.nodes()[:5] == (1, 2, "o3", 4, "o4")
    before = log.bytes_of("o3")
    second = preview_micro(log.session(), full)
    assert second is not None
    log.commit(second.draft)
    assert log.bytes_of("o3") == before
    assert log.nodes()[2] == "o3"
    state = log.plan()
    assert pairing(state.surface, state.entries).problems == ()


def test_the_last_messages_pins_errors_and_listed_tools_stay() -> None:
    log = readings(6)
    log.assistant("", "broken")
    failed = log.result("broken", "src/a.py:3: TypeError\n" * 200, error=True)
    for number in range(6, 9):
        log.assistant("", f"cat-{number}")
        log.result(f"cat-{number}", "text" * 1_000)
    log.commit(pin_draft(log.plan(), 5))
    policy = Policy(last_messages=2)
    preview = preview_micro(log.session(policy=policy), PressureInputs(20_000, 10_000))
    assert preview is not None
    stay = [fate.node for fate in preview.fates if fate.fate != "receipt"]
    assert {5, failed, 19, 21} <= set(stay)
    assert {3, 7, 9, 11, 13, 17} == {f.node for f in preview.fates if f.fate == "receipt"}
    assert "still" in preview.warnings[0]
    listed = Policy(last_messages=0, unclearable=frozenset({"Bash"}))
    assert preview_micro(log.session(policy=listed), PressureInputs(20_000, 10_000)) is None


def test_a_resolved_error_may_go() -> None:
    log = Log()
    log.user("go")
    log.assistant("", "make")
    log.result("make", "a.c:1: error " * 400, error=True)
    log.assistant("", "again", again={"command": "make"})
    log.result("again", "built")
    preview = preview_micro(log.session(), PressureInputs(9_000, 10_000))
    assert preview is not None
    assert [fate.node for fate in preview.fates if fate.fate == "receipt"] == [3]


def test_what_is_shorter_than_its_receipt_stays() -> None:
    log = Log()
    log.user("go")
    log.assistant("", "true")
    log.result("true", "ok")
    assert preview_micro(log.session(), PressureInputs(9_000, 10_000)) is None


def test_undo_gives_the_results_back() -> None:
    log = readings()
    before = log.nodes()
    preview = preview_micro(log.session(), PressureInputs(7_500, 10_000))
    assert preview is not None
    log.commit(preview.draft)
    log.commit(undo_draft(log.plan()))
    assert log.nodes() == before


def test_appended_nodes_do_not_invalidate_it() -> None:
    log = readings()
    preview = preview_micro(log.session(), PressureInputs(7_500, 10_000))
    assert preview is not None
    new = log.user("next")
    now = check_commit(preview, log.session())
    assert now.surface[-1] == new
    assert now.tokens_after == preview.tokens_after + 1


def test_a_giant_in_the_tail_can_be_reduced() -> None:
    log = readings(1)
    preview = preview_reduced(log.session(), 3, "the first and the last lines", "generic text")
    log.commit(preview.draft)
    assert log.nodes() == (1, 2, "o3")
    assert log.plan().operations["o1"].kind == "reduce"
    assert log.session().content("o3").events[0].blocks[0].text == "the first and the last lines"


def test_a_reduction_that_gains_nothing_or_names_no_result_is_refused() -> None:
    log = readings(1)
    with pytest.raises(NoGainError, match=r"1,000 tokens, its reduced form 950"):
        preview_reduced(log.session(), 3, "text" * 950, "generic text")
    with pytest.raises(RegionError, match="no tool result"):
        preview_reduced(log.session(), 1, "x", "generic text")
    log.commit(pin_draft(log.plan(), 3))
    with pytest.raises(RegionError, match="pinned"):
        preview_reduced(log.session(), 3, "x", "generic text")


def shortening(node: object, events: Sequence[SessionEvent]) -> tuple[str, str]:
    """A stand-in for the tool-output pipeline: a tenth of the text."""
    text = events[0].blocks[0].text
    return text[: len(text) // 10], "the first tenth"


def giants() -> Log:
    """A request and three commands; the results, at seqs 3, 5 and 7, have 1,000, 5,000 and 3,000
    tokens, and stand among the last messages."""
    log = Log()
    log.user("read them all")
    for number, size in enumerate((1_000, 5_000, 3_000)):
        log.assistant("", f"cat-{number}")
        log.result(f"cat-{number}", "text" * size)
    return log


def test_where_receipts_are_not_enough_the_largest_of_the_rest_are_reduced() -> None:
    # 7,500 of 10,000: 1,500 must go, and nothing is old enough to be cleared. A tenth of the
    # 5,000 frees 4,500: more than enough.
    pressure = PressureInputs(7_500, 10_000)
    session = giants().session(policy=Policy())
    assert preview_micro(session, pressure) is None
    preview = preview_micro(session, pressure, reducer=shortening)
    assert preview is not None
    fates = {fate.node: (fate.fate, fate.rule, fate.tokens_after) for fate in preview.fates}
    assert fates[5] == ("reduced", "the first tenth", 500)
    assert {fates[node][0] for node in (1, 2, 3, 4, 6, 7)} == {"kept"}


def test_more_giants_are_reduced_only_as_far_as_it_takes() -> None:
    # 12,500 of 10,000: 6,500 must go: 4,500 and 2,700; the small one is no giant.
    preview = preview_micro(
        giants().session(policy=Policy()), PressureInputs(12_500, 10_000), reducer=shortening
    )
    assert preview is not None
    reduced = [fate.node for fate in preview.fates if fate.fate == "reduced"]
    assert reduced == [5, 7]


def test_a_reduced_giant_is_reduced_once_and_can_be_undone() -> None:
    log = giants()
    pressure = PressureInputs(7_500, 10_000)
    preview = preview_micro(log.session(policy=Policy()), pressure, reducer=shortening)
    assert preview is not None
    log.commit(preview.draft)
    again = preview_micro(log.session(policy=Policy()), pressure, reducer=shortening)
    assert again is not None
    assert [fate.node for fate in again.fates if fate.fate == "reduced"] == [7]
    log.commit(undo_draft(log.plan()))
    assert log.nodes() == (1, 2, 3, 4, 5, 6, 7)


def test_pins_and_listed_tools_are_not_reduced() -> None:
    log = giants()
    log.commit(pin_draft(log.plan(), 5))
    preview = preview_micro(
        log.session(policy=Policy()), PressureInputs(7_500, 10_000), reducer=shortening
    )
    assert preview is not None
    assert [fate.node for fate in preview.fates if fate.fate == "reduced"] == [7]
    listed = giants().session(policy=Policy(unclearable=frozenset({"Bash"})))
    assert preview_micro(listed, PressureInputs(7_500, 10_000), reducer=shortening) is None
