"""A context under a budget, as it is asked for and looked at: each wish is answered off the UI
thread, the newest first. What is made, and how its rows look, is the subclass's to say."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.timer import Timer
from textual.widgets import Input

from inspector.messages import RowHighlighted
from inspector.pack_reports import PackHandle, PackReport
from inspector.rebuild_reports import RebuildHandle
from inspector.screens.base import READING, AskingScreen, Refusal
from inspector.screens.pack_wish import PackWish
from inspector.widgets.bars import NOTE, QUESTION, WARNING, Banner, TitleBar
from inspector.widgets.entry import Entry
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.line_list import LineList, Listed
from inspector.widgets.markdown import markdown
from inspector.widgets.text_pane import Section, TextPane
from inspector.widgets.tones import Cells

COMMIT, NOT_YET, OVERFLOW = "commit", "not yet", "allow it"

H = TypeVar("H", PackHandle, RebuildHandle)


class AskedContextScreen(AskingScreen[bool], Generic[H]):
    """Holds the wish and the newest answer, and shows both."""

    NAME: ClassVar[str] = "pack"
    PLACEHOLDER: ClassVar[str] = "what is asked for"

    def __init__(self, session: str | None, wish: PackWish) -> None:
        super().__init__()
        self.session = session
        self.wish = wish
        self.handle: H | None = None
        self.refusal: Refusal | None = None
        self.stale = True
        """What is shown is not what is wanted now."""
        self.confirming = False
        self.of_line = False
        """The pane shows the row under the cursor, not the whole."""
        self._asking = self._again = False
        self._pending: Timer | None = None
        self._dimming: Timer | None = None

    # What a subclass says

    def new_list(self) -> LineList[Any]:
        """The widget for the rows."""
        raise NotImplementedError

    def heading(self, width: int) -> str:
        """The names of its columns."""
        raise NotImplementedError

    def made(self, wish: PackWish) -> H:
        """The answer to a wish; called in a thread."""
        raise NotImplementedError

    def show_rows(self, report: Any) -> None:
        """Hand the rows of an answer to the list."""
        raise NotImplementedError

    def where(self) -> str:
        """What is looked at, for the title."""
        raise NotImplementedError

    def figures(self, report: Any) -> Cells:
        """What the answer holds and weighs, for the title."""
        raise NotImplementedError

    def confirmation(self, report: Any) -> str:
        """What a commit comes to."""
        raise NotImplementedError

    def of_row(self) -> list[Section]:
        """The row under the cursor, in full."""
        raise NotImplementedError

    # The screen

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield Entry(done="To the lines", placeholder=self.PLACEHOLDER, id="query")
        yield Entry(placeholder="tokens, as 4096 or 8k; nothing: the setting's", id="budget")
        yield Entry(done="Write", id="file")
        yield Banner(id="banner")
        with Container(id="pack"):
            with Container(id="candidates"):
                yield TitleBar(id="heading")
                yield self.new_list()
            yield TextPane(id="text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#query", Input).value = self.wish.query
        for name in ("#budget", "#file"):
            self.query_one(name).display = False
        self.lines.say(READING)
        self.focus_first()
        self.show_words()
        self._ask()

    def focus_first(self) -> None:
        """Where the keys go at first."""
        if self.wish.query:
            self.lines.focus()
        else:
            self.query_one("#query").focus()

    @property
    def lines(self) -> Any:
        """The rows."""
        return self.query_one("#lines")

    @property
    def report(self) -> PackReport | None:
        """What is shown, whether it is wanted still or not."""
        return self.handle.report if self.handle is not None else None

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_heading)

    def _show_heading(self) -> None:
        names = self.heading(self.lines.scrollable_content_region.width)
        self.query_one("#heading", TitleBar).show([(names, "faint")], [])

    def store_grew(self) -> None:
        if not self.confirming:
            self._ask()

    # Questions and their answers

    def change(self, wish: PackWish) -> None:
        """Another wish: the old answer stays, dimmed, until the new one is there."""
        if wish == self.wish:
            return
        self.wish, self.refusal, self.confirming, self.stale = wish, None, False, True
        self.show_words()
        if self._pending is not None:
            self._pending.stop()
        self._pending = self.set_timer(self.ullage.rest, self._ask)

    def _ask(self) -> None:
        """One answer is made at a time; of the wishes that come meanwhile, the newest."""
        if self._asking:
            self._again = True
            return
        self._asking, self._again = True, False
        wish = self.wish
        self.ask(
            self.NAME,
            lambda: self.made(wish),
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
        self.query_one("#text", TextPane).dim(self.stale)

    def _take(self, handle: H, wish: PackWish) -> None:
        if wish != self.wish:
            return
        self.handle, self.refusal, self.stale = handle, None, False
        self.show_rows(handle.report)
        self._dim()
        self.show_pane()
        self.show_words()

    def _refused(self, refusal: Refusal) -> None:
        if self._again:
            return
        self.handle, self.refusal, self.stale, self.confirming = None, refusal, False, False
        self.lines.say(f"There is no {self.NAME}.")
        self.lines.show(Listed[Any]())
        self.show_pane()
        self.show_words()

    # What stands on the screen

    def show_words(self) -> None:
        """The title and the banner."""
        report = self.report
        self.query_one("#title", TitleBar).show(
            [(" ullage", "accent"), (f"  {self.NAME}", "strong"), (f"  {self.where()}", "muted")],
            self.figures(report) if report is not None else [],
        )
        banner = self.query_one(Banner)
        if self.refusal is not None:
            over = getattr(self.refusal, "code", "") == "pack_budget"
            ways = [(OVERFLOW, OVERFLOW)] if over and not self.wish.allow_overflow else []
            banner.show(str(self.refusal), ways)
        elif self.confirming and report is not None:
            ways = [(COMMIT, COMMIT), (NOT_YET, NOT_YET)]
            banner.show(self.confirmation(report), ways, QUESTION)
        elif report is not None:
            said, sign = self._remarks(report)
            banner.show(said, sign=sign)
        else:
            banner.show("")

    def _remarks(self, report: PackReport) -> tuple[str, tuple[str, str]]:
        """What is to be known of an answer, and its sign. The answer's note is left out where there
        are no rows: the empty list says it then."""
        over = f"The pinned lines alone are {report.overflow:,} tokens above the budget."
        note = report.note if len(self.lines.source) else None
        said = " ".join(filter(None, [over if report.overflow else "", note]))
        return said, WARNING if report.overflow else NOTE

    @on(RowHighlighted, "#lines")
    def _look_closer(self) -> None:
        if self.of_line:
            self.show_pane()

    def show_pane(self) -> None:
        """The whole text, or the row under the cursor."""
        pane, report = self.query_one("#text", TextPane), self.report
        pane.border_title = "line" if self.of_line else self.NAME
        if report is None:
            pane.show([])
        else:
            pane.show(self.of_row() if self.of_line else markdown(report.text))
