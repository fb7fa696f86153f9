"""The third stage: what stands again stands once, with its count and its last position.

Critical lines, and those with a location, are only taken together where they follow one another
and read the same: which failure stands under which heading is not to be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from compress.reduction.critical import DETAIL
from compress.reduction.items import Item
from compress.reduction.profile import Deduplicate
from compress.reduction.templates import number_template

_SHORTEST = 16
"""Characters below which a line is structure (a brace, a rule): it may stand many times."""


def deduplicate(items: Sequence[Item], rule: Deduplicate) -> tuple[list[Item], tuple[str, ...]]:
    """The items after the stage, and what was done."""
    found = list(items)
    notes = []
    if rule.identical:
        found, lines = _runs(found, rule.minimum)
        again = lines
        found, lines = _collapse(found, rule.minimum, lambda text: text, "×")
        if again + lines:
            notes.append(f"{again + lines} lines that stand again")
    if rule.templates:
        found, lines = _collapse(found, rule.minimum, number_template, "alike ×")
        if lines:
            notes.append(f"{lines} lines that differ in numbers only")
    return found, tuple(notes)


def _runs(items: Sequence[Item], minimum: int) -> tuple[list[Item], int]:
    result: list[Item] = []
    gone = 0
    start = 0
    while start < len(items):
        item = items[start]
        end = start + 1
        while (
            end < len(items) and items[end].text == item.text and not (item.note or items[end].note)
        ):
            end += 1
        if end - start >= minimum and not item.blank:
            gone += end - start - 1
            result.append(_spoken_for(item, items[start + 1 : end], "×"))
        else:
            result.extend(items[start:end])
        start = end
    return result, gone


def _collapse(
    items: Sequence[Item], minimum: int, template: Callable[[str], str], word: str
) -> tuple[list[Item], int]:
    classes: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        marks = item.marks
        if marks.level >= DETAIL or marks.located or item.part or len(item.text) < _SHORTEST:
            continue
        if item.note or item.absorbed:
            continue
        classes.setdefault(template(item.text), []).append(position)
    result: list[Item | None] = list(items)
    gone = 0
    for positions in classes.values():
        if len(positions) < minimum:
            continue
        others = [items[position] for position in positions[1:]]
        result[positions[0]] = _spoken_for(items[positions[0]], others, word)
        for position in positions[1:]:
            result[position] = None
        gone += len(others)
    return [item for item in result if item is not None], gone


def _spoken_for(item: Item, others: Sequence[Item], word: str) -> Item:
    absorbed = item.absorbed + tuple(i for other in others for i in (other.index, *other.absorbed))
    last = others[-1].index + 1
    return replace(item, absorbed=absorbed, note=f"{word}{len(others) + 1} to line {last}")
