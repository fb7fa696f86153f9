"""How the screens look. Each at 80×24 and 160×48, dark and light."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from tests.inspector.stage import make_app, play

Story = tuple[str | None, list[str]]

SCREENS: dict[str, Story] = {
    "sessions": (None, []),
    "session": ("s1", []),
    "compaction": ("s1", ["home", "j", "space", "j", "j", "j", "j", "j", "j", "c"]),
    "audit": ("s1", ["c", "y", "a"]),
    "help": ("s1", ["question_mark"]),
}
STATES: dict[str, Story] = {
    "filtered": (None, ["slash", *"codex"]),
    "pressure": ("s1", ["v"]),
    "unfolded": ("s1", ["home", "enter", "j", "j", "space", "j", "j"]),
    "refused": ("s1", ["c", "home", "j", "j", "j", "j", "s"]),
    "lost": ("s1", ["c", "v"]),
}
SMALL, LARGE = (80, 24), (160, 48)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "160x48"])
@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("name", SCREENS)
def test_screen(snap_compare: Any, name: str, theme: str, size: tuple[int, int]) -> None:
    compare(snap_compare, SCREENS[name], size, theme == "light")


@pytest.mark.parametrize("name", STATES)
def test_state(snap_compare: Any, name: str) -> None:
    compare(snap_compare, STATES[name], SMALL, light=False)


def compare(snap_compare: Any, story: Story, size: tuple[int, int], light: bool) -> None:
    session, keys = story

    async def prepare(pilot: Pilot[None]) -> None:
        await play(pilot, *(["t"] if light else []), *keys)

    assert snap_compare(make_app(None, session), run_before=prepare, terminal_size=size)
