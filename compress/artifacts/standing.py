"""Which items of plans are open: what a summary keeps."""

from __future__ import annotations

from collections.abc import Iterable

from compress.artifacts.harvest import document_of, word
from compress.artifacts.lists import Item, items_of
from compress.entries import LogEntry


def standing_items(newest_first: Iterable[LogEntry]) -> list[Item]:
    """The items of the plan that stands: the newest list, or the newest plan of plan mode where
    that came later and was not rejected.

    Reads no further back than that, so that it costs little on a long log. A list that was
    finished or emptied is never passed over for an older one: what is done does not come back.
    """
    decided: dict[str, str] = {}
    for entry in newest_first:
        meta = entry.meta
        if entry.type == "approval/decision":
            decided.setdefault(word(meta.get("call")), word(meta.get("decision")))
        if entry.type != "artifact/update":
            continue
        items, about = items_of(meta), document_of(meta)
        if items is None or (about is not None and not items):
            continue
        if about is not None and decided.get(word(about.get("call"))) == "rejected":
            continue
        return items
    return []
