"""A receipt is stable in its bytes, says that the content is no longer visible and how to see it
again, and is made on pressure only, never on a call count. Every tool is clearable unless it is on
an explicit list. One giant result inside the retained tail can still be reduced, its raw kept."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.compaction.errors import NoGainError
from compress.compaction.micro import preview_micro, preview_reduced
from compress.compaction.policy import Policy
from compress.compaction.values import PressureInputs, Preview
from compress.errors import CompressError
from compress.events import NodeId
from compress.pins import pin_draft
from compress.undo import undo_draft
from tests.compress.histories import TOOLS, History, histories, sources
from tests.compress.invariants.acting import LOOSE, bytes_of, full
from tests.compress.logs import Log


def cleared(preview: Preview | None) -> list[NodeId]:
    return [] if preview is None else [f.node for f in preview.fates if f.fate == "receipt"]


def texts(preview: Preview | None) -> dict[NodeId, str]:
    """What was cleared → its receipt."""
    events = () if preview is None else preview.draft.events
    return {e.meta["stands_for"]: e.blocks[0].text for e in events if "stands_for" in e.meta}


@settings(max_examples=25, deadline=None)
@given(histories(), sources())
def test_a_receipt_is_stable_in_its_bytes(history: History, random: Random) -> None:
    """Whenever it is made: at another pressure, after an undo, in a log that grew."""
    log = history.log
    session, pressure = full(history)
    first = texts(preview_micro(session, pressure))
    for node, text in first.items():
        assert "no longer visible" in text
        assert f"to see it again, read event {node} " in text
        assert "\n" not in text
    preview = preview_micro(session, PressureInputs(pressure.used * 3, pressure.window))
    assert preview is None or first.items() <= texts(preview).items()
    if preview is None:
        return
    log.commit(preview.draft)
    standing = bytes_of(log, log.nodes())
    log.user("more " * random.randint(1, 200))
    assert bytes_of(log, log.nodes())[: len(standing)] == standing
    log.commit(undo_draft(log.plan()))
    again = preview_micro(full(history)[0], PressureInputs(pressure.used * 3, pressure.window))
    assert texts(preview).items() <= texts(again).items()


@settings(max_examples=30, deadline=None)
@given(histories(), st.floats(0.01, 1.5))
def test_receipts_are_made_on_pressure_only(history: History, share: float) -> None:
    window = max(10, int(history.total / share))
    session = history.log.session(window=window)
    preview = preview_micro(session, PressureInputs(history.total, window))
    if history.total < 0.7 * window:
        assert preview is None
    elif preview is not None:
        enough = preview.tokens_after <= 0.6 * window
        assert enough != any("still" in warning for warning in preview.warnings)


@settings(max_examples=30, deadline=None)
@given(histories(), sources())
def test_it_clears_the_oldest_and_no_more_than_the_target_asks(
    history: History, random: Random
) -> None:
    session, pressure = full(history)
    less = PressureInputs(int(pressure.used * random.uniform(0.7, 1)), pressure.window)
    some, all_ = cleared(preview_micro(session, less)), cleared(preview_micro(session, pressure))
    assert some == all_[: len(some)]
    preview = preview_micro(session, less)
    if preview is not None and pressure.window is not None:
        last = [fate for fate in preview.fates if fate.fate == "receipt"][-1]
        after = less.used - (preview.tokens_before - preview.tokens_after)
        assert after + last.tokens_before - last.tokens_after > int(0.6 * pressure.window)


@settings(max_examples=30, deadline=None)
@given(histories(), st.integers(0, 6), sources())
def test_the_conversation_pins_and_the_last_messages_stay(
    history: History, last_messages: int, random: Random
) -> None:
    log = history.log
    pinned = random.choice(log.nodes())
    log.commit(pin_draft(log.plan(), pinned))
    session, pressure = full(history, Policy(last_messages=last_messages))
    preview = preview_micro(session, PressureInputs(2 * pressure.used, pressure.window))
    state = session.plan
    gone = cleared(preview)
    heads = {node: state.entries[state.surface.members[node][0]] for node in state.surface.nodes}
    assert all(heads[node].type == "tool/result" for node in gone)
    assert state.held.isdisjoint(gone)
    messages = [
        place
        for place, node in enumerate(state.surface.nodes)
        if heads[node].type in ("user/message", "steering/message", "assistant/message")
        and not heads[node].meta.get("checkpoint")
    ]
    if last_messages and messages:
        first = messages[-last_messages:][0]
        assert set(gone).isdisjoint(state.surface.nodes[first:])


@settings(max_examples=30, deadline=None)
@given(histories())
def test_errors_that_nothing_resolved_stay(history: History) -> None:
    """No two calls of a history try the same, so that none of its errors is resolved."""
    session, pressure = full(history)
    entries, members = session.plan.entries, session.plan.surface.members
    for node in cleared(preview_micro(session, PressureInputs(9 * pressure.used, pressure.window))):
        assert not any(entries[seq].is_error for seq in members[node])


@settings(max_examples=30, deadline=None)
@given(histories(), st.sets(st.sampled_from(TOOLS)))
def test_every_tool_is_clearable_unless_it_is_listed(history: History, listed: set[str]) -> None:
    session, pressure = full(history, Policy(last_messages=0, unclearable=frozenset(listed)))
    state = session.plan
    names = {
        call: name
        for entry in state.entries.values()
        for call, name in entry.calls
        if entry.type == "assistant/message"
    }

    def tool(node: NodeId) -> str:
        entry = state.entries[state.surface.members[node][0]]
        return names.get(entry.results[0], "")

    high = PressureInputs(2 * pressure.used, pressure.window)
    gone = cleared(preview_micro(session, high))
    assert listed.isdisjoint(map(tool, gone))
    free = cleared(preview_micro(full(history, LOOSE)[0], high))
    assert gone == [node for node in free if tool(node) not in listed]


@pytest.mark.parametrize("tool", ["Bash", "Task", "mcp__a__b", "читать", "TodoWrite", ""])
def test_the_result_of_any_tool_is_cleared(tool: str) -> None:
    log = Log()
    log.user("go")
    for number in range(4):
        log.assistant("", f"c{number}")
        call = log.events[-1]
        block = call.blocks[0].model_copy(update={"name": tool})
        log.events[-1] = call.model_copy(update={"blocks": (block,)})
        log.result(f"c{number}", "text " * 400)
    preview = preview_micro(log.session(), PressureInputs(3_000, 2_000))
    assert cleared(preview) == [3, 5, 7, 9]


def test_no_number_of_calls_makes_a_receipt() -> None:
    log = Log()
    log.user("go")
    for number in range(300):
        log.assistant("", f"c{number}")
        log.result(f"c{number}", "text " * 40)
    assert preview_micro(log.session(), PressureInputs(69_999, 100_000)) is None


@settings(max_examples=30, deadline=None)
@given(histories())
def test_a_giant_result_in_the_tail_can_be_reduced_and_its_raw_stays(history: History) -> None:
    log = history.log
    log.assistant("", "giant")
    giant = log.result("giant", "row of output\n" * 4_000)
    session, pressure = full(history, Policy())
    before = bytes_of(log, [giant])
    assert giant not in cleared(preview_micro(session, pressure))
    preview = preview_reduced(session, giant, "row of output × 4,000", "lines alike")
    assert preview.tokens_before - preview.tokens_after > 10_000
    log.commit(preview.draft)
    assert giant not in log.nodes()
    assert bytes_of(log, [giant]) == before
    assert log.plan().surface.shadowed[log.nodes()[-1]] == (giant,)
    with pytest.raises(NoGainError):
        preview_reduced(log.session(), log.nodes()[-1], "row of output × 4,000", "lines alike")
    log.commit(undo_draft(log.plan()))
    assert log.nodes()[-1] == giant


@settings(max_examples=20, deadline=None)
@given(histories(), sources())
def test_a_result_of_a_step_that_waits_is_neither_cleared_nor_reduced(
    history: History, random: Random
) -> None:
    if len(history.waiting) < 2:
        history.log.assistant("", "one", "two")
        history.waiting = [len(history.log.events), history.log.result("one", "word " * 900)]
    session, pressure = full(history)
    high = PressureInputs(random.randint(2, 4) * pressure.used, pressure.window)
    assert set(cleared(preview_micro(session, high))).isdisjoint(history.waiting)
    with pytest.raises(CompressError, match="still waits"):
        preview_reduced(session, history.waiting[-1], "short", "test")
