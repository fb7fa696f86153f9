"""Markdown blocks with their places, read by markdown-it-py (CommonMark and tables)."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from compress.spans.draft import Draft, lines
from compress.spans.values import BlockKind

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "code",
    "code_block": "code",
    "html_block": "dom_region",
    "table_open": "table_row_group",
}
_IMAGE = re.compile(r"[ \t]*!\[[^\]\n]*\]\([^)\n]*\)[ \t]*$")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - most texts are no Markdown

    # What stands within a line is not read; a definition of a link stays a paragraph.
    return MarkdownIt("commonmark").enable("table").disable(["inline", "reference"])


def read(text: str) -> list[Draft]:
    """The blocks of a Markdown text; a block of settings at its beginning is code."""
    rows = list(lines(text))
    if not rows:
        return [Draft(0, "unknown")]
    drafts: list[Draft] = []
    items: list[int] = []
    hidden = _settings(text)
    if hidden:
        drafts.append(Draft(0, "code"))
    skipped = sum(row.start < hidden for row in rows)
    for token in _parser().parse(text[hidden:]):
        if token.type == "list_item_close":
            items.pop()
            continue
        kind = _KINDS.get(token.type, "list_item" if token.type == "list_item_open" else None)
        if kind is None or token.map is None or token.map[0] + skipped >= len(rows):
            continue
        start = rows[token.map[0] + skipped].start
        parent = items[-1] if items else None
        is_new = not drafts or start > drafts[-1].start
        if kind == "list_item":
            if is_new:
                drafts.append(Draft(start, kind, len(items) + 1, parent))
            items.append(len(drafts) - 1)
        elif is_new:
            level = int(token.tag[1]) if kind == "heading" else 0
            if kind == "paragraph" and _IMAGE.match(text, start, rows[token.map[0] + skipped].end):
                kind = "caption"
            drafts.append(Draft(start, kind, level, parent))
    return drafts


def _settings(text: str) -> int:
    """Characters of a block of settings between two ``---`` at the very beginning."""
    for number, row in enumerate(lines(text)):
        line = text[row.start : row.end].rstrip()
        if number == 0 and line != "---":
            return 0
        if number and line in ("---", "..."):
            return row.after
        if number > 100:
            return 0
    return 0
