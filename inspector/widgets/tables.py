"""Small tables and runs of words as text: pure functions, to be shown in a pane."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from rich.cells import cell_len

from inspector.sanitize import wrap
from inspector.widgets.tones import pad

GAP = 2
"""Cells between two columns."""
LEAST = 12
"""Cells that words are folded to at the narrowest."""


def table(entries: Sequence[tuple[str, str]], width: int, across: int = 1) -> str:
    """Pairs of a key and its words, as many beside each other as there is room for, ``across`` at
    the most; the words of a single one folded below each other where they are longer than the
    line. Everything is clean."""
    for number in range(min(across, len(entries)), 1, -1):
        columns = [_column(entries[at::number]) for at in range(number)]
        widths = [max(map(cell_len, column)) for column in columns]
        if sum(widths) + GAP * (number - 1) <= width:
            return "\n".join(
                (" " * GAP).join(map(pad, row, widths)).rstrip()
                for row in zip_longest(*columns, fillvalue="")
            )
    lead = _lead(entries)
    rows = []
    for key, words in entries:
        first, *rest = wrap(words, max(width - lead, LEAST))
        rows += [pad(key, lead) + first, *(" " * lead + row for row in rest)]
    return "\n".join(rows)


def _column(entries: Sequence[tuple[str, str]]) -> list[str]:
    lead = _lead(entries)
    return [pad(key, lead) + words for key, words in entries]


def _lead(entries: Sequence[tuple[str, str]]) -> int:
    return max((cell_len(key) for key, _ in entries), default=0) + GAP


def flow(entries: Sequence[str], width: int) -> str:
    """Entries one after the other; none is broken."""
    rows: list[str] = []
    for entry in entries:
        if rows and cell_len(rows[-1]) + 3 + cell_len(entry) <= width:
            rows[-1] += "   " + entry
        else:
            rows.append(entry)
    return "\n".join(rows)
