"""JSON texts taken apart and put together again without rewriting what they hold.

A copy must carry signatures, numbers and escapes byte for byte, so a record is never parsed and
printed again: its members are cut out of the text as they stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from storage.records import parse_record
from storage.resume.base import Original

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(strict=False)
_BLANKS = " \t\r\n"


def text_of(original: Original) -> str:
    """The record as JSON text: as it stands, or the repaired value where it was damaged.

    Raises ``ValueError`` for a record that cannot be understood.
    """
    record = parse_record(original.line, 0, original.raw)
    if record is None or record.value is None:
        raise ValueError(f"line {original.line} is not JSON")
    if record.damage is not None:
        return dumps(record.value)
    return original.raw.decode("utf-8-sig").strip()


def dumps(value: Any) -> str:
    """Any JSON value as compact text."""
    return _ENCODER.encode(value)


def members(text: str) -> dict[str, str]:
    """Of an object: key → the text of its value, in order; of a key that comes twice, the last.

    Raises ``ValueError`` for what is no object.
    """
    found: dict[str, str] = {}
    at = _past(text, 0, "{")
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = start = _past(text, at, ":")
        _, at = _DECODER.raw_decode(text, start)
        found[str(key)] = text[start:at]
        at = _next(text, at)
    return found


def items(text: str) -> list[str]:
    """Of a list: the texts of its items. Raises ``ValueError`` for what is no list."""
    found: list[str] = []
    at = _past(text, 0, "[")
    while text[at] != "]":
        start = at
        _, at = _DECODER.raw_decode(text, start)
        found.append(text[start:at])
        at = _next(text, at)
    return found


def object_text(parts: Mapping[str, str]) -> str:
    """The reverse of :func:`members`."""
    return "{" + ",".join(f"{dumps(key)}:{value}" for key, value in parts.items()) + "}"


def list_text(parts: Iterable[str]) -> str:
    """The reverse of :func:`items`."""
    return "[" + ",".join(parts) + "]"


def _past(text: str, at: int, mark: str) -> int:
    at = _blank(text, at)
    if text[at : at + 1] != mark:
        raise ValueError(f"{mark} expected at character {at}")
    return _blank(text, at + 1)


def _next(text: str, at: int) -> int:
    """Behind a value: at the next one, or at the bracket that closes."""
    at = _blank(text, at)
    return _blank(text, at + 1) if text[at : at + 1] == "," else at


def _blank(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANKS and at < len(text):
        at += 1
    return at
