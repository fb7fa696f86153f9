"""A compaction before it is made: every node's fate, recomputed with each change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content

from compress.events import NodeId
from inspector.messages import ChoiceTaken, RowHighlighted
from inspector.reports import CompactionMode, CompactionReport
from inspector.sanitize import line
from inspector.screens.base import AskingScreen, Refusal
from inspector.screens.ports import Preview
from inspector.views import SurfaceView
from inspector.widgets import figures
from inspector.widgets.balance import REFUSED, Balance
from inspector.widgets.bars import Banner, TitleBar
from inspector.widgets.fate_list import After, AfterList, Before, BeforeList, FateLine
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.line_list import Listed
from inspector.widgets.loss import lost_sections, summary_sections
from inspector.widgets.text_pane import TextPane

MODES: tuple[CompactionMode, ...] = ("region", "auto", "micro")
MODE_WORDS = {
    "region": "region",
    "auto": "whole surface by policy",
    "micro": "old tool results only",
}
BUDGETS = (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
"""Summary tokens that ``+`` and ``-`` step through."""
DEFAULT_BUDGET = 8_192


class CompactionScreen(AskingScreen[bool]):
    """Preview, edit, commit or leave. Dismisses with whether something was committed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", tooltip="back, nothing is written"),
        Binding("y", "commit", "Commit", tooltip="append it to the plan; undo is possible"),
        Binding("m", "mode", "Mode", tooltip="a region, by policy, or old tool results only"),
        Binding("s", "edge('start')", "Start", tooltip="the region starts here"),
        Binding("e", "edge('end')", "End", tooltip="the region ends here"),
        Binding("p", "pin", "Pin", tooltip="keep the node under the cursor"),
        Binding("plus", "budget(1)", "Larger summary", False, "+", tooltip="a step more"),
        Binding("minus", "budget(-1)", "Budget", key_display="+-", tooltip="a smaller summary"),
        Binding("v", "pane", "Lost", tooltip="what would be lost, or the summary"),
        *(Binding(str(digit), f"choose({digit})", show=False) for digit in range(1, 10)),
    ]

    def __init__(
        self,
        session: str,
        what: tuple[NodeId, NodeId] | CompactionMode = "auto",
        at: NodeId | None = None,
    ) -> None:
        super().__init__()
        self.session = session
        self.at = at
        self.mode: CompactionMode = what if isinstance(what, str) else "region"
        self.span = None if isinstance(what, str) else what
        self.budget: int | None = None
        self.pins: tuple[NodeId, ...] = ()
        self.surface: SurfaceView | None = None
        self.preview: Preview | None = None
        self._after: After | None = None
        self._lost = False

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield Balance(id="balance")
        yield Banner(id="banner")
        with Horizontal(id="sides"):
            yield BeforeList(id="before")
            yield AfterList(id="after")
        yield TextPane(id="text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#before").border_title = "before"
        self.query_one("#after").border_title = "after"
        self.query_one("#text").border_title = "summary"
        self.query_one(BeforeList).focus()
        self._show_title()
        self.store_grew()

    def store_grew(self) -> None:
        session, at = self.session, self.at
        self.ask("view", lambda: self.inquiry.view(session, track="plan", at=at), self._take_view)

    def _take_view(self, view: SurfaceView) -> None:
        first = self.surface is None
        self.surface = view
        if first:
            self._show_before(None)
        self._recompute(anew=first)

    def _recompute(self, *, anew: bool = True) -> None:
        """Ask for the preview of what is wanted now. Unless the question is the old one
        (``anew`` false), nothing of the last answer stays in sight, or can be committed."""
        view = self.surface
        if view is None:
            return
        if anew:
            self._show_nothing()
        start, end = self.span if self.mode == "region" and self.span else (None, None)
        mode, at, budget, pins = self.mode, self.at, self.budget, self.pins

        def work() -> tuple[Preview, After]:
            preview = self.inquiry.preview(
                self.session, start=start, end=end, mode=mode, at=at, budget=budget, pins=pins
            )
            return preview, After(view, preview.report)

        self.ask("preview", work, self._take_preview, self._refuse)

    def _take_preview(self, answer: tuple[Preview, After]) -> None:
        self.preview, after = answer
        self._after = after
        report = self.preview.report
        warnings = " ".join(report.warnings)
        self.query_one(Banner).show(warnings)
        self._show_before(report)
        self._follow()
        side = self.query_one(AfterList)
        side.summary_tokens = report.summary.tokens if report.summary is not None else 0
        side.shadowed = sum(fate.fate == "shadowed" for fate in report.nodes)
        side.show(after, after.checkpoint)
        side.border_subtitle = _size(len(after))
        self.query_one(Balance).show(report)
        self._show_text()

    def _refuse(self, refusal: Refusal) -> None:
        self._show_nothing()
        self.query_one(Balance).show(None, REFUSED)
        self.query_one(Banner).show(
            str(refusal), [(_choice_words(choice), choice) for choice in refusal.choices]
        )

    def _show_nothing(self) -> None:
        """No preview is there: none is left in sight."""
        self.preview = self._after = None
        self.query_one(Banner).show("")
        self._show_title()
        self._show_before(None)
        self._follow()
        side = self.query_one(AfterList)
        side.show(Listed[FateLine]())
        side.border_subtitle = ""
        self.query_one(Balance).show(None)
        self.query_one(TextPane).show([])

    def _show_before(self, report: CompactionReport | None) -> None:
        view = self.surface
        if view is None:
            return
        region = self.span if self.mode == "region" else None
        before = Before(view, report, region)
        side = self.query_one(BeforeList)
        first = side.row is None
        start = before.region[0] if before.region is not None else 0
        side.show(before, start if first else None)
        side.border_subtitle = _size(len(view))

    def _show_title(self) -> None:
        what = MODE_WORDS[self.mode]
        report = self.preview.report if self.preview is not None else None
        region = self.span if self.mode == "region" else None
        if region is None and report is not None and report.region is not None:
            region = (report.region.start, report.region.end)
        if region is not None:
            what += f" {figures.event_name(region[0])} … {figures.event_name(region[1])}"
        budget = f"budget {self.budget:,}" if self.budget is not None else "default budget"
        pins = f" · {figures.counted(len(self.pins), 'pin')}" if self.pins else ""
        self.query_one("#title", TitleBar).show(
            [(" ullage", "accent"), ("  compaction  ", "strong"), (what, "text")],
            [(f"{budget}{pins} ", "accent")],
        )

    def _show_text(self) -> None:
        report = self.preview.report if self.preview is not None else None
        pane = self.query_one(TextPane)
        pane.border_title = "what would be lost" if self._lost else "summary"
        if report is not None:
            pane.show(lost_sections(report) if self._lost else summary_sections(report))
        self._show_title()

    @on(RowHighlighted, "#before")
    def _follow(self) -> None:
        """The other side goes along; the fate is spelled out where rows are too narrow for it."""
        side = self.query_one(BeforeList)
        row = side.row
        if self._after is not None:
            self.query_one(AfterList).cursor = self._after.place_of(side.cursor)
        fate = row.fate if row is not None else None
        words = f"{figures.event_name(fate.seq)} {fate.fate}: {fate.rule}" if fate else "before"
        side.border_title = Content(line(words, 60))

    # Keys

    def action_leave(self) -> None:
        before = self.query_one(BeforeList)
        if before.pivot is not None:
            before.pivot = None
        else:
            self.dismiss(False)

    def action_commit(self) -> None:
        preview = self.preview
        if preview is None:
            refused = self.query_one(Balance).missing == REFUSED
            why = "There is no preview to commit." if refused else "The preview is not ready yet."
            self.tell(why, "warning")
            return
        self.ask("commit", lambda: self.inquiry.commit(preview), self._committed)

    def _committed(self, report: CompactionReport) -> None:
        before, after = figures.tokens(report.tokens_before), figures.tokens(report.tokens_after)
        self.tell(f"Committed {figures.event_name(report.operation)}: {before} → {after} tokens.")
        self.dismiss(True)

    def action_mode(self) -> None:
        self.mode = MODES[(MODES.index(self.mode) + 1) % len(MODES)]
        if self.mode == "region" and self.span is None:
            self._take_region_of_preview()
        self._recompute()

    def action_edge(self, edge: str) -> None:
        """The selected range becomes the region; without one, the cursor moves one edge."""
        before = self.query_one(BeforeList)
        if before.selection is not None:
            first, last = before.selection
            ends = before.at(first), before.at(last)
            if ends[0] and ends[1] and ends[0].node and ends[1].node:
                self.span = (ends[0].node.seq, ends[1].node.seq)
            before.pivot = None
        elif before.row is not None and before.row.node is not None:
            self._move_edge(edge, before.row.node.seq)
        self.mode = "region"
        self._recompute()

    def action_pin(self) -> None:
        row = self.query_one(BeforeList).row
        if row is None or row.node is None:
            return
        seq = row.node.seq
        known = seq in self.pins
        self.pins = tuple(p for p in self.pins if p != seq) if known else (*self.pins, seq)
        self._recompute()

    def action_budget(self, by: int) -> None:
        budget = self.budget or DEFAULT_BUDGET
        others = [size for size in BUDGETS if (size > budget if by > 0 else size < budget)]
        if others:
            self.budget = others[0] if by > 0 else others[-1]
            self._recompute()

    def action_pane(self) -> None:
        self._lost = not self._lost
        self._show_text()

    def action_choose(self, number: int) -> None:
        self.query_one(Banner).take(number)

    @on(ChoiceTaken)
    def _take_choice(self, message: ChoiceTaken) -> None:
        choice: Any = message.choice
        if isinstance(choice, int | str):
            self._move_edge(self._nearer_edge(choice), choice)
        elif isinstance(choice, Sequence) and len(choice) == 2:
            self.span = (choice[0], choice[1])
        self.mode = "region"
        self._recompute()

    def _move_edge(self, edge: str, seq: NodeId) -> None:
        start, end = self.span or (seq, seq)
        self.span = (seq, end) if edge == "start" else (start, seq)
        view = self.surface
        if view is not None:
            first, last = (view.index_of(node) for node in self.span)
            if first is not None and last is not None and first > last:
                self.span = (seq, seq)

    def _nearer_edge(self, seq: NodeId) -> str:
        """The edge that a balanced boundary is offered for."""
        view = self.surface
        if view is None or self.span is None:
            return "start"
        place, first, last = (view.index_of(node) or 0 for node in (seq, *self.span))
        return "start" if abs(place - first) <= abs(place - last) else "end"

    def _take_region_of_preview(self) -> None:
        report = self.preview.report if self.preview is not None else None
        if report is not None and report.region is not None:
            self.span = (report.region.start, report.region.end)
        elif self.surface is not None and len(self.surface):
            count = len(self.surface)
            ends = (*self.surface.rows(0, 1), *self.surface.rows(count - 1, count))
            self.span = (ends[0].seq, ends[-1].seq)


def _size(nodes: int) -> str:
    """How many nodes, and that the figures beside them are not the provider's."""
    return f"{figures.counted(nodes, 'node')} · tokens as counted"


def _choice_words(choice: Any) -> str:
    """What a way out is called on its key."""
    if isinstance(choice, int | str):
        return f"boundary {figures.event_name(choice)}"
    if isinstance(choice, Sequence) and len(choice) == 2:
        return f"{figures.event_name(choice[0])} … {figures.event_name(choice[1])}"
    return str(choice)
