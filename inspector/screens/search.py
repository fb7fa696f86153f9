"""Full text over all sessions."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widgets import Input

from inspector.findings import finding
from inspector.messages import RowActivated
from inspector.reports import SearchHit
from inspector.screens.base import AskingScreen
from inspector.widgets import figures
from inspector.widgets.bars import TitleBar
from inspector.widgets.entry import Entry
from inspector.widgets.hit_list import HitList
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.line_list import Listed

HINT = "Type words; the arrows choose an event that holds them, Enter opens it."
SEARCHING = "searching …"
LIMIT = 500
"""Hits asked for; the best come first."""


class SearchScreen(AskingScreen[None]):
    """Type words, open the event that holds them."""

    TOPIC = "a search"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.pop_screen", "Back", tooltip="leave this page"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._pending: Timer | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield Entry(done="Open", placeholder="words that an event holds", id="query")
        yield HitList(id="hits")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._take([])

    def store_grew(self) -> None:
        self._search()

    @on(Input.Changed)
    def _typed(self) -> None:
        if self._pending is not None:
            self._pending.stop()
        self._pending = self.set_timer(self.ullage.rest, self._search)

    def _search(self) -> None:
        query = self.query_one(Input).value.strip()
        if query:
            hits = self.query_one(HitList)
            hits.say(SEARCHING)
            self.ask(
                "search",
                lambda: self.inquiry.search(query, LIMIT),
                self._take,
                lambda refusal: self.refuse(hits, refusal),
            )
        else:
            self._take([])

    def _take(self, hits: list[SearchHit]) -> None:
        query = self.query_one(Input).value.strip()
        found = self.query_one(HitList)
        said = finding(query, hits) if query else ""
        found.say(said or HINT)
        found.show(Listed(hits), 0)
        more = "the best " if len(hits) == LIMIT else ""
        figure = f"{more}{figures.counted(len(hits), 'event')} " if hits or query else ""
        if hits and said:
            figure = f"{said} {figure}"
        self.query_one(TitleBar).show(
            [(" ullage", "accent"), ("  search", "strong")], [(figure, "muted")]
        )

    @on(RowActivated)
    @on(Input.Submitted)
    def _open(self) -> None:
        hit = self.query_one(HitList).row
        if hit is not None:
            self.ullage.open_session(hit.session, hit.seq)

    def on_key(self, event: events.Key) -> None:
        """While one types, the arrows still move the list."""
        moves = {"up": -1, "down": 1}
        if self.query_one(Input).has_focus and event.key in moves:
            self.query_one(HitList).action_move(moves[event.key])
            event.stop()
