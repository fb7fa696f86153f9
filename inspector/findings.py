"""What is said of a search's result, in the app and on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.reports import SearchHit
from storage.scripts import is_searchable

NOTHING_ASKED = "A search needs a letter or a digit."
NOTHING = "No event holds all of these words."
SOME = "No event holds all of these words; these hold some of them."


def finding(query: str, hits: Sequence[SearchHit]) -> str:
    """Why there is nothing, or not quite what was asked for; empty where all is well."""
    if not is_searchable(query):
        return NOTHING_ASKED
    if not hits:
        return NOTHING
    return SOME if hits[0].partial else ""
