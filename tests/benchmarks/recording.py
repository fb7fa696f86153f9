"""Half a minute of the app on the bundled session, as one animated SVG for the README.

The app runs without a terminal; what it would send to one is taken after each key. The picture
holds every line once, however long it stands: a group of lines that come and go together is shown
and hidden by one CSS animation, so it needs no script, no font and nothing from elsewhere, and
moves in an ``<img>``. Whoever asks for reduced motion sees one frame of it.

    python -m tests.benchmarks.recording [--out assets/recording.svg]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import cast
from xml.sax.saxutils import escape

from rich.cells import cell_len
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input

from inspector.app import UllageApp
from inspector.demo import Step, bundled_session, replay, steps
from inspector.palette import DARK
from inspector.settings import load_settings
from inspector.usecases import UseCases
from storage.sources.registry import registry
from storage.store import Store
from tests.inspector.stage import REST, play, settle, strips

SIZE = (120, 40)
LENGTH = 30.0
"""Seconds of the whole; what frames are given is a share of it."""
FOLDER = Path(tempfile.gettempdir()) / "ullage-recording"
"""Its name is on the screen, so that it is the same each time."""
GROUND = str(DARK.background)
CELL = (8.4, 18.0)
"""Width and height of a cell, in the picture's own units."""
FONT = 14
MARGIN = 14
CAPTION = 34
POSTER = 8
"""The frame that stands for all where nothing may move: a session that has filled up."""


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of one line in one style."""

    column: int
    text: str
    colour: str
    ground: str
    bold: bool


Line = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """What is seen for so many seconds, and what is done there: a key and some words."""

    lines: tuple[Line, ...]
    seconds: float
    key: str
    words: str


# From the app to frames


def line_of(strip: Strip) -> Line:
    """The runs of a line, without blanks at the ends of one where only its ground is seen."""
    runs = []
    column = 0
    for text, style, control in strip:
        if control:
            continue
        width = cell_len(text)
        own = style and style.color and style.color.get_truecolor().hex
        below = style and style.bgcolor and style.bgcolor.get_truecolor().hex
        bold = bool(style and style.bold)
        if text.strip() or (below or GROUND) != GROUND:
            runs.append(Run(column, text, own or str(DARK.foreground), below or GROUND, bold))
        column += width
    return tuple(runs)


class Camera:
    """Takes a frame of the app, with what is done next to be read below it."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.frames: list[Frame] = []

    async def take(self, seconds: float, key: str, words: str) -> None:
        """Once nothing changes any more."""
        lines, before = self._seen(), None
        while lines != before:
            await self.pilot.pause(REST * 10)
            lines, before = self._seen(), lines
        self.frames.append(Frame(lines, seconds, key, words))

    def _seen(self) -> tuple[Line, ...]:
        return tuple(line_of(strip) for strip in strips(cast("UllageApp", self.pilot.app)))

    async def press(self, seconds: float, keys: str, words: str, shown: str = "") -> None:
        """Press keys, separated by blanks; what comes of each is seen for so long."""
        for key in keys.split():
            await play(self.pilot, key)
            for box in self.pilot.app.screen.query(Input):
                box.cursor_blink = False
            await self.take(seconds, shown or key, words)


class Log:
    """The bundled session, written further bit by bit."""

    def __init__(self) -> None:
        self.home = FOLDER / "claude"
        self.records: list[Step] = steps(bundled_session())
        self.written = 0
        self.now = 0.0

    def grow(self, upto: int) -> None:
        """Write all records before this one."""
        more = self.records[self.written : upto]
        replay(self.home, more, sleep=lambda _: None)
        self.written = upto
        stamps = [json.loads(step.line).get("timestamp") for step in more]
        times = [datetime.fromisoformat(stamp).timestamp() for stamp in stamps if stamp]
        self.now = max([self.now, *times]) + 1


@asynccontextmanager
async def on_stage() -> AsyncIterator[tuple[Camera, Log, UseCases]]:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    log = Log()
    settings = load_settings({}, environment={}, folder=FOLDER, config_file=FOLDER / "config.toml")
    store = Store(str(FOLDER / "demo.db"), registry())
    cases = UseCases(store, settings, environment={}, home=FOLDER, clock=lambda: log.now)
    app = UllageApp(cases, clock=lambda: log.now, zone=UTC, rest=REST)
    try:
        async with app.run_test(size=SIZE) as pilot:
            yield Camera(pilot), log, cases
    finally:
        cases.close()
        shutil.rmtree(FOLDER, ignore_errors=True)


async def film() -> list[Frame]:
    """The story: a session fills up, is compacted before its agent would do it, and is asked."""
    async with on_stage() as (camera, log, cases):

        async def grow(upto: int, seconds: float, words: str) -> None:
            log.grow(upto)
            await asyncio.to_thread(cases.ingest, [log.home])
            await camera.pilot.pause(0.2)
            await settle(camera.pilot)
            await camera.take(seconds, "", words)

        await grow(20, 1.6, "every agent's sessions on this machine, live")
        await camera.press(1.0, "enter", "what stands in the model's context window")
        last = next(at for at, step in enumerate(log.records) if b"compact_boundary" in step.line)
        for share in range(1, 7):
            await grow(20 + (last - 20) * share // 6, 0.6, "… node by node, while the agent works")
        await camera.take(1.8, "", "78 % full: where it went, and how many steps are left")
        await camera.press(0.35, "k k k k", "the node under the cursor, in full")
        await camera.press(1.8, "z", "a result as squeeze shows it: what matters of it")
        await camera.press(1.2, "z", "and whole again")
        await camera.press(0.4, "home j", "pin what must stay")
        await camera.press(1.2, "p", "pin what must stay")
        await camera.press(0.4, "j space pagedown", "select a region …", "space")
        await camera.press(2.6, "c", "… and see a compaction by rule before it is made")
        await camera.press(1.6, "v v", "what would change, and what would be lost")
        await camera.press(1.8, "y", "its figures, before it is made")
        await camera.press(2.0, "y", "committed to the plan; the log itself is only read")
        await camera.press(1.4, "u", "and undone: nothing is ever lost")
        await grow(len(log.records), 1.2, "now the agent compacts by itself …")
        await camera.press(1.6, "a", "… and the audit says what that took away")
        await camera.press(0.5, "end", "… and the audit says what that took away", "a")
        await camera.press(2.2, "c", "beside what Ullage would have kept, in as many tokens")
        await camera.press(0.3, "escape escape", "")
        await camera.press(2.2, "d", "what was decided, stage by stage, and why")
        await camera.press(0.3, "escape b", "")
        await camera.press(0.15, "p r o d u c t i o n", "ask for what left the window", "b")
        await camera.take(2.6, "", "packed again under a budget of tokens, a reason for every line")
    return camera.frames


# From frames to one picture


def intervals(frames: Sequence[int], starts: Sequence[float]) -> Iterator[tuple[float, float]]:
    """When some frames are seen, as stretches of time. ``starts`` are those of all frames, and
    the end."""
    for _, run in groupby(enumerate(frames), key=lambda pair: pair[1] - pair[0]):
        stretch = [frame for _, frame in run]
        yield starts[stretch[0]], starts[stretch[-1] + 1]


def svg(frames: Sequence[Frame], poster: int = 0) -> str:
    """All frames as one picture. ``poster`` is what is seen of it where nothing may move."""
    columns, rows = SIZE
    width = columns * CELL[0] + 2 * MARGIN
    height = rows * CELL[1] + 2 * MARGIN + CAPTION
    starts = [0.0]
    for frame in frames:
        starts.append(starts[-1] + frame.seconds)
    colours: dict[tuple[str, bool], str] = {}
    shown: dict[str, list[int]] = {}
    for number, frame in enumerate(frames):
        drawn = [_line(line, row, colours) for row, line in enumerate(frame.lines)]
        for piece in (*drawn, _caption(frame, height)):
            if piece:
                shown.setdefault(piece, []).append(number)
    groups: dict[tuple[int, ...], list[str]] = {}
    for piece, seen in shown.items():
        groups.setdefault(tuple(dict.fromkeys(seen)), []).append(piece)
    always = groups.pop(tuple(range(len(frames))), [])
    styles, bodies = [], []
    for number, (seen, pieces) in enumerate(groups.items()):
        styles.append(_animation(f"g{number}", seen, starts, poster))
        bodies.append(f'<g class="g{number}">{"".join(pieces)}</g>')
    fills = "".join(
        f".{name}{{fill:{colour}{';font-weight:700' if bold else ''}}}"
        for (colour, bold), name in colours.items()
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        'aria-label="Ullage on its bundled session">\n'
        f"<style>text{{font:{FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,"
        "'DejaVu Sans Mono',monospace;white-space:pre}"
        f"{fills}\n{chr(10).join(styles)}\n"
        "@media (prefers-reduced-motion:reduce){g{animation:none!important}}</style>\n"
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{GROUND}"/>\n'
        f"{''.join(always)}\n{chr(10).join(bodies)}\n</svg>\n"
    )


def _animation(name: str, seen: Sequence[int], starts: Sequence[float], poster: int) -> str:
    total = starts[-1]
    at = {0.0: "hidden"}
    for begin, end in intervals(seen, starts):
        at[begin] = "visible"
        if end < total:
            at[end] = "hidden"
    keys = "".join(
        f"{time / total:.3%}{{visibility:{state}}}" for time, state in sorted(at.items())
    )
    still = "visible" if poster in seen else "hidden"
    return (
        f".{name}{{visibility:{still};animation:{name} {total:g}s step-end infinite}}"
        f"@keyframes {name}{{{keys}}}"
    )


def _line(line: Line, row: int, colours: dict[tuple[str, bool], str]) -> str:
    """One line of the terminal: grounds that differ from the picture's, then the words."""
    top = MARGIN + row * CELL[1]
    parts = []
    for run in line:
        left = MARGIN + run.column * CELL[0]
        width = cell_len(run.text) * CELL[0]
        if run.ground != GROUND:
            parts.append(
                f'<rect x="{left:g}" y="{top:g}" width="{width + 0.3:g}" height="{CELL[1] + 0.3:g}"'
                f' fill="{run.ground}"/>'
            )
    for run in line:
        parts += _words(run, top, colours)
    return "".join(parts)


def _words(run: Run, top: float, colours: dict[tuple[str, bool], str]) -> Iterable[str]:
    words = run.text.strip(" ")
    if not words:
        return
    column = run.column + cell_len(run.text[: len(run.text) - len(run.text.lstrip(" "))])
    name = colours.setdefault((run.colour, run.bold), f"c{len(colours)}")
    length = cell_len(words) * CELL[0]
    text = escape(words).replace(" ", "\u00a0")
    yield (
        f'<text class="{name}" x="{MARGIN + column * CELL[0]:g}" y="{top + FONT - 0.5:g}" '
        f'textLength="{length:g}" lengthAdjust="spacingAndGlyphs">{text}</text>'
    )


def _caption(frame: Frame, height: float) -> str:
    """Below the terminal: the key that was pressed, and what is seen."""
    top, left = height - CAPTION, float(MARGIN)
    parts = [f'<rect y="{top:g}" width="100%" height="{CAPTION}" fill="{DARK.panel}"/>']
    if frame.key:
        width = len(frame.key) * CELL[0] + 14
        parts.append(
            f'<rect x="{left:g}" y="{top + 6:g}" width="{width:g}" height="22" rx="4" '
            f'fill="{DARK.accent}"/><text x="{left + 7:g}" y="{top + 22:g}" '
            f'fill="{GROUND}" font-weight="700">{escape(frame.key)}</text>'
        )
        left += width + 10
    parts.append(
        f'<text x="{left:g}" y="{top + 22:g}" fill="{DARK.variables["strong"]}">'
        f"{escape(frame.words)}</text>"
    )
    return "".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("assets/recording.svg"))
    chosen = parser.parse_args()
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    os.environ.pop("NO_COLOR", None)
    frames = asyncio.run(film())
    scale = LENGTH / sum(frame.seconds for frame in frames)
    frames = [replace(frame, seconds=frame.seconds * scale) for frame in frames]
    picture = svg(frames, POSTER)
    chosen.out.write_text(picture, "utf-8")
    print(f"{chosen.out}: {len(frames)} frames, {LENGTH:.0f} s, {len(picture) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
