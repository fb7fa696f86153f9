"""Compaction and audit in the app: preview, edit, commit, undo."""

from __future__ import annotations

import threading

from inspector.app import UllageApp
from inspector.reports import LostReport
from inspector.screens.audit import AuditScreen
from inspector.screens.compaction import CompactionScreen
from inspector.screens.session import SessionScreen
from inspector.widgets.balance import Balance
from inspector.widgets.bars import Banner
from inspector.widgets.fate_list import AfterList, BeforeList
from inspector.widgets.loss import loss
from tests.inspector.fakes import FakePreview, FakeUseCases
from tests.inspector.stage import on_stage, play, settle, text_of


def compaction_of(app: UllageApp) -> CompactionScreen:
    assert isinstance(app.screen, CompactionScreen)
    return app.screen


# Compaction


async def test_a_selected_region_is_previewed_edited_and_committed() -> None:
    inquiry = FakeUseCases()
    keys = ("home", "j", "space", "j", "j", "j", "c")
    async with on_stage(inquiry, *keys) as (app, pilot):
        compaction = compaction_of(app)
        assert compaction.span == (9, 12)
        assert "region #9 … #12" in text_of(app)
        await play(pilot, "j", "j", "p")
        assert inquiry.calls[-2] == "preview region 9 12 None [11]"
        await play(pilot, "minus")
        assert "preview region 9 12 4096 [11]" in inquiry.calls
        await play(pilot, "end", "k", "k", "k", "k", "k", "k", "k", "e")
        assert compaction.span == (9, 33)
        await play(pilot, "y")
        assert isinstance(app.screen, SessionScreen)
        assert app.screen.track == "plan"
        assert "Committed o1: 152k → " in text_of(app)
        assert "checkpoint" in text_of(app)
    assert inquiry.operations[0].shadowed_seqs[0] == 9


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
        await play(pilot, "c", "y", "g")
        assert inquiry.operations
        assert isinstance(app.screen, SessionScreen)
        assert app.screen.track == "agent"
        assert "the policy would" not in text_of(app)


async def test_a_proposal_names_its_key_on_a_narrow_screen_too() -> None:
    async with on_stage(size=(60, 24)) as (app, _):
        assert "▲ 76 % full: clear old results?  c previews it" in text_of(app)


async def test_leaving_writes_nothing() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "c", "escape") as (app, _):
        assert isinstance(app.screen, SessionScreen)
    assert inquiry.operations == []


async def test_a_refusal_offers_its_ways_out_as_keys() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "c", "home", "j", "j", "j", "j", "s") as (app, pilot):
        banner = app.screen.query_one(Banner)
        assert banner.display
        assert "between a call and its result at event 12" in text_of(app)
        assert len(app.screen.query_one(AfterList).source) == 0
        await play(pilot, "y")
        assert inquiry.operations == []
        await play(pilot, "1")
        assert compaction_of(app).span is not None
        assert compaction_of(app).span[0] == 11  # type: ignore[index]


async def test_nothing_of_the_last_preview_stands_while_the_next_is_computed() -> None:
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
        await play(pilot, "m", "home", "j", "j", "j", "j", "s")
        assert "between a call and its result" in text_of(app)
        gate.clear()
        await pilot.press("m")
        await pilot.pause(0.1)
        shown = text_of(app)
        assert "computing the preview …" in shown
        assert "whole surface by policy" in shown
        assert "between a call and its result" not in shown
        await pilot.press("y")
        await pilot.pause(0.1)
        assert "The preview is not ready yet." in text_of(app)
        gate.set()
        await settle(pilot)
        assert "whole surface by policy #41 … #33" in text_of(app)
    assert inquiry.operations == []


async def test_a_refused_preview_says_so_where_the_figures_were() -> None:
    async with on_stage(None, "c", "home", "j", "j", "j", "j", "s") as (app, _):
        shown = text_of(app)
    assert "no preview: this was refused" in shown
    assert "gains" not in shown


def test_a_loss_states_how_much_there_is_in_all() -> None:
    names = tuple(f"name_{at}" for at in range(200))
    lost = LostReport(identifiers=names, identifiers_total=1_503, errors=("one",))
    titles = [section.title for section in loss(lost)]
    assert titles == ["lost errors (1)", "lost identifiers (200 of 1,503)"]
    balance = Balance()
    report = FakeUseCases().preview("s1", start=9, end=12).report
    balance.show(report.model_copy(update={"lost": lost}))
    costs = "".join(text for text, _ in balance.draw(200, 3)[2])
    assert "loses 1,503 identifiers, 1 error" in costs


async def test_the_other_side_goes_along() -> None:
    async with on_stage(None, "c", "end") as (app, _):
        before, after = app.screen.query_one(BeforeList), app.screen.query_one(AfterList)
        assert before.row is not None
        assert before.row.node is not None
        assert after.row is not None
        assert after.row.node is not None
        assert before.row.node.seq == after.row.node.seq == 40


async def test_what_would_be_lost_is_listed() -> None:
    async with on_stage(None, "c", "v") as (app, _):
        assert "• src/client.py:41" in text_of(app)


# Audit


async def test_operations_are_listed_undone_and_redone() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "p", "a", size=(120, 40)) as (app, pilot):
        assert isinstance(app.screen, AuditScreen)
        shown = text_of(app)
        assert "agent" in shown
        assert "3 operations, 3 standing" in shown
        await play(pilot, "u")
        assert inquiry.operations[0].state == "undone"
        assert "Undone, as o1" in text_of(app)
        await play(pilot, "U")
        assert inquiry.operations[0].state == "standing"


async def test_the_agents_own_operation_cannot_be_undone() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "a", "home", "u") as (app, _):
        assert "Only an operation of yours" in text_of(app)
    assert not any(call.startswith("undo") for call in inquiry.calls)


async def test_an_undo_that_carries_others_offers_to_take_them_along() -> None:
    inquiry = FakeUseCases()
    for seqs in ((9, 12), (13, 16)):
        inquiry.commit(inquiry.preview("s1", start=seqs[0], end=seqs[1]))
    async with on_stage(inquiry, "a", "k", "u") as (app, pilot):
        assert "Operation o1 carries o2." in text_of(app)
        await play(pilot, "1")
    assert inquiry.calls[-1] == "undo o1 True"


async def test_the_diff_and_the_loss_are_shown() -> None:
    async with on_stage(None, "a") as (app, _):
        assert "• never push to main" in text_of(app)
        assert "+#41 checkpoint: 8 nodes, 1,620 tokens" in text_of(app)
