"""A pack as it is asked for and looked at: each wish is answered off the UI thread, the newest
first."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.timer import Timer
from textual.widgets import Input

from inspector.messages import RowHighlighted
from inspector.pack_reports import PackHandle, PackLineReport, PackReport
from inspector.screens.base import AskingScreen, Refusal
from inspector.screens.pack_wish import PackWish
from inspector.widgets.bars import QUESTION, WARNING, Banner, TitleBar
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.line_list import Listed
from inspector.widgets.markdown import markdown
from inspector.widgets.pack_list import PackList, heading
from inspector.widgets.pack_words import confirmation, figures_words, line_facts, place_words
from inspector.widgets.text_pane import Section, TextPane

COMMIT, NOT_YET, OVERFLOW = "commit", "not yet", "allow it"
NOTHING = "Nothing to pack: no event matches, and none is pinned."
HINT = "Type what is asked for; without words the newest, the most used and the pinned come first."


class AskedPackScreen(AskingScreen[bool]):
    """Holds the wish and the newest pack, and shows both. What a person can do about it is the
    subclass's to say."""

    def __init__(self, session: str | None, query: str = "") -> None:
        super().__init__()
        self.session = session
        self.wish = PackWish(query, "store" if session is None else "session")
        self.handle: PackHandle | None = None
        self.refusal: Refusal | None = None
        self.stale = True
        """The pack that is shown is not what is wanted now."""
        self.confirming = False
        self.of_line = False
        """The pane shows the line under the cursor, not the pack."""
        self._asking = self._again = False
        self._pending: Timer | None = None
        self._dimming: Timer | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield Input(placeholder="what is asked for", id="query")
        yield Input(placeholder="tokens, as 4096 or 8k; nothing: the setting's", id="budget")
        yield Input(id="file")
        yield Banner(id="banner")
        with Container(id="pack"):
            with Container(id="candidates"):
                yield TitleBar(id="heading")
                yield PackList(id="lines")
            yield TextPane(id="text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#query", Input).value = self.wish.query
        for name in ("#budget", "#file"):
            self.query_one(name).display = False
        self.lines.empty = "reading …"
        if self.wish.query:
            self.lines.focus()
        else:
            self.query_one("#query").focus()
        self.show_words()
        self._ask()

    @property
    def lines(self) -> PackList:
        """The candidates."""
        return self.query_one(PackList)

    @property
    def report(self) -> PackReport | None:
        """What is shown, whether it is wanted still or not."""
        return self.handle.report if self.handle is not None else None

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_heading)

    def _show_heading(self) -> None:
        names = heading(self.lines.scrollable_content_region.width)
        self.query_one("#heading", TitleBar).show([(names, "faint")], [])

    def store_grew(self) -> None:
        if not self.confirming:
            self._ask()

    # Questions and their answers

    def change(self, wish: PackWish) -> None:
        """Another wish: the old pack stays, dimmed, until the new one is there."""
        if wish == self.wish:
            return
        self.wish, self.refusal, self.confirming, self.stale = wish, None, False, True
        self.show_words()
        if self._pending is not None:
            self._pending.stop()
        self._pending = self.set_timer(self.ullage.rest, self._ask)

    def _ask(self) -> None:
        """One pack is made at a time; of the wishes that come meanwhile, the newest."""
        if self._asking:
            self._again = True
            return
        self._asking, self._again = True, False
        inquiry, session, wish = self.inquiry, self.session, self.wish
        where = None if wish.scope == "store" else session
        self.ask(
            "pack",
            lambda: inquiry.pack(
                where,
                wish.query,
                budget=wish.budget,
                project=wish.scope == "project",
                compression=wish.compression,
                overrides=wish.overrides,
                excluded=wish.excluded,
                included=wish.included,
                allow_overflow=wish.allow_overflow,
            ),
            lambda handle: self._take(handle, wish),
            self._refused,
            self._answered,
        )
        # An answer that comes at once need not flicker.
        self._dimming = self._dimming or self.set_timer(self.ullage.rest * 2, self._dim)

    def _answered(self) -> None:
        self._asking = False
        if self._again and self.is_attached:
            self._ask()

    def _dim(self) -> None:
        self._dimming = None
        self.lines.dim(self.stale)
        self.query_one(TextPane).dim(self.stale)

    def _take(self, handle: PackHandle, wish: PackWish) -> None:
        if wish != self.wish:
            return
        here = self.lines.row.belief if self.lines.row is not None else None
        self.handle, self.refusal, self.stale = handle, None, False
        rows = handle.report.lines
        self.lines.empty = NOTHING if self.wish.query else f"{NOTHING} {HINT}"
        self.lines.by_hand = wish.excluded | wish.included | wish.overrides.keys()
        places = [at for at, row in enumerate(rows) if row.belief == here]
        self.lines.show(Listed(rows), places[0] if places else 0)
        self._dim()
        self._show_pane()
        self.show_words()

    def _refused(self, refusal: Refusal) -> None:
        if self._again:
            return
        self.handle, self.refusal, self.stale, self.confirming = None, refusal, False, False
        self.lines.empty = "There is no pack."
        self.lines.show(Listed[PackLineReport]())
        self._show_pane()
        self.show_words()

    # What stands on the screen

    def show_words(self) -> None:
        """The title and the banner."""
        wish, report = self.wish, self.report
        self.query_one("#title", TitleBar).show(
            place_words(self._where()), figures_words(report, stale=self.stale)
        )
        banner = self.query_one(Banner)
        if self.refusal is not None:
            over = getattr(self.refusal, "code", "") == "pack_budget"
            ways = [(OVERFLOW, OVERFLOW)] if over and not wish.allow_overflow else []
            banner.show(str(self.refusal), ways)
        elif self.confirming and report is not None:
            banner.show(confirmation(report), [(COMMIT, COMMIT), (NOT_YET, NOT_YET)], QUESTION)
        elif report is not None and report.overflow:
            banner.show(
                f"The pinned lines alone are {report.overflow:,} tokens above the budget.",
                sign=WARNING,
            )
        else:
            banner.show("")

    def _where(self) -> str:
        words = {"session": self.session or "", "project": "this project", "store": "all sessions"}
        return words[self.wish.scope]

    @on(RowHighlighted, "#lines")
    def _look_closer(self) -> None:
        if self.of_line:
            self._show_pane()

    def _show_pane(self) -> None:
        pane, report, row = self.query_one("#text", TextPane), self.report, self.lines.row
        pane.border_title = "line" if self.of_line else "pack"
        if report is None:
            pane.show([])
        elif not self.of_line:
            pane.show(markdown(report.text))
        elif row is not None:
            pane.show([Section(line_facts(row), "muted"), *markdown(row.rendered)])
