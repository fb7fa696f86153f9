"""Every screen, small and large, dark, light and without colour: held to rules, not to pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import pytest
from rich.cells import cell_len
from rich.color import Color
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.theme import Theme
from textual.widget import Widget

from inspector.app import UllageApp
from inspector.palette import DARK, LIGHT
from inspector.widgets import figures
from inspector.widgets.bars import TitleBar
from inspector.widgets.entry import Entry
from inspector.widgets.fate_list import AfterList, BeforeList
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.surface_list import SurfaceList
from inspector.widgets.tones import TONES, Drawn
from tests.inspector.fakes import FakeUseCases
from tests.inspector.hostile import DirtyUseCases
from tests.inspector.stage import make_app, play, settle, strips
from tests.inspector.tour import WIDE, Stop, walk

SIZES = ((200, 60), (120, 40), (80, 24), (60, 20))
"""The smallest last: there one moves on."""
LEGIBLE = 4.5
"""WCAG 2, success criterion 1.4.3: contrast of text and its ground."""


@cache
def contrast(one: Color, other: Color) -> float:
    """By the formula of WCAG 2, from 1 to 21."""

    def luminance(colour: Color) -> float:
        shares = [value / 255 for value in colour.get_truecolor()]
        red, green, blue = (
            share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
            for share in shares
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def drawn_widgets(app: UllageApp) -> Iterator[Widget]:
    """Those that draw something, and are not hidden."""
    for widget in app.screen.query("*").results(Widget):
        nodes = [node for node in widget.ancestors_with_self if isinstance(node, Widget)]
        if isinstance(widget, Drawn | ScrollView | Entry) and all(node.display for node in nodes):
            yield widget


def misplaced(app: UllageApp, lines: Sequence[Strip]) -> Iterator[str]:
    """Lines are as wide as the screen, every widget is on it and of some size, bars are at its
    edges."""
    width, height = app.size
    if len(lines) != height or {line.cell_length for line in lines} != {width}:
        yield "lines do not fill the screen"
    for widget in drawn_widgets(app):
        if not widget.region.area:
            yield f"{widget} has no room"
        elif not app.screen.region.contains_region(widget.region):
            yield f"{widget} is cut: {widget.region}"
    title, keys = app.screen.query(TitleBar).first(), app.screen.query_one(KeyBar)
    if (title.region.y, title.region.width) != (0, width):
        yield f"the title is at {title.region}"
    if (keys.region.bottom, keys.region.width) != (height, width):
        yield f"the keys are at {keys.region}"


def missing_keys(bar: str, stop: Stop) -> Iterator[str]:
    """The way on, or out, is the first key; help stands on the narrowest bar."""
    if not bar.startswith((" esc ", " ⏎ ")):
        yield f"begins with another key: {bar}"
    if "Help" not in bar and stop.name != "help":
        yield f"help is not offered: {bar}"


def cut_figures(app: UllageApp) -> Iterator[str]:
    """The token count of every row stands whole at its end."""
    for kind in (SurfaceList, BeforeList, AfterList):
        for rows in app.screen.query(kind):
            for y in range(rows.scrollable_content_region.height):
                row = rows.at(rows.scroll_offset.y + y)
                if row is None or row.node is None:
                    continue
                tokens = row.node.tokens
                if isinstance(rows, AfterList) and row.fate is not None:
                    tokens = row.fate.tokens_after
                shown = rows.render_line(y).text.rstrip()
                if not shown.endswith(f" {figures.tokens(tokens)}"):
                    yield f"{tokens} is not to be read in {shown!r}"


def illegible(lines: Sequence[Strip]) -> Iterator[str]:
    """Letters and digits stand out from their ground."""
    for line in lines:
        for text, style, _ in line:
            if style is None or style.color is None or style.bgcolor is None:
                continue
            found = contrast(style.color, style.bgcolor)
            if found < LEGIBLE and any(char.isalnum() for char in text):
                yield f"{text.strip()!r}, {style.color.name} on {style.bgcolor.name}: {found:.2f}"


def faults_of(app: UllageApp, stop: Stop) -> Iterator[str]:
    """What is wrong with what is shown."""
    lines = strips(app)
    shown = [line.text for line in lines]
    text = "\n".join(shown)
    yield from (f"{words!r} is not to be read" for words in stop.figures if words not in text)
    if stop.over:
        panel = app.screen.query_one("#--results").region
        lines = [line.crop(panel.x, panel.right) for line in lines[panel.y : panel.bottom]]
    else:
        yield from misplaced(app, lines)
        yield from missing_keys(shown[-1], stop)
    yield from cut_figures(app)
    yield from illegible(lines)


@pytest.mark.parametrize("look", ["dark", "light", "grey"])
async def test_every_screen_at_every_size(look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if look == "grey":
        monkeypatch.setenv("NO_COLOR", "1")
    app = make_app(FakeUseCases())
    found: list[str] = []
    async with app.run_test(size=SIZES[-1]) as pilot:
        if look == "light":
            await play(pilot, "t")
        async for stop in walk(pilot):
            for width, height in SIZES:
                await pilot.resize_terminal(width, height)
                await settle(pilot)
                faults = faults_of(app, stop)
                found += [f"{stop.name}, {width}×{height}: {fault}" for fault in faults]
    assert not found, "\n".join(dict.fromkeys(found))


def cells_before(line: str, words: str) -> int | None:
    """Where the last occurrence of some words begins; ``None`` where they do not occur."""
    place = line.rfind(words)
    return None if place < 0 else cell_len(line[:place])


async def test_characters_of_any_width_keep_their_columns() -> None:
    app = make_app(DirtyUseCases(WIDE))
    found: list[str] = []
    async with app.run_test(size=SIZES[-1]) as pilot:
        for keys in ([], ["enter"], ["c"], ["escape", "a"], ["escape", "d"]):
            await play(pilot, *keys)
            for width, height in SIZES:
                await pilot.resize_terminal(width, height)
                await settle(pilot)
                lines = strips(app)
                faults = [*misplaced(app, lines), *cut_figures(app)]
                found += [f"{app.screen}, {width}×{height}: {fault}" for fault in faults]
                if not keys:
                    rows = [cells_before(line.text, "76 %") for line in lines]
                    assert len(set(rows) - {None}) == 1, "one column of shares"
                    assert len(rows) - rows.count(None) == len(WIDE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
def test_colours_of_a_theme_can_be_told_from_its_grounds(theme: Theme) -> None:
    """Text on any ground; fills, and the border of the pane with the focus, on the screen's."""
    own = {name: getattr(theme, name) for name in ("foreground", "success", "warning", "error")}
    colours = {**own, "accent": theme.accent, **theme.variables}
    grounds = [theme.background, theme.surface, theme.panel]
    grounds += [colour for name, colour in colours.items() if name.endswith("-ground")]
    drawn = {"part-system", "edge-focus"} | {name for name in colours if name.endswith("-fill")}
    written = {colour for tone, colour in TONES.items() if tone != "rule"} - drawn - {"rule"}
    for name in sorted(written):
        for ground in grounds:
            assert contrast(Color.parse(colours[name]), Color.parse(str(ground))) >= LEGIBLE, (
                name,
                ground,
            )
    for name in sorted(drawn):
        assert contrast(Color.parse(colours[name]), Color.parse(str(theme.background))) >= 3, name
