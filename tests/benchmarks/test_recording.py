"""The recording of the README: it moves in an ``<img>``, and is the size of a picture."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from tests.benchmarks.recording import LENGTH, Frame, Run, intervals, svg

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "assets" / "recording.svg"
LARGEST = 1_500_000
"""Bytes."""


def frame(words: str, seconds: float) -> Frame:
    """One word that stays, and one of this frame below it."""
    lines = tuple((Run(0, text, "#d5dae1", "#11151a", False),) for text in ("stays", words))
    return Frame(lines, seconds, "k", "what is done")


def test_what_stays_is_drawn_once_and_what_changes_has_its_time() -> None:
    picture = svg([frame("one", 1), frame("two", 3)], poster=0)
    ElementTree.fromstring(picture)
    assert picture.count(">stays</text>") == 1
    first, second = re.findall(r"\.g\d\{visibility:(\w+);.*?@keyframes g\d\{(.*?\})\}", picture)
    assert first == ("visible", "0.000%{visibility:visible}25.000%{visibility:hidden}")
    assert second == ("hidden", "0.000%{visibility:hidden}25.000%{visibility:visible}")


def test_a_line_that_comes_back_is_shown_in_both_stretches() -> None:
    assert list(intervals([0, 1, 3], [0.0, 1.0, 2.0, 4.0, 5.0])) == [(0.0, 2.0), (4.0, 5.0)]


def test_text_of_a_log_is_no_markup() -> None:
    picture = svg([frame("<script>alert(1)</script> & more", 1)])
    assert not list(ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}script"))


def test_the_recording_needs_nothing_but_itself() -> None:
    text = RECORDING.read_text("utf-8")
    assert len(text.encode()) < LARGEST
    assert {node.tag.rpartition("}")[2] for node in ElementTree.fromstring(text).iter()} == {
        "svg", "style", "rect", "g", "text",
    }  # fmt: skip
    for foreign in ("url(", "@import", "href", "@font-face", "<!--"):
        assert foreign not in text, "an <img> fetches nothing"
    assert set(re.findall(r"animation:g\d+ (\S+) step-end", text)) == {f"{LENGTH:g}s"}
    assert "prefers-reduced-motion" in text
    assert f"]({RECORDING.relative_to(ROOT)})" in (ROOT / "README.md").read_text("utf-8")
