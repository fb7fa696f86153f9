"""A log: paragraphs of records, cut between records only."""

from __future__ import annotations

from compress.spans.draft import Draft, lines

_RECORDS = 32
"""Lines of a block, what is indented under a record not counted."""


def read(text: str) -> list[Draft]:
    """The blocks of a log: parted by blank lines, and where many records follow each other."""
    drafts: list[Draft] = []
    count, blank = 0, True
    for row in lines(text):
        line = text[row.start : min(row.end, row.start + 200)]
        if not line.strip():
            blank = True
            continue
        if not line[0].isspace():
            count += 1
            if blank or count > _RECORDS:
                drafts.append(Draft(row.start, "unknown"))
                count = 1
        blank = False
    return drafts or [Draft(0, "unknown")]
