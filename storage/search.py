"""Full text over all sessions. Any text that a person types is a legal query (S11)."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from storage.connection import Connections
from storage.rows import seq_of
from storage.scripts import all_of, any_of, words_of


@dataclass(frozen=True, slots=True)
class Hit:
    """An event that a query finds. A higher score is better."""

    session: str
    seq: int
    type: str
    headline: str
    score: float
    partial: bool
    """It holds a part of the query only, for no event holds all of it."""


def search(connections: Connections, query: str, limit: int = 50) -> list[Hit]:
    """The events that hold all terms of a query, the best first. Where there is none, and the query
    is more than a single name, those that hold the most telling parts of it. None for a query
    without a letter or digit.

    Copies of the same event in forked or resumed sessions are found once.
    """
    whole, part, words = all_of(query), any_of(query), words_of(query)
    if whole is None or words is None:
        return []
    with connections.read() as connection:
        tables = {
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE name IN ('search_words', 'search_rebuild')"
            )
        }
        # A store of an older version that may only be read has the older index alone.
        if "search_rebuild" not in tables:
            return _hits(connection, {"search": words}, limit)
        old = {"search_words": words} if "search_words" in tables else {}
        found = _hits(connection, {"search": whole, **old}, limit)
        if found or part is None:
            return found
        return _hits(connection, {"search": part}, limit, partial=True)


def _hits(
    connection: sqlite3.Connection, asked: dict[str, str], limit: int, *, partial: bool = False
) -> list[Hit]:
    """The best of these indexes, each with its expression; an event that several hold once."""
    scores: dict[int, float] = {}
    for table, expression in asked.items():
        for event, score in connection.execute(
            f"SELECT rowid, -bm25({table}) AS score FROM {table} WHERE {table} MATCH ? "  # noqa: S608
            "ORDER BY score DESC, rowid LIMIT ?",
            (expression, limit),
        ):
            scores.setdefault(event, score)
    best = sorted(scores, key=lambda event: (-scores[event], event))[:limit]
    hits = []
    for event in best:
        row = connection.execute(
            "SELECT s.name, e.type, e.headline FROM events e JOIN sessions s ON s.id = ?1 >> 32 "
            "WHERE e.id = ?1",
            (event,),
        ).fetchone()
        if row is not None:
            name, kind, headline = row
            hits.append(Hit(name, seq_of(event), kind, headline, scores[event], partial))
    return hits
