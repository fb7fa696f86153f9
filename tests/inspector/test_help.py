"""The help page: every key of every screen stands on it, under that screen's name."""

from __future__ import annotations

import pytest
from textual.binding import Binding
from textual.dom import DOMNode

from inspector.app import UllageApp
from inspector.screens.base import AskingScreen
from inspector.screens.help import HelpScreen
from inspector.screens.help_words import EVERYWHERE, KEYS
from tests.inspector.stage import make_app, on_stage, play, text_of
from tests.inspector.tour import walk

NAMES = {
    "escape": "Esc", "left": "←", "right": "→", "up": "↑", "down": "↓", "plus": "+", "minus": "-",
    "comma": ",", "full_stop": ".", "less_than_sign": "<", "greater_than_sign": ">", "slash": "/",
    "question_mark": "?", "enter": "Enter", "shift+up": "Shift+↑↓", "shift+down": "Shift+↑↓",
    "pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End", "f1": "F1",
    "left_square_bracket": "[", "right_square_bracket": "]", "tab": "Tab", "ctrl+p": "Ctrl+P",
}  # fmt: skip
"""Keys as the page writes them."""


def listed(topic: str) -> set[str]:
    """The keys that the page names for a screen, and for all."""
    return {key for name in (topic, EVERYWHERE) for keys, _ in KEYS[name] for key in keys.split()}


def bindings_of(node: DOMNode) -> list[Binding]:
    """Those that our own classes declare."""
    found = []
    for kind in type(node).__mro__:
        if kind.__module__.startswith("inspector."):
            for binding in kind.__dict__.get("BINDINGS", ()):
                assert isinstance(binding, Binding)
                found.append(binding)
    return found


async def test_every_key_of_every_screen_is_told_and_described() -> None:
    app = make_app()
    missing, seen = set(), set()
    async with app.run_test(size=(60, 20)) as pilot:
        async for stop in walk(pilot):
            screen = app.screen
            if not isinstance(screen, AskingScreen) or isinstance(screen, HelpScreen):
                continue
            seen.add(screen.TOPIC)
            for node in (app, screen, *screen.query("*")):
                for binding in bindings_of(node):
                    first = binding.key.split(",")[0]
                    name = NAMES.get(first, first)
                    if first.isdigit():
                        name = "…"
                    elif not binding.description:
                        missing.add(f"{stop.name}: {binding} is not described")
                    if name not in listed(screen.TOPIC):
                        missing.add(f"{screen.TOPIC}: {name} ({binding.description})")
                    if isinstance(node, UllageApp | AskingScreen) and not first.isdigit():
                        assert binding.tooltip, binding
    assert not missing
    assert seen == set(KEYS) - {EVERYWHERE}, "each part of the page is some screen's"


@pytest.mark.parametrize(
    ("keys", "topic"), [((), "a session"), (("c",), "a compaction"), (("d",), "the decisions")]
)
async def test_help_begins_with_the_screen_that_asked(keys: tuple[str, ...], topic: str) -> None:
    async with on_stage(None, *keys, "question_mark", size=(60, 20)) as (app, pilot):
        assert f"── in {topic} ─" in text_of(app).splitlines()[3]
        await play(pilot, "escape")
        assert not isinstance(app.screen, HelpScreen)


async def test_help_can_be_asked_for_while_one_types() -> None:
    async with on_stage(None, "slash", "f1", session=None) as (app, _):
        assert isinstance(app.screen, HelpScreen)


@pytest.mark.parametrize(("width", "across"), [(60, 1), (80, 2), (200, 4)])
async def test_keys_stand_beside_each_other_where_there_is_room(width: int, across: int) -> None:
    async with on_stage(None, "question_mark", size=(width, 60)) as (app, _):
        row = next(row for row in text_of(app).splitlines() if "drop a selection" in row)
    beside = ("begin, drop a selection", "extend it", "pin or unpin", "compact by hand")
    assert [words in row for words in beside] == [at < across for at in range(len(beside))]
