"""The keys that a pack and a rebuilt context have in common: query, budget, compression; commit,
save, copy; undo and redo."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from inspector.export_files import named_path
from inspector.messages import ChoiceTaken
from inspector.pack_reports import PackReport
from inspector.reports import OperationReport
from inspector.sanitize import clean
from inspector.screens.edits import BudgetWordsError, budget_of
from inspector.screens.packing import COMMIT, NOT_YET, OVERFLOW, AskedContextScreen, H
from inspector.widgets import figures
from inspector.widgets.bars import NOTE, Banner

DEFAULT_BUDGET = 4_000
"""What ``+`` and ``-`` start from while there is no answer."""

REST: list[BindingType] = [
    Binding("z", "compression", "Compress", tooltip="by class, or all of it verbatim"),
    Binding("v", "pane", "View", tooltip="the whole text, or the line under the cursor"),
    Binding("w", "save", "Save", tooltip="as Markdown and JSON"),
    Binding("plus", "budget_step(1)", "Larger", False, "+", tooltip="a step more"),
    Binding("minus", "budget_step(-1)", "Smaller", False, "-", tooltip="a step less"),
    Binding("c", "copy", "Copy", False, tooltip="the text, where the terminal lets"),
    Binding("u", "undo", "Undo the newest operation", False, tooltip="restore what it changed"),
    Binding("U", "redo", "Redo the newest undone operation", False, tooltip="it stands again"),
    *(Binding(str(digit), f"choose({digit})", show=False) for digit in range(1, 10)),
]
"""Common keys that stand in the footer behind a subclass's own."""


class ContextScreen(AskedContextScreen[H]):
    """Dismisses with whether it was committed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", tooltip="back, nothing is written"),
        Binding("y", "commit", "Commit", tooltip="shows the figures; again: append it to the plan"),
        Binding("slash", "words", "Query", tooltip="what is asked for"),
        Binding("b", "budget", "Budget", tooltip="tokens of the whole text"),
    ]

    # What a subclass says

    def committed(self, handle: H, session: str) -> PackReport:
        """Commit an answer; called in a thread."""
        raise NotImplementedError

    def saved(self, handle: H, path: Path) -> PackReport:
        """Write its files; called in a thread."""
        raise NotImplementedError

    def holds_nothing(self, report: PackReport) -> bool:
        """Whether there is nothing in it to commit."""
        return not report.text

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

    def action_compression(self) -> None:
        report = self.report
        on_now = report.compression if report is not None else True
        now = self.wish.compression if self.wish.compression is not None else on_now
        self.change(replace(self.wish, compression=not now))

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
        report = self.report
        now = self.wish.budget or (report.budget if report is not None else DEFAULT_BUDGET)
        self.change(self.wish.with_budget_step(by, now))

    def action_pane(self) -> None:
        self.of_line = not self.of_line
        self.show_pane()

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
            self.tell(f"A {self.NAME} is committed to a session: open it from one.")
        elif handle is None or self.stale:
            self.tell(f"There is no {self.NAME} to commit yet.", "warning")
        elif self.holds_nothing(handle.report):
            self.tell(f"The {self.NAME} is empty: no line of it is in.", "warning")
        elif not self.confirming:
            self.confirming = True
            self.show_words()
        else:
            self.ask("commit", lambda: self.committed(handle, session), self._committed)

    def _committed(self, report: PackReport) -> None:
        done = figures.event_name(report.operation)
        self.tell(f"Committed {done}: {report.tokens:,} tokens more stand in the plan.")
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
            self.tell(f"There is no {self.NAME} to save yet.", "warning")
            return
        words = re.sub(r"[^A-Za-z0-9_-]+", "_", self.wish.query)[:24].strip("_-")
        self.query_one(Banner).show(
            "Write it to new files of this name, as Markdown and as JSON. Esc leaves it.",
            sign=NOTE,
        )
        self._open_box("#file", f"{self.NAME}-{words or 'newest'}.md")

    @on(Input.Submitted, "#file")
    def _save(self, message: Input.Submitted) -> None:
        handle, path = self.handle, named_path(message.value.strip())
        if handle is None:
            return
        self.ask(
            "save",
            lambda: self.saved(handle, path),
            self._saved,
            lambda refusal: self.query_one(Banner).show(str(refusal)),
        )

    def _saved(self, report: PackReport) -> None:
        self._close_boxes()
        self.tell(f"Written: {', '.join(report.files)}.")

    def action_copy(self) -> None:
        if self.report is not None:
            self.app.copy_to_clipboard(clean(self.report.text, "\n"))
            self.tell("It is in the clipboard.")

    def action_undo(self) -> None:
        self._operate(self.inquiry.undo, "Undone")

    def action_redo(self) -> None:
        self._operate(self.inquiry.redo, "Redone")

    def _operate(self, work: Callable[[str], OperationReport], done: str) -> None:
        session = self.session
        if session is None:
            self.tell("Operations belong to a session: open it from one.")
            return

        def then(report: OperationReport) -> None:
            self.tell(f"{done}, as {figures.event_name(report.operation)} in the audit.")
            self._ask()

        self.ask("operation", lambda: work(session), then)
