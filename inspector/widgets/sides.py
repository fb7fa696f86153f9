"""Before and after, beside each other and in step."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from compress.events import NodeId
from inspector.messages import RowHighlighted, Scrolled
from inspector.reports import CompactionReport
from inspector.sanitize import line
from inspector.views import SurfaceView
from inspector.widgets import figures
from inspector.widgets.fate_list import AfterList, BeforeList
from inspector.widgets.fate_rows import After, Before, FateLine
from inspector.widgets.line_list import Listed

SLIM, ROOMY = 72, 96
"""Cells of both sides from which on they are equal, and the words below them are spelled out."""
EMPTY = "The surface is empty: there is nothing to compact."


class Sides(Horizontal):
    """Two lists whose cursors and scrolling go along with each other."""

    rows: After | None = None
    """How the right side goes with the left; ``None`` while there is none."""

    def compose(self) -> ComposeResult:
        yield BeforeList(id="before")
        yield AfterList(id="after")

    def on_mount(self) -> None:
        self.before.border_title = "before"
        self.after.border_title = "after"

    @property
    def before(self) -> BeforeList:
        """The left side."""
        return self.query_one(BeforeList)

    @property
    def after(self) -> AfterList:
        """The right side."""
        return self.query_one(AfterList)

    def show(self, before: Before, after: After, report: CompactionReport) -> None:
        """Take what a preview says."""
        self.rows = after
        self._show_before(before)
        side = self.after
        side.summary_tokens = report.summary.tokens if report.summary is not None else 0
        side.shadowed = after.shadowed
        side.show(after)
        side.border_subtitle = self._count_words(len(after))
        self.dim(False)
        self._follow()

    def show_surface(self, view: SurfaceView, why: str = "") -> None:
        """Only the left side is known, and why there is no other."""
        self.rows = None
        self.after.say(why)
        self._show_before(Before(view, None))
        self.before.say(EMPTY)
        self.after.show(Listed[FateLine]())
        self.after.border_subtitle = ""
        self.dim(False)
        self._follow()

    def _show_before(self, rows: Before) -> None:
        self.before.show(rows, self.before.cursor)
        self.before.border_subtitle = self._count_words(len(rows))

    def on_resize(self) -> None:
        """Where neither side has room for words, the one with the focus takes some of it."""
        self.set_class(self.size.width < SLIM, "-slim")
        for side in (self.before, self.after):
            side.border_subtitle = self._count_words(len(side.source)) if len(side.source) else ""

    def _count_words(self, nodes: int) -> str:
        """How many nodes, and that the figures beside them are not the provider's."""
        width = self.size.width
        if width >= ROOMY:
            measure = " · tokens as counted"
        elif width >= SLIM:
            measure = " · counted"
        else:
            measure = ""
        return figures.counted(nodes, "node") + measure

    def dim(self, stale: bool) -> None:
        """Whether what is shown is no longer what was asked for."""
        self.before.dim(stale)
        self.after.dim(stale)

    def chosen(self) -> list[NodeId]:
        """The selected nodes of the left side, or the one under the cursor; the selection is let
        go of."""
        before = self.before
        first, last = before.selection or (before.cursor, before.cursor)
        before.pivot = None
        rows = before.source.rows(first, last + 1)
        return [row.node.seq for row in rows if row.node is not None]

    @on(RowHighlighted)
    def _follow(self) -> None:
        """The other cursor goes along; the fate is spelled out where rows are too narrow."""
        before, after, rows = self.before, self.after, self.rows
        if rows is not None and after.has_focus:
            if rows.place_of(before.cursor) != after.cursor:
                before.cursor = rows.row_of(after.cursor)
        elif rows is not None:
            self._lead_after()
            after.cursor = rows.place_of(before.cursor)
        row = before.row
        fate = row.fate if row is not None else None
        words = f"{figures.event_name(fate.seq)} {fate.fate}: {fate.rule}" if fate else "before"
        before.border_title = Content(line(words, 60))

    @on(Scrolled, "#before")
    def _lead_after(self) -> None:
        if self.rows is not None:
            self.after.lead(self.rows.place_of(self.before.scroll_offset.y))

    @on(Scrolled, "#after")
    def _lead_before(self) -> None:
        if self.rows is not None:
            self.before.lead(self.rows.row_of(self.after.scroll_offset.y))
