"""Sessions of all agents, newest first, live."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from inspector.locations import Place
from inspector.messages import RowActivated, RowHighlighted
from inspector.reports import SessionRow
from inspector.sanitize import clean
from inspector.screens.base import READING, AskingScreen
from inspector.widgets import figures
from inspector.widgets.bars import NoteLine, TitleBar
from inspector.widgets.entry import Entry
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.line_list import Listed
from inspector.widgets.session_list import SessionList, heading
from inspector.widgets.text_pane import TextPane
from inspector.widgets.welcome import welcome_sections

NO_MATCH = "No session matches; Esc shows all again."


class SessionsScreen(AskingScreen[None]):
    """The list that everything starts from."""

    TOPIC = "the sessions"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", tooltip="by title, project, agent or model"),
        Binding("f", "app.search", "Find", tooltip="search the text of all sessions"),
        Binding("a", "audit", "Audit", tooltip="operations of all sessions"),
        Binding("d", "decisions", "Decisions", tooltip="of all sessions, by project"),
        Binding("b", "pack", "Pack", False, tooltip="of all sessions: asked for, under a budget"),
        Binding("q", "app.quit", "Quit", tooltip="leave; nothing is lost"),
        Binding("escape", "clear", "Clear filter", tooltip="show all sessions again"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[SessionRow] = []
        self._places: Sequence[Place] | None = None
        """Where logs were looked for; asked for only while there is no session."""
        self._told: tuple[Sequence[Place] | None, tuple[int, int], int] | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield Entry(
            done="Open", placeholder="type to filter by title, project, agent, model", id="filter"
        )
        yield TitleBar(id="heading")
        yield SessionList(id="sessions")
        yield TextPane(id="welcome")
        yield NoteLine(id="note")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#filter").display = False
        self.query_one("#welcome").display = False
        sessions = self.query_one(SessionList)
        sessions.say(READING)
        sessions.focus()
        self.store_grew()
        if not self.app.console.encoding.startswith("utf"):
            self.tell("This terminal does not claim UTF-8; set LANG to a UTF-8 locale.", "warning")
        self.set_interval(30, self._grow_older)

    def on_resize(self, event: events.Resize) -> None:
        self._show_heading(event.size.width)
        if not self._rows:
            self.call_after_refresh(self._show_welcome)

    def on_screen_resume(self) -> None:
        self.store_grew()

    def store_grew(self) -> None:
        sessions = self.query_one(SessionList)
        self.ask(
            "sessions",
            self.inquiry.sessions,
            self._take,
            lambda refusal: self.refuse(sessions, refusal),
        )

    def _take(self, rows: list[SessionRow]) -> None:
        if bool(rows) != bool(self._rows):
            self.call_after_refresh(self.refresh_bindings)
        self._rows = rows
        self.query_one(SessionList).say(NO_MATCH)
        self._welcome(here=not rows)
        self._filter()

    # While there is no session

    def _welcome(self, *, here: bool) -> None:
        """What was looked for and what can be done, in the place of an empty list."""
        pane, sessions = self.query_one("#welcome", TextPane), self.query_one(SessionList)
        if here:
            paths = self.ullage.watched or ()
            self.ask("places", lambda: self.inquiry.places(paths), self._take_places)
        if pane.display != here:
            pane.display, sessions.display = here, not here
            self.query_one("#heading").display = not here
            (pane if here else sessions).focus()
            self._show_welcome()

    def _take_places(self, places: Sequence[Place]) -> None:
        if places != self._places:
            self._places = places
            self._show_welcome()

    def _show_welcome(self) -> None:
        pane = self.query_one("#welcome", TextPane)
        done, total, _ = self.inquiry.progress()
        width = max(pane.scrollable_content_region.width - 1, 1)
        told = (self._places, (done, total), width)
        if pane.display and told != self._told:
            self._told = told
            pane.show(welcome_sections(*told))

    # The list

    @on(Input.Changed, "#filter")
    def _filter(self) -> None:
        words = self.query_one("#filter", Input).value.casefold().split()
        kept = [row for row in self._rows if all(word in _haystack(row) for word in words)]
        sessions = self.query_one(SessionList)
        sessions.now = self.ullage.clock()
        here = sessions.row.id if sessions.row is not None else None
        # What was not read yet is called by its path, until it has been.
        cursor = next((at for at, row in enumerate(kept) if here in (row.id, row.path)), 0)
        sessions.show(Listed(kept), cursor)
        self.show_progress()
        self._show_note()

    def show_progress(self) -> None:
        self._show_welcome()
        count, shown = len(self._rows), len(self.query_one(SessionList).source)
        figure = figures.counted(count, "session")
        if shown != count:
            figure = f"{shown:,} of {figure}"
        right = [*self.progress_cells(), ("  " + figure + " ", "muted")]
        self.query_one("#title", TitleBar).show(
            [(" ullage", "accent"), ("  sessions", "strong")], right
        )

    def _show_heading(self, width: int) -> None:
        self.query_one("#heading", TitleBar).show([(" " + heading(width - 2), "faint")], [])

    @on(RowHighlighted, "#sessions")
    def _show_note(self) -> None:
        row = self.query_one(SessionList).row
        note = self.query_one("#note", NoteLine)
        if row is None:
            note.show([], [])
            return
        where = clean(row.path, " ")
        lead = f" {clean(row.note, ' ')} · " if row.note else " "
        problems = f" {figures.counted(row.problems, 'problem')} " if row.problems else ""
        note.show([(lead, "warm"), (where, "muted")], [(problems, "warm")] if problems else [])

    def _grow_older(self) -> None:
        sessions = self.query_one(SessionList)
        sessions.now = self.ullage.clock()
        sessions.repaint()

    @on(RowActivated, "#sessions")
    @on(Input.Submitted, "#filter")
    def action_open(self) -> None:
        row = self.query_one(SessionList).row
        if row is not None and row.id == row.path:  # not read yet: read before all others
            self.ask("open", partial(self.inquiry.find, row.path), self.ullage.open_session)
        elif row is not None:
            self.ullage.open_session(row.id)

    def action_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.display = True
        box.focus()
        self.refresh_bindings()

    def action_clear(self) -> None:
        box = self.query_one("#filter", Input)
        box.value = ""
        box.display = False
        self.query_one(SessionList).focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What can be filtered, and a filter that can be cleared, are there."""
        if action == "filter":
            return bool(self._rows)
        return action != "clear" or bool(self.query("#filter").first().display)

    def action_decisions(self) -> None:
        self.ullage.open_decisions(None)

    def action_pack(self) -> None:
        self.ullage.open_pack(None)

    def action_audit(self) -> None:
        self.ullage.open_audit(None)

    def on_key(self, event: events.Key) -> None:
        """While the filter has the keyboard, the arrows still move the list."""
        moves = {"up": -1, "down": 1}
        if self.query_one("#filter").has_focus and event.key in moves:
            self.query_one(SessionList).action_move(moves[event.key])
            event.stop()


def _haystack(row: SessionRow) -> str:
    parts = (row.title, row.project, row.agent, row.model, row.id, row.state, row.path)
    return " ".join(part for part in parts if part).casefold()
