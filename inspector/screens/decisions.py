"""Decision points: a timeline, a table, and the record under the cursor, whose every line leads to
the events that say so; filters, and export."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widgets import Input

from inspector.decision_choice import EVERYTHING, Wanted, is_wanted
from inspector.decision_reports import DecisionRow, DecisionsReport, ExportReport
from inspector.export_files import named_path
from inspector.messages import RowActivated, RowHighlighted
from inspector.sanitize import line
from inspector.screens.base import READING, AskingScreen, Refusal
from inspector.widgets import figures
from inspector.widgets.bars import NOTE, Banner, TitleBar
from inspector.widgets.decision_detail import DecisionDetail
from inspector.widgets.decision_list import DecisionList, heading
from inspector.widgets.entry import Entry
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.line_list import Listed
from inspector.widgets.timeline import Timeline

_OUTCOMES = ("success", "failure", "retry", "aborted", "unknown")
_KINDS = ("turn", "plan_item", "plan", "approval", "compaction", "retry")
_LEVELS = ("L2", "L3")
EMPTY = "No decision point yet: a stage is one once the session has begun it."
NO_MATCH = "No decision point matches the filters; Esc takes them away."


class DecisionsScreen(AskingScreen[None]):
    """The records of one session, of its project, or of all where ``session`` is ``None``."""

    TOPIC = "the decisions"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="take the filters away, or leave this page"),
        Binding("slash", "words", "Filter", tooltip="by words that a record holds"),
        Binding("o", "outcome", "Outcome", tooltip="only those that ended in one way"),
        Binding("s", "stage", "Stage", tooltip="only stages of one kind"),
        Binding("l", "level", "Level", tooltip="the session's memory (L2), the project's (L3)"),
        Binding("p", "project", "Project", tooltip="of this session, or of its whole project"),
        Binding("m", "more", "More", False, tooltip="all of the project's memory, or the newest"),
        Binding("e", "export", "Export", tooltip="what is chosen: .jsonl, .csv, .md, .parquet"),
    ]

    def __init__(self, session: str | None) -> None:
        super().__init__()
        self.session = session
        self.scope: str | None = None
        """The project that is looked at in place of the session."""
        self.wanted = replace(EVERYTHING, whole=False, masked=False)
        self.report = DecisionsReport()
        self._newest = 0
        """The last event that any record reaches."""
        self._asked = False
        self._pending: Timer | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield Timeline(id="timeline")
        yield Entry(placeholder="words that a record holds", id="filter")
        yield TitleBar(id="heading")
        yield DecisionList(id="decisions")
        yield Banner(id="banner")
        yield Entry(done="Write", id="file")
        yield DecisionDetail(id="record")
        yield KeyBar()

    def on_mount(self) -> None:
        for box in self.query(Input):
            box.display = False
        table = self.query_one(DecisionList)
        table.zone = self.ullage.zone
        table.of_all = self.session is None
        table.focus()
        self.query_one("#record").border_title = "record"
        self._fill()
        self.store_grew()

    def on_resize(self, event: events.Resize) -> None:
        self._show_heading(event.size.width)

    def on_screen_resume(self) -> None:
        self.store_grew()

    def store_grew(self) -> None:
        session = None if self.scope is not None else self.session
        wanted = replace(EVERYTHING, project=self.scope, whole=self.wanted.whole, masked=False)
        self.ask(
            "decisions",
            lambda: self.inquiry.decisions(session, wanted),
            self._take,
            self._not_read,
        )

    def _not_read(self, refusal: Refusal) -> None:
        self.refuse(self.query_one(DecisionList), refusal)
        if not self._asked:
            self._show_title(0, "not read")

    def _take(self, report: DecisionsReport) -> None:
        self.report, first, self._asked = report, not self._asked, True
        self._newest = max((int(row.point.last_seq) for row in report.rows), default=0)
        self._fill(newest=first)

    def _fill(self, *, newest: bool = False) -> None:
        """Show what the filters leave; the cursor stays on its record where that is left."""
        table = self.query_one(DecisionList)
        rows = [row for row in self.report.rows if is_wanted(row.point, self.wanted)]
        here = None if table.row is None else (table.row.session, table.row.point.id)
        table.say(NO_MATCH if self.report.rows else EMPTY if self._asked else READING)
        cursor: int | None = len(rows) - 1 if newest else None
        if not newest and here is not None and not table.following:
            places = [at for at, row in enumerate(rows) if (row.session, row.point.id) == here]
            cursor = places[0] if places else 0
        table.show(Listed(rows), cursor)
        self._show_title(len(rows))
        self._look_closer()

    def _show_title(self, shown: int, otherwise: str = READING) -> None:
        """``otherwise`` stands for the number of records while it is not known."""
        chosen, report = self.wanted, self.report
        left = [(" ullage", "accent"), ("  decisions", "strong")]
        where = self.scope or self.session
        left.append((f"  {line(where, 60) if where else 'of all sessions'}", "muted"))
        filters: list[str] = [*chosen.outcomes, *chosen.kinds, *chosen.levels]
        if chosen.words:
            filters.append(f"“{line(chosen.words, 20)}”")
        right = [(" · ".join(filters).replace("_", " ") + "  ", "accent")] if filters else []
        count = figures.counted(len(report.rows), "record") if self._asked else otherwise
        words = f"{shown:,} of {count}" if shown != len(report.rows) else count
        if report.hidden:
            words += f", {report.hidden:,} older: m"
        self.query_one("#title", TitleBar).show(left, [*right, (words + " ", "muted")])

    def _show_heading(self, width: int) -> None:
        names = heading(width - 2, self.query_one(DecisionList).of_all)
        self.query_one("#heading", TitleBar).show([(names, "faint")], [])

    # The record under the cursor

    @on(RowHighlighted, "#decisions")
    def _look_closer(self) -> None:
        table = self.query_one(DecisionList)
        rows: Any = cast("Listed[DecisionRow]", table.source).values
        self.query_one(Timeline).show(rows, table.cursor, self._newest)
        if self._pending is not None:
            self._pending.stop()
        self._pending = self.set_timer(self.ullage.rest, self._show_record)

    def _show_record(self) -> None:
        row = self.query_one(DecisionList).row
        self.query_one(DecisionDetail).tell(None if row is None else row.point, self.ullage.zone)

    @on(RowActivated, "#timeline")
    def _jump(self, message: RowActivated) -> None:
        self.query_one(DecisionList).cursor = message.index

    @on(RowActivated, "#decisions")
    def _open(self) -> None:
        row = self.query_one(DecisionList).row
        if row is not None:
            self.ullage.open_session(row.session, row.point.first_seq)

    @on(RowActivated, "#record")
    def _follow(self) -> None:
        """To the event that a line of the record was read from."""
        row, event = self.query_one(DecisionList).row, self.query_one(DecisionDetail).event
        if row is not None and event is not None:
            self.ullage.open_session(row.session, event)

    # Filters

    def action_outcome(self) -> None:
        self._choose(outcomes=_next(_OUTCOMES, self.wanted.outcomes))

    def action_stage(self) -> None:
        self._choose(kinds=_next(_KINDS, self.wanted.kinds))

    def action_level(self) -> None:
        self._choose(levels=_next(_LEVELS, self.wanted.levels))

    def action_more(self) -> None:
        self._choose(whole=not self.wanted.whole)
        self.store_grew()

    def action_words(self) -> None:
        self._open_box("#filter", self.wanted.words)

    @on(Input.Changed, "#filter")
    def _typed(self, message: Input.Changed) -> None:
        if message.value != self.wanted.words:
            self._choose(words=message.value)

    @on(Input.Submitted, "#filter")
    def _chosen(self) -> None:
        self._close_boxes()

    def _choose(self, **changed: Any) -> None:
        self.wanted = replace(self.wanted, **changed)
        self._fill()

    def action_project(self) -> None:
        table = self.query_one(DecisionList)
        row = table.row or (self.report.rows[-1] if self.report.rows else None)
        if self.scope is not None:
            self.scope = None
        elif row is None or not row.point.project:
            self.tell("The log does not name the folder that the session ran in.", "warning")
            return
        else:
            self.scope = row.point.project
        table.of_all = self.scope is not None or self.session is None
        self._show_heading(self.size.width)
        self.store_grew()

    def action_leave(self) -> None:
        """First what is typed, then the filters, then the page."""
        if any(box.display for box in self.query(Input)):
            self._close_boxes()
        elif self.wanted != (bare := replace(EVERYTHING, whole=self.wanted.whole, masked=False)):
            self.wanted = bare
            self.query_one("#filter", Input).value = ""
            self._fill()
        else:
            self.app.pop_screen()

    # Export

    def action_export(self) -> None:
        if not len(self.query_one(DecisionList).source):
            self.tell("There is no record to export.", "warning")
            return
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", self.session or "all")[:24].strip("_-")
        self.query_one(Banner).show(
            "Write what is chosen to this new file, secrets masked; its end tells the format: "
            ".jsonl, .csv, .md or .parquet. Esc leaves it.",
            sign=NOTE,
        )
        self._open_box("#file", f"decisions-{name}.md")

    @on(Input.Submitted, "#file")
    def _write(self, message: Input.Submitted) -> None:
        path = named_path(message.value.strip())
        session = None if self.scope is not None else self.session
        wanted: Wanted = replace(self.wanted, project=self.scope, masked=True)
        self.ask(
            "export",
            lambda: self.inquiry.export_decisions(path, session, wanted),
            self._written,
            self._refused,
        )

    def _written(self, report: ExportReport) -> None:
        self._close_boxes()
        masked = f", {figures.counted(report.masked, 'secret')} masked" if report.masked else ""
        self.tell(f"{figures.counted(report.records, 'record')} in {report.path}{masked}.")

    def _refused(self, refusal: Refusal) -> None:
        self.query_one(Banner).show(str(refusal))

    def _open_box(self, name: str, value: str) -> None:
        box = self.query_one(name, Input)
        box.value = value
        box.display = True
        box.focus()

    def _close_boxes(self) -> None:
        for box in self.query(Input):
            box.display = False
        self.query_one(Banner).show("")
        self.query_one(DecisionList).focus()


def _next(choices: tuple[str, ...], chosen: Any) -> tuple[str, ...]:
    """One after the other, then all."""
    if not chosen:
        return (choices[0],)
    place = choices.index(chosen[0]) + 1
    return (choices[place],) if place < len(choices) else ()
