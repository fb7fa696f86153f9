"""The parts of names that are written without a separator: ``getUserName``, ``HTTPServer``."""

from __future__ import annotations

import re
from functools import lru_cache

_LONGEST = 64
"""Characters of a name. What is longer is encoded data."""
_HUMPS = (b"aA", b"AAa", b"0Aa")
_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+")
_NUMBER = re.compile("[0-9]+")
_NAME = re.compile(r"[^A-Za-z0-9]*([A-Za-z0-9]+)[^A-Za-z0-9]*")


def _kind(byte: int) -> int:
    character = chr(byte)
    if byte > 127 or not character.isalnum():
        return 32
    return ord("0" if character.isdigit() else "A" if character.isupper() else "a")


_KINDS = bytes(map(_kind, range(256)))


def word_parts(data: bytes) -> str:
    """The parts of all such names in a text (UTF-8), each name once, in the order of the first.

    Looks at a byte a few times only, since all text that is read goes through here.
    """
    kinds = data.translate(_KINDS)
    names: dict[bytes, None] = {}
    for hump in _HUMPS:
        at = kinds.find(hump)
        while at >= 0:
            end = kinds.find(b" ", at)
            if end < 0:
                end = len(kinds)
            start = kinds.rfind(b" ", 0, at) + 1
            if end - start <= _LONGEST:
                names[data[start:end]] = None
            at = kinds.find(hump, end)
    return " ".join(filter(None, map(_joined, names)))


def parts_of(term: str) -> tuple[str, ...]:
    """The parts of a term that is one such name; none of another."""
    name = _NAME.fullmatch(term)
    return _split(name[1]) if name and name[1].isascii() and len(name[1]) <= _LONGEST else ()


@lru_cache(1 << 14)
def _joined(name: bytes) -> str:
    return " ".join(_split(name.decode("ascii")))


def _split(name: str) -> tuple[str, ...]:
    """Its parts. None of what is random: of one with more than one number, or a part for less than
    every two characters."""
    parts = tuple(_PART.findall(name))
    is_random = len(name) < 2 * len(parts) or len(_NUMBER.findall(name)) > 1
    return parts if len(parts) > 1 and not is_random else ()
