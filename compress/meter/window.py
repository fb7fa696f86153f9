"""Which context window is in force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WindowSource = Literal["user", "log", "observed", "table", "unknown"]


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens that fit, and who says so; ``None`` where nobody does."""

    tokens: int | None
    source: WindowSource


def decide_window(
    *,
    setting: int | None = None,
    logged: int | None = None,
    observed: int | None = None,
    table: int | None = None,
) -> Window:
    """The user's setting, else the log's own field, else the largest input ever observed where it
    exceeds the table, else the table, else unknown (T10).

    A window that is not positive counts as not stated. What was observed alone is no window: it
    only shows that a table is out of date.
    """
    if setting is not None and setting > 0:
        return Window(setting, "user")
    if logged is not None and logged > 0:
        return Window(logged, "log")
    if table is None or table <= 0:
        return Window(None, "unknown")
    if observed is not None and observed > table:
        return Window(observed, "observed")
    return Window(table, "table")
