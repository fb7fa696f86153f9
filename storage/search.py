"""Full text over all sessions. Any text that a person types is a legal query (S11)."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

from storage.connection import Connections
from storage.rows import seq_of

MAX_TERMS = 64
"""Terms of one query; the rest is left out, since FTS5 joins each with the others."""
_MAX_TERM = 1_000
_UNINDEXED = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Hit:
    """An event that holds every term of a query. A higher score is better."""

    session: str
    seq: int
    type: str
    headline: str
    score: float


def search(connections: Connections, query: str, limit: int = 50) -> list[Hit]:
    """The best matches, best first; none for a query without a single letter or digit.

    Copies of the same event in forked or resumed sessions are found once.
    """
    match = match_expression(query)
    if match is None:
        return []
    try:
        with connections.read() as connection:
            rows = connection.execute(
                "SELECT s.name, e.id, e.type, e.headline, -f.score FROM "
                "(SELECT rowid, bm25(search) AS score FROM search WHERE search MATCH ? "
                "ORDER BY score, rowid LIMIT ?) f JOIN events e ON e.id = f.rowid "
                "JOIN sessions s ON s.id = e.id >> 32 ORDER BY f.score, e.id",
                (match, limit),
            ).fetchall()
    except sqlite3.OperationalError as error:
        # Quoting makes every query legal; should one still not be, it finds nothing.
        if "fts5" in str(error) or "syntax" in str(error):
            return []
        raise
    return [Hit(name, seq_of(event), kind, line, score) for name, event, kind, line, score in rows]


def match_expression(query: str) -> str | None:
    """An FTS5 expression that finds texts with all terms of the query; ``None`` without terms.

    Each term is a phrase, so ``foo-bar`` finds ``foo-bar``, and no character has a meaning.
    """
    cleaned = _UNINDEXED.sub(" ", query[: MAX_TERMS * _MAX_TERM])
    terms = [term[:_MAX_TERM] for term in cleaned.split() if any(map(str.isalnum, term))]
    if not terms:
        return None
    return " ".join('"' + term.replace('"', '""') + '"' for term in terms[:MAX_TERMS])
