"""Small tables and runs of words as text: pure functions, to be shown in a pane."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap as fold


def table(entries: Sequence[tuple[str, str]], width: int, across: int) -> str:
    """Pairs of a key and its words, two beside each other where there is room for two, the
    words of one folded below each other where they are longer than the line."""
    if across == 2:
        left, right = _column(entries[::2]), _column(entries[1::2])
        gap = max(map(len, left)) + 2
        if gap + max(map(len, right)) <= width:
            pairs = zip(left, [*right, ""], strict=False)
            return "\n".join(f"{one:<{gap}}{two}".rstrip() for one, two in pairs)
    lead = _lead(entries)
    rows = []
    for key, words in entries:
        first, *rest = fold(words, max(width - lead, 12))
        rows += [f"{key:<{lead}}{first}", *(" " * lead + row for row in rest)]
    return "\n".join(rows)


def _column(entries: Sequence[tuple[str, str]]) -> list[str]:
    lead = _lead(entries)
    return [f"{key:<{lead}}{words}" for key, words in entries]


def _lead(entries: Sequence[tuple[str, str]]) -> int:
    return max(len(key) for key, _ in entries) + 2


def flow(entries: Sequence[str], width: int) -> str:
    """Entries one after the other; none is broken."""
    rows: list[str] = []
    for entry in entries:
        if rows and len(rows[-1]) + 3 + len(entry) <= width:
            rows[-1] += "   " + entry
        else:
            rows.append(entry)
    return "\n".join(rows)
