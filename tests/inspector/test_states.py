"""What a screen shows while there is nothing, while an answer is on its way, where none comes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.locations import Place
from inspector.usecases import UseCases
from inspector.widgets.session_list import SessionList
from storage.errors import StorageError
from storage.sources.registry import registry
from tests.inspector.conftest import Ullage
from tests.inspector.fakes import FakeUseCases
from tests.inspector.logs import Log, usecases
from tests.inspector.stage import make_app, on_stage, play, settle, text_of

ASKED = {
    "sessions": (None, (), "sessions", "reading …"),
    "search": (None, ("f", "x"), "search", "searching …"),
    "session": ("s1", (), "view", "reading …"),
    "pressure": ("s1", (), "pressure", "reading …"),
    "compaction": ("s1", ("c",), "preview", "computing the preview …"),
    "audit": ("s1", ("a",), "audit", "reading …"),
    "decisions": ("s1", ("d",), "decisions", "reading …"),
    "pack": ("s1", ("b",), "pack", "reading …"),
    "rebuilt": ("s1", ("b", "r", "enter", "o"), "rebuild", "reading …"),
    "copy": ("s1", ("w",), "resume", "composing the copy …"),
}
"""Of each screen: the session and the keys that lead to it, what it asks and says meanwhile."""


class Empty(FakeUseCases):
    """A machine on which no session was found."""

    found: list[Any]

    def sessions(self, limit: int | None = None) -> list[Any]:
        return self.found


def empty(*places: Place, reading: tuple[int, int, str] = (0, 0, "")) -> Empty:
    inquiry = Empty(looked_in=places, reading=reading)
    inquiry.found = []
    return inquiry


NOWHERE = Place("claude", "~/.claude/projects", there=False, files=0, variables=("CLAUDE_HOME",))
IDLE = Place("codex", "~/.codex/sessions", there=True, files=0, variables=("CODEX_HOME",))
FULL = Place("codex", "~/.codex/sessions", there=True, files=3)


@pytest.mark.parametrize("size", [(60, 20), (120, 40)])
async def test_the_first_run_says_what_can_be_done(size: tuple[int, int]) -> None:
    async with on_stage(empty(NOWHERE, IDLE), session=None, size=size) as (app, pilot):
        shown = text_of(app)
        assert "No log of a coding agent was found." in shown
        for way in ("ullage demo", "ullage PATH…", "ullage ingest PATH…", "ullage doctor"):
            assert way in shown
        await play(pilot, "end")
        shown = text_of(app)
        assert "claude  not there  ~/.claude/projects" in shown
        assert "codex   no log     ~/.codex/sessions" in shown
        assert "CLAUDE_HOME   CODEX_HOME" in shown


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        ((0, 0, ""), "3 files found, and none holds a session that can be shown"),
        ((12, 310, ""), "Reading: 12 of 310 files done …"),
    ],
)
async def test_files_without_a_session_are_told(reading: tuple[int, int, str], words: str) -> None:
    async with on_stage(empty(NOWHERE, FULL, reading=reading), session=None) as (app, _):
        assert words in text_of(app)


async def test_the_first_session_takes_the_place_of_the_welcome() -> None:
    inquiry = empty(NOWHERE)
    async with on_stage(inquiry, session=None) as (app, pilot):
        assert "no session yet" in text_of(app)
        assert "/ Filter" not in text_of(app), "there is nothing to filter"
        inquiry.found = FakeUseCases().sessions()
        inquiry.version += 1
        await pilot.pause(0.2)
        await settle(pilot)
        assert "no session yet" not in text_of(app)
        assert isinstance(app.focused, SessionList)
        assert "/ Filter" in text_of(app)
        assert "Fix the flaky retry test" in text_of(app)


async def test_a_filter_that_fits_nothing_says_how_to_leave_it() -> None:
    async with on_stage(None, "slash", *"zz", session=None) as (app, _):
        assert "No session matches; Esc shows all again." in text_of(app)


def test_each_agents_folders_are_named_whether_they_exist_or_not(
    cases: UseCases, tmp_path: Path
) -> None:
    places = cases.places()
    assert {place.agent for place in places} <= {a.agent for a in registry().adapters}
    claude = next(place for place in places if place.agent == "claude")
    assert claude == Place("claude", "~/.claude/projects", False, 0, ("CLAUDE_CONFIG_DIR",))
    folder = tmp_path / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    Log(folder).user("hello")
    found = next(place for place in cases.places() if place.agent == "claude")
    assert (found.there, found.files) == (True, 1)


def test_paths_that_were_named_are_looked_at_instead(tmp_path: Path) -> None:
    cases = usecases(":memory:", tmp_path / "home")
    log = Log(tmp_path)
    log.user("hello")
    assert cases.places([tmp_path, tmp_path / "gone"]) == (
        Place("", str(tmp_path), True, 1),
        Place("", str(tmp_path / "gone"), False, 0),
    )
    cases.close()


def test_the_command_line_says_the_same_in_two_lines(ullage: Ullage) -> None:
    first, second = ullage("sessions").out.splitlines()
    assert "ullage ingest reads the logs found here, or those below a PATH" in first
    assert "ullage doctor" in second
    assert "ullage demo" in second
    assert max(len(first), len(second)) < 80


@pytest.mark.parametrize(("width", "whole"), [(60, False), (140, True)])
async def test_a_session_that_is_not_quite_what_its_agent_sends_says_so(
    width: int, whole: bool
) -> None:
    inquiry, why = FakeUseCases(), "The log of this agent leaves out what its server adds."
    header = inquiry.header("s1").model_copy(update={"approximate": why})
    inquiry.header = lambda session: header  # type: ignore[method-assign]
    async with on_stage(inquiry, size=(width, 40)) as (app, _):
        assert "≈ approximate" in text_of(app).splitlines()[0]
        assert (why in text_of(app)) == whole


@pytest.mark.parametrize("screen", ASKED)
async def test_an_answer_on_its_way_is_announced(screen: str) -> None:
    session, keys, method, words = ASKED[screen]
    inquiry, gate = FakeUseCases(), threading.Event()
    answer: Callable[..., Any] = getattr(inquiry, method)

    def wait(*asked: Any, **options: Any) -> Any:
        gate.wait(60)
        return answer(*asked, **options)

    setattr(inquiry, method, wait)
    app = make_app(inquiry, session)
    async with app.run_test(size=(80, 24)) as pilot:
        try:
            for key in keys:
                await pilot.press(key)
                await pilot.pause(0.1)
            for _ in range(600):
                if words in text_of(app):
                    break
                await pilot.pause(0.1)
            assert words in text_of(app)
        finally:
            gate.set()
        await settle(pilot)
        assert words not in text_of(app)


@pytest.mark.parametrize(
    ("screen", "known"),
    [*((screen, True) for screen in ASKED), ("session", False), ("audit", False), ("pack", False)],
)
async def test_what_cannot_be_had_is_said_in_its_place(
    screen: str, known: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    session, keys, method, meanwhile = ASKED[screen]
    inquiry = FakeUseCases()

    def refuse(*_: Any, **__: Any) -> Any:
        raise (StorageError if known else RuntimeError)("The disk has [/] gone")

    setattr(inquiry, method, refuse)
    async with on_stage(inquiry, *keys, session=session, size=(80, 24)) as (app, pilot):
        app.clear_notifications()
        await settle(pilot)
        assert "The disk has [/] gone" in text_of(app), "not only in a toast"
        assert meanwhile not in text_of(app), "nothing is waited for any more"
