"""What a context is asked for where nobody says it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from compress.beliefs.matching import pieces
from compress.compaction.material import Digest, Said
from compress.events import NodeId
from compress.markup import behind_elements

_WORDS = 2_000
"""Characters of a message that are read."""
_ITEMS = 20
_LOOKED_AT = 50
"""The user's newest messages, among which one is looked for that says something by itself."""
_TELLING = 4.0
"""How many rare words that takes; one of less than …"""
_WHOLE = 4
"""… letters counts for its share of them. In scripts that do not part words two characters are
one piece, and so half a word."""


@dataclass(frozen=True, slots=True)
class Query:
    """What the work goes on with, and where that stands."""

    text: str
    nodes: tuple[NodeId, ...] = ()
    """The messages whose words it holds, in the order of the log."""
    items: int = 0
    """Open items in it, a line each behind the words."""


def query_of(found: Digest) -> Query:
    """The newest words of the user's, and the items that are open, a line each. Where the newest
    message says little by itself (an assent, a go-ahead), the newest one before it that says more
    stands before it: one that holds words which few of the user's other messages do."""
    chosen = _messages(found.said[-_LOOKED_AT:])
    items = found.open_items[:_ITEMS]
    texts = [_own(message) for message in chosen]
    return Query("\n".join([*texts, *items]), tuple(m.node for m in chosen), len(items))


def _messages(said: Sequence[Said]) -> list[Said]:
    if not said:
        return []
    held = [frozenset(pieces(_own(message))) for message in said]
    frequency = Counter(piece for found in held for piece in found)
    most = max(1, len(said) // 10)

    def telling(found: frozenset[str]) -> bool:
        rare = (min(len(p), _WHOLE) for p in found if frequency[p] <= most)
        return sum(rare) >= _TELLING * _WHOLE

    told = next((at for at in reversed(range(len(said))) if telling(held[at])), None)
    if told is None or told == len(said) - 1:
        return [said[-1]]
    return [said[told], said[-1]]


def _own(message: Said) -> str:
    text = message.text[:_WORDS]
    return behind_elements(text) or text
