"""Markdown as sections: its headings, fences and lists are told apart by their tone, nothing in it
is a link or an action."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.widgets.text_pane import Section

_HEADING = re.compile(r" {0,3}#{1,6}\s+\S")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_ITEM = re.compile(r"^(\s*)[-*+] (?=\S)")


def markdown(text: str) -> list[Section]:
    """The text, line by line; lines of one tone make one section."""
    sections: list[Section] = []
    for row, tone in _toned(text):
        if sections and sections[-1].tone == tone:
            sections[-1] = Section(f"{sections[-1].text}\n{row}", tone)
        else:
            sections.append(Section(row, tone))
    return sections


def bulleted(text: str) -> str:
    """The text with its list items as they read, outside fences."""
    return "\n".join(row for row, _ in _toned(text))


def _toned(text: str) -> Iterator[tuple[str, str]]:
    fenced = False
    for row in text.split("\n"):
        if _FENCE.match(row):
            fenced = not fenced
            yield row, "faint"
        elif fenced:
            yield row, "tool_results"
        elif _HEADING.match(row):
            yield row, "strong"
        elif row.lstrip().startswith(">"):
            yield row, "muted"
        else:
            yield _ITEM.sub(r"\1• ", row, count=1), "text"
