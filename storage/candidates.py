"""Which events a query finds in a part of the store, the best first, at a bounded cost.

SQLite's ``bm25()`` reads the whole list of every word of a query and scores every row, which takes
a second for a word that stands in a third of a million events. Here each piece of the query is
counted up to a limit, in the part that is asked for; the rarest are looked up, as many as stay
below a number of rows in all, and what says little is left out while they find enough. A row's
score is the sum of the weights of its pieces, as BM25 has it for those that stand in it once. Who
reads the events scores their texts in full (``storage/scoring.py``), with the same weights.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

from storage.catalog import SessionRecord
from storage.connection import Connections
from storage.format import SEQ_MASK
from storage.index_part import IndexPart, Match
from storage.pieces import Piece, pieces_of
from storage.rows import event_id, seq_of

_PIECES = 48
"""Of a query, the first; the words stand before their forms."""
_LOOKED_AT = 4
"""Times as many events as are wanted, of which the lengths are looked at."""
_SATURATION, _LENGTH = 1.2, 0.3
"""k1 and b of BM25."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A piece of the query with its weight in the part of the store that was asked:
    ln(1 + (N − n + ½) ÷ (n + ½)) for n of N events that hold it."""

    piece: Piece
    weight: float


@dataclass(frozen=True, slots=True)
class Matches:
    """What a query finds. ``events`` are ordered, the best first, of equals the newest."""

    pieces: tuple[Weighed, ...]
    events: tuple[Match, ...]


def matches(
    connections: Connections,
    query: str,
    sessions: Sequence[SessionRecord] | None,
    limit: int,
    *,
    until: int | None = None,
) -> Matches:
    """The best events that hold something of a query, of these sessions or (``None``) of all. Any
    text is a legal query; one without a letter or digit finds nothing.

    Of one session alone, what it repeats of another (a fork) is found under its own seqs, and
    nothing behind the seq ``until``.
    """
    pieces = pieces_of(query)[:_PIECES]
    if not pieces or sessions == []:
        return Matches((), ())
    with connections.read() as connection:
        part = IndexPart(connection, sessions, until)
        counted = [count for count in map(part.counted, pieces) if count.holders]
        found = part.looked_up(counted, limit)
        best = heapq.nlargest(limit * _LOOKED_AT, found.items(), key=lambda f: f[::-1])
        events = _by_length(part.told(best))[:limit]
    return Matches(tuple(Weighed(count.piece, count.weight) for count in counted), tuple(events))


def _by_length(events: Sequence[Match]) -> list[Match]:
    """Scores as BM25 has them for a text of this length, and the order that follows. How often a
    piece stands in a long text is not known here, so that its length counts for less."""
    mean = sum(event.tokens for event in events) / len(events) if events else 0.0
    scored = []
    for event in events:
        length = event.tokens / mean if mean else 1.0
        factor = (1 + _SATURATION) / (1 + _SATURATION * (1 - _LENGTH + _LENGTH * length))
        scored.append(replace(event, score=event.score * factor))
    return sorted(scored, key=lambda event: (-event.score, -event.session, -event.seq))


def recent(
    connections: Connections,
    sessions: Sequence[SessionRecord],
    limit: int,
    *,
    until: int | None = None,
) -> tuple[Match, ...]:
    """The newest events that stood on the surface, of these sessions in their order; none behind
    the seq ``until``, of one alone."""
    found: list[Match] = []
    with connections.read() as connection:
        for session in sessions:
            if len(found) >= limit:
                break
            rows = connection.execute(
                "SELECT id, tokens FROM events WHERE id BETWEEN ? AND ? AND generation = ? "
                "AND op IS NOT NULL AND tokens > 0 ORDER BY id DESC LIMIT ?",
                (
                    event_id(session.id, 0),
                    event_id(session.id, SEQ_MASK if until is None else until),
                    session.generation,
                    limit - len(found),
                ),
            )
            found += [Match(session.id, seq_of(row), 0.0, tokens) for row, tokens in rows]
    return tuple(found)
