"""A screen whose figures are computed anew with each wish, off the UI thread: of the wishes that
come while one is computed, only the newest is."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.timer import Timer

from compress.events import NodeId
from inspector.reports import CompactionMode
from inspector.screens.base import READING, AskingScreen, Refusal
from inspector.screens.edits import Edits, Ends, snapped
from inspector.screens.previewing import Answer, Place, answer
from inspector.views import SurfaceView
from inspector.widgets.balance import REFUSED, Balance
from inspector.widgets.bars import NOTE, QUESTION, WARNING, Banner, TitleBar
from inspector.widgets.compacting import (
    BOTH,
    budget_words,
    choice_words,
    confirmation,
    moment_words,
    snap_words,
    wish_words,
)
from inspector.widgets.diff import diff_sections
from inspector.widgets.entry import Entry
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.outcome import Outcome
from inspector.widgets.sides import Sides
from inspector.widgets.text_pane import Section

NO_PREVIEW = "There is no preview."
NO_SURFACE = "The surface could not be read."
COMMIT, NOT_YET, REGION = "commit", "not yet", "name a region"
"""Ways on that are no boundaries."""


class RecomputedScreen(AskingScreen[bool]):
    """Holds the wish and the newest answer, and shows both. What a person can do about it is the
    subclass's to say."""

    AUTO_FOCUS: ClassVar[str | None] = "#before"
    """Textual's own choice is the hidden budget box, which would swallow the first keys."""

    def __init__(
        self,
        session: str,
        what: Ends | CompactionMode = "auto",
        at: NodeId | None = None,
        number: int | None = None,
    ) -> None:
        super().__init__()
        self.place = Place(session, at, number)
        self.edits = Edits(what) if isinstance(what, str) else Edits("region", what)
        self.surface: SurfaceView | None = None
        self.answer: Answer[Any] | None = None
        self.stale = True
        """The answer is not one to what is wanted now."""
        self.refusal: Refusal | None = None
        self.note = ""
        self.confirming = False
        self._pending: Timer | None = None
        self._dimming: Timer | None = None
        self._asking = self._again = False
        self._cancel = threading.Event()
        """Set once the answer that is being computed is wanted no longer."""

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield Balance(id="balance")
        yield Entry(placeholder="tokens, as 4096 or 8k; nothing: the default", id="budget")
        yield Banner(id="banner")
        yield Sides(id="sides")
        yield Outcome(id="outcome")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#budget").display = False
        self.sides.before.focus()
        if self.place.number is not None:
            self.outcome.tab = BOTH
        self.sides.before.say(READING)
        self.outcome.show(None)
        self.show_words()
        self.look()

    @property
    def sides(self) -> Sides:
        """Before and after."""
        return self.query_one(Sides)

    @property
    def outcome(self) -> Outcome:
        """What it comes to, in words."""
        return self.query_one(Outcome)

    def store_grew(self) -> None:
        if not self.place.past:
            self.look()

    # Questions and their answers

    def look(self) -> None:
        """The surface as it stands, then what the wish would come to on it. Which surface it is
        that the agent once compacted, only the answer tells."""
        place = self.place
        if place.number is not None:
            self._ask_preview()
            return
        self.ask(
            "view",
            lambda: self.inquiry.view(place.session, track="plan", at=place.at),
            self._take_view,
            self._take_refusal,
        )

    def _take_view(self, view: SurfaceView) -> None:
        first, self.surface = self.surface is None, view
        if first:
            self.sides.show_surface(view)
            self._snap()
            self._mark()
            self._to_start()
            self.show_words()
        self._ask_preview()

    def _snap(self) -> None:
        """What was selected elsewhere may part a call from its result."""
        view, rows = self.surface, self.region_rows()
        if view is not None and rows is not None:
            found = snapped(view, *rows)
            ends = ends_at(view, found.first, found.last)
            self.edits, self.note = self.edits.with_region(ends), snap_words(found.moved, ends)

    def _ask_preview(self) -> None:
        """One preview is computed at a time; of the wishes that come meanwhile, the newest."""
        if self._asking:
            self._again = True
            self._cancel.set()
            return
        self._asking, self._again, self._cancel = True, False, threading.Event()
        cancelled = self._cancel.is_set
        inquiry, place, edits, view = self.inquiry, self.place, self.edits, self.surface
        self.ask(
            "preview",
            lambda: answer(inquiry, place, edits, view, cancelled),
            self._take_answer,
            self._take_refusal,
            self._answered,
        )

    def on_unmount(self) -> None:
        self._cancel.set()

    def _answered(self) -> None:
        self._asking = False
        if self._again and self.is_attached:
            self._ask_preview()

    def _take_answer(self, found: Answer[Any]) -> None:
        if self._again:
            return
        first = self.answer is None
        self.answer, self.surface = found, found.view
        self.stale, self.refusal = False, None
        self._mark()
        self.sides.show(found.before, found.after, found.report)
        if first:
            self._to_start()
        self.query_one(Balance).show(found.report)
        self.outcome.show(found.report, found.things)
        self.ask_changes()
        self.show_words()

    def _take_refusal(self, refusal: Refusal) -> None:
        if self._again:
            return
        self.answer, self.stale, self.refusal = None, False, refusal
        self.confirming = False
        if self.surface is not None:
            self.sides.show_surface(self.surface, NO_PREVIEW)
        else:
            self.sides.before.say(NO_SURFACE)
        self._mark()
        self.query_one(Balance).show(None, REFUSED)
        self.outcome.show(None, why=NO_PREVIEW)
        self.show_words()

    def ask_changes(self) -> None:
        found = self.answer
        if found is None or not self.outcome.wants_changes:
            return
        if found.preview is None:
            words = "Move an edge of the region to see its changes as a diff."
            self.outcome.show_changes([Section(words, "muted")])
            return

        def take(sections: list[Section]) -> None:
            if self.answer is found:
                self.outcome.show_changes(sections)

        self.ask("diff", lambda: diff_sections(self.inquiry.preview_diff(found.preview)), take)

    # What stands on the screen

    def region_rows(self) -> tuple[int, int] | None:
        """First and last row of the region that is wanted, else of the one that was chosen."""
        view, ends = self.surface, self._region()
        if view is None or ends is None:
            return None
        first, last = (view.index_of(node) for node in ends)
        return (first, last) if first is not None and last is not None else None

    def _region(self) -> Ends | None:
        if self.edits.mode == "region" and self.edits.span is not None:
            return self.edits.span
        region = self.answer.report.region if self.answer is not None else None
        return (region.start, region.end) if region is not None else None

    def _mark(self) -> None:
        self.sides.before.mark(self.region_rows(), frozenset(self.edits.keep))

    def _to_start(self) -> None:
        """The cursor begins where the region does."""
        before = self.sides.before
        if before.marked is not None:
            before.cursor = before.marked[0]

    def show_words(self) -> None:
        """The title and the banner."""
        edits, place = self.edits, self.place
        region = self._region() if not self.stale or edits.mode == "region" else None
        own = place.number is not None
        left = wish_words(edits.mode, region, moment_words(place.at, place.number), own=own)
        right = budget_words(edits.budget, len(edits.keep), own=own)
        self.query_one("#title", TitleBar).show(left, [(words, "accent") for words in right])
        banner, report = self.query_one(Banner), self.answer.report if self.answer else None
        if self.refusal is not None:
            ways = [(choice_words(choice), choice) for choice in self.refusal.choices]
            if edits.mode != "region" and self.surface is not None and len(self.surface):
                ways.append((REGION, REGION))
            banner.show(str(self.refusal), ways)
        elif self.confirming and report is not None:
            ways = [(COMMIT, COMMIT), (NOT_YET, NOT_YET)]
            banner.show(confirmation(report), ways, QUESTION)
        elif report is not None and report.warnings and not self.stale:
            banner.show(" ".join((self.note, *report.warnings)).strip(), sign=WARNING)
        else:
            banner.show(self.note, sign=NOTE)

    # Wishes

    def wish(self, edits: Edits, note: str = "") -> None:
        """Another wish: the old figures stay, dimmed, until the new ones are there."""
        self.edits, self.note = edits, note
        self.refusal, self.confirming, self.stale = None, False, True
        self._mark()
        self.show_words()
        if self._pending is not None:
            self._pending.stop()
        self._pending = self.set_timer(self.ullage.rest, self._ask_wish)

    def _ask_wish(self) -> None:
        self._ask_preview()
        # An answer that comes at once need not flicker.
        self._dimming = self._dimming or self.set_timer(self.ullage.rest * 2, self._dim)

    def _dim(self) -> None:
        """What is shown is no longer what is wanted."""
        self._dimming = None
        if self.stale:
            self.sides.dim(True)
            self.query_one(Balance).dim()
            self.outcome.dim(True)

    def wish_rows(self, first: int, last: int) -> None:
        """The region from row to row, moved out to where no call is parted from its result."""
        view = self.surface
        if view is not None and len(view):
            found = snapped(view, first, last)
            ends = ends_at(view, found.first, found.last)
            self.wish(self.edits.with_region(ends), snap_words(found.moved, ends))


def ends_at(view: SurfaceView, first: int, last: int) -> Ends:
    """The nodes at two rows."""
    return view.rows(first, first + 1)[0].seq, view.rows(last, last + 1)[0].seq
