"""A compaction before it is made: edited in place, recomputed with each change, then committed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from compress.events import NodeId
from inspector.messages import ChoiceTaken, RegionDragged, RowActivated, TabTaken
from inspector.reports import CompactionReport, OperationReport
from inspector.screens.edits import (
    BudgetWordsError,
    Edge,
    budget_of,
    moved_edge,
    nearer_edge,
    next_unit,
)
from inspector.screens.recomputed import COMMIT, NOT_YET, REGION, RecomputedScreen, ends_at
from inspector.widgets import figures
from inspector.widgets.bars import Banner

DEFAULT_BUDGET = 8_192
"""What ``+`` and ``-`` start from."""
PAST = "Only the present can be changed; this is the past."


class CompactionScreen(RecomputedScreen):
    """Preview, edit, commit or leave. Dismisses with whether something was committed."""

    TOPIC = "a compaction"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", tooltip="back, nothing is written"),
        Binding("y", "commit", "Commit", tooltip="shows the figures; again: append it to the plan"),
        Binding("m", "mode", "Mode", tooltip="a region, by policy, or old tool results only"),
        Binding("s", "edge('start')", "Start", tooltip="the region starts here"),
        Binding("e", "edge('end')", "End", tooltip="the region ends here"),
        Binding("left", "nudge(-1)", "Edge up", False, tooltip="the nearer edge, a unit up"),
        Binding("right", "nudge(1)", "Edge down", False, tooltip="the nearer edge, a unit down"),
        Binding("p", "keep", "Keep", tooltip="keep these nodes in this one compaction"),
        Binding("P", "pin", "Pin or unpin for good", False, tooltip="in the plan, at once"),
        Binding("b", "budget", "Budget", tooltip="type the summary's tokens"),
        Binding("plus", "budget_step(1)", "Larger summary", False, "+", tooltip="a step more"),
        Binding("minus", "budget_step(-1)", "Smaller summary", False, "-", tooltip="a step less"),
        Binding("v", "pane", "View", tooltip="summary, changes, lost; beside the agent's own"),
        Binding("u", "undo", "Undo the newest operation", False, tooltip="restore what it changed"),
        Binding("U", "redo", "Redo the newest undone operation", False, tooltip="it stands again"),
        *(Binding(str(digit), f"choose({digit})", show=False) for digit in range(1, 10)),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A policy has no say in what the agent did once."""
        return action != "mode" or self.place.number is None

    def action_edge(self, edge: Edge) -> None:
        """The selected range becomes the region; without one, an edge moves to the cursor."""
        before = self.sides.before
        chosen, before.pivot = before.selection, None
        self.wish_rows(*(chosen or moved_edge(before.marked, edge, before.cursor)))

    def action_nudge(self, by: int) -> None:
        """The edge that is nearer to the cursor moves by a unit, and the cursor with it."""
        before, view = self.sides.before, self.surface
        if view is None or before.marked is None:
            return
        first, last = before.marked
        edge = nearer_edge(before.marked, before.cursor)
        row = next_unit(view, first if edge == "start" else last, edge, by)
        row = min(row, last) if edge == "start" else max(row, first)
        self.wish_rows(*moved_edge(before.marked, edge, row))
        before.cursor = row

    @on(RegionDragged)
    def _dragged(self, message: RegionDragged) -> None:
        self.wish_rows(message.first, message.last)

    def action_mode(self) -> None:
        edits = self.edits.with_mode_after()
        if edits.mode == "region":
            self._to_region()
        else:
            self.wish(edits)

    def _to_region(self) -> None:
        """The region as it was, else that of the last preview, else the whole surface."""
        view = self.surface
        if self.edits.span is not None:
            self.wish(replace(self.edits, mode="region"))
        elif view is not None:
            self.wish_rows(*(self.region_rows() or (0, max(len(view) - 1, 0))))

    def action_keep(self) -> None:
        nodes = self.sides.chosen()
        if nodes:
            self.wish(self.edits.with_kept(nodes))

    def action_budget(self) -> None:
        box = self.query_one("#budget", Input)
        box.value = "" if self.edits.budget is None else str(self.edits.budget)
        box.display = True
        box.focus()

    @on(Input.Changed, "#budget")
    def _budget_typed(self, message: Input.Changed) -> None:
        if not self.query_one("#budget").display:
            return
        try:
            budget = budget_of(message.value)
        except BudgetWordsError as error:
            self.note = str(error)
            self.show_words()
            return
        if budget != self.edits.budget:
            self.wish(replace(self.edits, budget=budget))

    @on(Input.Submitted, "#budget")
    def _close_budget(self) -> None:
        self.query_one("#budget").display = False
        self.sides.before.focus()

    def action_budget_step(self, by: int) -> None:
        edits = self.edits.with_budget_step(by, DEFAULT_BUDGET)
        if edits != self.edits:
            self.wish(edits)

    # Ways on

    def action_leave(self) -> None:
        before = self.sides.before
        if self.query_one("#budget").display:
            self._close_budget()
        elif self.confirming:
            self.confirming = False
            self.show_words()
        elif before.pivot is not None:
            before.pivot = None
        else:
            self.dismiss(False)

    def action_commit(self) -> None:
        """First the figures, then, when asked again, the deed."""
        found = self.answer
        if self.place.past:
            self.tell(PAST, "warning")
        elif found is None and not self.stale:
            self.tell("There is no preview to commit.", "warning")
        elif found is None or self.stale:
            self.tell("The preview is not ready yet.", "warning")
        elif not self.confirming:
            self.confirming = True
            self.show_words()
        else:
            self.ask("commit", lambda: self.inquiry.commit(found.preview), self._committed)

    def _committed(self, report: CompactionReport) -> None:
        before, after = figures.tokens(report.tokens_before), figures.tokens(report.tokens_after)
        self.tell(f"Committed {figures.event_name(report.operation)}: {before} → {after} tokens.")
        self.dismiss(True)

    def action_choose(self, number: int) -> None:
        self.query_one(Banner).take(number)

    @on(ChoiceTaken)
    def _take_choice(self, message: ChoiceTaken) -> None:
        choice: Any = message.choice
        if choice == COMMIT:
            self.action_commit()
        elif choice == NOT_YET:
            self.action_leave()
        elif choice == REGION:
            self._to_region()
        elif isinstance(choice, int | str):
            self._to_boundary(choice)
        elif isinstance(choice, Sequence) and len(choice) == 2:
            self.wish(self.edits.with_region((choice[0], choice[1])))

    def _to_boundary(self, node: NodeId) -> None:
        """The edge that a balanced boundary is offered for moves there."""
        view = self.surface
        row = view.index_of(node) if view is not None else None
        if view is not None and row is not None:
            rows = self.sides.before.marked or (row, row)
            ends = ends_at(view, *moved_edge(rows, nearer_edge(rows, row), row))
            self.wish(self.edits.with_region(ends))

    def action_pane(self) -> None:
        self.outcome.turn_to()
        self.ask_changes()

    @on(TabTaken)
    def _take_tab(self, message: TabTaken) -> None:
        self.outcome.turn_to(message.tab)
        self.ask_changes()

    @on(RowActivated, "#losses")
    def _find_lost(self) -> None:
        """To the node that something lost stands in."""
        thing, found = self.outcome.losses.row, self.answer
        region = found.report.region if found is not None else None
        if thing is None or not thing.told or found is None or region is None:
            return
        session, at = self.place.session, found.report.at_seq if self.place.past else None
        self.ask(
            "where",
            lambda: self.inquiry.whereabouts(
                session, thing.text, start=region.start, end=region.end, at=at
            ),
            self._go_to,
        )

    def _go_to(self, node: NodeId) -> None:
        row = self.surface.index_of(node) if self.surface is not None else None
        if row is None:
            self.tell(f"{figures.event_name(node)} does not stand on this surface.", "warning")
            return
        self.sides.before.cursor = row
        self.sides.before.focus()

    # Operations of the plan

    def action_pin(self) -> None:
        row = self.sides.before.row
        pinned = row is not None and row.node is not None and row.node.pinned
        nodes, session = self.sides.chosen(), self.place.session
        change = self.inquiry.unpin if pinned else self.inquiry.pin
        if nodes:
            what = figures.event_name(nodes[0]) if len(nodes) == 1 else f"{len(nodes):,} nodes"
            done = f"{'Unpinned' if pinned else 'Pinned'} {what}"
            self._operate(lambda: change(session, nodes), done)

    def action_undo(self) -> None:
        self._operate(lambda: self.inquiry.undo(self.place.session), "Undone")

    def action_redo(self) -> None:
        self._operate(lambda: self.inquiry.redo(self.place.session), "Redone")

    def _operate(self, work: Callable[[], OperationReport], done: str) -> None:
        if self.place.past:
            self.tell(PAST, "warning")
            return

        def then(report: OperationReport) -> None:
            self.tell(f"{done}, as {figures.event_name(report.operation)} in the audit.")
            self.wish(self.edits)
            self.look()

        self.ask("operation", work, then)
