"""The steps of a plan's text, as items of an artifact."""

from __future__ import annotations

from typing import Any

from compress.artifacts.document import read
from storage.sources.draft import MOST_ITEMS


def plan_items(plan: str) -> list[dict[str, Any]]:
    """What the plan says is to be done, in order: its numbered headings, boxes, or list items.
    Sections that nothing counts are no items."""
    document = read(plan)
    steps = () if document.parted else document.steps[:MOST_ITEMS]
    return [
        {"text": step.title, "status": "pending" if step.status == "unknown" else step.status}
        for step in steps
    ]
