"""pi's own derivation of a context, written plainly and from scratch over raw entries.

After pi's ``core/session-manager.js`` (``buildSessionProjection``). Messages are told apart by
their text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Raw = dict[str, Any]


def context(entries: Sequence[Raw]) -> list[str]:
    """The texts of the messages that the model would read, before any is left out on the way."""
    by_id = {entry["id"]: entry for entry in entries}
    path: list[Raw] = []
    at = entries[-1] if entries else None
    while at is not None:
        path.append(at)
        at = by_id.get(at["parentId"])
    path.reverse()
    chosen = _selected(path)
    edits = {entry["targetId"]: entry for entry in chosen if entry["type"] == "context_edit"}
    texts: list[str] = []
    for index, entry in enumerate(chosen):
        if entry["type"] == "compaction" and index > 0:
            continue
        texts += _projected(entry, edits.get(entry["id"]))
    return texts


def _selected(path: list[Raw]) -> list[Raw]:
    places = [i for i, entry in enumerate(path) if entry["type"] == "compaction"]
    if not places:
        return path
    last = places[-1]
    ids = [entry["id"] for entry in path[:last]]
    first = path[last]["firstKeptEntryId"]
    kept = path[ids.index(first) : last] if first in ids else []
    return [path[last], *(e for e in kept if not _is_system(e)), *path[last + 1 :]]


def _is_system(entry: Raw) -> bool:
    return entry["type"] == "message" and entry["message"]["role"] == "system"


def _projected(entry: Raw, edit: Raw | None) -> list[str]:
    if edit is not None and edit["replacement"] is None:
        return []
    if entry["type"] == "compaction":
        prompt = entry.get("systemMessage")
        return [*([prompt["content"]] if prompt else []), entry["summary"]]
    if entry["type"] != "message":
        return []
    message = entry["message"]
    if edit is not None and message["role"] in ("user", "assistant", "toolResult"):
        return [edit["replacement"]["content"]]
    return [message["content"]]
