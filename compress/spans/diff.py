"""A diff: each file is a section under its header, each hunk a block of code."""

from __future__ import annotations

import re

from compress.spans.draft import Draft, lines

_HEADER = re.compile(r"diff --|Index: \S|--- \S")
_HUNK = re.compile(r"@@+ ")


def read(text: str) -> list[Draft]:
    """The blocks of a unified diff, what stands before it included."""
    drafts: list[Draft] = []
    in_header = False
    for row in lines(text):
        line = text[row.start : min(row.end, row.start + 200)]
        if _HUNK.match(line):
            drafts.append(Draft(row.start, "code"))
            in_header = False
        elif _HEADER.match(line) and not in_header and _begins(text, row.start, line):
            drafts.append(Draft(row.start, "heading", 1))
            in_header = True
        elif not drafts:
            drafts.append(Draft(row.start, "paragraph"))
    return drafts or [Draft(0, "unknown")]


def _begins(text: str, start: int, line: str) -> bool:
    """Whether it is a header, not a removed line that begins with two dashes."""
    if not line.startswith("--- "):
        return True
    below = text.find("\n", start)
    return below >= 0 and text.startswith("+++ ", below + 1)
