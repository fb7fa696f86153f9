"""A walk through all screens of one app, and what can be seen on each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from textual.pilot import Pilot

from tests.inspector.stage import play


@dataclass(frozen=True)
class Stop:
    """A screen in some state: how one gets there from the stop before, and back."""

    name: str
    there: Sequence[str] = ()
    back: Sequence[str] = ()
    figures: Sequence[str] = ()
    """What must be read at any size: the figures that the screen is there for."""
    over: bool = False
    """Textual's own, over another screen."""


WIDE = (
    "日本語のテキスト：再試行の失敗を調べる", "👩 ship 🚀✅ 🇯🇵 👍🏽 it", "مرحبا بالعالم retry שלום",
    "e\u0301 a\u0308 combining", "한국어 세션을 고친다", "ไทยภาษา हिन्दी पाठ",
    "全角ＡＢＣ　スペース", "/home/用户/项目/重试/测试文件.py", "plain words",
)  # fmt: skip
"""Texts of characters that take no cell, one or two."""

_PACK = ("b", "r", "enter")

TOUR = (
    Stop("sessions", figures=("6 sessions", "76 %", "85 %", "~8 %", "now", "4m")),
    Stop("filter", ("slash", *"cod"), ("escape",), ("1 of 6 sessions", "85 %")),
    Stop("search", ("f", *"retry"), ("escape",), ("7 events", "#12")),
    Stop("palette", ("ctrl+p",), ("escape",), ("Audit", "Decisions"), over=True),
    Stop(
        "session", ("home", "enter"), (), ("152,300 of 200,000 measured", "76 %", "33 nodes", "#41")
    ),
    Stop("pressure", ("v",), ("v",), ("93.1k", "47 %", "60 requests")),
    Stop("steps", ("s",), ("s",), ("One clock for the websocket client",)),
    Stop("squeezed", ("k", "k", "z"), ("z", "end"), ("1,000 → 88 tokens",)),
    Stop("compaction", ("c",), ("escape",), ("76 %", "152k tokens", "a 200,000-token window")),
    Stop("confirming", ("c", "y"), ("escape", "escape"), ("152k →", "1 commit", "2 not yet")),
    Stop("audit", ("a",), ("escape",), ("chain intact", "98.0k → 92.4k", "164k → 61.0k")),
    Stop(
        "comparison",
        ("a", "home", "j", "c"),
        ("escape", "escape"),
        ("agent's", "1,620 counted", "152k tokens"),
    ),
    Stop("decisions", ("d",), ("escape",), ("4 records", "success", "#31 … #41")),
    Stop("export", ("d", "e"), ("escape", "escape"), (".parquet", "decisions-s1.md")),
    Stop("pack", _PACK, ("escape",), ("1,256 of 1,500 tokens", "725")),
    Stop("rebuilt", (*_PACK, "o"), ("escape", "escape"), ("2,749 of 4,000 tokens", "1,480")),
    Stop("copy", ("w",), ("escape",), ("33 nodes", "75.0k tokens")),
    Stop("help", ("question_mark",), ("escape",), ("in a session", "pin or unpin")),
)
"""Begins at the sessions, goes on in the first of them."""


async def walk(pilot: Pilot[None]) -> AsyncIterator[Stop]:
    """Stops one after the other, each once its screen is there."""
    for stop in TOUR:
        await play(pilot, *stop.there)
        yield stop
        await play(pilot, *stop.back)
