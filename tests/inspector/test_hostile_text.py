"""Whatever a log holds is drawn on every screen, acts on nothing, and ends nothing."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from textual.pilot import Pilot

from inspector.app import UllageApp
from inspector.screens.audit import AuditScreen
from inspector.screens.compaction import CompactionScreen
from inspector.screens.decisions import DecisionsScreen
from inspector.screens.session import SessionScreen
from inspector.screens.sessions import SessionsScreen
from inspector.widgets.surface_list import SurfaceList
from inspector.widgets.text_pane import Section, TextPane
from tests.inspector.fakes import FakeUseCases
from tests.inspector.hostile import DirtyUseCases
from tests.inspector.stage import make_app, on_stage, play, settle, strips, text_of

ACTING_CLASSES = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
ZERO_WIDTH = set("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad")


def acts(char: str) -> bool:
    """By Unicode's own properties."""
    return (
        unicodedata.category(char) in ("Cc", "Cs")
        or unicodedata.bidirectional(char) in ACTING_CLASSES
        or char in ZERO_WIDTH
        or 0xE0000 <= ord(char) <= 0xE007F
    )


def assert_harmless(app: UllageApp, where: str) -> None:
    """Nothing on this screen can act: no such character, no link, no action but our own."""
    for strip in strips(app):
        for segment in strip:
            assert not [hex(ord(c)) for c in segment.text if acts(c)], where
            if segment.style is not None:
                assert segment.style.link is None, where
                assert "@click" not in segment.style.meta, where


@pytest.fixture
def payloads(hard_inputs: Path) -> list[str]:
    return list(json.loads((hard_inputs / "D01" / "payloads.json").read_text("utf-8")).values())


async def walk(pilot: Pilot[None], app: UllageApp, keys: str, where: str) -> None:
    for key in keys.split():
        await play(pilot, key)
        assert_harmless(app, f"{where} after {key}")


@pytest.mark.hard
@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
async def test_every_payload_in_every_place(payloads: list[str], size: tuple[int, int]) -> None:
    app = make_app(DirtyUseCases(payloads))
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, SessionsScreen)
        await walk(pilot, app, "j end", "sessions")
        await play(pilot, "enter")
        assert isinstance(app.screen, SessionScreen)
        await walk(pilot, app, "home enter r end v p u comma", "session")
        await walk(pilot, app, "tab end ]", "detail")
        await play(pilot, "c")
        assert isinstance(app.screen, CompactionScreen)
        await walk(pilot, app, "v v v m m s", "compaction")
        await play(pilot, "escape")
        await play(pilot, "a")
        assert isinstance(app.screen, AuditScreen)
        await walk(pilot, app, "u 1 end v v X", "audit")
        await play(pilot, "escape")
        await play(pilot, "d")
        assert isinstance(app.screen, DecisionsScreen)
        await walk(pilot, app, "home k end p e escape", "decisions")
        await walk(pilot, app, "tab j j right end", "a record")
        assert app.is_running


@pytest.mark.hard
async def test_clicking_on_hostile_text_runs_nothing(payloads: list[str]) -> None:
    app = make_app(DirtyUseCases(payloads), "s1")
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await settle(pilot)
        for y in range(1, 29, 4):
            await pilot.click(offset=(30 + y, y))
            await pilot.click(offset=(80 + y, y))
        await settle(pilot)
        assert app.is_running
        assert isinstance(app.screen, SessionScreen)
        assert_harmless(app, "after the clicks")


@pytest.mark.hard
async def test_payloads_are_shown_literally(payloads: list[str]) -> None:
    async with on_stage(DirtyUseCases(payloads), session=None, size=(160, 48)) as (app, _):
        shown = text_of(app)
    for literal in ("[/]", "[/INST]", "[@click=app.quit]x[/]", "[link=https://example.invalid]"):
        assert literal in shown
    assert "␛]52;c;aGVsbG8=␇tail" in shown
    assert "user‹U+202E›gpj.exe" in shown
    assert "harmless␍EVIL" in shown
    assert "abc␈␈␈xyz" in shown


async def test_a_refusal_with_markup_is_told_as_it_is() -> None:
    async with on_stage(DirtyUseCases(["[/]", "[@click=app.quit]x[/]", "\x1b[2J"]), "p") as (
        app,
        _,
    ):
        assert_harmless(app, "toast")
        assert "[@click=app.quit]x[/]" in text_of(app)


async def test_a_huge_line_does_not_stall_the_detail() -> None:
    inquiry = FakeUseCases()
    small = inquiry.detail

    def huge(session: str, seq: int | str, **options: object) -> object:
        detail = small(session, seq)
        block = detail.blocks[0].model_copy(update={"text": "\x1b[0m" * 1_250_000})
        return detail.model_copy(update={"blocks": (block,), "raw": "\n" * 300_000})

    inquiry.detail = huge  # type: ignore[method-assign, assignment]
    async with on_stage(inquiry, "k", "r", "r") as (app, _):
        pane = app.screen.query_one("#detail", TextPane)
        assert pane.place.startswith("page 1 of 307")
        assert len(pane._lines) < 2_000
        assert_harmless(app, "huge")


@pytest.mark.parametrize("keys", [[], ["v"], ["c"], ["a"], ["question_mark"]])
async def test_any_size_is_survived(keys: list[str]) -> None:
    async with on_stage(None, *keys, size=(80, 24)) as (app, pilot):
        for size in ((1, 1), (2, 40), (200, 2), (10, 5), (39, 11), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            strips(app)
        await settle(pilot)
        assert "ullage" in text_of(app)


async def test_a_storm_of_resizes_is_survived() -> None:
    async with on_stage() as (app, pilot):
        for number in range(25):
            await pilot.resize_terminal(20 + number * 37 % 160, 5 + number * 13 % 50)
        await settle(pilot)
        assert app.screen.query_one(SurfaceList).row is not None


async def test_sections_of_hostile_text_stay_text() -> None:
    async with on_stage() as (app, pilot):
        pane = app.screen.query_one("#detail", TextPane)
        pane.show([Section("[@click=app.quit]x[/]\x1b[2J", title="[/]\u202e\x07")])
        await pilot.pause()
        assert_harmless(app, "section")
        assert "[/]‹U+202E›␇" in text_of(app)
