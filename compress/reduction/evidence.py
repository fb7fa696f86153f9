"""How likely a line is to be what someone looks for in an output: a message, or a part of one.

By shape and neighbours, beside the levels that the profile's patterns give. A place with words
behind it, words rather than symbols, a code, a caret or a place in the line above: each shifts the
odds. The weights lie between those of two logistic regressions: on messages that the tests of
parsers demand of compilers' and linters' outputs, and on lines of tools' outputs that may not be
lost. They are rounded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from compress.reduction.critical import DETAIL, FAILURE, NOTICE, VERDICT
from compress.reduction.items import Item
from compress.reduction.places import Place, place_in
from compress.reduction.templates import name_template

_BIAS = -2.8
_LEVELS = {VERDICT: 0.5, FAILURE: 2.0, DETAIL: 1.2, NOTICE: 0.8}
_LAST_WORD = 1.2
"""A verdict among the last lines."""
_END = 0.5
_PLACED = 1.2
_PLACED_MESSAGE = 0.8
_SHARE_OF_WORDS = 0.8
_WORDS = 0.5
_ENOUGH_WORDS = 6
_CODED = 0.6
_GOES_ON, _SAYS_IT = 1.2, 2.5
"""Under a line that names a place: whether that one has words itself, or leaves them to this."""
_BEHIND_CARET = 1.0
_OVER_CARET = -0.7
"""A line of source code, of which the message above or below tells."""
_OPEN_END = -0.8
"""A line that ends with three dots or a colon: what happens is still to come."""
_NO_COLON = -1.0
_BESIDE = -1.5
"""A line without a place where others have one, and words behind it."""
_FEW_WORDS = -1.0
_AGAIN = -0.7
_COPIED, _COPIED_IN_PART = 0.05, 0.4
"""What a line is worth whose message came before, or the end of whose message did."""

_WORD = re.compile(r"[\W_]*+[^\W\d_]{2,}+(?:['’-][^\W\d_]++)*+[\W_]*+")
_CODE = re.compile(r"\b[A-Z]{1,8}-?\d{2,6}\b|#\d|\[[\w-]++[-/][\w./-]++\]$")
_MESSAGE = 3
"""Words that make a message."""


def evidence(items: Sequence[Item], tail: int, extra: Sequence[float] | None = None) -> list[float]:
    """The probability of each item, 0 for what has no letter and no digit; less for what was said
    before. ``tail``: how many of the last lines count as the end. ``extra``: what is added to each
    before it is made less."""
    lines = [_Line.of(item) for item in items]
    beside = any(line.place and line.words >= _MESSAGE for line in lines)
    met: Counter[str] = Counter()
    said: set[str] = set()
    found = []
    for position, line in enumerate(lines):
        if not any(map(str.isalnum, line.text)):
            found.append(0.0)
            continue
        odds = line.alone()
        above = lines[position - 1].leads_to(line) if position else 0.0
        if position + 1 < len(lines) and lines[position + 1].caret and not line.placed:
            odds += _OVER_CARET
        if line.plain and not line.placed and not above and beside:
            odds += _BESIDE
        if len(items) - position <= tail:
            odds += _END + _LAST_WORD * (line.item.marks.level == VERDICT)
        template = name_template(line.text)
        odds += above + _AGAIN * log(1 + met[template])
        met[template] += 1
        again = _COPIED if line.said in said else _COPIED_IN_PART if line.end in said else 1.0
        said.update((line.said, line.end))
        added = 0.0 if extra is None else extra[position]
        found.append(again * (1 / (1 + exp(-odds)) + added))
    return found


def words_in(text: str) -> int:
    """How many of a text's parts between blanks are words."""
    return sum(_WORD.fullmatch(part) is not None for part in text.split())


def is_message(text: str) -> bool:
    """Whether a text has words enough to say something."""
    return words_in(text) >= _MESSAGE


@dataclass(frozen=True, slots=True)
class _Line:
    """``said``: the text behind the place; ``end``: what of it follows the last colon, if that is
    a message too. Other lines may repeat either."""

    item: Item
    place: Place | None
    said: str
    end: str
    words: int

    @staticmethod
    def of(item: Item) -> _Line:
        place = place_in(item.text)
        said = (item.text if place is None else item.text[place.said :]).strip()
        last = said.rsplit(": ", 1)[-1]
        return _Line(item, place, said, last if is_message(last) else said, words_in(said))

    @property
    def text(self) -> str:
        return self.item.text

    @property
    def placed(self) -> bool:
        return self.place is not None or self.item.marks.located

    @property
    def plain(self) -> bool:
        return self.item.marks.level < DETAIL

    @property
    def caret(self) -> bool:
        return "^" in self.text and not any(map(str.isalnum, self.text))

    def alone(self) -> float:
        """The log-odds that the line has by itself."""
        odds = _BIAS + _LEVELS.get(self.item.marks.level, 0.0)
        odds += _PLACED * self.placed
        odds += _PLACED_MESSAGE * (self.place is not None and self.words >= _MESSAGE)
        odds += _SHARE_OF_WORDS * self.words / max(len(self.said.split()), 1)
        odds += _WORDS * min(self.words, _ENOUGH_WORDS) / _ENOUGH_WORDS
        odds += _CODED * (_CODE.search(self.text) is not None)
        odds += _OPEN_END * self.text.rstrip().endswith(("...", "…", ":"))
        if self.plain:
            odds += _NO_COLON * (":" not in self.text)
            odds += _FEW_WORDS * (self.words < 2 and not self.placed)
        return odds

    def leads_to(self, below: _Line) -> float:
        """What it adds to the line below: it is a caret, or names a place of which that one goes
        on to speak."""
        if self.caret:
            return _BEHIND_CARET
        if not self.placed:
            return 0.0
        if self.text.rstrip().endswith(":"):
            return _SAYS_IT if self.words < _MESSAGE else _GOES_ON
        return _GOES_ON if _indent(below.text) > _indent(self.text) else 0.0


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
