"""The sections of a rebuilt context, and what of the session does not stand in it."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.rebuild_reports import MissingReport, RebuildReport, SectionReport
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.line_list import LineList
from inspector.widgets.markdown import markdown
from inspector.widgets.text_pane import Section
from inspector.widgets.tones import Cells, pad

_TITLE = 30
_TOKENS = 8
_ITEMS = 8


@dataclass(frozen=True, slots=True)
class RebuildRow:
    """A section, or a kind of what is missing."""

    title: str
    tone: str
    tokens: int | None
    items: int
    note: str
    section: SectionReport | None = None
    missing: MissingReport | None = None


class RebuildList(LineList[RebuildRow]):
    """Sections in the order of the text, then what is missing."""

    stale: bool = False

    def dim(self, stale: bool) -> None:
        """Whether what is shown is no longer what was asked for."""
        if self.stale != stale:
            self.stale = stale
            self.repaint()

    def paint(self, row: RebuildRow, index: int, width: int) -> Cells:
        title = min(_TITLE, max(width - _TOKENS - _ITEMS - 12, 12))
        tokens = "" if row.tokens is None else figures.tokens(row.tokens)
        cells: Cells = [
            (pad(line(row.title, title - 1), title), row.tone),
            (pad(tokens, _TOKENS - 1, right=True) + " ", "text"),
            (pad(f"{row.items:,}", _ITEMS - 2, right=True) + "  ", "muted"),
            (line(row.note, max(width - title - _TOKENS - _ITEMS, 0)), "muted"),
        ]
        return [(text, "faint") for text, _ in cells] if self.stale else cells


def heading(width: int) -> str:
    """The names of the columns over a list of this width."""
    title = min(_TITLE, max(width - 1 - _TOKENS - _ITEMS - 12, 12))
    names = pad(" section", title + 1) + pad("tokens", _TOKENS - 1, right=True) + " "
    return names + pad("items", _ITEMS - 2, right=True)


def rows_of(report: RebuildReport) -> list[RebuildRow]:
    """One row a section, and one for each kind of which something is missing."""
    found = report.availability
    rows = [
        RebuildRow(
            section.title, "strong", section.tokens, section.items, _note(section), section=section
        )
        for section in report.sections
    ]
    kinds = (
        ("names that do not stand", found.identifiers),
        ("words of yours that do not", found.instructions),
        ("errors that do not", found.errors),
    )
    rows += [
        RebuildRow(title, "warm", None, kind.total, f"of {kind.of:,}", missing=kind)
        for title, kind in kinds
        if kind.total
    ]
    return rows


def _note(section: SectionReport) -> str:
    notes = []
    if section.left_out:
        notes.append(f"{section.left_out:,} left out")
    if section.degraded:
        notes.append(f"{section.degraded:,} not word for word")
    return ", ".join(notes)


def row_sections(row: RebuildRow) -> list[Section]:
    """A row in full, for the pane."""
    if row.section is not None:
        return markdown(row.section.text)
    if row.missing is None:
        return []
    shown = row.missing.items
    more = row.missing.total - len(shown)
    rest = [Section(f"… and {more:,} more", "muted")] if more > 0 else []
    return [Section("\n".join(shown), "text", title=row.title), *rest]


def figures_words(report: RebuildReport, *, stale: bool) -> Cells:
    """What the context keeps and weighs, for the title bar."""
    share = figures.percent(report.availability.share)
    used = f"{figures.tokens(report.tokens)} of {figures.tokens(report.budget)} tokens"
    return [
        (f"{share} of the likely names  ", "muted"),
        (f"{used} ", "faint" if stale else "accent"),
    ]


def confirmation(report: RebuildReport) -> str:
    """What a commit comes to."""
    return (
        f"Append this context to the plan: {report.tokens:,} tokens of {report.budget:,} as "
        "counted? An undo takes it out again."
    )
