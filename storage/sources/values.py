"""Reading values of foreign JSON: each function takes anything and never raises."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic_core import from_json

LARGEST_COUNT = 2**53
"""Above this, JSON numbers of other languages are no exact integers."""
_EARLIEST, _LATEST = 631_152_000.0, 7_258_118_400.0
"""1990 and 2200; a time outside is a mistake of the log."""


def mapping(value: Any) -> dict[str, Any]:
    """The value, if it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """The value, if it is an array; else an empty one."""
    return value if isinstance(value, list) else []


def string(value: Any) -> str:
    """The value, if it is a string; else an empty one."""
    return value if isinstance(value, str) else ""


def parsed(value: Any) -> Any:
    """What a text of JSON holds; anything else, and a text that is none, as it stands."""
    if not isinstance(value, str):
        return value
    try:
        return from_json(value)
    except (ValueError, TypeError):  # the latter for unpaired surrogates
        return value


def count(value: Any) -> int | None:
    """A number of tokens or bytes: a whole number from 0 to 2^53; else unknown."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= LARGEST_COUNT else None


def epoch_seconds(value: Any) -> float | None:
    """Seconds since 1970, given as a number of seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared before the conversion, which a huge integer would not survive.
    return float(value) if _EARLIEST <= value < _LATEST else None


def epoch_milliseconds(value: Any) -> float | None:
    """Seconds since 1970, given as a number of milliseconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value / 1000 if _EARLIEST * 1000 <= value < _LATEST * 1000 else None


def timestamp(value: Any) -> float | None:
    """Seconds since 1970, given as ISO 8601 or as a number of seconds. No zone means UTC."""
    if not isinstance(value, str):
        return epoch_seconds(value)
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return epoch_seconds(moment.timestamp())
    except (ValueError, OverflowError):
        return None
