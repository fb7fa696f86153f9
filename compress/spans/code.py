"""Source code by its indentation: a block is a line at the margin with what stands under it."""

from __future__ import annotations

import re

from compress.spans.draft import Draft, lines

_CLOSING = re.compile(r"[\])}]|(?:end|esac|fi|done|else|elif|except|finally|catch)\b")
_LONGEST = 400
"""Lines of a block: behind them the next line at the margin begins a new one."""


def read(text: str) -> list[Draft]:
    """The blocks of a source file: parted by a blank line before a line at the margin."""
    drafts: list[Draft] = []
    blank = True
    deep = False
    count = 0
    for row in lines(text):
        line = text[row.start : min(row.end, row.start + 200)]
        if not line.strip():
            blank = True
            continue
        at_margin = not line[0].isspace() and not _CLOSING.match(line)
        if not drafts or (at_margin and (blank or deep or count > _LONGEST)):
            drafts.append(Draft(row.start, "code"))
            count = 0
        blank = False
        deep = line[0].isspace() or bool(_CLOSING.match(line))
        count += 1
    return drafts or [Draft(0, "unknown")]
