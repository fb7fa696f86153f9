"""One line of a log, or a whole document, as bytes → a :class:`Record`.

A damaged line costs one line: it is told apart, never raised. The strict parser is fast; whatever
it refuses (lone surrogates, raw control characters, bad UTF-8) gets a second, lenient chance.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from storage.sources.base import Record

_SURROGATE = re.compile("[\ud800-\udfff]")
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\x0b\x0c"
_DEEPEST = 200
"""Levels of nesting. The strict parser goes no deeper, and neither do the writers of JSON."""


def parse_record(line: int, offset: int, raw: bytes) -> Record | None:
    """The record of one line (newline excluded), or ``None`` for a blank line.

    ``line`` is 1-based, ``offset`` the byte offset of its start.
    """
    text = raw.removeprefix(_BOM) if line == 1 else raw
    if not text.strip(_BLANK):
        return None
    try:
        # Infinity and NaN are no JSON, but Python's writer makes them and its reader takes them.
        value = from_json(text, allow_inf_nan=True, cache_strings="keys")
    except ValueError:
        value, damage = _lenient(text)
    else:
        damage = None
    return Record(line, offset, raw, value, len(raw), damage)


def parse_text(text: str) -> Any:
    """The JSON that a text of a record holds; ``None`` where it holds none."""
    record = parse_record(0, 0, text.encode("utf-8", "surrogatepass"))
    return None if record is None else record.value


def read_document(path: Path) -> Any:
    """The JSON of a whole file; ``None`` for one that is half written or gone."""
    try:
        record = parse_record(1, 0, path.read_bytes())
    except OSError:
        return None
    return None if record is None else record.value


def _lenient(text: bytes) -> tuple[Any, str | None]:
    try:
        decoded, note = text.decode("utf-8"), None
    except UnicodeDecodeError as error:
        decoded = text.decode("utf-8", errors="replace")
        note = f"invalid UTF-8 at byte {error.start}"
    try:
        value = clean(json.loads(decoded, strict=False))
    except RecursionError:
        return None, f"nested deeper than {_DEEPEST} levels"
    except ValueError as error:
        if not text.strip(b"\0"):
            return None, f"a run of {len(text)} NUL bytes"
        return None, note or f"not JSON: {error}"
    return value, note or "repaired: unpaired surrogates or raw control characters"


def clean(value: Any, room: int = _DEEPEST) -> Any:
    """The value with unpaired surrogates replaced by U+FFFD, in keys too.

    Raises ``RecursionError`` for a value of more than ``room`` levels.
    """
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if not isinstance(value, list | dict):
        return value
    if not room:
        raise RecursionError
    if isinstance(value, list):
        return [clean(item, room - 1) for item in value]
    return {clean(key): clean(item, room - 1) for key, item in value.items()}
