"""What gives way where there is little room: titles, columns, tables. Values worked by hand."""

from __future__ import annotations

import pytest
from textual.geometry import Size

from inspector.sanitize import wrap
from inspector.widgets.audit_list import AuditList
from inspector.widgets.audit_list import heading as audit_heading
from inspector.widgets.bars import TitleBar
from inspector.widgets.pack_list import PackList
from inspector.widgets.pack_list import heading as pack_heading
from inspector.widgets.session_list import _tail
from inspector.widgets.tables import flow, table
from inspector.widgets.tones import Cells, width_of
from tests.inspector import story
from tests.inspector.fakes import FakeUseCases
from tests.inspector.stage import on_stage, play, text_of

LEFT: Cells = [(" ullage", "accent"), ("  pack", "strong"), ("  of s1", "muted")]
RIGHT: Cells = [("6 of 8 lines  ", "muted"), ("1,256 of 1,500 tokens ", "accent")]


def text(cells: Cells) -> str:
    return "".join(piece for piece, _ in cells)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (60, " ullage  pack  of s1    6 of 8 lines  1,256 of 1,500 tokens "),
        (50, " ullage  pack  of s1        1,256 of 1,500 tokens "),
        (30, " ullage  pack  of s1          "),
        (16, " ullage  pack…  "),
    ],
)
def test_a_title_keeps_its_left_and_drops_figures_whole(width: int, shown: str) -> None:
    bar = TitleBar()
    bar.left, bar.right = LEFT, RIGHT
    assert text(bar.draw(width, 1)[0]) == shown


def test_a_title_that_is_cut_stands_apart_from_the_figures() -> None:
    bar = TitleBar()
    bar.left, bar.right = [(" a title of many words that is longer", "strong")], [("76 % ", "hot")]
    assert text(bar.draw(34, 1)[0]) == " a title of many words that… 76 % "


@pytest.mark.parametrize("width", [40, 58, 59, 60, 72, 76, 78, 99, 100, 118, 196])
def test_names_of_columns_stand_over_their_columns(width: int) -> None:
    pack = FakeUseCases().pack("s1", "retry").report.lines[0]
    cells = PackList().paint(pack, 0, width - 1)
    at = pack_heading(width).index("what")
    assert at == 1 + width_of(cells[:-1])
    row = story.agents_operations()[1]
    if width >= 58:
        assert len(audit_heading(width, False)) <= width
        painted = " " + text(AuditList().paint(row, 0, width - 1))
        assert audit_heading(width, False).index("what") == painted.index("#1 … #8")


@pytest.mark.parametrize(
    ("path", "width", "end"),
    [
        ("~/src/retry", 20, "~/src/retry"),
        ("~/src/a-long-name", 8, "…ng-name"),
        ("/家/项目/测试", 7, "…/测试"),
        (None, 5, "–"),
    ],
)
def test_the_end_of_a_path_is_cut_by_cells(path: str | None, width: int, end: str) -> None:
    assert _tail(path, width) == end


def test_a_figure_and_its_unit_are_not_parted() -> None:
    assert wrap("144 counted · 12 % of the window", 16) == [
        "144 counted ·",
        "12 % of the",
        "window",
    ]


def test_a_table_has_as_many_columns_as_fit() -> None:
    keys = [("a", "first"), ("bb", "second"), ("c", "third"), ("d", "fourth")]
    assert table(keys, 41, 4) == "a  first  bb  second  c  third  d  fourth"
    assert table(keys, 40, 4) == "a  first   bb  second  c  third\nd  fourth"
    assert table(keys, 41, 1) == "a   first\nbb  second\nc   third\nd   fourth"
    assert table([("キー", "one two three")], 18) == "キー  one two\n      three"


def test_words_flow_and_are_not_broken() -> None:
    assert flow(["one", "two", "three"], 9) == "one   two\nthree"


async def test_a_box_takes_the_signs_that_are_typed() -> None:
    async with on_stage(None, "d", "e") as (app, pilot):
        keys = text_of(app).splitlines()[-1]
        assert keys.startswith(" ⏎ Write  esc Back ")
        assert "/ Filter" not in keys
        await play(pilot, "escape")
        assert "/ Filter" in text_of(app).splitlines()[-1]


async def test_a_click_on_what_enter_does_is_as_good_as_enter() -> None:
    async with on_stage(None, "slash", *"codex", session=None, size=(60, 20)) as (app, pilot):
        assert app.size == Size(60, 20)
        await pilot.click(offset=(2, 19))
        await pilot.pause(0.1)
        await play(pilot)
        assert "codex  Port the parser" in text_of(app).splitlines()[0]


async def test_the_side_with_the_focus_has_the_room() -> None:
    async with on_stage(None, "c", size=(60, 20)) as (app, pilot):
        before, after = (app.screen.query_one(name) for name in ("#before", "#after"))
        assert before.size.width > after.size.width
        await play(pilot, "tab")
        assert before.size.width < after.size.width
        await pilot.resize_terminal(100, 30)
        await play(pilot)
        assert abs(before.size.width - after.size.width) <= 1
