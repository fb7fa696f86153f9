"""How the screens look. Each at 80×24 and 160×48, dark and light."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.locations import Place
from inspector.reports import PressureReport, SessionRow
from storage.errors import UnknownSessionError
from tests.inspector.fakes import FakePreview, FakeUseCases
from tests.inspector.hostile import DirtyUseCases
from tests.inspector.stage import make_app, play
from tests.inspector.surfaces import FakeView
from tests.inspector.tour import WIDE

Story = tuple[str | None, list[str]]

REGION = ["home", "j", "space", "j", "j", "j", "j", "j", "j", "c"]
PACK = ["b", *"retry", "enter", "j"]
SCREENS: dict[str, Story] = {
    "sessions": (None, []),
    "session": ("s1", []),
    "compaction": ("s1", REGION),
    "audit": ("s1", ["a"]),
    "decisions": ("s1", ["d", "home"]),
    "pack": ("s1", [*PACK, "j"]),
    "search": (None, ["f", *"retry"]),
    "help": ("s1", ["question_mark"]),
}
STATES: dict[str, Story] = {
    "filtered": (None, ["slash", *"codex"]),
    "found-nothing": (None, ["f", *"zebra"]),
    "pressure": ("s1", ["v"]),
    "steps": ("s1", ["s"]),
    "squeezed": ("s1", ["k", "k", "z"]),
    "copy": ("s1", ["w"]),
    "copied": ("s1", ["w", "y"]),
    "unfolded": ("s1", ["home", "enter", "j", "j", "space", "j", "j"]),
    "refused": ("s1", [*REGION, "end", "e"]),
    "confirming": ("s1", [*REGION, "j", "p", "y"]),
    "budget": ("s1", [*REGION, "b", *"2k"]),
    "changes": ("s1", [*REGION, "v"]),
    "lost": ("s1", [*REGION, "v", "v"]),
    "comparison": ("s1", ["a", "home", "j", "c"]),
    "operation-diff": ("s1", ["a", "home", "j", "v"]),
    "operation-compared": ("s1", ["a", "home", "j", "v", "v", "v"]),
    "decisions-of-all": (None, ["d"]),
    "decisions-followed": ("s1", ["d", "k", "k", "k", "tab", *"jjjjjj", "right"]),
    "decisions-export": ("s1", ["d", "o", "e"]),
    "no-operation": ("s3", ["a"]),
    "pack-asked": ("s1", ["b", *"why is it flaky"]),
    "pack-symbols": ("s1", ["b", *"->", "enter", "j"]),
    "pack-by-hand": ("s1", [*PACK, "space", "j", "s", "j", "s", "v"]),
    "pack-confirming": ("s1", [*PACK, "p", "p", "y"]),
    "pack-without-room": ("s1", [*PACK, "b", *"90", "enter"]),
    "pack-over-budget": ("s1", [*PACK, "b", *"90", "enter", "1"]),
    "rebuilt": ("s1", [*PACK, "o"]),
    "rebuilt-missing": ("s1", [*PACK, "o", "end", "k", "v"]),
    "pack-save": ("s1", [*PACK, "z", "w"]),
}
SMALL, LARGE = (80, 24), (160, 48)
OPERATED = {"audit", "operation-diff", "operation-compared"}
"""Where some operations of the user's stand beside the agent's."""


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


BOTH_SIZES = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "160x48"])
"""Of states, small ones are dark and large ones light."""


@BOTH_SIZES
@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("name", SCREENS)
def test_screen(snap_compare: Any, name: str, theme: str, size: tuple[int, int]) -> None:
    compare(snap_compare, inquiry_of(name), SCREENS[name], size, theme == "light")


@BOTH_SIZES
@pytest.mark.parametrize("name", STATES)
def test_state(snap_compare: Any, name: str, size: tuple[int, int]) -> None:
    compare(snap_compare, inquiry_of(name), STATES[name], size, light=size == LARGE)


@BOTH_SIZES
def test_while_figures_are_computed_anew(snap_compare: Any, size: tuple[int, int]) -> None:
    inquiry = HeldUseCases()

    async def move_an_edge(pilot: Pilot[None]) -> None:
        inquiry.gate.clear()
        await pilot.press("right", "right")
        await pilot.pause(0.1)

    compare(snap_compare, inquiry, ("s1", REGION), size, size == LARGE, move_an_edge)


@pytest.mark.parametrize("name", ["sessions", "session", "compaction", "pack"])
def test_smallest(snap_compare: Any, name: str) -> None:
    compare(snap_compare, inquiry_of(name), SCREENS[name], (60, 20), light=False)


@pytest.mark.parametrize("name", ["sessions", "session", "compaction", "decisions"])
def test_largest(snap_compare: Any, name: str) -> None:
    compare(snap_compare, inquiry_of(name), SCREENS[name], (200, 60), light=name == "session")


@pytest.mark.parametrize("name", ["sessions", "session"])
def test_characters_of_any_width(snap_compare: Any, name: str) -> None:
    compare(snap_compare, DirtyUseCases(WIDE), SCREENS[name], (120, 40), light=False)


def test_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    compare(snap_compare, FakeUseCases(), SCREENS["session"], (120, 40), light=False)


@BOTH_SIZES
def test_first_run(snap_compare: Any, size: tuple[int, int]) -> None:
    compare(snap_compare, FirstRun(looked_in=LOOKED_IN), SCREENS["sessions"], size, size == LARGE)


def test_session_that_cannot_be_read(snap_compare: Any) -> None:
    compare(snap_compare, GoneUseCases(), SCREENS["session"], SMALL, light=False)


class FirstRun(FakeUseCases):
    """No session anywhere."""

    def sessions(self, limit: int | None = None) -> list[SessionRow]:
        return []


class GoneUseCases(FakeUseCases):
    """Neither the surface nor its figures can be had."""

    def view(self, session: str, **_: Any) -> FakeView:
        raise UnknownSessionError("No session is called s1; ullage sessions lists them.")

    def pressure(self, session: str, **_: Any) -> PressureReport:
        raise UnknownSessionError("No session is called s1; ullage sessions lists them.")


LOOKED_IN = (
    Place("claude", "~/.claude/projects", there=False, files=0, variables=("CLAUDE_CONFIG_DIR",)),
    Place("codex", "~/.codex/sessions", there=True, files=0, variables=("CODEX_HOME",)),
    Place("pi", "~/.pi/agent/sessions", there=False, files=0, variables=("PI_CODING_AGENT_DIR",)),
)


class HeldUseCases(FakeUseCases):
    """Previews come only while the gate is open; it opens when the app ends."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()

    def preview(self, session: str, **asked: Any) -> FakePreview:
        self.gate.wait(10)
        return super().preview(session, **asked)

    def stop_watching(self) -> None:
        self.gate.set()


def inquiry_of(name: str) -> FakeUseCases:
    inquiry = FakeUseCases()
    if name in OPERATED:
        inquiry.commit(inquiry.preview("s1", start=9, end=12))
        inquiry.pin("s1", [20])
        inquiry.commit(inquiry.preview("s1", start=13, end=16))
        inquiry.undo("s1", "o3", cascade=True)
        gone = {"state": "superseded", "superseded_by": 41}
        inquiry.operations[0] = inquiry.operations[0].model_copy(update=gone)
    if name == "no-operation":
        inquiry.audit = lambda session=None: []  # type: ignore[method-assign]
    return inquiry


def compare(
    snap_compare: Any,
    inquiry: FakeUseCases,
    story: Story,
    size: tuple[int, int],
    light: bool,
    then: Callable[[Pilot[None]], Awaitable[None]] | None = None,
) -> None:
    session, keys = story

    async def prepare(pilot: Pilot[None]) -> None:
        await play(pilot, *(["t"] if light else []), *keys)
        if then is not None:
            await then(pilot)

    app = make_app(inquiry, session, watch=() if isinstance(inquiry, HeldUseCases) else None)
    assert snap_compare(app, run_before=prepare, terminal_size=size)
