"""The sentence or line of a text that a query asks for, told by the pieces of both.

A piece is a word; where words are not parted by white space, two characters in a row. Of a longer
word its beginning is a piece too, since endings differ. No language, no list of words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import log

import regex

from compress.beliefs.fences import open_fence
from compress.beliefs.headline import ELLIPSIS, HEADLINE_LIMIT, WHITE, cut_before, headline
from compress.beliefs.sentences import sentence_ends

LOOKED_AT = 20_000
"""Characters of a text that are looked through."""
_RUN = regex.compile(
    r"(?P<pairs>[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Hangul}]"
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Hangul}\p{M}]*)"
    r"|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*"
)
_STEM, _ENDING = 4, 3
"""At least so many letters, or all but so many, begin the forms of a word."""
_NEAR = 0.5
"""What a word counts that only begins like one of the query's."""


def pieces(text: str) -> Iterator[str]:
    """The pieces of a text in order, repeats included."""
    for found in _RUN.finditer(text):
        run = found[0].casefold()
        if found["pairs"] and len(run) > 2:
            yield from (run[at : at + 2] for at in range(len(run) - 1))
        else:
            yield run


def query_headline(content: str, query: str, limit: int = HEADLINE_LIMIT) -> str:
    """The sentence or line that holds most of the query, the rarer pieces counting more; the
    first of equals. Where none holds any: the headline. An ellipsis stands where something was
    left out."""
    text = content.strip(WHITE)
    wanted = dict.fromkeys(pieces(query))
    parts = list(_parts(text[:LOOKED_AT]))
    if not wanted or not parts:
        return headline(content, limit)
    found = [_matches(text[start:stop], wanted) for start, stop in parts]
    frequency = Counter(piece for matches in found for piece in matches)
    scores = [
        sum(weight * log(1 + len(parts) / frequency[piece]) for piece, weight in matches.items())
        for matches in found
    ]
    best = max(range(len(parts)), key=lambda at: (scores[at], -at))
    if not scores[best]:
        return headline(content, limit)
    window = _window(text, *parts[best], wanted, limit)
    return headline(content, limit) if open_fence(window) else window


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Sentences, and lines, without the white space around them."""
    ends = {*sentence_ends(text), len(text)}
    ends.update(at for at, character in enumerate(text) if character == "\n")
    start = 0
    for end in sorted(ends):
        part = text[start:end]
        if part.strip(WHITE):
            left = start + len(part) - len(part.lstrip(WHITE))
            yield left, left + len(part.strip(WHITE))
        start = end


def _matches(part: str, wanted: dict[str, None]) -> dict[str, float]:
    """The pieces of the query that stand in a part, each with what it counts."""
    own = set(pieces(part))
    stems = {_stem(piece) for piece in own}
    found = {}
    for piece in wanted:
        if piece in own:
            found[piece] = 1.0
        elif len(piece) > _STEM and _stem(piece) in stems:
            found[piece] = _NEAR
    return found


def _stem(piece: str) -> str:
    return piece[: max(_STEM, len(piece) - _ENDING)]


def _window(text: str, start: int, stop: int, wanted: dict[str, None], limit: int) -> str:
    """The part, or of a longer one what stands around the first piece of the query in it."""
    head = ELLIPSIS if start else ""
    if stop - start + len(head) + 1 > limit:
        at = _first(text, start, stop, wanted)
        if at - start > limit // 2:
            back = text[start : at - limit // 4]
            start += next((i for i in range(len(back) - 1, 0, -1) if back[i] in WHITE), len(back))
            start += len(text[start:at]) - len(text[start:at].lstrip(WHITE))
            head = ELLIPSIS
        room = limit - len(head) - 1
        if stop - start > room:
            stop = start + cut_before(text[start : start + room + 1], room)
    tail = ELLIPSIS if text[stop:].strip(WHITE) else ""
    return f"{head}{text[start:stop].rstrip(WHITE)}{tail}"


def _first(text: str, start: int, stop: int, wanted: dict[str, None]) -> int:
    for found in _RUN.finditer(text, start, stop):
        if _matches(found[0], wanted):
            return int(found.start())
    return start
