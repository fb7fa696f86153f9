"""Shorter lines, for a budget that cannot hold the critical ones as they stand.

The folders before a located file's name, and a path in brackets at a line's end, give way to the
sign: what is said stays, and where to look.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from compress.reduction.items import Item

_SHORTEST = 20
"""Characters of a path below which the sign would save nothing."""
_PLACE = r"(?P<name>[\w.@+~-]+[\"']?(?::\d|\(\d|, |:\[\d| : ))"
_FOLDERS = re.compile(
    r"(?P<before>^|[\s\"'(\[>])(?P<folders>[\w.@+~-]*(?:/[\w.@+~-]+)+)/" + _PLACE,
)
_WINDOWS = re.compile(
    r"(?P<before>)(?P<folders>(?<![A-Za-z])(?:[A-Za-z]:|\.)(?:\\[^\\/:*?\"<>|\[\]]+)+)\\" + _PLACE
)
_HEADER = 7
"""Tokens of the shortest header, about."""
_CLIPPED = 2
"""Characters for a token to which a line is cut that would not fit otherwise."""
_BRACKETED = re.compile(r"\s*\[[^\[\]]{12,}[/\\][^\[\]]*\]$")


def shorten(items: Sequence[Item], sign: str) -> list[Item]:
    """The items without the long folders in them."""

    def fewer(match: re.Match[str]) -> str:
        if len(match["folders"]) < _SHORTEST:
            return match[0]
        return f"{match['before']}{sign}/{match['name']}"

    result = []
    for item in items:
        text = item.text
        if item.marks.located or item.marks.level:
            text = _BRACKETED.sub(f" {sign}", text)
            text = _WINDOWS.sub(fewer, _FOLDERS.sub(fewer, text))
        result.append(item if text == item.text else replace(item, text=text))
    return result


def clip(item: Item, limit: int, sign: str) -> Item:
    """The item within ``limit`` tokens, about: two thirds of its text from the begin, the rest
    from the end."""
    characters = max(limit - _HEADER, 1) * _CLIPPED
    if len(item.text) <= characters:
        return item
    head = max(characters * 2 // 3, 1)
    tail = item.text[-max(characters - head, 1) :]
    return replace(item, text=f"{item.text[:head]} {sign} {tail}")
