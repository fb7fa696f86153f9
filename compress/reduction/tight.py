"""A budget of a few dozen tokens: the lines that most likely say what happened, in few words.

Of each line there are shorter forms: without the folders before a file's name and without a time
at its begin; or only what it says of a place. The selection of lines and forms that is worth most
is looked for. Where all that is critical fits, ranks say what a line is worth, else evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from compress.reduction.counting import LineCounts
from compress.reduction.evidence import evidence, is_message
from compress.reduction.items import Item
from compress.reduction.knapsack import Knapsack
from compress.reduction.places import place_in
from compress.reduction.render import Frame, Rendering, render
from compress.reduction.shorten import clip, without_folders, without_path_at_end
from compress.reduction.truncate import Pool
from compress.tokens import TokenCounter

_LINES = 200
"""Lines, those worth most for their size, among which the selection is made."""
_CLIPPED = 0.2
"""What a line is worth that is cut in its middle, since it would not fit."""
_LOOSE, _CROWDED = (0.85, 0.35), (0.97, 0.7)
"""What shorter forms are worth beside the line: without folders, and without the place."""
_CROWD, _MOST = 1.25, 2.0
"""How many times the room what is critical must be, and all lines, for what is said to count more
than where."""
_MUST = 1.0
"""Without a crowd: what the lines that must stay are worth beyond the evidence, where they all
fit."""
_HEADER_SHARE = 20
"""One token in so many may go to the header; the sign and the exit code may take more."""
_TIME = re.compile(
    r"\s*\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s+"
)

Form = tuple[Item, float]
"""A form of a line, and what it is worth beside the line."""
Shares = tuple[float, float]
"""See :data:`_LOOSE`."""


def select(
    pool: Pool, tail: int, limit: int, counter: TokenCounter, frame: Frame
) -> tuple[Rendering, list[Item], list[bool]]:
    """The rendering within ``limit`` tokens, the items in the forms that they were tried in last,
    and which of them are in it. ``tail``: how many of the last lines count as the end. A limit
    that the header alone exceeds leaves the header."""
    frame = _framed(frame, limit, counter)
    room = max(limit - counter.count(_header(frame)), 0)
    worths, shares = _worths(pool, tail, room)
    likely = _likely(pool.costs, worths)
    forms = [list(_forms(pool.items[position], shares, frame.sign)) for position in likely]
    offers = []
    for position, group in zip(likely, forms, strict=True):
        if pool.costs[position] > room:
            item = pool.items[position]
            fitting = len(item.text) * (room * 9 // 10 - 3) // pool.costs[position]
            group.append((clip(item, fitting, frame.sign), _CLIPPED))
        costs = LineCounts(counter, frame.sign).costs([form for form, _ in group])
        values = [share * worths[position] for _, share in group]
        offers.append(list(zip(costs, values, strict=True)))
    knapsack = Knapsack(offers, room)
    chosen = list(pool.items)
    kept = [False] * len(chosen)
    while room > 0:
        for position, which, group in zip(likely, knapsack.best(room), forms, strict=True):
            kept[position] = which is not None
            chosen[position] = group[which or 0][0]
        rendering = render(chosen, kept, frame)
        over = counter.count(rendering.text) - limit
        if over <= 0:
            # Marks at the gaps where there is room left for all of them.
            marked = render(chosen, kept, replace(frame, style="short"))
            fits = frame.style == "bare" and counter.count(marked.text) <= limit
            return marked if fits else rendering, chosen, kept
        room -= over
    kept = [False] * len(chosen)
    return render(chosen, kept, frame), chosen, kept


def _framed(frame: Frame, limit: int, counter: TokenCounter) -> Frame:
    """With the fullest header that its share of the limit holds."""
    for fuller in (frame, replace(frame, pointer=None)):
        if counter.count(_header(fuller)) * _HEADER_SHARE <= limit:
            return fuller
    return replace(frame, style="sign", pointer=None)


def _header(frame: Frame) -> str:
    return render([], [], frame).header + "\n"


def _worths(pool: Pool, tail: int, room: int) -> tuple[list[float], Shares]:
    """What each item is worth, and what its shorter forms are worth beside it."""
    pairs = list(zip(pool.costs, pool.worths, strict=True))
    near = sum(cost for cost, worth in pairs if worth.near)
    if near <= room:
        return pool.values(), _LOOSE
    if near > room * _CROWD and sum(pool.costs) > room * _MOST:
        return evidence(pool.items, tail), _CROWDED
    must = _MUST if sum(cost for cost, worth in pairs if worth.must) <= room else 0.0
    extra = [must * worth.must for worth in pool.worths]
    return evidence(pool.items, tail, extra), _LOOSE


def _likely(costs: Sequence[int], worths: Sequence[float]) -> list[int]:
    order = sorted(
        (position for position, worth in enumerate(worths) if worth > 0),
        key=lambda position: (-worths[position] / (costs[position] + 1) ** 0.5, position),
    )
    return sorted(order[:_LINES])


def _forms(item: Item, shares: Shares, sign: str) -> Iterator[Form]:
    yield item, 1.0
    time = _TIME.match(item.text)
    text = without_folders(sign + item.text[time.end() :] if time else item.text, sign)
    note = item.note and f"×{len(item.absorbed) + 1}"
    if (text, note) != (item.text, item.note):
        yield replace(item, text=text, note=note), shares[0]
    place = place_in(item.text)
    if place is not None and is_message(item.text[place.said :]):
        said = without_path_at_end(item.text[place.said :], sign)
        yield replace(item, text=sign + said, note=note), shares[1]
