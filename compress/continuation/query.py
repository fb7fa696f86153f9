"""What a context is asked for where nobody says it."""

from __future__ import annotations

from compress.compaction.material import Digest

_WORDS = 2_000
"""Characters of the newest message that are read."""
_ITEMS = 20


def query_of(found: Digest) -> str:
    """The newest words of the user's, and the items that are open, a line each."""
    newest = [found.said[-1].text[:_WORDS]] if found.said else []
    return "\n".join([*newest, *found.open_items[:_ITEMS]])
