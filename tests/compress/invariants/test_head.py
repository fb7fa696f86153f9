"""The checkpoint stands at the head, before the tail, once: summaries are merged, not nested; every
list in it is capped and says how many it left out. Gain is measured on the region's tokens; one
retry, only if the first attempt gained; the irreducible floor is told before anything is done."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings

from compress.compaction.errors import BudgetError, NoGainError, SummaryError
from compress.compaction.policy import Policy
from compress.compaction.region import Span
from compress.compaction.service import BasicCompaction, preview_auto, preview_region
from compress.compaction.values import PressureInputs, Preview, SessionInput, Summary
from compress.errors import CompressError
from compress.events import NodeId
from tests.compress.histories import History, histories, legal_ends, sources
from tests.compress.invariants.acting import full, some_preview
from tests.compress.logs import Log


def automatic(history: History) -> Preview | None:
    try:
        return preview_auto(*full(history))
    except CompressError:
        return None


@settings(max_examples=25, deadline=None)
@given(histories(), sources())
def test_one_automatic_checkpoint_stands_at_the_head(history: History, random: Random) -> None:
    log, made = history.log, list[NodeId]()
    for round_ in range(3):
        preview = automatic(history)
        if preview is not None:
            pinned = [fate.node for fate in preview.fates if fate.fate == "pinned"]
            log.commit(preview.draft)
            made.append(log.rows[-2].event.seq)
            assert [node for node in made if node in log.nodes()] == [log.nodes()[0]]
            assert log.nodes()[1 : 1 + len(pinned)] == tuple(pinned)
            text = log.session().content(made[-1]).events[0].blocks[0].text
            assert text.count("<checkpoint>") == text.count("</checkpoint>") == 1
        for number in range(random.randint(1, 4)):
            log.assistant("", f"more-{round_}-{number}")
            log.result(f"more-{round_}-{number}", f"out {number} " * random.randint(50, 400))


@settings(max_examples=25, deadline=None)
@given(histories(), sources())
def test_a_merged_checkpoint_holds_no_heading_twice(history: History, random: Random) -> None:
    log = history.log
    ends = legal_ends(log, random)
    assert ends is not None
    try:
        log.commit(preview_region(log.session(), *ends).draft)
        nodes = log.nodes()
        preview = preview_region(log.session(), nodes[0], nodes[-1])
    except CompressError:
        return
    assert preview.summary is not None
    headings = re.findall(r"^## .*$", preview.summary.text, re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert "This is a checkpoint" not in preview.summary.text


@pytest.mark.parametrize("budget", [450, 900, 2_000, 8_000])
def test_every_list_is_capped_and_says_how_many_it_leaves_out(budget: int) -> None:
    log, count = Log(), 400
    log.user("go through all files")
    for number in range(count):
        path = {"file_path": f"src/part{number}.py", "content": "x = 1\n"}
        log.assistant("", f"c{number}", **{f"c{number}": path})
        log.result(f"c{number}", "written " * 40)
    nodes = log.nodes()
    text = preview_region(log.session(), nodes[0], nodes[-1], budget=budget).draft.events[2]
    files = re.search(
        r"^## Files[^\n]*\n(.*?)(?=^##|\Z)", text.blocks[0].text, re.MULTILINE | re.DOTALL
    )
    if files is None:
        assert budget < 900
        return
    listed = set(re.findall(r"part\d+\.py", files[1]))
    left_out = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) (?:more|files)", files[1])]
    assert len(listed) < count or budget == 8_000
    assert len(listed) + sum(left_out[-1:]) == count


@settings(max_examples=40, deadline=None)
@given(histories(), sources())
def test_every_operation_gains_a_tenth_of_its_region_or_is_not_made(
    history: History, random: Random
) -> None:
    preview = some_preview(history, random)
    if preview is None:
        return
    assert preview.tokens_after < preview.tokens_before
    assert preview.region_before - preview.region_after == (
        preview.tokens_before - preview.tokens_after
    )
    assert preview.region_after <= 0.9 * preview.region_before


class Scripted(BasicCompaction):
    """Answers what it is told to, and counts how often it was asked."""

    def __init__(self, *answers: Summary | CompressError) -> None:
        super().__init__()
        self.answers = list(answers)
        self.budgets: list[int] = []

    def summarize(self, session: SessionInput, span: Span, budget: int) -> Summary:
        self.budgets.append(budget)
        answer = self.answers.pop(0)
        if isinstance(answer, CompressError):
            raise answer
        return answer


def words(count: int) -> Summary:
    """A summary of so many tokens, as they are counted here."""
    return Summary("word" * count, count)


class TestRetry:
    """A region of about 3,600 tokens in a window of 4,000, of which 3,000 are overhead: no summary
    gets below the threshold of 3,200."""

    @staticmethod
    def session() -> tuple[SessionInput, PressureInputs]:
        log = Log()
        log.user("go")
        for number in range(12):
            log.assistant("", f"c{number}")
            log.result(f"c{number}", "out " * 300)
        return log.session(), PressureInputs(6_600, 4_000)

    def test_a_second_attempt_is_made_with_half_the_budget(self) -> None:
        scripted = Scripted(words(300), words(100))
        preview = scripted.compact_if_needed(*self.session())
        assert preview is not None
        assert len(scripted.budgets) == 2
        assert scripted.budgets[1] < scripted.budgets[0]
        assert preview.summary == words(100)
        assert "Did not converge" in preview.warnings[0]

    def test_none_is_made_where_the_first_gained_nothing(self) -> None:
        scripted = Scripted(words(5_000), words(100))
        with pytest.raises(NoGainError, match="less than 10 %"):
            scripted.compact_if_needed(*self.session())
        assert len(scripted.budgets) == 1

    def test_none_is_made_where_the_first_was_enough(self) -> None:
        session, _ = self.session()
        scripted = Scripted(words(100))
        preview = scripted.compact_if_needed(session, PressureInputs(3_600, 4_000))
        assert preview is not None
        assert len(scripted.budgets) == 1
        assert not any("converge" in warning for warning in preview.warnings)

    @pytest.mark.parametrize(
        "second",
        [words(5_000), words(290), BudgetError("too little", 1), SummaryError("lost")],
        ids=["gains nothing", "gains less", "budget", "failure"],
    )
    def test_one_that_does_worse_leaves_the_first_in_place(
        self, second: Summary | CompressError
    ) -> None:
        first = words(280)
        preview = Scripted(first, second).compact_if_needed(*self.session())
        assert preview is not None
        assert preview.summary == first


@settings(max_examples=30, deadline=None)
@given(histories(), sources())
def test_the_floor_is_told_before_and_no_compaction_gets_below_it(
    history: History, random: Random
) -> None:
    window, overhead = history.total, random.randint(0, 500)
    log = history.log
    nodes = log.nodes()
    pins = frozenset(random.sample(nodes, 1)) if random.random() < 0.5 else frozenset()
    for policy in (Policy(), Policy(last_messages=0, retain_ratio=0.3)):
        session = log.session(window=window, overhead=overhead, policy=policy)
        try:
            preview = preview_auto(session, PressureInputs(window, window), extra_pins=pins)
        except CompressError:
            continue
        if preview is None:
            continue
        assert overhead <= preview.floor <= preview.tokens_after + overhead
        threshold = policy.threshold(window)
        told = any("no compaction will get below it" in warning for warning in preview.warnings)
        assert told == (preview.floor >= threshold)


@settings(max_examples=25, deadline=None)
@given(histories(), sources())
def test_every_pressure_has_the_window_in_force_for_its_denominator(
    history: History, random: Random
) -> None:
    window, overhead, calibration = random.randint(500, 9_000), random.randint(0, 400), 1.25
    ends = legal_ends(history.log, random)
    assert ends is not None
    session = history.log.session(window=window, overhead=overhead, calibration=calibration)
    try:
        preview = preview_region(session, *ends)
    except CompressError:
        return
    for pressure, counted in (
        (preview.pressure_before, preview.tokens_before),
        (preview.pressure_after, preview.tokens_after),
    ):
        assert pressure == pytest.approx((round(counted * calibration) + overhead) / window)
