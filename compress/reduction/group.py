"""The second stage: similar lines together, no word lost.

Bare paths of one folder become ``folder/{a,b}``, which a shell would expand to the same. One
message at several locations stands once, with all of them; failures only where the profile's own
pattern takes them for such messages, not by an inherited one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from compress.reduction.critical import FAILURE
from compress.reduction.items import Item
from compress.reduction.patterns import search
from compress.reduction.profile import Group

_PATH = re.compile(r"(?P<folder>(?:[\w.@+~-]*/)+)(?P<name>[\w.@+~-]+)")
_NAMES_IN_A_ROW = 12
_SHORTEST_RUN = 3
_SHORTEST_MESSAGE = 12


def group(items: Sequence[Item], rules: Sequence[Group]) -> tuple[list[Item], tuple[str, ...]]:
    """The items after grouping, and what was done. ``rules``: the profile's, then inherited ones;
    which groupings apply is the first one's to say."""
    found = list(items)
    notes = []
    wanted = rules[0].by
    if "folder" in wanted:
        found, lines = _folders(found)
        if lines:
            notes.append(f"{lines} paths under their folders")
    if "diagnostic" in wanted:
        inherited = [pattern for rule in rules[1:] for pattern in rule.diagnostics]
        found, lines = _diagnostics(found, rules[0].diagnostics, inherited)
        if lines:
            notes.append(f"{lines} lines that repeat a message at another location")
    return found, tuple(notes)


def _folders(items: list[Item]) -> tuple[list[Item], int]:
    """Runs of paths, each under its folder, in the order in which folders are first met."""
    result: list[Item] = []
    grouped = 0
    run: list[tuple[Item, str, str]] = []

    def close() -> None:
        nonlocal grouped
        if len(run) < _SHORTEST_RUN:
            result.extend(item for item, _, _ in run)
        else:
            rows = _rows(run)
            grouped += len(run) - len(rows)
            result.extend(rows)
        run.clear()

    for item in items:
        path = _PATH.fullmatch(item.text) if item.part == 0 and len(item.text) < 400 else None
        if path is None:
            close()
            result.append(item)
        else:
            run.append((item, path["folder"], path["name"]))
    close()
    return result, grouped


def _rows(run: Sequence[tuple[Item, str, str]]) -> list[Item]:
    folders: dict[str, list[tuple[Item, str]]] = {}
    for item, folder, name in run:
        folders.setdefault(folder, []).append((item, name))
    rows = []
    for folder, members in folders.items():
        for start in range(0, len(members), _NAMES_IN_A_ROW):
            part = members[start : start + _NAMES_IN_A_ROW]
            first = part[0][0]
            if len(part) == 1:
                rows.append(first)
                continue
            text = f"{folder}{{{','.join(name for _, name in part)}}}"
            rows.append(replace(first, text=text, absorbed=tuple(i.index for i, _ in part[1:])))
    # An item's place is that of its first line; rows of a folder met late stay behind.
    return sorted(rows, key=lambda item: item.index)


def _diagnostics(
    items: list[Item], own: Sequence[str], inherited: Sequence[str]
) -> tuple[list[Item], int]:
    owners: dict[str, int] = {}
    places: dict[int, list[tuple[str, int]]] = {}
    parsed = [_diagnostic(item, own, inherited) for item in items]
    gone: set[int] = set()
    for position, found in enumerate(parsed):
        if found is None or not _stands_alone(items, parsed, position):
            continue
        location, message = found
        owner = owners.setdefault(message, position)
        if owner != position:
            places.setdefault(owner, []).append((location, position))
            gone.add(position)
    result = []
    for position, item in enumerate(items):
        if position in gone:
            continue
        others = places.get(position)
        if others:
            item = replace(  # noqa: PLW2901 - the same item, with its other places
                item,
                note="also " + " ".join(location for location, _ in others),
                absorbed=item.absorbed + tuple(items[at].index for _, at in others),
            )
        result.append(item)
    return result, len(gone)


def _diagnostic(item: Item, own: Sequence[str], inherited: Sequence[str]) -> tuple[str, str] | None:
    if item.part or not item.marks.located:
        return None
    for pattern in own if item.marks.level >= FAILURE else (*own, *inherited):
        match = search(pattern, item.text)
        if match is not None and len(match["message"]) >= _SHORTEST_MESSAGE:
            return match["location"], match["message"]
    return None


def _stands_alone(
    items: Sequence[Item], parsed: Sequence[tuple[str, str] | None], position: int
) -> bool:
    """Whether no line follows that belongs to the diagnostic (its code, its caret)."""
    after = position + 1
    if after == len(items) or items[after].blank or parsed[after] is not None:
        return True
    text = items[after].text
    return not text[0].isspace() and items[after].marks.level >= FAILURE
