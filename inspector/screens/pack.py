"""A retrieval pack: asked for, looked at, changed by hand, then committed to the plan or saved."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from inspector.messages import ChoiceTaken, RowActivated
from inspector.pack_reports import PackLineReport, PackReport
from inspector.reports import OperationReport
from inspector.sanitize import clean
from inspector.screens.edits import BudgetWordsError, budget_of
from inspector.screens.pack_wish import SCOPES, PackWish, Scope
from inspector.screens.packing import COMMIT, NOT_YET, OVERFLOW, AskedPackScreen
from inspector.widgets import figures
from inspector.widgets.bars import NOTE, Banner

DEFAULT_BUDGET = 4_000
"""What ``+`` and ``-`` start from while there is no pack."""


class PackScreen(AskedPackScreen):
    """Of the session, its project or the whole store. Dismisses with whether it was committed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", tooltip="back, nothing is written"),
        Binding("y", "commit", "Commit", tooltip="shows the figures; again: append it to the plan"),
        Binding("slash", "words", "Query", tooltip="what is asked for"),
        Binding("space", "in_or_out", "In or out", tooltip="the line under the cursor"),
        Binding("s", "strategy", "Strategy", tooltip="how much of the line stands in the pack"),
        Binding("b", "budget", "Budget", tooltip="tokens of the whole pack"),
        Binding("plus", "budget_step(1)", "Larger pack", False, "+", tooltip="a step more"),
        Binding("minus", "budget_step(-1)", "Smaller pack", False, "-", tooltip="a step less"),
        Binding("z", "compression", "Compress", tooltip="by class, or all of it verbatim"),
        Binding("p", "scope", "Scope", tooltip="this session, its project, or all sessions"),
        Binding("v", "pane", "View", tooltip="the pack, or the line under the cursor"),
        Binding("w", "save", "Save", tooltip="as Markdown and JSON"),
        Binding("c", "copy", "Copy", False, tooltip="the pack, where the terminal lets"),
        Binding("r", "reset", "Undo changes by hand", False, tooltip="lines as they are ranked"),
        Binding("u", "undo", "Undo the newest operation", False, tooltip="restore what it changed"),
        Binding("U", "redo", "Redo the newest undone operation", False, tooltip="it stands again"),
        *(Binding(str(digit), f"choose({digit})", show=False) for digit in range(1, 10)),
    ]

    # Wishes

    def action_words(self) -> None:
        self.query_one("#query").focus()

    @on(Input.Changed, "#query")
    def _typed(self, message: Input.Changed) -> None:
        self.change(self.wish.with_query(message.value.strip()))

    @on(Input.Submitted, "#query")
    def _to_lines(self) -> None:
        self.lines.focus()

    def on_key(self, event: events.Key) -> None:
        """While one types, the arrows still move the list."""
        moves = {"up": -1, "down": 1}
        if self.query_one("#query").has_focus and event.key in moves:
            self.lines.action_move(moves[event.key])
            event.stop()

    def _change_line(self, changed: Callable[[PackLineReport], PackWish]) -> None:
        row = self.lines.row
        if row is None:
            return
        if row.locked:
            self.tell("It is pinned: it stands in every pack, whole, until it is unpinned.")
            return
        self.change(changed(row))

    def action_in_or_out(self) -> None:
        self._change_line(self.wish.with_toggled)

    def action_strategy(self) -> None:
        self._change_line(self.wish.with_strategy_after)

    def action_reset(self) -> None:
        self.change(self.wish.without_hand())

    def action_compression(self) -> None:
        report = self.report
        on_now = report.compression if report is not None else True
        now = self.wish.compression if self.wish.compression is not None else on_now
        self.change(replace(self.wish, compression=not now))

    def action_scope(self) -> None:
        scopes: tuple[Scope, ...] = SCOPES if self.session is not None else ("store",)
        self.change(self.wish.with_scope_after(scopes))

    def action_budget(self) -> None:
        self._open_box("#budget", "" if self.wish.budget is None else str(self.wish.budget))

    @on(Input.Changed, "#budget")
    def _budget_typed(self, message: Input.Changed) -> None:
        if not self.query_one("#budget").display:
            return
        try:
            budget = budget_of(message.value)
        except BudgetWordsError as error:
            self.query_one(Banner).show(str(error), sign=NOTE)
            return
        self.change(replace(self.wish, budget=budget))

    @on(Input.Submitted, "#budget")
    def _close_boxes(self) -> None:
        for name in ("#budget", "#file"):
            self.query_one(name).display = False
        self.lines.focus()
        self.show_words()

    def action_budget_step(self, by: int) -> None:
        now = self.wish.budget or (
            self.report.budget if self.report is not None else DEFAULT_BUDGET
        )
        self.change(self.wish.with_budget_step(by, now))

    def action_pane(self) -> None:
        self.of_line = not self.of_line
        self._show_pane()

    def _open_box(self, name: str, value: str) -> None:
        box = self.query_one(name, Input)
        box.value = value
        box.display = True
        box.focus()

    # Ways on

    def action_leave(self) -> None:
        if self.query_one("#budget").display or self.query_one("#file").display:
            self._close_boxes()
        elif self.confirming:
            self.confirming = False
            self.show_words()
        else:
            self.dismiss(False)

    def action_commit(self) -> None:
        """First the figures, then, when asked again, the deed."""
        handle, session = self.handle, self.session
        if session is None:
            self.tell("A pack is committed to a session: open it from the one that it is for.")
        elif handle is None or self.stale:
            self.tell("There is no pack to commit yet.", "warning")
        elif not any(row.packed for row in handle.report.lines):
            self.tell("The pack is empty: no line of it is in.", "warning")
        elif not self.confirming:
            self.confirming = True
            self.show_words()
        else:
            self.ask("commit", lambda: self.inquiry.commit_pack(handle, session), self._committed)

    def _committed(self, report: PackReport) -> None:
        done = figures.event_name(report.operation)
        self.tell(f"Committed {done}: a pack of {report.tokens:,} tokens stands in the plan.")
        self.dismiss(True)

    @on(ChoiceTaken)
    def _take_choice(self, message: ChoiceTaken) -> None:
        if message.choice == COMMIT:
            self.action_commit()
        elif message.choice == NOT_YET:
            self.action_leave()
        elif message.choice == OVERFLOW:
            self.change(replace(self.wish, allow_overflow=True))

    def action_choose(self, number: int) -> None:
        self.query_one(Banner).take(number)

    def action_save(self) -> None:
        if self.handle is None or self.stale:
            self.tell("There is no pack to save yet.", "warning")
            return
        words = re.sub(r"[^A-Za-z0-9_-]+", "_", self.wish.query).strip("_")[:24]
        self.query_one(Banner).show(
            "Write the pack to new files of this name, as Markdown and as JSON. Esc leaves it.",
            sign=NOTE,
        )
        self._open_box("#file", f"pack-{words or 'newest'}.md")

    @on(Input.Submitted, "#file")
    def _save(self, message: Input.Submitted) -> None:
        handle, path = self.handle, Path(message.value.strip()).expanduser()
        if handle is None:
            return
        self.ask(
            "save",
            lambda: self.inquiry.save_pack(handle, path),
            self._saved,
            lambda refusal: self.query_one(Banner).show(str(refusal)),
        )

    def _saved(self, report: PackReport) -> None:
        self._close_boxes()
        self.tell(f"Written: {', '.join(report.files)}.")

    def action_copy(self) -> None:
        if self.report is not None:
            self.app.copy_to_clipboard(clean(self.report.text, "\n"))
            self.tell("The pack is in the clipboard.")

    @on(RowActivated, "#lines")
    def _open(self) -> None:
        """To the event that the line comes from."""
        row = self.lines.row
        if row is not None and row.session and row.source_event_seqs:
            self.ullage.open_session(row.session, row.source_event_seqs[0])

    def action_undo(self) -> None:
        self._operate(self.inquiry.undo, "Undone")

    def action_redo(self) -> None:
        self._operate(self.inquiry.redo, "Redone")

    def _operate(self, work: Callable[[str], OperationReport], done: str) -> None:
        session = self.session
        if session is None:
            self.tell("Operations belong to a session: open the pack from one.")
            return

        def then(report: OperationReport) -> None:
            self.tell(f"{done}, as {figures.event_name(report.operation)} in the audit.")
            self._ask()

        self.ask("operation", lambda: work(session), then)
