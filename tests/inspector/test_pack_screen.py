"""The screen of a pack: typed, changed by hand, committed, saved."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import Any

import pytest

from inspector.pack_reports import PackHandle
from inspector.screens.context import ContextScreen
from inspector.screens.pack import PackScreen
from inspector.screens.rebuild import RebuildScreen
from inspector.screens.session import SessionScreen
from inspector.widgets.bars import Banner
from inspector.widgets.pack_list import PackList
from tests.inspector.fakes import FakeUseCases
from tests.inspector.packed import SYMBOLS
from tests.inspector.stage import on_stage, play, settle, text_of

ASKED = ["b", *"retry", "enter"]


def lines(app: Any) -> PackList:
    return app.screen.query_one(PackList)  # type: ignore[no-any-return]


def row(app: Any, belief: str) -> Any:
    return next(r for r in lines(app).source.rows(0, 99) if r.belief == belief)


async def test_what_is_typed_is_asked_for_and_the_newest_words_are_answered() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *ASKED) as (app, _):
        assert isinstance(app.screen, PackScreen)
        assert app.screen.report is not None
        assert app.screen.report.query == "retry"
        assert lines(app).has_focus
        assert "For: retry" in text_of(app)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 60)])
async def test_a_query_of_symbols_is_told_what_it_lacks(size: tuple[int, int]) -> None:
    async with on_stage(None, "b", *"***", size=size) as (app, pilot):
        assert lines(app).source
        shown = " ".join(re.sub("[│┃▌]", " ", text_of(app)).split())
        assert f"· “***” {SYMBOLS}" in shown
        await play(pilot, "enter", "y")
        assert "Append this pack" in app.screen.query_one(Banner).text
        await play(pilot, "escape", "o")
        assert isinstance(app.screen, RebuildScreen)
        assert app.screen.query_one(Banner).text == f"“***” {SYMBOLS}"
        await play(pilot, "slash", *"wait")
        assert not app.screen.query_one(Banner).display


async def test_what_a_query_lacks_stands_where_the_rows_would_be() -> None:
    inquiry = FakeUseCases()
    made = inquiry.pack
    note = "No event of the session holds a word of “zebra”."

    def nothing(*asked: Any, **more: Any) -> PackHandle:
        handle = made(*asked, **more)
        report = handle.report.model_copy(update={"lines": (), "note": note})
        return replace(handle, report=report)

    inquiry.pack = nothing  # type: ignore[method-assign]
    async with on_stage(inquiry, "b", *"zebra") as (app, _):
        assert text_of(app).count("No event of the session") == 1
        assert not app.screen.query_one(Banner).display


async def test_keys_typed_into_the_query_do_nothing_else() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "b", *"yupszb") as (app, _):
        assert isinstance(app.screen, PackScreen)
        assert app.screen.wish.query == "yupszb"
        assert not inquiry.operations


async def test_while_one_types_no_key_waits_for_a_pack() -> None:
    inquiry = FakeUseCases()
    gate, made = threading.Event(), inquiry.pack
    gate.set()
    asked: list[str] = []

    def held(session: str | None, query: str, **more: Any) -> PackHandle:
        asked.append(query)
        gate.wait(60)
        return made(session, query, **more)

    inquiry.pack = held  # type: ignore[method-assign]
    async with on_stage(inquiry, "b") as (app, pilot):
        gate.clear()
        for key in "backoff":
            await pilot.press(key)
            await pilot.pause(0.05)
        assert isinstance(app.screen, PackScreen)
        assert app.screen.wish.query == "backoff"
        assert app.screen.stale
        gate.set()
        await settle(pilot)
        assert not app.screen.stale
        assert app.screen.report is not None
        assert app.screen.report.query == "backoff"
    assert asked[-1] == "backoff"
    assert len(asked) < len("backoff")


async def test_a_line_goes_out_and_in_again() -> None:
    async with on_stage(None, *ASKED, "j", "space") as (app, pilot):
        assert row(app, "b2").reason == "excluded"
        assert not row(app, "b2").packed
        await play(pilot, "space")
        assert row(app, "b2").packed


async def test_a_line_that_did_not_fit_goes_in_before_others() -> None:
    async with on_stage(None, *ASKED, "end", "k", "space") as (app, _):
        wanted = lines(app).row
        assert wanted is not None
        assert wanted.belief == "b8"
        assert wanted.packed
        assert wanted.rank == 2


async def test_a_pinned_line_stays_as_it_is() -> None:
    async with on_stage(None, *ASKED, "home", "space", "s") as (app, _):
        assert isinstance(app.screen, PackScreen)
        assert app.screen.wish.by_hand == 0
        assert row(app, "b1").packed
        assert row(app, "b1").strategy == "verbatim"


async def test_strategies_of_a_line_go_round() -> None:
    async with on_stage(None, *ASKED, "j", "j", "s") as (app, pilot):
        seen = [row(app, "b3").strategy]
        for _ in range(4):
            await play(pilot, "s")
            seen.append(row(app, "b3").strategy)
        assert seen == ["verbatim", "headline", "query_headline", "stub", "headline"]
        await play(pilot, "s", "r")
        assert isinstance(app.screen, PackScreen)
        assert app.screen.wish.by_hand == 0


async def test_compression_scope_and_budget_are_asked_for_anew() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *ASKED, "z", "p", "plus") as (app, pilot):
        assert inquiry.calls[-1] == "pack s1 retry 2000 True False"
        await play(pilot, "p", "b", *"9k")
        assert inquiry.calls[-1] == "pack None retry 9000 False False"
        assert isinstance(app.screen, PackScreen)
        assert app.screen.report is not None
        assert {r.session for r in app.screen.report.lines} == {"s1", "s3"}


async def test_what_is_pinned_above_the_budget_is_refused_with_both_numbers_and_a_way_out() -> None:
    async with on_stage(None, *ASKED, "b", *"90", "enter") as (app, pilot):
        banner = app.screen.query_one(Banner)
        assert "104 tokens" in banner.text
        assert "90" in banner.text
        await play(pilot, "y")
        assert isinstance(app.screen, PackScreen)
        await play(pilot, "1")
        assert app.screen.report is not None
        assert app.screen.report.overflow == 14
        assert "14 tokens above the budget" in app.screen.query_one(Banner).text


async def test_a_commit_shows_its_figures_first_and_stands_in_the_plan() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *ASKED, "y") as (app, pilot):
        assert not inquiry.operations
        assert "Append this pack to the plan" in app.screen.query_one(Banner).text
        await play(pilot, "y")
        assert [row.kind for row in inquiry.operations] == ["pack"]
        assert isinstance(app.screen, SessionScreen)


async def test_nothing_is_committed_to_no_session() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *ASKED, "y", "y", "u", session=None) as (app, _):
        assert isinstance(app.screen, ContextScreen)
        assert not inquiry.operations
        assert app.screen.wish.scope == "store"


async def test_escape_leaves_the_question_before_the_page() -> None:
    async with on_stage(None, *ASKED, "y", "escape") as (app, pilot):
        assert isinstance(app.screen, PackScreen)
        assert not app.screen.confirming
        await play(pilot, "w", "escape")
        assert isinstance(app.screen, PackScreen)
        await play(pilot, "escape")
        assert isinstance(app.screen, SessionScreen)


async def test_a_pack_is_saved_under_the_name_that_is_given() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *ASKED, "w", "enter") as (app, pilot):
        assert inquiry.calls[-1] == "save pack-retry.md"
        await play(pilot, "w", *["backspace"] * 20, *"missing/a", "enter")
        assert "is no folder" in app.screen.query_one(Banner).text


async def test_a_name_that_is_proposed_ends_in_a_word() -> None:
    inquiry = FakeUseCases()
    asked = ["b", *"a query of many a letter, and more", "enter"]
    async with on_stage(inquiry, *asked, "w", "enter") as (_, pilot):
        await settle(pilot)
        assert inquiry.calls[-1] == "save pack-a_query_of_many_a_letter.md"


async def test_enter_on_a_line_goes_to_its_event() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *ASKED, "j", "enter") as (app, _):
        assert isinstance(app.screen, SessionScreen)
        assert app.screen.at in (None, 6)


async def test_growth_asks_anew_but_not_below_a_question() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *ASKED) as (app, pilot):
        before = len(inquiry.calls)
        app.screen.store_grew()  # type: ignore[attr-defined]
        await settle(pilot)
        assert len(inquiry.calls) == before + 1
        await play(pilot, "y")
        app.screen.store_grew()  # type: ignore[attr-defined]
        await settle(pilot)
        assert len(inquiry.calls) == before + 1


async def test_a_context_is_rebuilt_for_the_same_question_and_budget() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *ASKED, "b", *"9k", "enter", "o") as (app, pilot):
        assert inquiry.calls[-1] == "rebuild s1 retry 9000 None"
        assert "names that do not stand" in text_of(app)
        await play(pilot, "slash", *["backspace"] * 5, "enter", "z")
        assert inquiry.calls[-1] == "rebuild s1 None 9000 False"
        await play(pilot, "end", "v")
        assert "exit 2: pytest --lf" in text_of(app)
        await play(pilot, "y", "y")
        assert [row.kind for row in inquiry.operations] == ["pack"]
        assert isinstance(app.screen, SessionScreen)


async def test_from_a_context_one_comes_back_to_the_pack() -> None:
    async with on_stage(None, *ASKED, "o", "escape") as (app, _):
        assert isinstance(app.screen, PackScreen)


async def test_a_context_is_saved() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *ASKED, "o", "w", "enter") as (_, _pilot):
        assert inquiry.calls[-1] == "save context-retry.md"


async def test_no_context_is_rebuilt_for_all_sessions() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, *ASKED, "o", session=None) as (app, _):
        assert isinstance(app.screen, PackScreen)
    assert not any(call.startswith("rebuild") for call in inquiry.calls)
