"""A Markdown document cut at its own structure: its title, its lead, its steps.

What is a step follows from structure alone, never from words. The first rule that finds two:

1. headings of one level that are numbered one after the other (``### 1. …``, ``### Task 1: …``);
2. list items with a box (``- [ ]``), the outermost ones;
3. the items of the only ordered list at the outermost level;
4. the headings of the first level that has two;
5. the items of the longest list at the outermost level.

Markdown is read by markdown-it-py (CommonMark), so that what stands in a code fence is no step.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from compress.artifacts.values import StepStatus

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

TITLE = 200
"""Characters of a title."""
MOST_STEPS = 1_000
_READ = 400_000
"""Characters of a document whose structure is read."""
_BOX = re.compile(r"\[([ xX])\](?:\s+|$)")
_ENUMERATED = re.compile(r"\d{1,4}[.):]?\s+(?=\S)")
_INLINE_READ = 400
"""Characters of a line that become a title, before markup is taken away."""
_LEAD_READ = 4_000
_NUMBER = re.compile(r"([^\d\n]{0,40}?)(\d{1,4})(?!\d)")


@dataclass(frozen=True, slots=True)
class Section:
    """One step: the lines ``start`` to ``stop - 1`` of the document, counted from 0."""

    title: str
    status: StepStatus
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Document:
    """``lead``: the paragraph below the title, in one line, or nothing. ``headings``: all of them,
    but for the title. ``parted``: the steps are sections that nothing counts (rule 4): parts to
    read, not things to do. ``lines``: the document, its line ends made alike."""

    title: str
    lead: str
    headings: tuple[str, ...]
    steps: tuple[Section, ...]
    parted: bool
    lines: tuple[str, ...]

    def text_of(self, step: Section) -> str:
        """The lines of a step."""
        return "\n".join(self.lines[step.start : step.stop])


@dataclass(frozen=True, slots=True)
class _Heading:
    title: str
    level: int
    start: int
    stop: int
    """Where its section ends."""
    box: StepStatus | None


@dataclass(frozen=True, slots=True)
class _Item:
    title: str
    start: int
    stop: int
    depth: int
    """Items that it stands in."""
    list: int
    """Number of its list."""
    ordered: bool
    box: StepStatus | None


@cache
def _inline() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - most sessions have no plan to read

    return MarkdownIt("commonmark")


@cache
def _blocks() -> MarkdownIt:
    """What stands within a line is read for titles alone: in hostile text it can take for ever."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - as above

    return MarkdownIt("commonmark").disable("inline")


def read(text: str) -> Document:
    """The structure of a document. Never raises."""
    lines = tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    hidden = _front_matter(lines)
    body = "\n".join([*("" for _ in range(hidden)), *lines[hidden:]])[:_READ]
    tokens = _blocks().parse(body)
    headings = _headings(tokens, len(lines))
    items = list(_items(tokens))
    title = _title(headings)
    rest = [heading for heading in headings if heading is not title]
    steps, parted = _steps(rest, items)
    return Document(
        title=_plain(title.title) if title is not None else "",
        lead=_lead(tokens, title),
        headings=tuple(_plain(heading.title) for heading in rest[:MOST_STEPS]),
        steps=tuple(replace(s, title=_plain(s.title)) for s in steps[:MOST_STEPS]),
        parted=parted,
        lines=lines,
    )


def _front_matter(lines: Sequence[str]) -> int:
    """Lines of a block of settings between two ``---`` at the very beginning."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    ends = (n for n in range(1, min(len(lines), 100)) if lines[n].rstrip() in ("---", "..."))
    return next(ends, -1) + 1


def _steps(headings: Sequence[_Heading], items: Sequence[_Item]) -> tuple[list[Section], bool]:
    counted = _numbered(headings)
    if counted:
        return [_of_heading(heading, items) for heading in counted], False
    boxed = _outermost([item for item in items if item.box is not None])
    if len(boxed) > 1:
        return [_of_item(item, items) for item in boxed], False
    lists: dict[int, list[_Item]] = {}
    for item in items:
        if item.depth == 0:
            lists.setdefault(item.list, []).append(item)
    ordered = [found for found in lists.values() if found[0].ordered and len(found) > 1]
    if len(ordered) == 1:
        return [_of_item(item, items) for item in ordered[0]], False
    for level in sorted({heading.level for heading in headings}):
        alike = [heading for heading in headings if heading.level == level]
        if len(alike) > 1:
            return [_of_heading(heading, items) for heading in alike], True
    longest = max(lists.values(), key=len, default=[])
    return ([_of_item(item, items) for item in longest] if len(longest) > 1 else []), False


def _numbered(headings: Sequence[_Heading]) -> list[_Heading]:
    """The first group of headings of one level, with the same words before their numbers, that
    counts 1, 2, 3 … or 0, 1, 2 …"""
    groups: dict[tuple[int, str], list[tuple[int, _Heading]]] = {}
    for heading in headings:
        found = _NUMBER.match(heading.title)
        if found is None:
            continue
        number = int(found[2])
        group = groups.setdefault((heading.level, found[1].strip().casefold()), [])
        if number == group[-1][0] + 1 if group else number in (0, 1):
            group.append((number, heading))
    counted = next((group for group in groups.values() if len(group) > 1), [])
    return [
        replace(heading, title=_ENUMERATED.sub("", heading.title, count=1))
        if number == place and _ENUMERATED.match(heading.title)
        else heading
        for place, (number, heading) in enumerate(counted, 1)
    ]


def _outermost(items: Sequence[_Item]) -> list[_Item]:
    found: list[_Item] = []
    for item in items:
        if not found or item.start >= found[-1].stop:
            found.append(item)
    return found


def _of_heading(heading: _Heading, items: Sequence[_Item]) -> Section:
    status = heading.box or _within(heading.start, heading.stop, items)
    return Section(heading.title, status, heading.start, heading.stop)


def _of_item(item: _Item, items: Sequence[_Item]) -> Section:
    status = item.box or _within(item.start, item.stop, items)
    return Section(item.title, status, item.start, item.stop)


def _within(start: int, stop: int, items: Sequence[_Item]) -> StepStatus:
    """What the boxes in these lines say together."""
    first, last = (bisect_left(items, line, key=lambda item: item.start) for line in (start, stop))
    boxes = {item.box for item in items[first:last] if item.box is not None}
    if not boxes:
        return "unknown"
    return boxes.pop() if len(boxes) == 1 else "in_progress"


# -- what the parser found -----------------------------------------------------------------------


def _headings(tokens: Sequence[Token], lines: int) -> list[_Heading]:
    found: list[tuple[str, int, int, StepStatus | None]] = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            box, title = _boxed(inline)
            found.append((title, int(token.tag[1:]), token.map[0], box))
    stops = [lines] * len(found)
    unended: list[int] = []
    for place, (_, level, start, _) in enumerate(found):
        while unended and found[unended[-1]][1] >= level:
            stops[unended.pop()] = start
        unended.append(place)
    return [
        _Heading(title, level, start, stop, box)
        for (title, level, start, box), stop in zip(found, stops, strict=True)
    ]


def _title(headings: Sequence[_Heading]) -> _Heading | None:
    """The first heading, where it stands above all others."""
    if not headings:
        return None
    first, rest = headings[0], headings[1:]
    return first if all(other.level > first.level for other in rest) else None


def _lead(tokens: Sequence[Token], title: _Heading | None) -> str:
    """The paragraph that follows the title, or begins the document."""
    place = 0
    if title is not None:
        ends = (n for n, t in enumerate(tokens) if t.type == "heading_close" and t.level == 0)
        place = next(ends, -1) + 1
    following = tokens[place : place + 2]
    if len(following) == 2 and following[0].type == "paragraph_open":
        return " ".join(_words(following[1].content[:_LEAD_READ]).split())
    return ""


def _items(tokens: Sequence[Token]) -> Iterator[_Item]:
    """The items of all lists that stand in no quotation, in order of their first lines."""
    open_lists: list[tuple[int, bool]] = []
    number = quoted = 0
    for place, token in enumerate(tokens):
        quoted += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if token.type in ("ordered_list_open", "bullet_list_open"):
            number += 1
            open_lists.append((number, token.type == "ordered_list_open"))
        elif token.type in ("ordered_list_close", "bullet_list_close"):
            open_lists.pop()
        elif token.type == "list_item_open" and token.map is not None and not quoted:
            box, title = _first_words(tokens, place)
            own, ordered = open_lists[-1]
            start, stop = token.map
            yield _Item(title, start, stop, len(open_lists) - 1, own, ordered, box)


def _first_words(tokens: Sequence[Token], place: int) -> tuple[StepStatus | None, str]:
    for token in tokens[place + 1 : place + 3]:
        if token.type == "inline":
            return _boxed(token)
    return None, ""


def _boxed(inline: Token) -> tuple[StepStatus | None, str]:
    """The box that a line begins with, and the line without it, its markup included."""
    line = inline.content.split("\n", 1)[0][:_INLINE_READ].strip()
    box = _BOX.match(line)
    if box is None:
        return None, line
    return ("pending" if box[1] == " " else "completed"), line[len(box[0]) :]


def _plain(text: str) -> str:
    """A title: the words of a line without its markup."""
    return " ".join(_words(text).split())[:TITLE]


def _words(text: str) -> str:
    """The words of a text without emphasis, links and the like."""
    parts: list[str] = []
    for token in _inline().parseInline(text):
        for child in token.children or ():
            if child.type in ("softbreak", "hardbreak"):
                parts.append(" ")
            elif child.type in ("text", "code_inline", "html_inline"):
                parts.append(child.content)
    return "".join(parts)
