"""Compaction in the app: preview, edit in place, commit, undo."""

# Long because: a test for each thing that a person does with a compaction.

from __future__ import annotations

import threading

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from compress.errors import CompressError
from inspector.app import UllageApp
from inspector.reports import LostReport
from inspector.screens.compaction import CompactionScreen
from inspector.screens.session import SessionScreen
from inspector.widgets.balance import Balance, loses
from inspector.widgets.bars import Banner
from inspector.widgets.fate_list import AfterList, BeforeList
from inspector.widgets.loss import loss
from inspector.widgets.loss_list import LossList, lost_things
from inspector.widgets.tabs import Tabs
from tests.inspector.fakes import FakePreview, FakeUseCases
from tests.inspector.stage import on_stage, play, settle, text_of

REGION = ("home", "j", "space", "j", "j", "j", "c")
"""Opens a preview of the region #9 … #12."""


def compaction_of(app: UllageApp) -> CompactionScreen:
    assert isinstance(app.screen, CompactionScreen)
    return app.screen


def sides_of(app: UllageApp) -> tuple[BeforeList, AfterList]:
    return app.screen.query_one(BeforeList), app.screen.query_one(AfterList)


async def drag(pilot: Pilot[None], start: tuple[int, int], stop: tuple[int, int]) -> None:
    await pilot.mouse_down("#before", offset=start)
    await pilot.hover("#before", offset=stop)
    await pilot.mouse_up("#before", offset=stop)
    await settle(pilot)


# The preview, and the deed


async def test_a_selected_region_is_previewed_edited_and_committed() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *REGION) as (app, pilot):
        compaction = compaction_of(app)
        assert compaction.edits.span == (9, 12)
        assert "region #9 … #12" in text_of(app)
        await play(pilot, "j", "j", "p")
        assert inquiry.calls[-2] == "preview region 9 12 None [11]"
        await play(pilot, "minus")
        assert "preview region 9 12 4096 [11]" in inquiry.calls
        await play(pilot, "end", "k", "k", "k", "k", "k", "k", "k", "e")
        assert compaction.edits.span == (9, 33)
        await play(pilot, "y")
        assert inquiry.operations == []
        await play(pilot, "y")
        assert isinstance(app.screen, SessionScreen)
        assert app.screen.track == "plan"
        assert "Committed o1: 152k → " in text_of(app)
        assert "checkpoint" in text_of(app)
    assert inquiry.operations[0].shadowed_seqs[0] == 9


async def test_a_commit_is_confirmed_with_its_figures() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *REGION, "y", size=(160, 40)) as (app, pilot):
        shown = " ".join(text_of(app).split())
        assert "Put a checkpoint of 980 counted tokens in the place of #9 … #12?" in shown
        assert "152k → 151k tokens, 76 % → 76 % of 200,000; cache loses 104k" in shown
        assert "loses 1 error, 2 identifiers." in shown
        await play(pilot, "escape")
        assert "Put a checkpoint" not in text_of(app)
        await play(pilot, "y", "p")
        assert "Put a checkpoint" not in text_of(app)
        await play(pilot, "y", "2")
        assert inquiry.operations == []
        await play(pilot, "y", "1")
        assert len(inquiry.operations) == 1
        assert isinstance(app.screen, SessionScreen)


async def test_without_a_selection_the_policy_chooses() -> None:
    async with on_stage(None, "c") as (app, pilot):
        assert "old tool results only" in text_of(app)
        await play(pilot, "m")
        assert "compaction  region" in text_of(app)
        await play(pilot, "m")
        assert "whole surface by policy #41 … #33" in text_of(app)


async def test_a_policy_only_proposes_until_the_plan_has_room() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry) as (app, pilot):
        proposal = "▲ 76 % full: the policy would clear old tool results  c previews it"
        assert proposal in text_of(app)
        assert inquiry.operations == []
        await play(pilot, "comma")
        assert "the policy would" not in text_of(app)
        await play(pilot, "n")
        assert proposal in text_of(app)
        await play(pilot, "c", "y", "y", "g")
        assert inquiry.operations
        assert isinstance(app.screen, SessionScreen)
        assert app.screen.track == "agent"
        assert "the policy would" not in text_of(app)


async def test_a_proposal_names_its_key_on_a_narrow_screen_too() -> None:
    async with on_stage(size=(60, 24)) as (app, _):
        assert "▲ 76 % full: clear old results?  c previews it" in text_of(app)


async def test_leaving_writes_nothing() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *REGION, "p", "minus", "escape") as (app, _):
        assert isinstance(app.screen, SessionScreen)
    assert inquiry.operations == []


# The figures


@pytest.mark.parametrize("width", [80, 120, 160])
async def test_no_figure_is_cut_at_any_width(width: int) -> None:
    async with on_stage(None, *REGION, size=(width, 40)) as (app, _):
        shown = text_of(app)
    for words in (
        "of a 200,000-token window",
        "gains 1,082",
        "cannot go below 31.0k",
        "cache loses 104k",
        "summary 980 counted",
        "loses 1 error, 2 identifiers",
    ):
        assert words in shown


def test_a_loss_states_how_much_there_is_in_all() -> None:
    names = tuple(f"name_{at}" for at in range(200))
    lost = LostReport(identifiers=names, identifiers_total=1_503, errors=("one",))
    titles = [section.title for section in loss(lost)]
    assert titles == ["lost errors (1)", "lost identifiers (200 of 1,503)"]
    assert loses(lost) == "loses 1 error, 1,503 identifiers"
    things = lost_things(lost)
    assert things[0].text == "one"
    assert things[-1].text == "… and 1,303 more"
    assert not things[-1].told


async def test_the_old_figures_stay_dimmed_until_the_new_ones_are_there() -> None:
    inquiry = FakeUseCases()
    quick, gate = inquiry.preview, threading.Event()

    def gated(*args: object, **options: object) -> FakePreview:
        gate.wait(5)
        return quick(*args, **options)  # type: ignore[arg-type]

    inquiry.preview = gated  # type: ignore[method-assign]
    async with on_stage(inquiry) as (app, pilot):
        await pilot.press("c")
        await pilot.pause(0.1)
        assert "computing the preview …" in text_of(app)
        gate.set()
        await settle(pilot)
        assert "old tool results only #41 … #33" in text_of(app)
        gate.clear()
        await pilot.press("m", "m")
        await pilot.pause(0.1)
        shown = text_of(app)
        assert "recomputing …" in shown
        assert "whole surface by policy" in shown
        assert "gains 63.3k" in shown
        assert sides_of(app)[0].stale
        await pilot.press("y")
        await pilot.pause(0.1)
        assert "The preview is not ready yet." in text_of(app)
        gate.set()
        await settle(pilot)
        shown = text_of(app)
        assert "whole surface by policy #41 … #33" in shown
        assert "recomputing …" not in shown
        assert not sides_of(app)[0].stale
    assert inquiry.operations == []


async def test_of_the_wishes_that_come_meanwhile_only_the_newest_is_computed() -> None:
    inquiry = FakeUseCases()
    quick, gate = inquiry.preview, threading.Event()

    def gated(*args: object, **options: object) -> FakePreview:
        gate.wait(5)
        return quick(*args, **options)  # type: ignore[arg-type]

    inquiry.preview = gated  # type: ignore[method-assign]
    gate.set()
    async with on_stage(inquiry, *REGION) as (app, pilot):
        inquiry.calls.clear()
        gate.clear()
        for _ in range(3):
            await pilot.press("minus")
            await pilot.pause(0.05)
        gate.set()
        await settle(pilot)
        asked = [call for call in inquiry.calls if call.startswith("preview")]
        assert asked == ["preview region 9 12 4096 []", "preview region 9 12 1024 []"]
        assert "budget 1,024" in text_of(app)


async def test_a_store_that_grows_recomputes_without_dimming() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *REGION) as (app, pilot):
        inquiry.calls.clear()
        inquiry.version += 1
        await pilot.pause(0.2)
        await settle(pilot)
        assert "preview region 9 12 None []" in inquiry.calls
        assert "recomputing …" not in text_of(app)


# Editing in place


async def test_an_edge_that_would_part_a_call_from_its_result_snaps_and_says_so() -> None:
    async with on_stage(None, *REGION) as (app, pilot):
        # #13 calls Bash, #14 is its result.
        await play(pilot, "home", "j", "j", "j", "j", "j", "e")
        assert compaction_of(app).edits.span == (9, 14)
        assert "Snapped the end to #14: a call stays with its result." in text_of(app)
        await play(pilot, "j", "e")
        assert "Snapped" not in text_of(app)


async def test_a_selection_that_parts_a_call_from_its_result_snaps_when_it_comes_in() -> None:
    async with on_stage(None, "home", "j", "j", "j", "j", "space", "j", "c") as (app, _):
        assert compaction_of(app).edits.span == (11, 14)
        shown = text_of(app)
        assert "Snapped the start to #11 and the end to #14: a call stays with its result." in shown


async def test_the_region_after_a_micro_compaction_begins_at_a_balanced_boundary() -> None:
    inquiry = FakeUseCases()
    plain = inquiry.preview

    def from_a_result(session: str, **asked: object) -> FakePreview:
        found = plain(session, **asked)  # type: ignore[arg-type]
        if asked["mode"] != "micro":
            return found
        region = found.report.region
        assert region is not None
        moved = region.model_copy(update={"start": 12, "end": 14})
        return FakePreview(found.report.model_copy(update={"region": moved}))

    inquiry.preview = from_a_result  # type: ignore[method-assign, assignment]
    async with on_stage(inquiry, "c") as (app, pilot):
        assert "old tool results only #12 … #14" in text_of(app)
        await play(pilot, "m")
        assert compaction_of(app).edits.span == (11, 14)
        assert not app.screen.query_one(Banner).text.startswith("The region would begin")


async def test_the_nearer_edge_moves_by_units_and_the_cursor_with_it() -> None:
    async with on_stage(None, *REGION) as (app, pilot):
        compaction, (before, _) = compaction_of(app), sides_of(app)
        await play(pilot, "right")
        assert compaction.edits.span == (10, 12)
        await play(pilot, "left", "left")
        assert compaction.edits.span == (41, 12)
        await play(pilot, "j", "j", "j", "j", "right")
        assert compaction.edits.span == (41, 14)
        assert before.row is not None
        assert before.row.node is not None
        assert before.row.node.seq == 14
        await play(pilot, "left")
        assert compaction.edits.span == (41, 12)


async def test_the_mouse_drags_a_region_and_its_edges() -> None:
    async with on_stage(None, "c") as (app, pilot):
        compaction, (before, _) = compaction_of(app), sides_of(app)
        # Row r stands at line r + 1, below the border; column 1 is the gutter.
        await drag(pilot, (12, 3), (12, 6))
        assert compaction.edits.span == (10, 14)
        assert before.pivot is None
        await drag(pilot, (1, 7), (1, 9))
        assert compaction.edits.span == (10, 16)
        await drag(pilot, (1, 3), (1, 4))
        assert compaction.edits.span == (11, 16)
        await pilot.click("#before", offset=(12, 3))
        await settle(pilot)
        assert compaction.edits.span == (11, 16)
        assert before.cursor == 2


async def test_nodes_are_kept_in_this_one_operation_and_nothing_is_written() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *REGION) as (app, pilot):
        await play(pilot, "space", "j", "j", "p")
        assert compaction_of(app).edits.keep == (9, 10, 11)
        assert "3 kept here" in text_of(app)
        assert "☆" in text_of(app)
        await play(pilot, "p")
        assert compaction_of(app).edits.keep == (9, 10)
    assert inquiry.operations == []


async def test_a_pin_for_good_is_an_operation_of_its_own() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *REGION, "P") as (app, pilot):
        assert "Pinned #9, as o1 in the audit." in text_of(app)
        assert 9 in inquiry.pinned
        await play(pilot, "P")
        assert 9 not in inquiry.pinned


async def test_the_budget_is_typed_in_place() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *REGION, "b", *"2k") as (app, pilot):
        assert "preview region 9 12 2000 []" in inquiry.calls
        await play(pilot, "x")
        assert "A budget is a number of tokens" in text_of(app)
        assert compaction_of(app).edits.budget == 2_000
        await play(pilot, "enter")
        assert not app.screen.query_one(Input).display
        assert isinstance(app.focused, BeforeList)
        await play(pilot, "b", "escape")
        assert isinstance(app.screen, CompactionScreen)
        assert "budget 2,000" in text_of(app)


# Refusals


async def test_a_refusal_offers_its_ways_out_as_keys() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *REGION, "end", "e") as (app, pilot):
        assert app.screen.query_one(Banner).display
        assert "A region cannot end at event 40" in text_of(app)
        assert "no preview: this was refused" in text_of(app)
        assert "gains" not in text_of(app)
        assert len(sides_of(app)[1].source) == 0
        await play(pilot, "y")
        assert "There is no preview to commit." in text_of(app)
        assert inquiry.operations == []
        await play(pilot, "1")
        assert compaction_of(app).edits.span == (9, 39)
        assert not app.screen.query_one(Banner).display


async def test_where_no_policy_acts_a_region_can_be_named() -> None:
    inquiry = FakeUseCases()
    plain = inquiry.preview

    def idle(session: str, **asked: object) -> FakePreview:
        if asked["mode"] != "region":
            raise CompressError("Compaction has nothing to do: the window is 31% full.")
        return plain(session, **asked)  # type: ignore[arg-type]

    inquiry.preview = idle  # type: ignore[method-assign, assignment]
    async with on_stage(inquiry, "c") as (app, pilot):
        assert "1 name a region" in text_of(app)
        await play(pilot, "1")
        assert compaction_of(app).edits.mode == "region"
        assert compaction_of(app).edits.span == (41, 40)
        assert "gains" in text_of(app)


async def test_an_empty_surface_says_so() -> None:
    inquiry = FakeUseCases()
    inquiry.newest = 0

    def nothing(*_: object, **__: object) -> FakePreview:
        raise CompressError("The surface is empty: there is nothing to compact.")

    inquiry.preview = nothing  # type: ignore[method-assign, assignment]
    async with on_stage(inquiry, "c", "s", "e", "p", "left", "m", "y") as (app, _):
        assert isinstance(app.screen, CompactionScreen)
        assert text_of(app).count("The surface is empty") == 2


async def test_a_moment_of_the_past_can_be_looked_at_but_not_changed() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "comma", "c") as (app, pilot):
        assert "as of #40, the past" in text_of(app)
        for key in ("y", "u", "P"):
            await play(pilot, key)
            assert "Only the present can be changed" in text_of(app)
    assert inquiry.operations == []


# Both sides


async def test_the_other_side_goes_along() -> None:
    async with on_stage(None, "c", "end") as (app, _):
        before, after = sides_of(app)
        assert before.row is not None
        assert before.row.node is not None
        assert after.row is not None
        assert after.row.node is not None
        assert before.row.node.seq == after.row.node.seq == 40


async def test_the_right_side_leads_where_it_has_the_keyboard() -> None:
    async with on_stage(None, *REGION, "tab", "end", "k") as (app, pilot):
        before, after = sides_of(app)
        assert after.has_focus
        assert before.row is not None
        assert before.row.node is not None
        assert before.row.node.seq == 39
        await play(pilot, "home", "j")
        # The checkpoint leads to the first node that it stands for.
        assert before.cursor == 1


async def test_both_sides_scroll_together() -> None:
    async with on_stage(None, *REGION, size=(120, 24)) as (app, pilot):
        before, after = sides_of(app)
        rows = compaction_of(app).answer
        assert rows is not None
        before.scroll_to(y=12, animate=False, immediate=True)
        await settle(pilot)
        assert after.scroll_offset.y == rows.after.place_of(12) == 10
        after.scroll_to(y=13, animate=False, immediate=True)
        await settle(pilot)
        assert before.scroll_offset.y == rows.after.row_of(13) == 15


# Summary, changes, loss


async def test_the_views_turn_by_key_and_by_click() -> None:
    async with on_stage(None, *REGION, size=(80, 24)) as (app, pilot):
        assert "## Instructions" in text_of(app)
        assert "ModuleNotFoundError: No module named 'freezegun'" not in text_of(app)
        await play(pilot, "v")
        assert "-#4 Bash: FAILED tests/test_retry.py::test_backoff" in text_of(app)
        await play(pilot, "v")
        assert "identifier  src/client.py:41" in text_of(app)
        await pilot.click(Tabs, offset=(4, 0))
        await settle(pilot)
        assert "## Instructions" in text_of(app)


async def test_what_would_be_lost_stands_beside_the_summary_where_there_is_room() -> None:
    async with on_stage(None, *REGION, size=(160, 40)) as (app, _):
        shown = text_of(app)
    assert "## Instructions" in shown
    assert "identifier  src/client.py:41" in shown


async def test_something_lost_leads_to_its_node() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *REGION, size=(160, 40)) as (app, pilot):
        losses, (before, _) = app.screen.query_one(LossList), sides_of(app)
        losses.focus()
        await play(pilot, "end", "enter")
        assert "whereabouts freezegun-1.5.1 9 12 None" in inquiry.calls
        assert before.has_focus
        assert before.row is not None
        assert before.row.node is not None
        assert before.row.node.seq == 18
        losses.focus()
        await play(pilot, "home", "j", "enter")
        assert "#8 does not stand on this surface." in text_of(app)


# Operations from here


async def test_operations_are_undone_and_redone_from_here() -> None:
    inquiry = FakeUseCases()
    inquiry.commit(inquiry.preview("s1", start=9, end=12))
    async with on_stage(inquiry, "c") as (app, pilot):
        count = len(sides_of(app)[0].source)
        await play(pilot, "u")
        assert "Undone, as o1 in the audit." in text_of(app)
        assert inquiry.operations[0].state == "undone"
        assert len(sides_of(app)[0].source) == count + 2
        await play(pilot, "U")
        assert inquiry.operations[0].state == "standing"
        assert len(sides_of(app)[0].source) == count


# Where the agent compacted


async def test_the_agents_own_summary_stands_beside_what_would_have_been_kept() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, size=(160, 48)) as (app, pilot):
        app.open_comparison("s1", 1)
        await settle(pilot)
        shown = text_of(app)
        assert "the agent's region #1 … #8  before compaction 1" in shown
        assert "budget as the agent's" in shown
        assert "1,620 counted · 152k → 141k · 70 %" in shown
        assert "980 counted · 152k → 138k · 69 %" in shown
        assert "loses 1 instruction, 1 identifier" in shown
        await play(pilot, "b", *"512", "enter")
        assert "compare 1 512 []" in inquiry.calls
        assert "512 counted" in text_of(app)
        await play(pilot, "end", "k", "k", "e")
        assert compaction_of(app).edits.span == (1, 38)
        assert "preview region 1 38 512 []" in inquiry.calls
        assert "1,620 counted" in text_of(app)
        await play(pilot, "y")
        assert "Only the present can be changed" in text_of(app)
    assert inquiry.operations == []


def test_figures_without_a_window_have_no_share() -> None:
    report = FakeUseCases().preview("s1", start=9, end=12).report
    balance = Balance()
    unknown = {"window": None, "pressure_before": None, "pressure_after": None}
    balance.show(report.model_copy(update=unknown))
    rows = ["".join(text for text, _ in row) for row in balance.draw(160, 4)]
    assert "window unknown" in rows[2]
    assert "%" not in "".join(rows)
