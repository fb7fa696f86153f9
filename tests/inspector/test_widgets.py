"""Figures, drawings and the list, each by hand-worked values."""

# Long because: a widget after the other, a few tests each.

from __future__ import annotations

import pytest
from textual._context import active_app
from textual.app import App, ComposeResult

from compress.artifacts.values import Artifact, ArtifactStep
from inspector.artifact_reports import ArtifactReport, ArtifactsReport
from inspector.messages import RowActivated, TimeMoved
from inspector.palette import DARK
from inspector.reports import Composition, NodeReport, SessionHeader
from inspector.widgets import figures
from inspector.widgets.composition import CompositionBar
from inspector.widgets.curve import Curve, column_of, resample
from inspector.widgets.fate_rows import After, Before
from inspector.widgets.line_list import LineList, Listed
from inspector.widgets.markdown import markdown
from inspector.widgets.session_list import columns, heading
from inspector.widgets.slider import TimeSlider
from inspector.widgets.steps import sections_of_artifacts
from inspector.widgets.surface_list import SurfaceLine, SurfaceLines
from inspector.widgets.text_pane import Section, TextPane
from inspector.widgets.tones import Cells, width_of
from tests.inspector import story
from tests.inspector.fakes import FakeUseCases
from tests.inspector.surfaces import FakeView, MillionView

HEADER = SessionHeader(id="s1", agent="claude")


def text(cells: Cells) -> str:
    return "".join(piece for piece, _ in cells)


# Figures


@pytest.mark.parametrize(
    ("count", "written"),
    [
        (None, "–"), (0, "0"), (9_999, "9,999"), (10_000, "10.0k"), (142_318, "142k"),
        (999_499, "999k"), (999_500, "1.0M"), (1_234_567, "1.2M"),
    ],
)  # fmt: skip
def test_tokens_are_written_short(count: int | None, written: str) -> None:
    assert figures.tokens(count) == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(None, "–"), (2, "now"), (42, "42s"), (200, "3m"), (7_300, "2h"), (86_400 * 5, "5d"),
     (86_400 * 20, "2w"), (86_400 * 365 * 2.1, "2y")],
)  # fmt: skip
def test_ages_have_one_unit(seconds: float | None, written: str) -> None:
    assert figures.age(seconds) == written


def test_a_share_of_little_is_not_nothing() -> None:
    assert figures.percent(0.001) == "<1 %"
    assert figures.percent(0.0) == "0 %"
    assert figures.percent(1.124) == "112 %"
    assert figures.bar(0.0001, 8) == "▏"
    assert figures.bar(0, 8) == ""
    assert figures.bar(2.0, 8) == "█" * 8


def test_an_impossible_time_is_unknown() -> None:
    assert figures.moment(1e30, None) == "–"
    assert figures.moment(None, None) == "–"


def test_a_sparkline_has_the_window_as_its_full_height() -> None:
    assert figures.sparkline((0.0, 0.5, 1.0, 3.0), 8) == "▁▅██"
    assert figures.sparkline((0.0, 0.5, 1.0), 2) == "▅█"


def test_one_is_not_many() -> None:
    assert figures.counted(1, "session") == "1 session"
    assert figures.counted(1_204, "session") == "1,204 sessions"
    assert figures.counted(0, "session") == "0 sessions"


# The list of sessions


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (58, ()), (78, ("history",)), (100, ("project", "history")),
        (118, ("project", "tokens/window", "history")),
        (158, ("project", "model", "tokens/window", "history")),
    ],
)  # fmt: skip
def test_the_title_of_a_session_has_the_room_first(width: int, shown: tuple[str, ...]) -> None:
    titles = heading(width)
    assert len(titles) == width - 1
    assert titles.endswith("  age")
    optional = ("project", "model", "tokens/window", "history")
    assert tuple(name for name in optional if name in titles) == shown
    assert columns(width).title >= (25 if width < 70 else 28)


# Drawings, drawn without an app


def test_the_stacked_bar_is_to_scale_and_loses_no_cell() -> None:
    bar = CompositionBar()
    report = FakeUseCases().pressure("s1")
    parts = Composition(system_and_tools=10_000, user=30_000, assistant=10)
    with_app = _Host(bar)
    bar.report = report.model_copy(update={"composition": parts, "tool_results_by_tool": {}})
    stack = with_app.drawn(bar, 43)[0]
    # One cell each, the other 40 by share: 10000 and 30000 of 40010.
    assert [len(piece) for piece, _ in stack] == [11, 31, 1]


def test_the_legend_gives_way_to_the_largest_parts() -> None:
    bar = CompositionBar()
    bar.report = FakeUseCases().pressure("s1")
    lines = [text(cells) for cells in _Host(bar).drawn(bar, 30, 5)]
    assert len(lines) == 5
    assert "tool results" in lines[1]
    assert "5 smaller" in lines[-1]


def test_a_curve_keeps_the_peak_of_every_bucket() -> None:
    assert resample([1, 9, 2, 3, 4, 8], 3) == [9, 3, 8]
    assert resample([5, 7], 4) == [5, 5, 7, 7]


def test_a_compaction_is_marked_at_its_request() -> None:
    assert column_of(25, [1, 10, 20, 30], 40) == 30
    assert column_of(99, [1, 10], 10) == 5
    assert column_of("o1", [1], 10) is None


@pytest.mark.parametrize("size", [(1, 1), (14, 3), (15, 3), (200, 60)])
def test_a_curve_fits_its_size(size: tuple[int, int]) -> None:
    curve = Curve()
    curve.report = FakeUseCases().pressure("s1")
    lines = curve.draw(*size)
    assert len(lines) <= size[1]
    assert all(width_of(cells) <= max(size[0], 40) for cells in lines[:-1])


class _Host(App[None]):
    """An app around one widget."""

    def __init__(self, widget: CompositionBar | TimeSlider | TextPane | LineList[str]) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = DARK.name
        self.widget = widget
        self.moved: list[int | None] = []
        self.opened: list[int] = []

    def compose(self) -> ComposeResult:
        yield self.widget

    def drawn(self, bar: CompositionBar, width: int, height: int = 99) -> list[Cells]:
        bar._parent = self
        token = active_app.set(self)
        try:
            return bar.draw(width, height)
        finally:
            active_app.reset(token)

    def on_time_moved(self, message: TimeMoved) -> None:
        self.moved.append(message.at)

    def on_row_activated(self, message: RowActivated) -> None:
        self.opened.append(message.index)


async def test_the_slider_goes_where_the_mouse_is() -> None:
    slider = TimeSlider()
    app = _Host(slider)
    async with app.run_test(size=(82, 3)) as pilot:
        slider.show(101, None, (50,))
        await pilot.click(slider, offset=(2, 0))
        await pilot.pause()
        slider.move(10)
        await pilot.pause()
        slider.move(1_000)
        await pilot.pause()
    # The track is 60 cells from event 1 to 101; beyond the newest is now.
    assert app.moved == [1, 11, None]


# The list


class _Words(LineList[str]):
    DEFAULT_CSS = """
    _Words { height: 10; }
    """

    def paint(self, row: str, index: int, width: int) -> Cells:
        return [(row, "text")]


class _Counted:
    """Rows that count how often a page was asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return self.count

    def rows(self, start: int, stop: int) -> list[str]:
        self.asked.append((start, stop))
        return [f"row {at}" for at in range(start, min(stop, self.count))]


async def test_a_million_rows_cost_a_few_pages() -> None:
    words, rows = _Words(), _Counted(1_000_000)
    app = _Host(words)
    async with app.run_test(size=(40, 12)) as pilot:
        words.focus()
        words.show(rows)
        for key in ("end", "home", "pagedown", "pagedown", "j", "j", "k"):
            await pilot.press(key)
            await pilot.pause()
        assert words.cursor == 19
        assert words.row == "row 19"
    assert set(rows.asked) == {(0, 128), (999_936, 1_000_064)}


async def test_the_list_follows_its_tail_unless_scrolled_away() -> None:
    words = _Words()
    app = _Host(words)
    async with app.run_test(size=(40, 12)) as pilot:
        words.show(Listed([str(at) for at in range(100)]), 99)
        await pilot.pause()
        assert words.following
        words.show(Listed([str(at) for at in range(150)]))
        assert words.cursor == 149
        words.action_page(-1)
        await pilot.pause()
        words.show(Listed([str(at) for at in range(200)]))
        assert words.cursor == 140
        words.action_last()
        await pilot.pause()
        words.scroll_to(y=0, animate=False, immediate=True)
        words.show(Listed([str(at) for at in range(201)]), None)
        assert words.cursor == 199


async def test_mouse_and_keys_select_a_range() -> None:
    words = _Words()
    app = _Host(words)
    async with app.run_test(size=(40, 12)) as pilot:
        words.show(Listed([str(at) for at in range(50)]))
        await pilot.click(words, offset=(3, 4))
        assert (words.cursor, words.selection) == (4, None)
        await pilot.click(words, offset=(3, 7), shift=True)
        assert words.selection == (4, 7)
        words.action_extend(-5)
        assert words.selection == (2, 4)
        words.action_select()
        assert words.selection is None
        await pilot.click(words, offset=(3, 1), times=2)
        assert app.opened == [1]


async def test_an_empty_list_takes_every_key() -> None:
    words = _Words()
    async with _Host(words).run_test(size=(40, 12)) as pilot:
        words.focus()
        await pilot.press("up", "down", "pageup", "pagedown", "home", "end", "enter", "j", "k")
        assert (words.cursor, words.row) == (0, None)


# Unfolding


def _node(seq: int) -> NodeReport:
    return NodeReport(seq=seq, type="user/message", events=(seq,))


def test_an_unfolded_checkpoint_shows_its_nodes_below_it() -> None:
    view = FakeView(HEADER, [_node(seq) for seq in (10, 20, 30)])
    children = [SurfaceLine(seq, 1, shadowed=True) for seq in (1, 2)]
    lines = SurfaceLines(view, {1: children})
    whole = [line.seq for line in lines.rows(0, 99)]
    assert whole == [10, 20, 1, 2, 30]
    assert len(lines) == 5
    assert [lines.line_of(seq) for seq in (10, 20, 1, 2, 30, 99)] == [0, 1, 2, 3, 4, None]
    for start in range(6):
        for stop in range(start, 7):
            assert [line.seq for line in lines.rows(start, stop)] == whole[start:stop]
    assert [line.unfolded for line in lines.rows(0, 5)] == [False, True, False, False, False]


def test_two_unfolded_neighbours_keep_their_order() -> None:
    view = MillionView(HEADER, 1_000)
    unfolded = {
        4: [SurfaceLine(-1, 4, shadowed=True)],
        5: [SurfaceLine(-2, 5, shadowed=True), SurfaceLine(-3, 5, shadowed=True)],
    }
    lines = SurfaceLines(view, unfolded)
    assert [line.seq for line in lines.rows(3, 11)] == [4, 5, -1, 6, -2, -3, 7, 8]
    assert len(lines.rows(0, 5_000)) == len(lines) == 1_003
    assert lines.line_of(1_000) == 1_002


# Before and after


def test_both_sides_of_a_preview_agree() -> None:
    inquiry = FakeUseCases()
    view = inquiry.view("s1", track="plan")
    report = inquiry.preview("s1", start=9, end=15).report
    before, after = Before(view, report), After(view, report)
    assert after.checkpoint == 1
    assert after.shadowed == 6
    left = [line.node.seq for line in before.rows(0, 99) if line.node]
    right = [line.node.seq if line.node else "new" for line in after.rows(0, 99)]
    # 9 … 15 fall but for the pinned 10, which follows the checkpoint at their place.
    assert left[:9] == [41, 9, 10, 11, 12, 13, 14, 15, 16]
    assert right[:4] == [41, "new", 10, 16]
    assert right[3:] == left[8:]
    assert len(after) == len(right)
    assert [after.place_of(row) for row in (0, 1, 2, 7, 8)] == [0, 1, 2, 1, 3]
    assert [after.row_of(place) for place in (0, 1, 2, 3, 4)] == [0, 1, 2, 8, 9]
    assert list(after.rows(1, 3)) == list(after.rows(0, 99))[1:3]


def test_nodes_that_came_since_the_preview_stand_on_both_sides() -> None:
    inquiry = FakeUseCases()
    report = inquiry.preview("s1", start=9, end=15).report
    late = story.nodes_of_story()[19].model_copy(update={"seq": 42, "events": (42,)})
    inquiry.extra.append(late)
    inquiry.newest = 42
    view = inquiry.view("s1", track="plan")
    before, after = Before(view, report), After(view, report)
    assert before.rows(len(before) - 1, len(before))[0].node == after.rows(0, 99)[-1].node
    assert after.rows(0, 99)[-1].node == late.model_copy(update={"pinned": False})
    assert after.place_of(len(before) - 1) == len(after) - 1


def test_receipts_stand_where_their_results_did() -> None:
    inquiry = FakeUseCases()
    view = inquiry.view("s1", track="plan")
    report = inquiry.preview("s1", mode="micro").report
    after = After(view, report)
    assert len(after) == len(view)
    assert after.checkpoint is None
    fates = {line.fate.fate for line in after.rows(0, 99) if line.fate}
    assert fates == {"kept", "receipt"}


# Text


async def test_a_five_megabyte_line_is_one_page() -> None:
    pane = TextPane()
    async with _Host(pane).run_test(size=(80, 24)) as pilot:
        pane.show([Section("x" * 5_000_000, title="huge")])
        await pilot.pause()
        assert len(pane._lines) < 300
        assert pane.place == "page 1 of 307 · 5,000,000 characters"
        pane.focus()
        await pilot.press("right_square_bracket")
        assert pane.place.startswith("page 2 of 307")
        await pilot.press("left_square_bracket", "left_square_bracket")
        assert pane.place.startswith("page 1 of 307")


async def test_pages_show_every_character_once() -> None:
    pane = TextPane()
    texts = ["a" * 20_000, "", "b" * 7, "c" * 40_000]
    async with _Host(pane).run_test(size=(80, 24)) as pilot:
        pane.show([Section(part) for part in texts])
        await pilot.pause()
        seen = ""
        for _ in range(len(pane._pages)):
            seen += "".join(row for cells in pane._lines for row, tone in cells if tone == "text")
            pane.action_turn(1)
    assert seen == "".join(texts)


async def test_very_many_lines_are_virtual() -> None:
    pane = TextPane()
    async with _Host(pane).run_test(size=(80, 24)) as pilot:
        pane.show([Section("\n" * 300_000)])
        await pilot.pause()
        assert len(pane._lines) < 20_000


def test_markdown_is_told_apart_by_tone_and_nothing_else_is_changed() -> None:
    text = "## Files\n- a.py - read\n  * b.py\n```\n- not an item\n```\n> said\nplain - text"
    sections = markdown(text)
    assert [(section.tone, section.text) for section in sections] == [
        ("strong", "## Files"),
        ("text", "• a.py - read\n  • b.py"),
        ("faint", "```"),
        ("tool_results", "- not an item"),
        ("faint", "```"),
        ("muted", "> said"),
        ("text", "plain - text"),
    ]


async def test_two_texts_stand_beside_each_other_where_there_is_room() -> None:
    section = Section("one two three", beside="uno dos tres", split=40)
    for width in (60, 30):
        pane = TextPane()
        async with _Host(pane).run_test(size=(width, 24)) as pilot:
            pane.show([section])
            await pilot.pause()
            rows = ["".join(text for text, _ in cells).split() for cells in pane._lines]
        if width == 60:
            assert rows == [["one", "two", "three", "│", "uno", "dos", "tres"]]
        else:
            assert rows == [["one", "two", "three"], ["uno", "dos", "tres"]]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1. Add it", 1),
        ("## 1. Add it\n\n", 1),
        ("- [x] Add it", 1),
        ("Add it", 1),
        ("1. Add it\n   in one place", 2),
        ("First, Add it", 2),
    ],
)
def test_a_step_is_not_shown_twice(text: str, shown: int) -> None:
    assert current_step("Add it", text).count("Add it") == shown


@pytest.mark.parametrize(
    ("text", "shown"), [("- [X] y", False), ("[ ] y", False), ("x y", True), ("[] X y", True)]
)
def test_a_cross_outside_a_box_is_a_word_of_the_step(text: str, shown: bool) -> None:
    assert (text in current_step("y", text)) is shown


def current_step(title: str, text: str) -> str:
    """What the detail pane shows of a step that is being worked on."""
    step = ArtifactStep(number=1, title=title, status="pending", text=text, source_event_seqs=(1,))
    artifact = Artifact(
        id="0" * 16,
        kind="plan",
        title="A plan",
        summary="Cache it.",
        summary_made=True,
        steps=(step,),
        current_step=1,
        status="pending",
        source_event_seqs=(1,),
    )
    report = ArtifactsReport.model_construct(
        artifacts=(ArtifactReport.model_construct(artifact=artifact),)
    )
    return sections_of_artifacts(report)[-1].text
