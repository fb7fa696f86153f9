"""A table in text: groups of rows."""

from __future__ import annotations

from compress.spans.draft import Draft, lines

_ROWS = 16
"""Rows of a group."""


def read(text: str) -> list[Draft]:
    """Groups of rows; a blank line begins a new one, too."""
    drafts: list[Draft] = []
    count, blank = 0, True
    for row in lines(text):
        if not text[row.start : row.end].strip():
            blank = True
            continue
        count += 1
        if blank or count > _ROWS:
            drafts.append(Draft(row.start, "table_row_group"))
            count = 1
        blank = False
    return drafts or [Draft(0, "unknown")]
