"""Every operation, of the user's and of the agent's own, beside each other: what it changed, what
it lost, its raw; undo and redo."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer

from inspector.audit_reports import VerificationReport
from inspector.messages import ChoiceTaken, RowActivated, RowHighlighted, TabTaken
from inspector.reports import AuditRow, OperationReport
from inspector.sanitize import line
from inspector.screens.base import READING, AskingScreen, Refusal
from inspector.widgets import figures
from inspector.widgets.audit_detail import (
    DIFF,
    LOST,
    RAW,
    audit_tabs,
    fact_sections,
    lost_sections,
)
from inspector.widgets.audit_list import AuditList, heading
from inspector.widgets.bars import Banner, TitleBar
from inspector.widgets.compacting import both_sections
from inspector.widgets.diff import diff_sections
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.line_list import Listed
from inspector.widgets.tabs import Tabs
from inspector.widgets.text_pane import Section, TextPane

CASCADE = "cascade"
OURS_ONLY = "Only an operation of yours can be undone or redone, not one of the agent's."
NOT_COMPARABLE = "Only a compaction of the agent's own can be compared with what Ullage would do."
EMPTY = (
    "No operation yet: nothing was pinned or compacted here, and the agent compacted nothing "
    "itself. In a session, c previews a compaction."
)


class AuditScreen(AskingScreen[None]):
    """Operations of one session, or of all where ``session`` is ``None``."""

    TOPIC = "the audit"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.pop_screen", "Back", tooltip="leave this page"),
        Binding("u", "undo", "Undo", tooltip="take the operation under the cursor back"),
        Binding("U", "redo", "Redo", tooltip="make the undone operation stand again"),
        Binding("X", "cascade", "Undo with all", False, tooltip="and all that build on it"),
        Binding("v", "pane", "View", tooltip="lost, diff, raw; beside what Ullage would keep"),
        Binding("c", "compare", "Compare", tooltip="what Ullage would have kept there; edit it"),
        *(Binding(str(digit), f"choose({digit})", show=False) for digit in range(1, 10)),
    ]

    def __init__(self, session: str | None) -> None:
        super().__init__()
        self.session = session
        self.tab = LOST
        self._pending: Timer | None = None
        self._chain: tuple[str, str] = ("", "muted")
        self._findings = ""
        self._shown: AuditRow | None = None
        self._known = False
        """The rows have come."""

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield Banner(id="banner")
        yield TitleBar(id="heading")
        yield AuditList(id="operations")
        yield Tabs(id="tabs")
        yield TextPane(id="diff")
        yield KeyBar()

    def on_mount(self) -> None:
        operations = self.query_one(AuditList)
        operations.zone = self.ullage.zone
        operations.of_all = self.session is None
        operations.say(READING)
        operations.focus()
        self._show_tabs()
        self._show_title()
        self.store_grew()

    def on_resize(self, event: events.Resize) -> None:
        names = heading(event.size.width - 2, self.session is None)
        self.query_one("#heading", TitleBar).show([(names, "faint")], [])

    def on_screen_resume(self) -> None:
        self.store_grew()

    def store_grew(self) -> None:
        operations = self.query_one(AuditList)
        self.ask(
            "audit",
            lambda: self.inquiry.audit(self.session),
            self._take,
            lambda refusal: self.refuse(operations, refusal),
        )
        self.ask("chain", lambda: self.inquiry.verify(self.session), self._take_verdict)

    def _take(self, rows: list[AuditRow]) -> None:
        operations = self.query_one(AuditList)
        operations.say(EMPTY)
        self._known = True
        first, here = not len(operations.source), operations.row
        cursor = len(rows) - 1 if first else None
        if here is not None and not operations.following:
            # Two sessions have operations of one name: the cursor stays in its own.
            name = (here.session, here.operation)
            known = (at for at, row in enumerate(rows) if (row.session, row.operation) == name)
            cursor = next(known, cursor)
        operations.show(Listed(rows), cursor)
        self._show_title()
        self._look_closer()

    def _take_verdict(self, verdict: VerificationReport) -> None:
        count = len(verdict.findings)
        words = "chain intact" if verdict.intact else f"chain broken: {count:,} found"
        self._chain = (words, "calm" if verdict.intact else "hot")
        self._findings = " ".join(finding.message for finding in verdict.findings)
        self._show_findings()
        self._show_title()

    def _show_findings(self) -> None:
        """What is wrong with the records stays in sight while nothing else is said."""
        self.query_one(Banner).show(self._findings)

    def _show_title(self) -> None:
        rows = self.query_one(AuditList).source
        standing = sum(row.state == "standing" for row in rows.rows(0, len(rows)))
        words, tone = self._chain
        left = [(" ullage", "accent"), ("  audit", "strong")]
        if self.session is not None:
            left.append((f"  {line(self.session, 40)}", "muted"))
        figure = f"{figures.counted(len(rows), 'operation')}, {standing:,} standing"
        if not self._known:
            figure = ""
        elif words:
            figure += " · "
        self.query_one("#title", TitleBar).show(left, [(figure, "muted"), (f"{words} ", tone)])

    # The operation under the cursor

    @on(RowHighlighted, "#operations")
    def _look_closer(self) -> None:
        self._show_findings()
        if self._pending is not None:
            self._pending.stop()
        self._pending = self.set_timer(self.ullage.rest, self._show_row)

    def _show_row(self) -> None:
        """What is wanted of the row: facts first, then the view that was chosen."""
        row, pane = self.query_one(AuditList).row, self.query_one(TextPane)
        self._show_tabs()
        session = self._session_of(row)
        if row is None or session is None:
            pane.show([])
            return
        facts = fact_sections(row, self.ullage.zone)
        if self.tab == LOST:
            pane.show([*facts, *lost_sections(row)])
            return
        if row != self._shown:
            pane.show([*facts, Section("reading …", "muted")])
        work = self._work(session, row)
        self.ask(
            "detail",
            work,
            lambda sections: self._show(row, [*facts, *sections]),
            lambda refusal: self._show(row, [*facts, Section(str(refusal), "warm")]),
        )

    def _show(self, row: AuditRow, sections: list[Section]) -> None:
        self._shown = row
        self.query_one(TextPane).show(sections)

    def _work(self, session: str, row: AuditRow) -> Callable[[], list[Section]]:
        """What the chosen view of a row asks for."""
        number, inquiry = row.compaction, self.inquiry
        if self.tab == DIFF:
            return lambda: diff_sections(inquiry.audit_diff(session, row.operation))
        if self.tab == RAW or number is None:
            return lambda: [Section(inquiry.audit_raw(session, row.operation), title="raw")]

        def compare() -> list[Section]:
            report = inquiry.compare(session, number)
            return both_sections(report, report)

        return compare

    def _show_tabs(self) -> None:
        row = self.query_one(AuditList).row
        tabs = audit_tabs(row, comparable=row is not None and row.compaction is not None)
        if self.tab not in [name for name, _ in tabs]:
            self.tab = LOST
        note = "c edits Ullage's" if len(tabs) > len((LOST, DIFF, RAW)) else ""
        self.query_one(Tabs).show(tabs, self.tab, note)

    def _session_of(self, row: AuditRow | None) -> str | None:
        return self.session or (row.session if row is not None else None)

    def action_pane(self) -> None:
        self._turn_to(self.query_one(Tabs).after(self.tab))

    @on(TabTaken)
    def _take_tab(self, message: TabTaken) -> None:
        self._turn_to(message.tab)

    def _turn_to(self, tab: str) -> None:
        self.tab, self._shown = tab, None
        self._show_row()

    @on(RowActivated, "#operations")
    def _open(self) -> None:
        """The session as it stood at this operation."""
        row = self.query_one(AuditList).row
        session = self._session_of(row)
        if row is not None and session is not None:
            seq = row.operation if row.origin == "agent" else None
            self.ullage.open_session(session, seq)

    def action_compare(self) -> None:
        row = self.query_one(AuditList).row
        session = self._session_of(row)
        if row is None or session is None or row.compaction is None:
            self.tell(NOT_COMPARABLE, "warning")
        else:
            self.ullage.open_comparison(session, row.compaction)

    # Undo and redo

    def action_undo(self) -> None:
        self._undo(cascade=False)

    def action_cascade(self) -> None:
        self._undo(cascade=True)

    def action_redo(self) -> None:
        row, session = self._own_row()
        if row is not None and session is not None:
            self.ask(
                "undo",
                lambda: self.inquiry.redo(session, row.operation),
                lambda report: self._done("Redone", report),
                self._refuse,
            )

    def action_choose(self, number: int) -> None:
        self.query_one(Banner).take(number)

    @on(ChoiceTaken)
    def _take_choice(self) -> None:
        self._undo(cascade=True)

    def _undo(self, *, cascade: bool) -> None:
        row, session = self._own_row()
        if row is not None and session is not None:
            self.ask(
                "undo",
                lambda: self.inquiry.undo(session, row.operation, cascade=cascade),
                lambda report: self._done("Undone", report),
                self._refuse,
            )

    def _own_row(self) -> tuple[AuditRow | None, str | None]:
        """The row under the cursor, where something can be done about it."""
        row = self.query_one(AuditList).row
        if row is not None and row.origin == "agent":
            self.tell(OURS_ONLY, "warning")
            return None, None
        return row, self._session_of(row)

    def _refuse(self, refusal: Refusal) -> None:
        row = self.query_one(AuditList).row
        later = [choice for choice in refusal.choices if row is None or choice != row.operation]
        ways = [("undo those too", CASCADE)] if later else []
        self.query_one(Banner).show(str(refusal), ways)

    def _done(self, done: str, report: OperationReport) -> None:
        taken = ", ".join(figures.event_name(target) for target in report.targets)
        what = f"{done} {taken}" if taken else done
        self.tell(f"{what}, as {figures.event_name(report.operation)} in the audit.")
        self.store_grew()
