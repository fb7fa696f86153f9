"""One record of OpenHands' → the events that it holds.

A record is an event (a line, a file of its own), a list of them (an export), or one row of a
conversation's folder (``openhands_tree.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from compress.events import ContentBlock
from storage.sources import openhands_events as sdk
from storage.sources import openhands_legacy as legacy
from storage.sources.openhands_events import Entry
from storage.sources.values import mapping, string

STRIDE = 1 << 12
"""Block indices of one event of a list: what is added to it moves none."""
EXTRAS = 1 << 11
"""Block index of the first log-only event beside an event's content."""
TABLES = ("conversation", "usage", "event", "head")
"""Rows of a conversation's folder: its settings, what one answer cost, an event, where it is."""
_LISTS = ("history", "trajectory", "events", "items")


class Row(NamedTuple):
    """One thing that a record tells of."""

    table: Literal["conversation", "usage", "event", "head"]
    data: Any
    base: int = 0
    """Its first block index."""


def rows_of(value: Any) -> list[Row]:
    """The rows of a record; none where it is not of these agents. In a list, what is no event is a
    row, too."""
    record = mapping(value)
    table = record.get("table")
    if table in TABLES and "data" in record:
        return [Row(table, record["data"])]
    if is_event(value):
        return [Row("event", value)]
    events = _listed(value)
    if not any(map(is_event, events)):
        return []
    return [
        Row("event", event, index * STRIDE) for index, event in enumerate(_all_completed(events))
    ]


def is_list(value: Any) -> bool:
    """Whether a record that has rows is a whole conversation: an export, or a run of a benchmark's,
    one a line."""
    return mapping(value).get("table") not in TABLES and not is_event(value)


def is_event(value: Any) -> bool:
    """Whether this is an event, of either generation."""
    return sdk.is_event(value) or legacy.is_event(value)


def decode(event: Any) -> tuple[Entry, bool]:
    """What an event is and says, and whether it is from before the SDK."""
    fields = mapping(event)
    entry = sdk.decode(fields)
    if entry.place != "unknown" or "kind" in fields:
        return entry, False
    return legacy.decode(fields), True


def blocks_at(value: Any, block: int) -> tuple[ContentBlock, ...]:
    """The content of the event with this block index."""
    index, part = divmod(block, STRIDE)
    record = mapping(value)
    event: Any = None
    if record.get("table") in TABLES and "data" in record:
        event = record["data"] if record["table"] == "event" and not index else None
    elif is_event(value):
        event = None if index else value
    else:
        events = _listed(value)
        if 0 <= index < len(events):
            event = events[index]
            if "action_id" in mapping(event) and "tool_call_id" not in event:
                event = _completed(event, _call_near(events, index))
    said = decode(event)[0].said if event is not None else ()
    return said[part].blocks if part < min(len(said), EXTRAS) else ()


def _listed(value: Any) -> Sequence[Any]:
    """The events of a list; those of older runs come in pairs of action and observation."""
    if not isinstance(value, list):
        record = mapping(value)
        found = (_listed(record[name]) for name in _LISTS if isinstance(record.get(name), list))
        return next((events for events in found if any(map(is_event, events))), ())
    if not any(isinstance(item, list) for item in value):
        return value
    return [each for item in value for each in (item if isinstance(item, list) else [item])]


def _all_completed(events: Sequence[Any]) -> Iterator[Any]:
    """The events of a list, each as :func:`_completed` with :func:`_call_near` gives it."""
    calls = {own: sdk.call_of(event) for event in reversed(events) if (own := _action_id(event))}
    for event in events:
        if own := _action_id(event):
            calls[own] = sdk.call_of(event)
        yield _completed(event, calls.get(string(mapping(event).get("action_id"))))


def _call_near(events: Sequence[Any], index: int) -> str | None:
    """The call of the action that an event of a list names: of several the nearest before it,
    else the first behind. Looks only as far as that: a list is asked for each of its events."""
    wanted = string(mapping(events[index]).get("action_id"))
    places = chain(range(index, -1, -1), range(index + 1, len(events)))
    found = (events[at] for at in places if wanted and _action_id(events[at]) == wanted)
    return next(map(sdk.call_of, found), None)


def _action_id(event: Any) -> str:
    """The id of an action; empty for what is none."""
    fields = mapping(event)
    return string(fields.get("id")) if fields.get("kind") == "ActionEvent" else ""


def _completed(event: Any, call: str | None) -> Any:
    """An event that names its action alone, with the call of that."""
    if call is None or not isinstance(event, dict) or "tool_call_id" in event:
        return event
    return {**event, "tool_call_id": call}
