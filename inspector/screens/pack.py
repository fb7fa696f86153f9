"""A retrieval pack: asked for, looked at, changed by hand, then committed to the plan or saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from inspector.messages import RowActivated
from inspector.pack_reports import PackHandle, PackLineReport, PackReport
from inspector.sanitize import clean
from inspector.screens.context import REST, ContextScreen
from inspector.screens.pack_wish import SCOPES, PackWish, Scope
from inspector.widgets.line_list import Listed
from inspector.widgets.markdown import markdown
from inspector.widgets.pack_list import PackList, heading
from inspector.widgets.pack_words import confirmation, figures_words, line_facts
from inspector.widgets.text_pane import Section
from inspector.widgets.tones import Cells

NOTHING = "Nothing to pack: no event matches, and none is pinned."
HINT = "Type what is asked for; without words the newest, the most used and the pinned come first."


class PackScreen(ContextScreen[PackHandle]):
    """Of the session, its project or the whole store."""

    TOPIC = "a pack"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "in_or_out", "In or out", tooltip="the line under the cursor"),
        Binding("s", "strategy", "Strategy", tooltip="how much of the line stands in the pack"),
        Binding("p", "scope", "Scope", tooltip="this session, its project, or all sessions"),
        Binding("o", "rebuild", "Rebuild", tooltip="one context to go on with, under one budget"),
        *REST,
        Binding("r", "reset", "Undo changes by hand", False, tooltip="lines as they are ranked"),
    ]

    def __init__(self, session: str | None, query: str = "") -> None:
        super().__init__(session, PackWish(query, "store" if session is None else "session"))

    def new_list(self) -> PackList:
        return PackList(id="lines")

    def heading(self, width: int) -> str:
        return heading(width)

    def made(self, wish: PackWish) -> PackHandle:
        return self.inquiry.pack(
            None if wish.scope == "store" else self.session,
            wish.query,
            budget=wish.budget,
            project=wish.scope == "project",
            compression=wish.compression,
            overrides=wish.overrides,
            excluded=wish.excluded,
            included=wish.included,
            allow_overflow=wish.allow_overflow,
        )

    def committed(self, handle: PackHandle, session: str) -> PackReport:
        return self.inquiry.commit_pack(handle, session)

    def saved(self, handle: PackHandle, path: Path) -> PackReport:
        return self.inquiry.save_pack(handle, path)

    def holds_nothing(self, report: PackReport) -> bool:
        return not any(row.packed for row in report.lines)

    # What stands on the screen

    def show_rows(self, report: PackReport) -> None:
        """The cursor stays on its line."""
        here, wish = self.row.belief if self.row is not None else None, self.wish
        nothing = NOTHING if report.note is None else clean(report.note)
        self.lines.say(nothing if wish.query else f"{nothing} {HINT}")
        self.lines.by_hand = wish.excluded | wish.included | wish.overrides.keys()
        places = [at for at, row in enumerate(report.lines) if row.belief == here]
        self.lines.show(Listed(report.lines), places[0] if places else 0)

    def where(self) -> str:
        words = {"session": self.session or "", "project": "this project", "store": "all sessions"}
        return f"of {clean(words[self.wish.scope], ' ')}"

    def figures(self, report: PackReport) -> Cells:
        return figures_words(report, stale=self.stale)

    def confirmation(self, report: PackReport) -> str:
        return confirmation(report)

    def of_row(self) -> list[Section]:
        row = self.row
        return [] if row is None else [Section(line_facts(row), "muted"), *markdown(row.rendered)]

    @property
    def row(self) -> PackLineReport | None:
        """The line under the cursor."""
        return self.query_one(PackList).row

    # Lines, and where they are looked for

    def _change_line(self, changed: Callable[[PackLineReport], PackWish]) -> None:
        row = self.row
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

    def action_scope(self) -> None:
        scopes: tuple[Scope, ...] = SCOPES if self.session is not None else ("store",)
        self.change(self.wish.with_scope_after(scopes))

    def action_rebuild(self) -> None:
        """The same question and budget for a whole context."""
        if self.session is None:
            self.tell("A context is rebuilt for a session: open the pack from one.")
            return
        self.ullage.open_rebuild(self.session, self.wish, self._rebuilt)

    def _rebuilt(self, committed: bool | None) -> None:
        if committed:
            self.dismiss(True)

    @on(RowActivated, "#lines")
    def _open(self) -> None:
        """To the event that the line comes from."""
        row = self.row
        if row is not None and row.session and row.source_event_seqs:
            self.ullage.open_session(row.session, row.source_event_seqs[0])
