"""The page that lies in a lake: what stands where, and how to ask for it."""

from __future__ import annotations

from typing import Any

from inspector.lake_files import columns
from inspector.lake_rows import DECISION_OWN, EVENTS, OPERATIONS
from storage import resources

_POINT = "as in a decision point: `ullage schema decision`"


def page() -> str:
    """Markdown: the text that ships, with the columns as they are written.

    Raises :class:`inspector.decision_parquet.MissingExtraError`.
    """
    text = resources.asset("lake/README.md").decode()
    meanings = {"events": EVENTS, "operations": OPERATIONS, "decisions": DECISION_OWN}
    for table, found in columns().items():
        known = {name: meaning for name, (_, meaning) in meanings[table].items()}
        text = text.replace(f"{{{table}}}", _table(found, known))
    return text


def _table(found: list[tuple[str, Any]], known: dict[str, str]) -> str:
    rows = [f"| `{name}` | {kind} | {known.get(name, _POINT)} |" for name, kind in found]
    return "\n".join(["| column | Arrow type | |", "| --- | --- | --- |", *rows])
