"""Fenced blocks of Markdown (CommonMark 0.31, section 4.5): where they stand, what is left open."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"^ {0,3}(?P<marks>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)


def fences(text: str, reach: int | None = None) -> Iterator[tuple[int, int]]:
    """The ranges of balanced fences, in order: from the opening marks to the end of the closing
    ones. One that is never closed is passed over, as text. Only those that begin before ``reach``.
    """
    for opened, closed in _pairs(text):
        if reach is not None and opened.start("marks") >= reach:
            return
        if closed is not None:
            yield opened.start("marks"), closed.end("marks")


def open_fence(text: str) -> str | None:
    """The marks that would close the first fence that nothing in the text closes, if there is
    one."""
    return next((opened["marks"] for opened, closed in _pairs(text) if closed is None), None)


def is_fence_line(line: str) -> bool:
    """Whether a line opens or closes a fence."""
    return _FENCE.fullmatch(line) is not None


def fenced(text: str) -> str:
    """The text in a fence that nothing in it can close, the last line ended."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{marks}\n{text}{end}{marks}\n"


def _pairs(text: str) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    """Each line that may open a fence, with the one that closes it."""
    if "```" not in text and "~~~" not in text:
        return
    at = 0
    never: dict[str, int] = {}
    """Character → from how many marks on nothing further down closes a fence."""
    while opened := _FENCE.search(text, at):
        marks = opened["marks"]
        closed = None
        if len(marks) < never.get(marks[0], len(marks) + 1):
            closed = _closing(text, opened.end(), marks)
            if closed is None:
                never[marks[0]] = len(marks)
        yield opened, closed
        at = (closed or opened).end()


def _closing(text: str, at: int, marks: str) -> re.Match[str] | None:
    for found in _FENCE.finditer(text, at):
        same = found["marks"][0] == marks[0] and len(found["marks"]) >= len(marks)
        if same and not found["info"].strip():
            return found
    return None
