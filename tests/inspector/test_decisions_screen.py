"""Decision points in the app: looked at, chosen, followed to their events, exported."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from inspector.decision_choice import EVERYTHING, Wanted
from inspector.decision_reports import DecisionsReport
from inspector.screens.decisions import DecisionsScreen
from inspector.screens.session import SessionScreen
from inspector.widgets.decision_detail import DecisionDetail, detail_lines
from inspector.widgets.decision_list import DecisionList
from inspector.widgets.timeline import Timeline
from tests.inspector import decided
from tests.inspector.fakes import FakeUseCases
from tests.inspector.points import point_of
from tests.inspector.stage import on_stage, play, settle, text_of


async def test_the_records_of_a_session_stand_in_a_table() -> None:
    async with on_stage(None, "d", size=(160, 40)) as (app, pilot):
        assert isinstance(app.screen, DecisionsScreen)
        rows = text_of(app).splitlines()
        assert "4 records, 1 older: m" in rows[0]
        refused = next(row for row in rows if "git push" in row)
        assert "approval 1     aborted  L2  #21 … #22" in refused
        await play(pilot, "m")
        assert "failure  L3  #1 … #8" in text_of(app)
        assert "5 records" in text_of(app).splitlines()[0]


async def test_the_sessions_list_leads_to_the_records_of_all() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "d", session=None, size=(80, 24)) as (app, _):
        assert "of all sessions" in text_of(app)
        assert "L2  s3" in text_of(app)
    assert "decisions None None False" in inquiry.calls


async def test_filters_are_turned_one_after_the_other_and_taken_away() -> None:
    async with on_stage(None, "d", size=(120, 40)) as (app, pilot):
        table = app.screen.query_one(DecisionList)
        await play(pilot, "o")
        assert [row.point.outcome for row in table.source.rows(0, 9)] == ["success"]
        assert "success  1 of 4 records" in text_of(app)
        await play(pilot, "o")
        assert "No decision point matches the filters" in text_of(app)
        await play(pilot, "o", "o")
        assert [row.point.outcome for row in table.source.rows(0, 9)] == ["aborted"]
        await play(pilot, "escape", "s")
        assert [row.point.stage.kind for row in table.source.rows(0, 9)] == ["turn"]
        await play(pilot, "escape", "l", "l")
        assert len(table.source) == 0, "of the project's memory none is shown yet"
        await play(pilot, "escape", "slash", *"force main", "enter")
        assert [row.point.stage.kind for row in table.source.rows(0, 9)] == ["approval"]
        await play(pilot, "escape")
        assert len(table.source) == 4
        await play(pilot, "escape")
        assert isinstance(app.screen, SessionScreen)


async def test_a_line_of_a_record_leads_to_its_events() -> None:
    async with on_stage(None, "d", "home", "tab", size=(120, 40)) as (app, pilot):
        detail = app.screen.query_one(DecisionDetail)
        assert detail.has_focus
        place = next(
            at for at, row in enumerate(detail.source.rows(0, 99)) if "tests/test_fetch" in row.text
        )
        await play(pilot, *["j"] * place)
        await play(pilot, "right")
        assert "→ #12 2/3" in text_of(app)
        await play(pilot, "enter")
        assert isinstance(app.screen, SessionScreen)
        assert app.screen.query_one("#surface").row.seq == 12  # type: ignore[attr-defined]


async def test_enter_in_the_table_opens_the_session_where_the_stage_began() -> None:
    async with on_stage(None, "d", "home", "enter", size=(120, 40)) as (app, _):
        assert isinstance(app.screen, SessionScreen)
        assert app.screen.query_one("#surface").row.seq == 9  # type: ignore[attr-defined]


async def test_the_whole_project_can_be_looked_at() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "d", "p", size=(120, 40)) as (app, pilot):
        assert f"decisions None {decided.PROJECT} False" in inquiry.calls
        assert decided.PROJECT in text_of(app).splitlines()[0]
        await play(pilot, "p")
        assert inquiry.calls[-1] == "decisions s1 None False"


async def test_what_is_chosen_is_exported_masked() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "d", "o", "e", size=(120, 40)) as (app, pilot):
        assert "secrets masked" in text_of(app)
        await play(pilot, "enter")
        assert f"export {Path('decisions-s1.md')} s1 True" in inquiry.calls
        assert "1 record in decisions-s1.md, 2 secrets masked." in text_of(app)


async def test_a_refused_export_says_why_and_can_be_named_anew() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "d", "e", size=(120, 40)) as (app, pilot):
        await play(pilot, *"x.pdf", "enter")
        assert "x.pdf does not tell its format." in text_of(app)
        await play(pilot, *["backspace"] * 3, *"md", "enter")
        assert "does not tell" not in text_of(app)
    assert inquiry.calls[-1] == "export x.md s1 True"


async def test_a_click_on_the_timeline_goes_to_the_nearest_stage() -> None:
    async with on_stage(None, "d", size=(120, 40)) as (app, pilot):
        table = app.screen.query_one(DecisionList)
        line = app.screen.query_one(Timeline)
        assert table.cursor == 3
        await pilot.click(line, offset=(line.size.width // 2, 0))
        assert table.row is not None
        assert table.row.point.last_seq in (20, 22)


async def test_a_session_without_a_record_says_so() -> None:
    async with on_stage(None, "d", session="s2", size=(80, 24)) as (app, pilot):
        assert "No decision point yet" in text_of(app)
        await play(pilot, "e", "p", "enter", "tab", "enter")
        assert isinstance(app.screen, DecisionsScreen)


async def test_until_the_records_are_there_the_page_says_so() -> None:
    gate, inquiry = threading.Event(), FakeUseCases()
    given = inquiry.decisions

    def held(session: str | None = None, wanted: Wanted = EVERYTHING) -> DecisionsReport:
        gate.wait(10)
        return given(session, wanted)

    inquiry.decisions = held  # type: ignore[method-assign]
    async with on_stage(inquiry, size=(80, 24)) as (app, pilot):
        await pilot.press("d")
        await pilot.pause(0.1)
        assert text_of(app).count("reading …") == 2
        gate.set()
        await settle(pilot)
        assert "4 records" in text_of(app)


@pytest.mark.parametrize("text", ["[/]", "[@click=app.quit]x[/]", "a\x1b]0;PWN\x07b", "u\u202egpj"])
def test_a_records_text_is_shown_never_obeyed(text: str) -> None:
    for row in detail_lines(point_of(text), None, 40):
        assert not {"\x1b", "\x07", "\u202e", "\n"} & set(row.text)


def test_long_texts_are_folded_and_cut() -> None:
    rows = list(detail_lines(point_of("word " * 2_000), None, 40))
    assert max(len(row.text) for row in rows) <= 40
    assert any("more lines" in row.text for row in rows)
