"""A context to go on with, rebuilt under one budget: its sections, what of the session does not
stand in it, and the text."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType

from inspector.pack_reports import PackReport
from inspector.rebuild_reports import RebuildHandle, RebuildReport
from inspector.sanitize import clean
from inspector.screens.context import REST, ContextScreen
from inspector.screens.pack_wish import PackWish
from inspector.widgets.line_list import Listed
from inspector.widgets.rebuild_list import (
    RebuildList,
    confirmation,
    figures_words,
    heading,
    row_sections,
    rows_of,
)
from inspector.widgets.text_pane import Section
from inspector.widgets.tones import Cells


class RebuildScreen(ContextScreen[RebuildHandle]):
    """Of one session, from the newest moment."""

    NAME = "context"
    PLACEHOLDER = "what comes next; nothing: the newest words and what is open"
    TOPIC = "a rebuilt context"
    BINDINGS: ClassVar[list[BindingType]] = [*REST]

    def __init__(self, session: str, wish: PackWish) -> None:
        super().__init__(session, PackWish(wish.query, budget=wish.budget))

    def focus_first(self) -> None:
        self.lines.focus()

    def new_list(self) -> RebuildList:
        return RebuildList(id="lines")

    def heading(self, width: int) -> str:
        return heading(width)

    def made(self, wish: PackWish) -> RebuildHandle:
        return self.inquiry.rebuild(
            self.session or "",
            budget=wish.budget,
            query=wish.query or None,
            compression=wish.compression,
        )

    def committed(self, handle: RebuildHandle, session: str) -> PackReport:
        return self.inquiry.commit_rebuild(handle)

    def saved(self, handle: RebuildHandle, path: Path) -> PackReport:
        return self.inquiry.save_rebuild(handle, path)

    def show_rows(self, report: RebuildReport) -> None:
        self.lines.say("Nothing of the session can be carried on.")
        self.lines.show(Listed(rows_of(report)), min(self.lines.cursor, len(rows_of(report)) - 1))

    def where(self) -> str:
        return f"to go on with {clean(self.session or '', ' ')}"

    def figures(self, report: RebuildReport) -> Cells:
        return figures_words(report, stale=self.stale)

    def confirmation(self, report: RebuildReport) -> str:
        return confirmation(report)

    def of_row(self) -> list[Section]:
        row = self.query_one(RebuildList).row
        return [] if row is None else row_sections(row)
