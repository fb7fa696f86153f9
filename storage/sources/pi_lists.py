"""Lists that pi's extensions keep. pi itself has none; its own examples keep theirs in a field
``todos``: of a result's details (``todo.ts``), or of an entry's data (``plan-mode``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storage.sources.draft import MOST_ITEMS
from storage.sources.values import listing, mapping, string

_STATUSES = frozenset({"pending", "in_progress", "completed"})


def list_items(state: Any) -> list[dict[str, Any]] | None:
    """The items of such a list as an artifact has them; ``None`` where there is no list. An item
    whose status is another one (cancelled) is left out: it is neither done nor open."""
    todos = mapping(state).get("todos")
    if not isinstance(todos, list):
        return None
    items = []
    for todo in map(mapping, listing(todos)[:MOST_ITEMS]):
        text = string(todo.get("text")) or string(todo.get("content"))
        status = _status(todo)
        if text and status is not None:
            items.append({"text": text, "status": status})
    return items


def _status(todo: Mapping[str, Any]) -> str | None:
    status = todo.get("status")
    if isinstance(status, str):
        return status if status in _STATUSES else None
    return "completed" if todo.get("done") is True or todo.get("completed") is True else "pending"
