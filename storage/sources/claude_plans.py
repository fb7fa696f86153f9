"""Claude Code's to-do lists and tasks, as items of an artifact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storage.sources.draft import MOST_ITEMS
from storage.sources.values import listing, mapping, string

_STATUSES = frozenset({"pending", "in_progress", "completed"})

Item = dict[str, Any]


def _item(text: str, status: Any) -> Item:
    known = isinstance(status, str) and status in _STATUSES
    return {"text": text, "status": status if known else "pending"}


def todo_items(todos: Any) -> list[Item]:
    """The items of a ``TodoWrite`` call."""
    return [
        _item(string(mapping(todo).get("content")), mapping(todo).get("status"))
        for todo in listing(todos)[:MOST_ITEMS]
    ]


class Tasks:
    """The list that ``TaskCreate`` and ``TaskUpdate`` keep."""

    def __init__(self) -> None:
        self._tasks: dict[str, Item] = {}

    def created(self, result: Any) -> bool:
        """Take the structured result of a ``TaskCreate`` call. False where it holds no task."""
        task = mapping(mapping(result).get("task"))
        identity = string(task.get("id"))
        if not identity:
            return False
        self._tasks[identity] = _item(string(task.get("subject")), "pending")
        return True

    def updated(self, arguments: Mapping[str, Any]) -> bool:
        """Take the arguments of a ``TaskUpdate`` call. False where nothing is known to change."""
        identity, status = string(arguments.get("taskId")), arguments.get("status")
        if status == "deleted":
            return self._tasks.pop(identity, None) is not None
        task = self._tasks.setdefault(identity, _item(f"#{identity}", "pending"))
        subject = string(arguments.get("subject"))
        changed = bool(subject)
        if subject:
            task["text"] = subject
        if isinstance(status, str) and status in _STATUSES:
            changed = changed or task["status"] != status
            task["status"] = status
        return changed

    def items(self) -> list[Item]:
        """A copy of the list as it stands, in order of creation."""
        return [dict(task) for task in list(self._tasks.values())[:MOST_ITEMS]]
