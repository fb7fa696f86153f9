"""Regions, the retention walk, automatic compaction, previews and their commit."""

from __future__ import annotations

import pytest

from compress.compaction.errors import (
    BudgetError,
    ChangedError,
    NoGainError,
    RegionError,
    SummaryError,
    UnfinishedCompactionError,
)
from compress.compaction.policy import Policy, PolicyError
from compress.compaction.preview import check_commit
from compress.compaction.region import Span
from compress.compaction.retention import messages_from, retained_from
from compress.compaction.service import BasicCompaction, preview_auto, preview_region
from compress.compaction.values import PressureInputs, SessionInput, Summary
from compress.errors import StaleNodeError, UnbalancedBoundaryError
from compress.pairing import pairing
from compress.pins import pin_draft
from tests.compress.logs import Log
from tests.compress.test_plan import talk


def long_talk(steps: int = 10) -> Log:
    """One request, then steps of about 355 tokens each."""
    log = Log()
    log.user("never touch the lock file; fix the parser in src/parse.py")
    for number in range(steps):
        log.assistant(f"step {number}", f"c{number}")
        log.result(f"c{number}", f"out{number} " * 280)
    return log


class TestRetention:
    """The walk of DeepSeek Harness, worked by hand: prices from the tail until the retained size,
    then towards the head until the cut is balanced."""

    def test_it_stops_at_the_first_node_that_fills_the_retained_size(self) -> None:
        log = Log()
        for text in ("one", "two", "three", "four"):
            log.user(text)
        paired = pairing(log.fold(), log.entries)
        assert retained_from([10, 10, 10, 10], paired, 15) == 2
        assert retained_from([10, 10, 10, 10], paired, 20) == 2
        assert retained_from([10, 10, 10, 10], paired, 21) == 1

    def test_a_cutoff_inside_a_step_grows_until_it_is_balanced(self) -> None:
        log = Log()
        log.user("go")
        log.assistant("", "a", "b")
        log.result("a")
        log.result("b")
        log.user("next")
        paired = pairing(log.fold(), log.entries)
        assert retained_from([10, 10, 10, 10, 10], paired, 15) == 1

    def test_nothing_to_retain_keeps_just_the_last_node(self) -> None:
        log = Log()
        log.user("one")
        log.user("two")
        assert retained_from([10, 10], pairing(log.fold(), log.entries), 0) == 1

    def test_a_tail_larger_than_the_log_retains_all(self) -> None:
        log = Log()
        log.user("one")
        log.user("two")
        assert retained_from([10, 10], pairing(log.fold(), log.entries), 100) == 0

    def test_the_last_messages_stay_with_their_units(self) -> None:
        log = talk()
        session = log.session()
        paired = pairing(session.plan.surface, session.plan.entries)
        assert messages_from(session, paired, 2) == 5
        assert messages_from(session, paired, 3) == 3
        assert messages_from(session, paired, 0) == 7


class TestPolicy:
    def test_a_tail_that_reaches_the_threshold_is_refused_with_both_numbers(self) -> None:
        with pytest.raises(PolicyError, match=r"90,000.*80,000"):
            Policy(retain_tokens=90_000).retain(100_000)
        with pytest.raises(PolicyError, match=r"0\.9.*0\.8"):
            Policy(retain_ratio=0.9)

    def test_the_defaults_of_a_window(self) -> None:
        assert Policy().threshold(200_000) == 160_000
        assert Policy().retain(200_000) == 32_000

    def test_clearing_that_would_never_end_is_refused(self) -> None:
        with pytest.raises(PolicyError, match=r"0\.75.*0\.7"):
            Policy(micro_target=0.75)

    @pytest.mark.parametrize(
        "fields", [{"threshold_ratio": 0}, {"retries": -1}, {"minimum_gain": 1}]
    )
    def test_a_figure_out_of_range_is_named(self, fields: dict[str, int]) -> None:
        with pytest.raises(PolicyError, match=next(iter(fields))):
            Policy(**fields)  # type: ignore[arg-type]


class TestRegion:
    def test_a_boundary_that_splits_a_call_is_refused_with_the_nearest_ones(self) -> None:
        log = talk()
        with pytest.raises(UnbalancedBoundaryError, match="3") as start:
            preview_region(log.session(), 3, 5)
        assert start.value.choices == (2, 4)
        with pytest.raises(UnbalancedBoundaryError, match="4") as end:
            preview_region(log.session(), 1, 4)
        assert end.value.choices == (3, 5)

    def test_an_unknown_and_a_shadowed_seq_are_refused(self) -> None:
        log = talk()
        with pytest.raises(StaleNodeError, match="99 is unknown"):
            preview_region(log.session(), 1, 99)
        log.commit(preview_region(log.session(), 1, 3).draft)
        with pytest.raises(StaleNodeError, match="2 is not on the surface: event o3 removed it"):
            preview_region(log.session(), 2, 5)

    def test_any_event_of_a_node_names_it(self) -> None:
        log = talk()
        extra = log.add("assistant/message", node=7, role="assistant", step=3)
        assert preview_region(log.session(), 1, extra).region.end == 7

    def test_an_event_that_never_stood_is_refused(self) -> None:
        log = talk()
        fact = log.fact("turn/end", reason="completed")
        with pytest.raises(StaleNodeError, match="never stood"):
            preview_region(log.session(), 1, fact)

    def test_ends_in_the_wrong_order_are_refused(self) -> None:
        with pytest.raises(RegionError, match="behind"):
            preview_region(talk().session(), 6, 1)

    def test_a_seq_at_an_old_place_may_be_larger_than_the_end(self) -> None:
        log = talk()
        log.commit(preview_region(log.session(), 1, 3).draft)
        assert preview_region(log.session(), "o3", 5).region.start == "o3"

    def test_a_region_with_nothing_to_gain_is_refused_with_the_reason(self) -> None:
        log = Log()
        log.user("hi")
        log.user("hello")
        with pytest.raises(NoGainError, match="less than 10 %"):
            preview_region(log.session(), 1, 2)

    def test_a_call_that_still_waits_pins_its_unit(self) -> None:
        log = talk()
        log.assistant("running", "late")
        with pytest.raises(UnbalancedBoundaryError, match="still waits") as refusal:
            preview_region(log.session(), 1, 8)
        assert refusal.value.choices == (7,)

    def test_an_unfinished_compaction_of_the_agent_blocks_its_own_turn_only(self) -> None:
        log = talk()
        log.fact("compact/start", trigger="auto")
        with pytest.raises(UnfinishedCompactionError, match="event 8"):
            preview_region(log.session(), 1, 5)
        log.user("a later turn")
        assert preview_region(log.session(), 1, 5).region.end == 5

    def test_a_region_of_pinned_nodes_only_is_refused(self) -> None:
        log = talk()
        log.commit(pin_draft(log.plan(), 3))
        with pytest.raises(RegionError, match="pinned nodes only"):
            preview_region(log.session(), 2, 3)


class TestPreview:
    def test_every_node_has_its_fate_and_rule(self) -> None:
        log = talk()
        log.commit(pin_draft(log.plan(), 5))
        preview = preview_region(log.session(), 1, 5)
        assert [(fate.node, fate.fate) for fate in preview.fates] == [
            (1, "shadowed"),
            (2, "shadowed"),
            (3, "shadowed"),
            (4, "pinned"),
            (5, "pinned"),
            (6, "kept"),
            (7, "kept"),
        ]
        assert preview.surface == ("+3", 4, 5, 6, 7)
        assert all(fate.rule for fate in preview.fates)

    def test_a_pin_inside_the_preview_keeps_the_unit_in_this_operation(self) -> None:
        preview = preview_region(talk().session(), 1, 5, extra_pins=frozenset({3}))
        assert preview.surface == ("+3", 2, 3, 6, 7)

    def test_the_cache_is_lost_from_the_first_change_on(self) -> None:
        log = talk()
        preview = preview_region(log.session(), 4, 5)
        head = sum(fate.tokens_before for fate in preview.fates[:3])
        assert preview.cache_invalidated_tokens == preview.tokens_after - head

    def test_pressure_has_the_window_in_force_for_its_one_denominator(self) -> None:
        log = talk()
        session = log.session(window=10_000, overhead=500, calibration=1.2)
        preview = preview_region(session, 1, 5)
        expected = (round(preview.tokens_after * 1.2) + 500) / 10_000
        assert preview.pressure_after == pytest.approx(expected)
        assert preview_region(log.session(), 1, 5).pressure_after is None

    def test_the_checkpoint_says_what_it_is_and_cites_what_it_shadows(self) -> None:
        events = preview_region(talk().session(), 1, 5).draft.events
        text = events[2].blocks[0].text
        assert "This is a checkpoint, not a request" in text
        assert "events 1 to 5" in text
        assert set(events[2].source_event_seqs) == {1, 2, 3, 4, 5, "+1", "+2"}
        assert events[1].meta["shadowed_seqs"] == [1, 2, 3, 4, 5]

    def test_what_was_appended_behind_never_invalidates_it(self) -> None:
        log = talk()
        preview = preview_region(log.session(window=10_000), 1, 5)
        new = log.user("one more")
        now = check_commit(preview, log.session(window=10_000))
        assert now.surface == ("+3", 6, 7, new)
        assert now.tokens_before == preview.tokens_before + 2
        assert now.tokens_after == preview.tokens_after + 2
        assert "1 nodes were appended" in now.warnings[-1]

    def test_another_pin_in_the_region_invalidates_it(self) -> None:
        log = talk()
        preview = preview_region(log.session(), 1, 5)
        log.commit(pin_draft(log.plan(), 3))
        with pytest.raises(ChangedError):
            check_commit(preview, log.session())

    def test_a_pin_elsewhere_does_not(self) -> None:
        log = talk()
        preview = preview_region(log.session(), 1, 3)
        log.commit(pin_draft(log.plan(), 7))
        assert check_commit(preview, log.session()).draft == preview.draft

    def test_a_node_that_left_or_grew_invalidates_it(self) -> None:
        log = talk()
        preview = preview_region(log.session(), 1, 5)
        log.add("assistant/message", node=4, role="assistant", step=2)
        with pytest.raises(ChangedError, match="changed since"):
            check_commit(preview, log.session())
        log.rebase([1, 2, 3, 6, 7])
        with pytest.raises(ChangedError, match="removed it"):
            check_commit(preview, log.session())


class TestAutomatic:
    def test_below_the_threshold_and_without_a_window_nothing_happens(self) -> None:
        session = long_talk().session()
        assert preview_auto(session, PressureInputs(7_999, 10_000)) is None
        assert preview_auto(session, PressureInputs(7_999, None)) is None

    def test_all_before_the_retained_tail_goes_a_checkpoint_included(self) -> None:
        log = long_talk(10)
        full = PressureInputs(8_000, 10_000)
        first = preview_auto(log.session(), full)
        assert first is not None
        # 1,600 tokens are retained: four steps of some 355 do not fill them, five do.
        assert first.region.start == 1
        assert first.region.end == 11
        log.commit(first.draft)
        for number in range(10, 16):
            log.assistant(f"step {number}", f"c{number}")
            log.result(f"c{number}", f"out{number} " * 280)
        second = preview_auto(log.session(), full)
        assert second is not None
        assert second.region.start == "o3"
        log.commit(second.draft)
        checkpoints = [node for node in log.nodes() if isinstance(node, str)]
        assert checkpoints == ["o7"]
        assert log.nodes()[0] == "o7"

    def test_the_merged_checkpoint_holds_the_first_words_once(self) -> None:
        log = long_talk(10)
        full = PressureInputs(8_000, 10_000)
        for round_ in range(3):
            preview = preview_auto(log.session(), full)
            assert preview is not None
            log.commit(preview.draft)
            for number in range(6):
                log.assistant("", f"r{round_}n{number}")
                log.result(f"r{round_}n{number}", "out " * 500)
        (checkpoint,) = (node for node in log.nodes() if isinstance(node, str))
        text = log.session().content(checkpoint).events[0].blocks[0].text
        assert text.count("never touch the lock file") == 1
        assert text.count("<checkpoint>") == 1
        entry = log.plan().entries[checkpoint]
        assert entry.headline == f"checkpoint of events 1 to {preview.region.end}"
        assert f"events 1 to {preview.region.end} (" in text
        assert "## Earlier summary" not in text

    def test_a_runaway_turn_compacts_like_any_other(self) -> None:
        preview = preview_auto(long_talk(20).session(), PressureInputs(9_500, 10_000))
        assert preview is not None
        assert preview.region.start == 1

    def test_an_open_tail_step_alone_is_declined_until_it_closes(self) -> None:
        log = Log()
        log.assistant("word " * 4_000, "a")
        assert preview_auto(log.session(), PressureInputs(9_000, 10_000)) is None

    def test_it_says_when_it_does_not_converge(self) -> None:
        log = long_talk(6)
        preview = preview_auto(log.session(overhead=9_000), PressureInputs(12_000, 10_000))
        assert preview is not None
        assert "Did not converge" in preview.warnings[0]
        assert "8,000" in preview.warnings[0]

    def test_a_unit_larger_than_the_tail_is_named(self) -> None:
        log = long_talk(6)
        log.assistant("huge", "big")
        log.result("big", "x" * 40_000)
        preview = preview_auto(log.session(), PressureInputs(13_000, 10_000))
        assert preview is not None
        assert preview.oversized == (14,)

    def test_the_last_messages_stay_verbatim(self) -> None:
        log = long_talk(10)
        session = log.session(policy=Policy(last_messages=6))
        preview = preview_auto(session, PressureInputs(8_000, 10_000))
        assert preview is not None
        assert preview.region.end == 9

    def test_the_floor_counts_overhead_pins_and_tail(self) -> None:
        log = long_talk(10)
        log.commit(pin_draft(log.plan(), 3))
        session = log.session(overhead=1_000, window=10_000)
        preview = preview_auto(session, PressureInputs(8_000, 10_000))
        assert preview is not None
        tail = sum(f.tokens_before for f in preview.fates if f.fate == "kept")
        pins = sum(f.tokens_before for f in preview.fates if f.fate == "pinned")
        assert preview.floor == 1_000 + pins + tail


class TestFailure:
    def test_a_summary_that_fails_leaves_the_surface_and_can_be_noted(self) -> None:
        class Failing(BasicCompaction):
            def summarize(self, session: SessionInput, span: Span, budget: int) -> Summary:
                raise SummaryError("It could not be read.")

        log = talk()
        with pytest.raises(SummaryError, match="could not be read") as failure:
            Failing().compact_region(log.session(), 1, 5)
        assert failure.value.draft is not None
        before = log.nodes()
        log.commit(failure.value.draft)
        assert log.nodes() == before
        assert log.rows[-1].event.meta["error"] == "It could not be read."

    def test_a_summary_as_large_as_its_region_is_not_committed(self) -> None:
        class Echo(BasicCompaction):
            def summarize(self, session: SessionInput, span: Span, budget: int) -> Summary:
                return Summary("word " * 2_000, 2_000)

        with pytest.raises(NoGainError, match="free less than"):
            Echo().compact_region(talk().session(), 1, 5)

    def test_a_budget_below_the_frame_is_refused_with_both_numbers(self) -> None:
        with pytest.raises(BudgetError, match=r"takes \d+ tokens, the budget is 20"):
            preview_region(talk().session(), 1, 5, budget=20)
