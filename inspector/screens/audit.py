"""Every operation, of the user's and of the agent's own, with its diff; undo and redo."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer

from inspector.messages import ChoiceTaken, RowHighlighted
from inspector.reports import AuditRow, OperationReport
from inspector.screens.base import AskingScreen, Refusal
from inspector.widgets import figures
from inspector.widgets.audit_list import AuditList
from inspector.widgets.bars import Banner, TitleBar
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.line_list import Listed
from inspector.widgets.loss import audit_sections
from inspector.widgets.text_pane import TextPane

CASCADE = "cascade"
REDO_HINT = "Only an operation of yours can be undone or redone, not one of the agent's."


class AuditScreen(AskingScreen[None]):
    """Operations of one session, or of all where ``session`` is ``None``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.pop_screen", "Back", tooltip="leave this page"),
        Binding("u", "undo", "Undo", tooltip="take the operation under the cursor back"),
        Binding("U", "redo", "Redo", tooltip="make the undone operation stand again"),
        *(Binding(str(digit), f"choose({digit})", show=False) for digit in range(1, 10)),
    ]

    def __init__(self, session: str | None) -> None:
        super().__init__()
        self.session = session
        self._pending: Timer | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield Banner(id="banner")
        yield AuditList(id="operations")
        yield TextPane(id="diff")
        yield KeyBar()

    def on_mount(self) -> None:
        operations = self.query_one(AuditList)
        operations.zone = self.ullage.zone
        operations.border_title = "operations"
        operations.border_subtitle = "tokens as counted"
        self.query_one("#diff").border_title = "lost, and the diff"
        operations.focus()
        self.store_grew()

    def store_grew(self) -> None:
        self.ask("audit", lambda: self.inquiry.audit(self.session), self._take)

    def _take(self, rows: list[AuditRow]) -> None:
        operations = self.query_one(AuditList)
        first = not len(operations.source)
        operations.show(Listed(rows), len(rows) - 1 if first else None)
        standing = sum(row.state == "standing" for row in rows)
        self.query_one("#title", TitleBar).show(
            [(" ullage", "accent"), ("  audit", "strong")],
            [(f"{figures.counted(len(rows), 'operation')}, {standing:,} standing ", "muted")],
        )
        self._look_closer()

    @on(RowHighlighted, "#operations")
    def _look_closer(self) -> None:
        self.query_one(Banner).show("")
        if self._pending is not None:
            self._pending.stop()
        self._pending = self.set_timer(self.ullage.rest, self._ask_diff)

    def _ask_diff(self) -> None:
        row, session = self.query_one(AuditList).row, self.session
        pane = self.query_one(TextPane)
        if row is None:
            pane.show([])
        elif session is None:
            pane.show(audit_sections(row, "Open a session to see the diff."))
        else:
            self.ask(
                "diff",
                lambda: audit_sections(row, self.inquiry.audit_diff(session, row.operation)),
                pane.show,
            )

    def action_undo(self) -> None:
        self._undo(cascade=False)

    def action_redo(self) -> None:
        row, session = self._own_row()
        if row is not None and session is not None:
            self.ask("undo", lambda: self.inquiry.redo(session, row.operation), self._redone)

    def action_choose(self, number: int) -> None:
        self.query_one(Banner).take(number)

    @on(ChoiceTaken)
    def _cascade(self) -> None:
        self._undo(cascade=True)

    def _undo(self, *, cascade: bool) -> None:
        row, session = self._own_row()
        if row is None or session is None:
            return
        self.ask(
            "undo",
            lambda: self.inquiry.undo(session, row.operation, cascade=cascade),
            self._undone,
            self._refuse,
        )

    def _own_row(self) -> tuple[AuditRow | None, str | None]:
        """The row under the cursor, where something can be done about it."""
        row = self.query_one(AuditList).row
        if row is not None and row.origin == "agent":
            self.tell(REDO_HINT, "warning")
            return None, None
        return row, self.session

    def _refuse(self, refusal: Refusal) -> None:
        ways = [("undo those too", CASCADE)] if refusal.choices else []
        self.query_one(Banner).show(str(refusal), ways)

    def _undone(self, report: OperationReport) -> None:
        self.tell(f"Undone, as {figures.event_name(report.operation)} in the audit.")
        self.store_grew()

    def _redone(self, report: OperationReport) -> None:
        self.tell(f"Redone, as {figures.event_name(report.operation)} in the audit.")
        self.store_grew()
