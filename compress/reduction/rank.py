"""What a line is worth: by what it says, how rare its kind is, where it stands, and its block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

from compress.reduction.critical import DETAIL, FAILURE, NOTICE, VERDICT
from compress.reduction.items import Item
from compress.reduction.profile import Truncate
from compress.reduction.templates import name_template, number_template, shape

_WORTH = {VERDICT: 100.0, FAILURE: 80.0, DETAIL: 45.0, NOTICE: 45.0}
_LOCATED = 40.0
_BOTH = 12.0
"""A line that is critical and has a location tells more than either."""
_CONTEXT = 30.0
_BLOCK = 14.0
_RARE = 20.0
_TAIL = 16.0
_HEAD = 10.0
_OPENING = 18.0
_FOREIGN = 0.2
_SPARSE = 0.4
"""Locations are the matter of an output where fewer of its lines have one; a listing has them all
over. Likewise openings of blocks."""
_LAST_WORD = 300.0
"""A verdict among the last lines: whatever the budget, it is what the output comes to."""
_PLAIN = 0.05
_AGAIN = 1.0
"""How fast the worth of the k-th line of one template falls: ÷ (1 + this × ln k)."""
_COPIED = 0.3
"""What a line is worth that reads like one before."""
_FEWEST_LETTERS = 6
_REPEATED = 60
"""Critical lines of one kind that must stay; further ones are only near."""
_LONGEST_BLOCK = 12


@dataclass(frozen=True, slots=True)
class Worth:
    """``value``: rises with importance. ``must``: stays unless a budget forbids it. ``near``:
    critical, or context of a failure. ``tells``: critical in any way, or located."""

    value: float
    must: bool
    near: bool
    tells: bool


def rank(items: Sequence[Item], rule: Truncate, success: bool) -> list[Worth]:
    """The worth of each item. On success no line asks for context, and none has a location."""
    places = _Places(items, rule, success)
    rarity = _Rarity(items)
    return [_worth(item, position, places, rarity) for position, item in enumerate(items)]


class _Places:
    """What stands around each item, and whether that is rare enough to tell something."""

    def __init__(self, items: Sequence[Item], rule: Truncate, success: bool) -> None:
        standing = sum(not item.blank for item in items)
        self._total = len(items)
        self._rule = rule
        self.success = success
        self.context = [0.0] * len(items) if success else _context(items)
        self.openings = _openings(items)
        self.middles = _middles(items)
        self.located = (
            not success and sum(item.marks.located for item in items) < _SPARSE * standing
        )
        self.detailed = sum(item.marks.level == DETAIL for item in items) < _SPARSE * standing
        self.outlined = not success and sum(self.openings) < _SPARSE / 2 * standing

    def near_end(self, position: int) -> bool:
        """Whether an item is among the last lines."""
        return self._total - position <= self._rule.tail

    def bonus(self, position: int) -> float:
        """What an item is worth for standing at an end, half of it where that end's reach ends."""
        head, tail = self._rule.head, self._rule.tail
        last = self._total - position - 1
        bonus = _HEAD * (1 - position / (2 * head)) if position < head else 0.0
        return bonus + (_TAIL * (1 - last / (2 * tail)) if last < tail else 0.0)


class _Rarity:
    """How many lines are alike. ``again`` counts in the order in which it is asked."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._templates = [name_template(item.text) for item in items]
        self._shapes = [shape(item.text) for item in items]
        self._template_counts = Counter(self._templates)
        self._shape_counts = Counter(self._shapes)
        self._whole = log(1 + len(items))
        self._met: Counter[str] = Counter()
        self._critical: Counter[str] = Counter()
        first = {item.text: position for position, item in reversed(list(enumerate(items)))}
        self._copies = [first[item.text] < position for position, item in enumerate(items)]

    def of(self, position: int) -> float:
        """0 where all lines are alike, towards 1 where none is."""
        alike = self._template_counts[self._templates[position]]
        alike += self._shape_counts[self._shapes[position]]
        return 1 - log(1 + alike / 2) / self._whole

    def again(self, position: int) -> int:
        """How many items of its template came before; 0 where the template has hardly a word, so
        that what varies is all that it says (a mere location)."""
        template = self._templates[position]
        if sum(map(str.isalpha, template)) < _FEWEST_LETTERS:
            return 0
        met = self._met[template]
        self._met[template] += 1
        return met

    def copied(self, position: int) -> bool:
        """Whether the very same line came before."""
        return self._copies[position]

    def repeats(self, item: Item) -> bool:
        """Whether a critical line has come so often that one more says nothing new: a verdict
        with these very counts, a failure with other numbers."""
        verdict = item.marks.level == VERDICT
        key = item.text if verdict else number_template(item.text)
        self._critical[key] += 1
        return self._critical[key] > _REPEATED


def _worth(item: Item, position: int, places: _Places, rarity: _Rarity) -> Worth:
    marks = item.marks
    if marks.level < DETAIL and not any(map(str.isalnum, item.text)):
        return Worth(0.0, must=False, near=False, tells=False)
    again = rarity.again(position)
    middle = places.middles[position]
    must = marks.level == VERDICT or (marks.level == FAILURE and not middle)
    must = must and not rarity.repeats(item)
    base = _WORTH.get(marks.level, 0.0)
    if places.success and marks.kept:
        base, must = max(base, _WORTH[VERDICT]), True
    if marks.located and not places.success:
        base = max(base, _LOCATED) + (_BOTH if base else 0)
    tells = base > 0
    near = must or (
        not middle
        and (
            marks.level >= FAILURE
            or places.context[position] >= _CONTEXT
            or (marks.level == DETAIL and places.detailed)
            or (marks.located and places.located)
            or (places.openings[position] and places.outlined)
        )
    )
    base = max(base, places.context[position]) * (_FOREIGN if middle else 1)
    base /= 1 + _AGAIN * log(1 + again)
    if rarity.copied(position):
        base *= _COPIED
    if marks.level == VERDICT and places.near_end(position):
        base += _LAST_WORD
    extra = _RARE * rarity.of(position) + places.bonus(position)
    extra += _OPENING if places.openings[position] else 0
    return Worth(base + extra * (1 if tells else _PLAIN), must=must, near=near, tells=tells)


def _context(items: Sequence[Item]) -> list[float]:
    """What the lines around failures are worth for standing there."""
    worth = [0.0] * len(items)

    def raise_to(position: int, value: float) -> None:
        worth[position] = max(worth[position], value)

    for position, item in enumerate(items):
        marks = item.marks
        if marks.level < FAILURE or not (marks.before or marks.after or marks.failing):
            continue
        for step in range(1, marks.before + 1):
            if position >= step and not items[position - step].blank:
                raise_to(position - step, _CONTEXT)
        until = marks.until
        at = position + 1
        taken = 0
        while at < len(items) and taken < marks.after:
            text = items[at].text
            if until is not None and until.matches(text):
                break
            if any(map(str.isalnum, text)):
                raise_to(at, _CONTEXT + 4 - min(2 * taken, 4))
                taken += 1
            elif items[at].blank and until is None:
                break
            at += 1
        _block(items, position, raise_to)
    return worth


def _block(items: Sequence[Item], position: int, raise_to: Callable[[int, float], None]) -> None:
    """Lines that are indented deeper than the failure, right after it."""
    head = _indent(items[position].text)
    for at in range(position + 1, min(len(items), position + 1 + _LONGEST_BLOCK)):
        if items[at].blank or _indent(items[at].text) <= head:
            return
        raise_to(at, _BLOCK)


def _openings(items: Sequence[Item]) -> list[bool]:
    """Which items open a block: after a blank line, with a line below that is not blank and not
    indented less."""
    found = [False] * len(items)
    for position in range(len(items) - 1):
        item, below = items[position], items[position + 1]
        if item.blank or below.blank or item.part:
            continue
        opens = position == 0 or items[position - 1].blank
        found[position] = opens and _indent(below.text) >= _indent(item.text)
    return found


def _middles(items: Sequence[Item]) -> list[bool]:
    """Which items are foreign frames with frames on both sides: a stack's ends tell most."""
    frames = [item.marks.frame for item in items]
    return [
        item.marks.foreign
        and 0 < position < len(items) - 1
        and frames[position - 1 : position + 2] == [True] * 3
        for position, item in enumerate(items)
    ]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
