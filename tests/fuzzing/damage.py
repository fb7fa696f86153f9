"""Damage by a seed: the same numbers give the same damage, in every process."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

Way = tuple[Any, ...]
"""Keys and indices that lead to a value."""

CHARACTERS = (
    "a", " ", "\n", "\r", "\t", "\0", "\x0b", "\x1b[2J", "\x1b]52;c;aGk=\x07", "\x85", "\u0301",
    "\u200d", "\u2028", "\u202e", "\ud800", "\udc00", "\ufffe", "漢", "。", "ก", "\u0915\u094d",
    "\U0001f469", "\U0001f1e6", ". ", "```", "~~~\n", "# ", "| a |\n", "- ", "> ", "\\n",
    '{"a":1},', "</context-pack>", "[/]", "<!--", "<|endoftext|>", "../", "=1+1", "://", "@", "%",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**53, 2**63, 2**70, -(2**70), 1e308, float("inf"),
    float("nan"), "", " ", "\0", "\ud800", "x" * 300, "\u202e[/]", [], {}, [[]], [None], [{}],
    {"": None}, {"text": 1}, {"type": "text"}, {"id": ""}, "1970-01-01T00:00:00Z",
    "9999-12-31T23:59:60+99:99", "2026-02-30", 1e13, "user", "assistant", "tool", "system",
)  # fmt: skip
_BYTES = (
    b"\0" * 40, b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"\x1b[2J", b"\r", b"\x85", b"\\ud83d",
    b'"', b"{", b"}", b"[", b",", b"\\", b"NaN", b"-", b"1e999", b"\xef\xbb\xbf", b"null",
)  # fmt: skip
_NAMES = re.compile(r"id$|uuid$|ID$|Id$|To$|(?i:parent)")
_DEEP = 230
"""More levels than a reader of JSON goes."""


class Line(NamedTuple):
    """One record that damage is made of."""

    raw: bytes
    value: Any
    ways: Sequence[Way]
    """To every value in it."""


def line_of(value: Any) -> Line:
    """The record of a value."""
    return Line(json.dumps(value).encode(), value, [(), *ways(value)])


def ways(value: Any, way: Way = ()) -> Iterator[Way]:
    """The ways to all values inside a value."""
    keys: Sequence[Any] = ()
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield (*way, key)
        yield from ways(value[key], (*way, key))


def renamed(rows: Sequence[Any], copy: int) -> list[Any]:
    """The rows with other ids, as a log has when it goes on; the session's own stays."""
    if not copy:
        return list(rows)
    seen = Counter(found for row in rows for found in _ids(row))
    own = {found for found, count in seen.items() if count > len(rows) / 2}
    return [_renamed(row, f"+{copy}", own) for row in rows]


def text(chance: Random, most: int = 20_000) -> str:
    """Characters that readers stumble over, mixed or in a run."""
    if chance.random() < 0.5:
        return "".join(chance.choices(CHARACTERS, k=chance.randrange(1, min(400, most))))
    unit = "".join(chance.choices(CHARACTERS, k=chance.randrange(1, 4)))
    return unit * chance.randrange(1, max(2, most // len(unit)))


def damaged_line(line: Line, other: Line, chance: Random) -> bytes:
    """A line that was cut, flipped, mixed with another, or says something else."""
    raw = line.raw
    way = chance.randrange(10)
    if way < 6:
        return _printed(damaged(line, chance))
    at = chance.randrange(len(raw) + 1)
    if way == 6:
        return raw[:at]
    if way == 7:
        return raw[:at] + chance.randbytes(chance.randrange(1, 3)) + raw[at + 1 :]
    if way == 8:
        return raw[:at] + other.raw[chance.randrange(len(other.raw) + 1) :]
    return raw[:at] + chance.choice(_BYTES) + raw[at:]


def damaged(line: Line, chance: Random) -> Any:
    """The record's value with one or two values replaced, taken away, moved or put elsewhere."""
    value = line.value
    for _ in range(chance.choice((1, 1, 2))):
        way = chance.choice(line.ways)
        if not _leads(value, way):
            continue
        if chance.random() < 0.25:
            value = _without(value, way)
        else:
            value = _with(value, way, _new(line, chance))
    return value


def _new(line: Line, chance: Random) -> Any:
    kind = chance.random()
    if kind < 0.6:
        return chance.choice(VALUES)
    if kind < 0.8:  # what stands elsewhere in the record
        return _at(line.value, chance.choice(line.ways))
    if kind < 0.98:
        return text(chance, 200)
    nested: Any = chance.choice(VALUES)
    for _ in range(chance.choice((3, 30, _DEEP))):
        nested = [nested] if chance.random() < 0.5 else {"content": nested}
    return nested


def _printed(value: Any) -> bytes:
    return json.dumps(value).encode()


def _leads(value: Any, way: Way) -> bool:
    for key in way:
        if isinstance(value, dict):
            if key not in value:
                return False
        elif not isinstance(value, list) or not isinstance(key, int) or key >= len(value):
            return False
        value = value[key]
    return True


def _at(value: Any, way: Way) -> Any:
    for key in way:
        value = value[key]
    return value


def _with(value: Any, way: Way, new: Any) -> Any:
    if not way:
        return new
    copy = value.copy()
    copy[way[0]] = _with(value[way[0]], way[1:], new)
    return copy


def _without(value: Any, way: Way) -> Any:
    if not way:
        return None
    copy = value.copy()
    if len(way) == 1:
        del copy[way[0]]
    else:
        copy[way[0]] = _without(value[way[0]], way[1:])
    return copy


def _ids(value: Any, named: bool = False) -> Iterator[str]:
    if isinstance(value, str):
        if named and value:
            yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _ids(inner, bool(_NAMES.search(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _ids(inner, named)


def _renamed(value: Any, ending: str, own: set[str], named: bool = False) -> Any:
    if isinstance(value, str):
        return value + ending if named and value and value not in own else value
    if isinstance(value, dict):
        return {
            key: _renamed(inner, ending, own, bool(_NAMES.search(key)))
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_renamed(inner, ending, own, named) for inner in value]
    return value
