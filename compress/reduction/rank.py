"""What a line is worth: by what it says, how rare its kind is, where it stands, and its block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from compress.reduction.critical import DETAIL, FAILURE, NOTICE, VERDICT
from compress.reduction.items import Item
from compress.reduction.profile import Truncate
from compress.reduction.templates import name_template, shape

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
_REPEATED = 60
"""Lines of one template that must stay; further ones are only near."""
_LONGEST_BLOCK = 12


@dataclass(frozen=True, slots=True)
class Worth:
    """``value``: rises with importance. ``must``: stays unless a budget forbids it. ``near``:
    critical, or context of a failure."""

    value: float
    must: bool
    near: bool


def rank(items: Sequence[Item], rule: Truncate, success: bool) -> list[Worth]:
    """The worth of each item. On success no line asks for context."""
    context = [0.0] * len(items) if success else _context(items)
    openings = _openings(items)
    standing = sum(not item.blank for item in items)
    sparse = sum(item.marks.located for item in items) < _SPARSE * standing
    outline = not success and sum(openings) < _SPARSE / 2 * standing
    middles = _middles(items)
    templates = [name_template(item.text) for item in items]
    shapes = [shape(item.text) for item in items]
    template_counts = Counter(templates)
    shape_counts = Counter(shapes)
    whole = log(1 + len(items))
    met: Counter[str] = Counter()
    result = []
    for position, item in enumerate(items):
        marks = item.marks
        if not any(map(str.isalnum, item.text)) and marks.level < DETAIL:
            result.append(Worth(0.0, False, False))
            continue
        middle = middles[position]
        template = templates[position]
        again = met[template] > _REPEATED
        must = not again and (marks.level == VERDICT or (marks.level == FAILURE and not middle))
        base = _WORTH.get(marks.level, 0.0)
        if success and marks.kept:
            base, must = max(base, _WORTH[VERDICT]), True
        located = marks.located and not success
        if located:
            base = max(base, _LOCATED) + (_BOTH if base else 0)
        tells = base > 0
        base = max(base, context[position])
        near = marks.level >= DETAIL or base >= _CONTEXT or (located and sparse)
        near = near or (outline and openings[position])
        if middle:
            base *= _FOREIGN
            near = must
        base /= 1 + _AGAIN * log(1 + met[template])
        met[template] += 1
        seen = (template_counts[template] + shape_counts[shapes[position]]) / 2
        extra = _RARE * (1 - log(1 + seen) / whole if whole else 0)
        from_end = len(items) - position
        if from_end <= rule.tail:
            extra += _TAIL * (1 - (from_end - 1) / (2 * rule.tail))
            base += _LAST_WORD if marks.level == VERDICT else 0
        if position < rule.head:
            extra += _HEAD * (1 - position / (2 * rule.head))
        if openings[position]:
            extra += _OPENING
        result.append(Worth(base + extra * (1 if tells else _PLAIN), must, near))
    return result


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


def _block(items: Sequence[Item], position: int, raise_to: object) -> None:
    """Lines that are indented deeper than the failure, right after it."""
    head = _indent(items[position].text)
    assert callable(raise_to)
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
