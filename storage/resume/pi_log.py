"""What the whole log of a pi session says for a copy: its settings, and what edits point at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from storage.resume.base import Original, PlanCopy
from storage.sources.draft import word
from storage.sources.values import mapping

_NEWEST = ("model_change", "session_info", "thinking_level_change")
"""Settings: the newest on the path to the leaf is in force."""


@dataclass(slots=True)
class PiLog:
    """Of one log."""

    settings: list[Original] = field(default_factory=list)
    """Entries without content that hold on the path to the leaf, in its order: settings, and what
    extensions keep there."""
    edited: dict[str, Original] = field(default_factory=dict)
    """By id: the entries whose content an edit on the plan replaces."""


@dataclass(frozen=True, slots=True)
class _Link:
    parent: str | None
    kind: str
    original: Original | None


def read_log(copy: PlanCopy) -> PiLog:
    """One pass over the records."""
    wanted = {event.meta.get("edits") for node in copy.nodes if (event := node.pieces[0].event)}
    log = PiLog()
    links: dict[str, _Link] = {}
    leaf: str | None = None
    for own, parent, value, record in _entries(copy):
        kind = word(value.get("type")) or ""
        carried = kind in _NEWEST or kind == "custom"
        links[own] = _Link(parent, kind, record if carried else None)
        leaf = own
        if own in wanted:
            log.edited[own] = record
    log.settings = _in_force(links, leaf)
    return log


def _entries(copy: PlanCopy) -> Iterator[tuple[str, str | None, Mapping[str, Any], Original]]:
    """(id, id of the parent, entry, record). In a v1 file entries follow one another."""
    chained = False
    before: str | None = None
    for record in copy.records():
        value = mapping(record.value)
        if value.get("type") == "session":
            chained = chained or value.get("version") in (None, 1)
            continue
        own = word(value.get("id"))
        if chained or own is None:
            own = f"line {record.line}"
        yield own, before if chained else word(value.get("parentId")), value, record
        before = own


def _in_force(links: Mapping[str, _Link], leaf: str | None) -> list[Original]:
    found: list[Original] = []
    told: set[str] = set()
    seen: set[str] = set()
    while leaf is not None and leaf in links and leaf not in seen:
        seen.add(leaf)
        link = links[leaf]
        if link.original is not None and link.kind not in told:
            found.append(link.original)
            if link.kind in _NEWEST:
                told.add(link.kind)
        leaf = link.parent
    return found[::-1]
