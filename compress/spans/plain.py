"""Plain text by its structure: paragraphs, headings that are marked, items, turns, records.

A heading is a line that stands alone and is framed by the same marks (``= = Title = =``), or
underlined, or numbered without a closing mark, or in capitals. Turns are lines that begin with a
name and a colon, where most paragraphs do and the names return. A text in one line that is made of
records (``[{…}, {…}]``) is cut between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from compress.spans.draft import Draft, Line, lines
from compress.spans.values import BlockKind

WRAPPED = 120
"""Characters of the longest line of a text that was broken into lines to fit a width."""
_SHORT = 100
"""Characters of a heading."""
_FRAMED = regex.compile(
    r"[ \t]*(?P<mark>[=*#~+_-])(?P<more>(?:[ \t]?(?P=mark)){0,5})[ \t]+"
    r"(?P<title>[^=*#~+_\s-].*?)[ \t]+(?P=mark)(?P=more)[ \t]*$"
)
_UNDERLINE = regex.compile(r"[ \t]*([=\-~^*#])\1{2,}[ \t]*$")
_NUMBERED = regex.compile(r"\p{Nd}{1,3}(?:[.]\p{Nd}{1,3}){0,4}[.)]?[ \t]+\p{L}")
_CLOSED = regex.compile(r"[\p{SB=STerm}\p{SB=ATerm}\p{SB=SContinue};]\p{SB=Close}*[ \t]*$")
_CASED = regex.compile(r"[\p{Lu}\p{Ll}]")
_ITEM = regex.compile(r"(?P<blank>[ \t]*)(?:[-*+•‣◦–]|\p{Nd}{1,3}[.)]|\(\p{Alnum}{1,3}\))[ \t]+\S")
_TURN = regex.compile(
    r"[ \t]*(?:\[[^\]\n]{1,20}\][ \t]*)?(?P<name>[^\s:：()\[\]{}\"'/\\][^\n:：()\[\]{}\"/\\]{0,39})"
    r"(?:[ \t]*[(\[][^)\]\n]{1,20}[)\]])?[:：](?:[ \t]|$|(?<=：))"
)
_RECORD = regex.compile(r"[}\]][ \t]*,[ \t]*(?=[{\[])")
_LEAST_RECORDS = 2
_LEAST_TURNS = 4


def read(text: str) -> list[Draft]:
    """The blocks of a plain text."""
    rows = list(lines(text))
    filled = [
        row for row in rows if not text[row.start : row.end].isspace() and row.end > row.start
    ]
    if not filled:
        return [Draft(0, "unknown")]
    wrapped = _is_wrapped(filled)
    turns = _turns(text, filled)
    drafts: list[Draft] = []
    after_blank = True
    heading = False
    for index, row in enumerate(rows):
        line = text[row.start : row.end]
        if not line.strip():
            after_blank = True
            continue
        found = _block(text, rows, index, after_blank=after_blank, turns=turns)
        if found is None and (after_blank or heading or not wrapped):
            found = Draft(row.start, "paragraph")
        heading = found is not None and found.kind == "heading"
        if found is not None:
            drafts.append(found)
            if line.lstrip()[:1] in ("[", "{"):
                drafts.extend(_records(text, row))
        elif _UNDERLINE.match(line) and drafts and drafts[-1].kind == "heading":
            heading = True
        after_blank = False
    return drafts


def _is_wrapped(filled: Sequence[Line]) -> bool:
    """Whether the text was broken to fit a width, so that a line's end is no paragraph's."""
    lengths = sorted(row.end - row.start for row in filled)
    return lengths[int(len(lengths) * 0.98)] <= WRAPPED


def _block(
    text: str, rows: Sequence[Line], index: int, *, after_blank: bool, turns: frozenset[int]
) -> Draft | None:
    row = rows[index]
    line = text[row.start : min(row.end, row.start + 2 * _SHORT)]
    if row.start in turns:
        return Draft(row.start, "dialogue_turn")
    if level := _heading(text, rows, index, after_blank=after_blank):
        return Draft(row.start, "heading", level)
    if item := _ITEM.match(line):
        depth = 1 + len(item["blank"].expandtabs(4)) // 2
        return Draft(row.start, "list_item", depth)
    return None


def _heading(text: str, rows: Sequence[Line], index: int, *, after_blank: bool) -> int:
    """The level of a heading, from 1; 0 of what is none."""
    row = rows[index]
    if row.end - row.start > _SHORT:
        return 0
    line = text[row.start : row.end]
    if framed := _FRAMED.match(line):
        return 1 + sum(not c.isspace() for c in framed["more"])
    below = text[rows[index + 1].start : rows[index + 1].end] if index + 1 < len(rows) else ""
    if after_blank and below and not _UNDERLINE.match(line) and _UNDERLINE.match(below):
        return 1 if below.strip()[0] in "=#*" else 2
    if not after_blank or below.strip() or index + 1 >= len(rows) or _CLOSED.search(line):
        return 0
    if _NUMBERED.match(line):
        return 1 + line.split()[0].rstrip(".)").count(".")
    cased = _CASED.findall(line)
    return 2 if len(cased) >= 3 and all(c.isupper() for c in cased) else 0


def _turns(text: str, filled: Sequence[Line]) -> frozenset[int]:
    """Where a turn begins: lines with a name, if names return and half of the lines have one."""
    names: dict[int, str] = {}
    for row in filled:
        if found := _TURN.match(text, row.start, min(row.end, row.start + _SHORT)):
            names[row.start] = found["name"].strip()
    if len(names) < _LEAST_TURNS or 3 * len(names) < len(filled):
        return frozenset()
    if 2 * len(set(names.values())) > len(names):
        return frozenset()
    return frozenset(names)


def _records(text: str, row: Line) -> Iterator[Draft]:
    """Where further records begin in a line that is made of them."""
    found = [match.end() for match in _RECORD.finditer(text, row.start, row.end)]
    if len(found) + 1 >= _LEAST_RECORDS:
        kind: BlockKind = "dom_region"
        yield from (Draft(at, kind) for at in found)
