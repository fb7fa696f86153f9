"""What a compaction would come to, in words: its summary, its changes, its loss."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from inspector.reports import CompactionReport
from inspector.widgets.balance import RECOMPUTING
from inspector.widgets.compacting import (
    BOTH,
    CHANGES,
    LOST,
    SUMMARY,
    both_sections,
    summary_sections,
    tabs_of,
)
from inspector.widgets.line_list import Listed
from inspector.widgets.loss_list import LossList, LostThing
from inspector.widgets.tabs import Tabs
from inspector.widgets.text_pane import Section, TextPane

NOTHING_LOST = "Nothing that was named would be lost."
WIDE = 120
"""Cells from which on the loss stands beside the summary."""


class Outcome(Vertical):
    """One view at a time; where there is room, what would be lost beside the summary."""

    tab: str = SUMMARY
    compared: CompactionReport | None = None
    """The newest report that holds the agent's own side."""
    report: CompactionReport | None = None
    why: str = ""
    """Why there is no report."""
    changes: Sequence[Section] | None = None
    """The diff of ``report``, once it was asked for."""

    def compose(self) -> ComposeResult:
        yield Tabs(id="tabs")
        with Horizontal():
            yield TextPane(id="text")
            yield LossList(id="losses")

    def on_mount(self) -> None:
        self._arrange()

    def on_resize(self) -> None:
        self._arrange()

    @property
    def losses(self) -> LossList:
        """The list of what would be lost."""
        return self.query_one(LossList)

    def show(
        self, report: CompactionReport | None, things: Sequence[LostThing] = (), why: str = ""
    ) -> None:
        """Take what a preview says; ``None`` where there is none, with the words that say why."""
        self.report, self.changes, self.why = report, None, why
        self.losses.say(why or NOTHING_LOST)
        if report is not None and report.theirs is not None:
            self.compared = report
        self.losses.show(Listed(things), 0)
        self.dim(False)
        self._show_text()

    def dim(self, stale: bool) -> None:
        """Whether what is shown is no longer what was asked for."""
        self.losses.dim(stale)
        self.query_one(TextPane).dim(stale)
        note = RECOMPUTING if stale and self.report is not None else ""
        tabs = tabs_of(self.report, compared=self.compared is not None or self.tab == BOTH)
        self.query_one(Tabs).show(tabs, self.tab, note)

    def turn_to(self, tab: str | None = None) -> None:
        """Another view; ``None``: the next."""
        tabs = self.query_one(Tabs)
        self.tab = tabs.after(self.tab) if tab is None else tab
        tabs.show(tabs.names, self.tab, tabs.note)
        self._arrange()
        self._show_text()

    @property
    def wants_changes(self) -> bool:
        """The diff is in sight and not there yet."""
        return self.tab == CHANGES and self.report is not None and self.changes is None

    def show_changes(self, sections: Sequence[Section]) -> None:
        """Take the diff of the report."""
        self.changes = sections
        self._show_text()

    def _arrange(self) -> None:
        """Hide what has no room in this view."""
        wide = self.size.width >= WIDE
        self.query_one(TextPane).display = self.tab != LOST
        self.losses.display = self.tab == LOST or (wide and self.tab == SUMMARY)

    def _show_text(self) -> None:
        self.query_one(TextPane).show(self._sections())

    def _sections(self) -> Sequence[Section]:
        if self.report is None:
            return [Section(self.why, "muted")]
        if self.tab == CHANGES:
            waiting = [Section("comparing the texts …", "muted")]
            return waiting if self.changes is None else self.changes
        if self.tab == BOTH and self.compared is not None:
            return both_sections(self.report, self.compared)
        return summary_sections(self.report) if self.tab == SUMMARY else []
