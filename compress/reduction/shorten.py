"""Shorter lines, for a budget that cannot hold the critical ones as they stand.

The folders before a located file's name, and a path in brackets at a line's end, give way to the
sign: what is said stays, and where to look.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from compress.reduction.items import Item
from compress.reduction.places import place_in

_SHORTEST = 20
"""Characters of folders below which the sign would save little."""
_OWNER = re.compile(
    r"\s*(?P<folders>(?:[A-Za-z]:|\.{0,2})[\\/](?:[^\\/:*?\"<>|\[\]]++[\\/])*+)(?=[^\s\\/:]+\s?:\s)"
)
"""A path at a line's begin, of which something is said."""
_BRACKETED = re.compile(r"\s*\[[^\[\]]{12,}[/\\][^\[\]]*\]$")


def shorten(items: Sequence[Item], sign: str) -> list[Item]:
    """The items without the long folders in them."""
    result = []
    for item in items:
        text = item.text
        if item.marks.located or item.marks.level:
            text = without_folders(text, sign, _SHORTEST)
        result.append(item if text == item.text else replace(item, text=text))
    return result


def without_folders(text: str, sign: str, shortest: int = 1) -> str:
    """The text without the folders of its place, if they have ``shortest`` characters at least,
    and without a path in brackets at its end."""
    place = place_in(text)
    owner = _OWNER.match(text) if place is None else None
    start, end = (
        (place.folders, place.name) if place else owner.span("folders") if owner else (0, 0)
    )
    if end - start >= shortest:
        text = text[:start] + sign + text[end:]
    return without_path_at_end(text, sign)


def without_path_at_end(text: str, sign: str) -> str:
    """The text without a path in brackets at its end."""
    return _BRACKETED.sub(f" {sign}", text)


def clip(item: Item, characters: int, sign: str) -> Item:
    """The item in ``characters``, about: two thirds of its text from the begin, the rest from the
    end."""
    characters = max(characters, 1)
    if len(item.text) <= characters:
        return item
    head = max(characters * 2 // 3, 1)
    tail = item.text[-max(characters - head, 1) :]
    return replace(item, text=f"{item.text[:head]} {sign} {tail}")
