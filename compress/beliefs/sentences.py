"""Sentence ends of any script, by properties of Unicode and the shape of what stands around them.

A mark of ``Sentence_Terminal`` ends a sentence (UAX #29). Those of ASCII need white space behind
them, since programs use them too. A full stop is ambiguous; it ends none

* behind a single letter, or letters with stops between: ``J. Doe``, ``e.g.``, ``т. е.``, ``डॉ.``;
* behind a short word that cannot be one, for it has no vowel: ``Dr.``, ``vs.``, ``стр.``;
* behind a short word with a number behind it (``No. 5``), or with a small letter (``etc. and``);
* behind a short capitalised word amid a sentence, before another capital: ``met Prof. Lee``;
* behind a number at the begin of a line, which counts it;
* in scripts that write none, like Thai.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import regex

_END = regex.compile(
    r"(?P<marks>(?:[\p{Sentence_Terminal}\u037e]|(?<=\p{Greek});)[\p{M}\p{Cf}]*)+"
    r"(?P<close>[\p{Pe}\p{Pf}\p{Pi}\"'*_`~]*)"
)
_SPACE = regex.compile(r"\p{White_Space}")
_NEXT = regex.compile(r"[\p{White_Space}\p{P}\p{S}\p{Cf}]*(?P<first>.)?", regex.DOTALL)
_BEFORE = regex.compile(r"(?r)(?P<word>[\p{L}\p{M}\p{N}\p{Cf}.]*)")
_DOTTED = regex.compile(r"(?:\p{L}\p{M}*){1,2}(?:\.(?:\p{L}\p{M}*){1,2})+")
_STOPLESS = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}\p{Han}]\p{M}*\Z")
_GRAPHEME = regex.compile(r"\X")
_ALPHABETS = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{M}]+")
_VOWELS = frozenset("aeiouyæœøıаеиоуыэюяіє")
_STOPS = ".․﹒．"
_SHORT = 4
"""Letters of a word that may be an abbreviation."""
_LOOKED_BACK, _LOOKED_AHEAD = 64, 64


def sentence_ends(text: str, start: int = 0, stop: int | None = None) -> Iterator[int]:
    """The places right behind each sentence, its closing quotes and brackets included, in order,
    of those that end within ``start`` … ``stop``. The end of the text is none by itself."""
    stop = len(text) if stop is None else min(stop, len(text))
    begin = start
    for found in _END.finditer(text, start, min(len(text), stop + _LOOKED_AHEAD)):
        if found.end() > stop:
            return
        if _ends(text, found, begin):
            begin = found.end()
            yield begin


def _ends(text: str, found: regex.Match[str], begin: int) -> bool:
    end, mark = found.end(), found["marks"][0]
    if _GRAPHEME.match(text, end - 1).end() > end:
        return False
    if not (end == len(text) or _SPACE.match(text, end)):
        # Marks of other scripts need no white space; a full stop in a number is a point.
        return not mark.isascii() and mark not in _STOPS[:3] and not text[end].isnumeric()
    return (not mark.isascii() and mark not in _STOPS) or _ends_before_space(text, found, begin)


def _ends_before_space(text: str, found: regex.Match[str], begin: int) -> bool:
    end = found.end()
    ahead = _NEXT.match(text, end, end + _LOOKED_AHEAD)
    following = ahead["first"] or ""
    if found.start() == 0 or _SPACE.match(text, found.start() - 1):
        # A mark by itself: of text whose words are parted from it, or of a command or a formula.
        begins = not following.islower() and text[end : ahead.start("first")].isspace()
        return begins or not following
    if found["marks"][0] not in _STOPS:
        return True
    if found["close"] or len(found.captures("marks")) > 1:
        return not following.islower()
    return not _is_abbreviation(text, found.start(), begin, following)


def _is_abbreviation(text: str, at: int, begin: int, following: str) -> bool:
    """Whether the full stop at this place belongs to the word before it; never at the end."""
    word = _BEFORE.match(text, max(0, at - _LOOKED_BACK), at)["word"].lstrip(".")
    start = at - len(word)
    if not word or not following:
        return False
    if word.isnumeric():
        return _begins_line(text, start)
    length = len(_GRAPHEME.findall(word))
    if length == 1 or _STOPLESS.search(word) or _DOTTED.fullmatch(word):
        return True
    if length > _SHORT or "." in word:
        return False
    return (
        following.isnumeric()
        or following.islower()
        or _has_no_vowel(word)
        or (_is_capitalised(word) and following.isupper() and _says(text, begin, start))
    )


def _begins_line(text: str, at: int) -> bool:
    """Whether nothing but marks of a list stands before this place in its line."""
    line = text[max(0, at - _LOOKED_BACK) : at]
    return (at <= _LOOKED_BACK or "\n" in line) and not _says(line, line.rfind("\n") + 1, len(line))


def _says(text: str, start: int, stop: int) -> bool:
    return any(map(str.isalnum, text[max(start, stop - _LOOKED_BACK) : stop]))


def _is_capitalised(word: str) -> bool:
    return word[:1].isupper() and word[1:].islower() and len(word) > 2


def _has_no_vowel(word: str) -> bool:
    """Of letters with vowels; a word in capitals is a name."""
    if word.isupper() or not _ALPHABETS.fullmatch(word):
        return False
    return _VOWELS.isdisjoint(unicodedata.normalize("NFD", word.casefold()))
