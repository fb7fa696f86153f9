"""A unified diff as sections that stand side by side where there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from inspector.widgets.text_pane import Section

NOTHING = "Nothing changed in any text."


def diff_sections(diff: str) -> list[Section]:
    """What went at the left, what came at the right; below each other on a narrow screen. The
    signs stay, so that no colour is needed."""
    if not diff.strip():
        return [Section(NOTHING, "muted")]
    rows = diff.split("\n")
    head = 0
    sections = []
    if rows[0].startswith("--- ") and len(rows) > 1 and rows[1].startswith("+++ "):
        sections.append(Section(rows[0], "accent", beside=rows[1], beside_tone="accent"))
        head = 2
    return [*sections, *_body(rows[head:])]


def _body(rows: Sequence[str]) -> Iterator[Section]:
    removed = ""
    for sign, run in groupby(rows, key=_sign):
        text = "\n".join(run)
        if sign == "+":
            yield Section(removed, "hot", beside=text, beside_tone="calm")
            removed = ""
            continue
        if removed:
            yield Section(removed, "hot", beside="")
        removed = text if sign == "-" else ""
        if sign == "@":
            yield Section(text, "faint")
        elif sign == " ":
            yield Section(text, "muted", beside=text, beside_tone="muted")
    if removed:
        yield Section(removed, "hot", beside="")


def _sign(row: str) -> str:
    sign = row[:1]
    return sign if sign in ("+", "-", "@") else " "
