"""Where a text may be cut within a block: by Unicode properties, whatever the language.

Sentence ends follow UAX #29 (SB6 to SB11), as hints: an ASCII full stop, question or exclamation
mark counts only before white space (``a.b``, ``x!=y``, ``?q=1``), and a full stop not after a
single letter, a capitalised word of at most three letters, or one or two letters of a script
without case, when a capital or such a letter follows (initials and titles: *J. Smith*). Grapheme
clusters are those of UAX #29, as the package ``regex`` has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import regex

from compress.spans.values import Cut

_DOTS = r"\p{SB=ATerm}\p{SB=STerm}"
_TERMINATED = regex.compile(
    rf"(?P<mark>[{_DOTS}])[{_DOTS}\p{{SB=Close}}\p{{SB=Extend}}\p{{SB=Format}}*_`~]*"
    r"(?P<blank>(?:\p{SB=Sp}|\\[nrt])*)(?P<line>(?:\r\n|\r|\n|\p{SB=Sep})\s*)?"
)
_CONTINUED = regex.compile(
    rf"[^\p{{SB=OLetter}}\p{{SB=Upper}}\p{{SB=Lower}}\p{{SB=Sep}}\r\n{_DOTS}]{{0,40}}\p{{SB=Lower}}"
)
_RESUMED = regex.compile(rf"[\p{{SB=SContinue}}{_DOTS}]")
_UPPER = regex.compile(r"\p{SB=Close}*\p{SB=Upper}")
_SHORT = regex.compile(
    r"(?<![\p{L}\p{M}\p{N}'’.])(?:\p{L}|\p{Lu}\p{Ll}{1,2})$|(?:[\r\n]|\\n)[ \t]?\p{Nd}{1,3}$"
)
"""An initial or a title; the number of an item, at the beginning of a line."""
_UNCASED = regex.compile(r"\p{SB=Close}*\p{SB=OLetter}")
_SHORT_UNCASED = regex.compile(r"(?<![\p{L}\p{M}\p{N}'’.])(?:\p{Lo}\p{M}*){1,2}$")
_ASCII = frozenset(".?!")

_ENDS = r"\n\r\x0b\x0c\x85\u2028\u2029"
LINES = regex.compile(
    rf"(?:\r\n|[{_ENDS}])(?P<gap>(?:[^\S{_ENDS}]*+(?:\r\n|[{_ENDS}]))*+)(?P<indent>[ \t]*+)"
)
"""The end of a line, with the empty lines and the blanks that follow it. No blank is an end of a
line, too: a run of these would be looked through again from each of them."""

_CLUSTER = regex.compile(r"\X")
_JOINING = r"\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}"
_CONTROLS = r"\p{GCB=Control}"
_BETWEEN = regex.compile(
    rf"(?s)(?P<yes>\r[^\n]|[\n{_CONTROLS}].|\p{{GCB=Other}}[^{_JOINING}]|[^\r][\r\n{_CONTROLS}])"
    rf"|\p{{GCB=Other}}[{_JOINING}]"
)
"""Two scalars between which there is an edge of a cluster (``yes``), or none, whatever stands
before them (GB3 to GB5, GB9, GB9a, GB999)."""

_CUTS: tuple[tuple[Cut, Any], ...] = (
    ("line", regex.compile(r"(?:\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]|\\n)[^\S\r\n]*")),
    (
        "punctuation",
        regex.compile(
            r"(?V1)(?<=[\p{P}--[\p{Pd}\p{Ps}\p{Pi}\p{Pc}]])\s++"
            r"|[[\p{SB=STerm}\p{SB=SContinue}]--[\p{Pd}\x00-\x7f]]++\p{SB=Close}*+\s*+"
        ),
    ),
    ("blank", regex.compile(r"\s++|\u200b")),
)
"""What is cut behind where no sentence ends, the best first: the end of a line, punctuation before
a blank or of a script that needs none, a blank."""


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Positions between ``start`` and ``end`` where a sentence begins, the white space before it
    left with the one that ended."""
    for found in _TERMINATED.finditer(text, start, end):
        at = found.end()
        if at >= end:
            return
        if (found["line"] or _ends(text, found, start, end)) and is_edge(text, start, at):
            yield at


def _ends(text: str, found: Any, start: int, end: int) -> bool:
    at = found.end()
    if not found["blank"] and any(c in _ASCII for c in found[0]):
        return False
    if _RESUMED.match(text, at, end):
        return False
    if found["mark"] != ".":
        return not _CONTINUED.match(text, at, min(end, at + 1))
    if _CONTINUED.match(text, at, end):
        return False
    begins = found.start()
    before = text[max(start, begins - 10) : begins]
    if begins - 10 <= start:
        before = "\n" + before
    if _UNCASED.match(text, at, end):
        return not (_SHORT_UNCASED.search(before) or _SHORT.search(before))
    return not (_UPPER.match(text, at, end) and _SHORT.search(before))


def cuts_behind(text: str, start: int, end: int) -> Iterator[tuple[Cut, int]]:
    """For each kind of cut, the best first, its last place behind ``start`` and not behind
    ``end``."""
    last = max(sentence_ends(text, start, end), default=start)
    if last > start:
        yield "sentence", last
    for name, pattern in _CUTS:
        last = 0
        for found in pattern.finditer(text, start, end):
            last = found.end()
        while last > start and not is_edge(text, start, last):
            last -= 1
        if last > start:
            yield name, last


def is_edge(text: str, start: int, at: int) -> bool:
    """Whether no grapheme cluster is cut at ``at``; none is at ``start``, which is not behind."""
    return edge_before(text, start, at) == at


def edge_before(text: str, start: int, at: int) -> int:
    """The last edge of a grapheme cluster that is not behind ``at``; ``start`` is one."""
    if at >= len(text):
        return len(text)
    sure = at
    while sure > start and not _is_sure(text, sure):
        sure -= 1
    if sure == at:
        return at
    edge = sure
    # One scalar more tells whether the last cluster ends at ``at``. Of a slice: for flags the
    # pattern looks back as far as the text goes.
    for found in _CLUSTER.finditer(text[sure : at + 1]):
        if sure + found.end() > at:
            break
        edge = sure + found.end()
    return edge


def _is_sure(text: str, at: int) -> bool:
    found = _BETWEEN.match(text, at - 1, at + 1)
    return found is not None and found["yes"] is not None


def cluster_end(text: str, at: int, longest: int) -> int:
    """The end of the grapheme cluster that begins at ``at``, or ``at + longest``."""
    found = _CLUSTER.match(text[at : at + longest])
    return at + 1 if found is None else at + int(found.end())
