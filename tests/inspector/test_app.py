"""What a person does in the app, key by key, over in-memory use-cases."""

# Long because: a test for each thing that a person does in the app.

from __future__ import annotations

import time
from pathlib import Path

import pytest
from textual.widgets import Input

from inspector.app import UllageApp
from inspector.screens.help import HelpScreen
from inspector.screens.session import SessionScreen
from inspector.screens.sessions import SessionsScreen
from inspector.widgets.hit_list import HitList
from inspector.widgets.session_list import SessionList
from inspector.widgets.surface_list import SurfaceList
from inspector.widgets.text_pane import TextPane
from tests.inspector.fakes import FakeUseCases, MillionUseCases
from tests.inspector.stage import NOW, make_app, on_stage, play, settle, text_of
from tests.inspector.story import nodes_of_story


def session_of(app: UllageApp) -> SessionScreen:
    assert isinstance(app.screen, SessionScreen)
    return app.screen


# Sessions


async def test_the_list_of_sessions_shows_what_each_is() -> None:
    async with on_stage(session=None, size=(160, 20)) as (app, _):
        shown = text_of(app)
    assert "Fix the flaky retry test" in shown
    assert "76 %" in shown
    assert "152k/200k" in shown
    assert "~8 %" in shown, "an estimated pressure is marked"
    assert "empty: holds only a summary record" in shown
    assert "6 sessions" in shown
    marked = [row.split()[1] for row in shown.splitlines() if "▲" in row]
    assert marked == ["claude", "codex"], "those at whose pressure the policy would act"


async def test_typing_filters_and_enter_opens() -> None:
    async with on_stage(None, "slash", *"codex", session=None) as (app, pilot):
        sessions = app.screen.query_one(SessionList)
        assert [row.id for row in sessions.source.rows(0, 9)] == ["s3"]
        assert "1 of 6 sessions" in text_of(app)
        await play(pilot, "enter")
        assert session_of(app).session == "s3"
        await play(pilot, "escape", "escape")
        assert isinstance(app.screen, SessionsScreen)
        assert app.screen.query_one(Input).value == ""
        assert len(sessions.source) == 6


async def test_arrows_move_the_list_while_one_types() -> None:
    async with on_stage(None, "slash", "r", "down", session=None) as (app, _):
        assert app.screen.query_one(SessionList).cursor == 1


async def test_the_list_stays_on_its_session_when_it_changes() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "j", "j", session=None) as (app, pilot):
        rows = inquiry.sessions()
        inquiry.sessions = lambda limit=None: rows[::-1]  # type: ignore[method-assign]
        inquiry.version += 1
        await pilot.pause(0.2)
        await settle(pilot)
        row = app.screen.query_one(SessionList).row
        assert row is not None
        assert row.id == "s3"


async def test_progress_of_reading_is_shown() -> None:
    inquiry = FakeUseCases(reading=(12, 310, ""))
    async with on_stage(inquiry, session=None) as (app, _):
        assert "reading 12 of 310 files" in text_of(app)


async def test_progress_goes_when_everything_is_read_though_nothing_new_came() -> None:
    inquiry = FakeUseCases(reading=(7, 8, ""))
    async with on_stage(inquiry, session=None) as (app, pilot):
        assert "reading 7 of 8 files" in text_of(app)
        inquiry.reading = (8, 8, "")
        await pilot.pause(0.25)
        assert "reading" not in text_of(app)


async def test_watching_starts_and_stops_with_the_app() -> None:
    inquiry = FakeUseCases()
    app = UllageApp(inquiry, watch=[Path("a"), Path("b")], clock=lambda: NOW)
    async with app.run_test() as pilot:
        await settle(pilot)
        assert "watch 2" in inquiry.calls
    assert inquiry.calls[-1] == "stop"


# Search


async def test_a_hit_is_opened_where_it_stands() -> None:
    async with on_stage(None, "f", *"clock", "down", "enter", session=None) as (app, _):
        assert session_of(app).at is None
        row = app.screen.query_one(SurfaceList).row
        assert row is not None
        assert row.seq == 35


async def test_a_hit_that_stands_no_longer_is_shown_in_its_time() -> None:
    async with on_stage(None, "f", *"fifty", "enter", session=None) as (app, _):
        assert session_of(app).at == 3
        row = app.screen.query_one(SurfaceList).row
        assert row is not None
        assert row.seq == 3


async def test_a_query_of_symbols_is_told_what_it_lacks() -> None:
    async with on_stage(None, "f", "asterisk", session=None) as (app, pilot):
        await settle(pilot)
        assert app.screen.query_one(HitList).empty == "A search needs a letter or a digit."


# One session


async def test_enter_on_the_result_of_a_sub_agent_opens_its_session() -> None:
    keys = ("home", *("j" for _ in range(25)))
    async with on_stage(None, *keys) as (app, pilot):
        row = app.screen.query_one(SurfaceList).row
        assert row is not None
        assert row.node is not None
        assert row.node.tool == "Task"
        assert "told by sub-agent s2" in text_of(app)
        await play(pilot, "enter")
        assert session_of(app).session == "s2"


async def test_a_session_opens_at_its_tail_with_detail_and_pressure() -> None:
    async with on_stage(size=(160, 48)) as (app, _):
        surface = app.screen.query_one(SurfaceList)
        assert surface.row is not None
        assert surface.row.seq == 40
        shown = text_of(app)
    assert "152,300 of 200,000 measured" in shown
    assert "for i in $(seq 50); do" in shown, "the detail of the node under the cursor"
    assert "3f1c.jsonl, line 40" in shown
    assert "60 requests" in shown


async def test_everything_is_there_on_a_small_screen() -> None:
    async with on_stage(size=(80, 24)) as (app, pilot):
        assert "152,300 of 200,000" in text_of(app)
        assert "for i in" in text_of(app) or "thinking" in text_of(app)
        await play(pilot, "v")
        assert "60 requests" in text_of(app)


async def test_growth_is_followed_at_the_tail_only() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry) as (app, pilot):
        surface = app.screen.query_one(SurfaceList)
        model = nodes_of_story()[2]
        for seq, away in ((42, False), (43, True)):
            if away:
                await play(pilot, "k", "k")
            inquiry.extra.append(model.model_copy(update={"seq": seq, "events": (seq,)}))
            inquiry.newest = seq
            inquiry.version += 1
            await pilot.pause(0.2)
            await settle(pilot)
            assert surface.row is not None
            assert surface.row.seq == (39 if away else 42)


async def test_growth_faster_than_answers_starves_nothing() -> None:
    inquiry = FakeUseCases()
    quick = inquiry.view

    def slow(*args: object, **options: object) -> object:
        time.sleep(0.15)
        return quick(*args, **options)  # type: ignore[arg-type]

    async with on_stage(inquiry) as (app, pilot):
        inquiry.view = slow  # type: ignore[method-assign, assignment]
        before = len(inquiry.calls)
        model = nodes_of_story()[2]
        surface = app.screen.query_one(SurfaceList)
        while len(surface.source) == 33:
            inquiry.newest += 1
            seq = inquiry.newest
            inquiry.extra.append(model.model_copy(update={"seq": seq, "events": (seq,)}))
            inquiry.version += 1
            await pilot.pause(0.05)
        views = [call for call in inquiry.calls[before:] if call.startswith("view")]
        assert len(views) <= inquiry.newest - 41


async def test_the_detail_keeps_up_with_a_log_that_grows_faster_than_the_cursor_rests() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry) as (app, pilot):
        app.rest = 60.0
        model = nodes_of_story()[2]
        for seq in (42, 43):
            inquiry.extra.append(model.model_copy(update={"seq": seq, "events": (seq,)}))
            inquiry.newest = seq
            inquiry.version += 1
            await pilot.pause(0.2)
            await settle(pilot)
            assert f"#{seq} · assistant/message" in text_of(app)


async def test_a_detail_being_read_stays_where_it_is_while_the_log_grows() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "k", "tab", "down", "down", size=(80, 24)) as (app, pilot):
        detail = app.screen.query_one("#detail", TextPane)
        place = detail.scroll_offset.y
        assert place > 0
        model = nodes_of_story()[2]
        inquiry.extra.append(model.model_copy(update={"seq": 42, "events": (42,)}))
        inquiry.newest = 42
        inquiry.version += 1
        await pilot.pause(0.2)
        await settle(pilot)
        assert detail.scroll_offset.y == place


async def test_a_checkpoint_unfolds_to_what_it_shadows() -> None:
    async with on_stage(None, "home", "enter") as (app, pilot):
        surface = app.screen.query_one(SurfaceList)
        assert [line.seq for line in surface.source.rows(0, 10)] == [41, *range(1, 10)]
        assert "Run the test fifty times" in text_of(app)
        await play(pilot, "j", "j", "j")
        assert surface.row is not None
        assert surface.row.shadowed
        await play(pilot, "home", "enter")
        assert [line.seq for line in surface.source.rows(0, 3)] == [41, 9, 10]


async def test_pin_and_unpin() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "p") as (app, pilot):
        assert 40 in inquiry.pinned
        assert "★" in text_of(app)
        assert "Pinned #40." in text_of(app)
        await play(pilot, "p")
        assert 40 not in inquiry.pinned


async def test_a_selection_is_pinned_as_a_whole() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "space", "k", "k", "p"):
        assert {38, 39, 40} <= inquiry.pinned


async def test_track_and_view_are_toggled_and_named() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry) as (app, pilot):
        assert "agent · resume" in text_of(app)
        await play(pilot, "g", "l")
        assert "plan · live" in text_of(app)
        assert "view plan None True" in inquiry.calls


async def test_the_past_is_shown_and_left() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "less_than_sign", "comma") as (app, pilot):
        # A twentieth of 41 events is 2; one more is 38.
        assert session_of(app).at == 38
        assert "#38 of #41" in text_of(app)
        surface = app.screen.query_one(SurfaceList)
        assert len(surface.source) == 38
        await play(pilot, "n")
        assert session_of(app).at is None
        assert len(surface.source) == 33


async def test_the_past_stands_still_when_the_log_grows() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "comma") as (_, pilot):
        before = len(inquiry.calls)
        inquiry.version += 1
        await pilot.pause(0.2)
        await settle(pilot)
        assert len(inquiry.calls) == before


async def test_raw_shows_the_record() -> None:
    async with on_stage(None, "r") as (app, _):
        assert '{"type":"message","seq":40' in text_of(app)


async def test_a_refused_undo_is_told_in_one_sentence() -> None:
    async with on_stage(None, "u") as (app, _):
        assert "There is no standing operation to undo." in text_of(app)


async def test_a_million_nodes_open_and_move() -> None:
    async with on_stage(MillionUseCases(), "k", "home", "pagedown", "end") as (app, _):
        surface = app.screen.query_one(SurfaceList)
        assert surface.cursor == 999_999
        assert "#1000000" in text_of(app)


# Everywhere


async def test_a_result_is_shown_squeezed_with_what_each_stage_removed() -> None:
    result = next(n for n in nodes_of_story() if n.type == "tool/result" and int(n.seq) > 8)
    async with on_stage(size=(160, 48)) as (app, pilot):
        surface = app.screen.query_one(SurfaceList)
        surface.cursor = surface.source.line_of(result.seq) or 0
        await play(pilot, "z")
        assert app.screen.query_one("#detail").border_title == "detail, squeezed"
        shown = text_of(app)
        assert "squeezed · pytest" in shown
        assert "1,000 → 88 tokens, 91 % less · 45 → 3 lines" in shown
        assert "filter: 3 lines, 12 tokens (3 blank lines)" in shown
        assert "FAILED retry_test" in shown
        await play(pilot, "z")
        assert app.screen.query_one("#detail").border_title == "detail"
        assert "squeezed · pytest" not in text_of(app)


async def test_what_is_no_result_is_shown_as_it_is() -> None:
    async with on_stage(None, "home", "z", size=(160, 48)) as (app, _):
        assert session_of(app).squeezed
        assert "squeezed · pytest" not in text_of(app)


async def test_a_result_is_reduced_in_the_plan_by_one_key() -> None:
    result = next(n for n in nodes_of_story() if n.type == "tool/result" and int(n.seq) > 8)
    cases = FakeUseCases()
    async with on_stage(cases, size=(160, 48)) as (app, pilot):
        surface = app.screen.query_one(SurfaceList)
        surface.cursor = surface.source.line_of(result.seq) or 0
        await play(pilot, "Z")
        assert f"preview reduce {result.seq} None None []" in cases.calls


async def test_help_opens_once_and_closes() -> None:
    async with on_stage(None, "question_mark", "question_mark") as (app, pilot):
        assert isinstance(app.screen, SessionScreen)
        await play(pilot, "question_mark")
        assert isinstance(app.screen, HelpScreen)
        assert "begin, drop a selection" in text_of(app)
        await play(pilot, "escape")
        assert isinstance(app.screen, SessionScreen)


async def test_the_theme_is_toggled() -> None:
    async with on_stage(None, "t") as (app, pilot):
        assert not app.current_theme.dark
        await play(pilot, "t")
        assert app.current_theme.dark


async def test_the_palette_names_every_action_of_the_screen() -> None:
    async with on_stage() as (app, _):
        commands = {command.title for command in app.get_system_commands(app.screen)}
    assert {"Pin", "Compact", "Track", "View", "Audit", "Help", "Quit", "Select"} <= commands
    assert {"Earlier", "Now", "Undo the newest operation", "Theme: dark or light"} <= commands


@pytest.mark.parametrize("keys", [(), ("c",), ("a",), ("question_mark",), ("f",)])
async def test_the_palette_says_what_every_command_does(keys: tuple[str, ...]) -> None:
    async with on_stage(None, *keys) as (app, _):
        helps = [command.help for command in app.get_system_commands(app.screen)]
    assert helps
    assert all(len(text.partition(" · ")[0]) > 8 for text in helps), helps


async def test_a_key_is_only_offered_where_it_does_something() -> None:
    async with on_stage(size=(80, 24)) as (app, pilot):
        assert "v Pane" in text_of(app)
        await pilot.resize_terminal(140, 40)
        await settle(pilot)
        assert "v Pane" not in text_of(app)
        assert "a Audit" in text_of(app)


@pytest.mark.parametrize("session", [None, "s1"])
async def test_help_stays_in_the_key_bar_of_a_narrow_screen(session: str | None) -> None:
    async with on_stage(session=session, size=(60, 24)) as (app, _):
        assert "? Help" in text_of(app).splitlines()[-1]


async def test_a_failed_question_is_told_and_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    inquiry = FakeUseCases()

    def broken(*_: object, **__: object) -> object:
        raise OSError("disk on [/] fire")

    inquiry.detail = broken  # type: ignore[method-assign, assignment]
    async with on_stage(inquiry, "k") as (app, _):
        assert "OSError: disk on [/] fire" in text_of(app)
    assert "disk on [/] fire" in next(tmp_path.rglob("errors.log")).read_text()


async def test_tab_goes_through_the_panes() -> None:
    async with on_stage(None, "tab") as (app, pilot):
        assert isinstance(app.screen.focused, TextPane)
        await play(pilot, "tab")
        assert isinstance(app.screen.focused, SurfaceList)


@pytest.mark.parametrize("screen", ["sessions", "session", "compaction", "audit", "search", "help"])
async def test_grey_is_enough(screen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR the cursor, the states and the slices are told apart by their signs."""
    monkeypatch.setenv("NO_COLOR", "1")
    keys = {
        "compaction": ["c"],
        "audit": ["a"],
        "search": ["f", *"retry"],
        "help": ["question_mark"],
    }.get(screen, [])
    app = make_app(None, None if screen == "sessions" else "s1")
    async with app.run_test(size=(140, 48)) as pilot:
        await play(pilot, *keys)
        shown = text_of(app)
    if screen != "help":
        assert "▌" in shown
    if screen == "session":
        assert all(fill in shown for fill in "█▓▒")
