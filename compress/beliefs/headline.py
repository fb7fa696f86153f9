"""The headline of a text: its first sentence, or as much of it as a headline may have."""

from __future__ import annotations

import regex

from compress.beliefs.fences import fences, is_fence_line, open_fence
from compress.beliefs.sentences import sentence_ends

HEADLINE_LIMIT = 240
"""Characters (Unicode scalars) of a headline, its ellipsis included."""
ELLIPSIS = "…"
WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""All of Unicode's white space."""
_GRAPHEME = regex.compile(r"\X")


def headline(content: str, limit: int = HEADLINE_LIMIT) -> str:
    """The headline of a text; of white space, nothing.

    A text that is one fenced block stays whole, however long. Else it ends at the first sentence
    end outside a balanced fence; else, where the text is longer than the limit, before the last
    white space within it; else at the last boundary of a grapheme. The ellipsis stands only where
    something was left out, and no fence is left open.
    """
    text = content.strip(WHITE)
    blocks = list(fences(text, limit))
    if blocks and blocks[0] == (0, len(text)):
        return text
    for end in sentence_ends(text, 0, limit):
        inside = any(start < end <= stop for start, stop in blocks)
        if not inside and end + (end < len(text)) <= limit:
            return _ended(text, end, limit)
    if len(text) <= limit:
        return _ended(text, len(text), limit)
    return _ended(text, _cut(text, limit - 1, blocks), limit)


def cut_before(text: str, most: int) -> int:
    """Where to cut a text that is longer than so many characters: at the last white space there or
    before, else at the last boundary of a grapheme, else at the limit."""
    for at in range(most, 0, -1):
        if text[at] in WHITE:
            return at
    end = 0
    for found in _GRAPHEME.finditer(text):
        if found.end() > most:
            break
        end = found.end()
    return end or most


def _cut(text: str, most: int, blocks: list[tuple[int, int]]) -> int:
    end = cut_before(text, most)
    # What stands before a fence says more than a fence that is cut.
    return next((start for start, stop in blocks if 0 < start < end < stop), end)


def _ended(text: str, end: int, limit: int) -> str:
    """The text up to there, with what it then needs at its end, and shorter where that takes it."""
    while True:
        result = text[:end].rstrip(WHITE)
        if len(result) < len(text):
            line = result[result.rfind("\n") + 1 :]
            result += "\n" + ELLIPSIS if is_fence_line(line) else ELLIPSIS
        marks = open_fence(result)
        if marks is not None:
            result += "\n" + marks
        if len(result) <= limit:
            return result
        excess = len(result) - limit
        if end <= excess:
            # Nothing but the marks of a fence has room: what they mark is told without them.
            return headline(text.lstrip(text[0]), limit)
        end = cut_before(text, end - excess)
