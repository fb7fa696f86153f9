"""The part of the full-text index that holds some sessions: what is counted in it, and looked up.

Rows are events (``session << 32 | seq``), so the sessions of a part are ranges of them.
"""

from __future__ import annotations

import json
import math
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from storage.catalog import SessionRecord
from storage.format import SEQ_BITS, SEQ_MASK
from storage.pieces import Piece
from storage.rows import event_id, seq_of, session_of

COUNTED = 5_000
"""Events up to which a piece is counted; one that stands in more is frequent."""
SCORED = 16_000
"""Rows of the pieces that are looked up, together."""
_FILLING = 3
"""Frequent pieces of which the newest events are taken where the others find too little."""
_FORMS = 32
"""Words of the index that are taken for a piece's endings."""
_RANGES = 8
_COPIES = 20_000
"""Events of a fork among which what it repeats of another session is looked for."""
_EVERY = (0, (1 << 63) - 1)

Range = tuple[int, int]
"""Row ids, both included."""


@dataclass(frozen=True, slots=True)
class Match:
    """An event that is found. A higher score is better."""

    session: int
    seq: int
    score: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Counted:
    """How many events hold a piece."""

    piece: Piece
    expression: str | None
    """Finds it in the index; ``None`` where it is too costly to look for."""
    holders: int
    """Counted, or where it is frequent, estimated."""
    is_frequent: bool
    weight: float
    """ln(1 + (N − n + ½) ÷ (n + ½)) for n of the part's N events that hold it."""


class IndexPart:
    """A part of the index. Use it within one read."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        sessions: Sequence[SessionRecord] | None,
        until: int | None = None,
    ) -> None:
        """``sessions``: ``None`` means all; ``until``: of one alone, the last seq."""
        self._connection = connection
        self._tables = _tables(connection)
        sizes = connection.execute("SELECT id, events, family FROM sessions ORDER BY id").fetchall()
        self.fork = _fork(connection, sessions)
        self._wanted: frozenset[int] | None = None
        if sessions is not None:
            wanted = {session.id for session in sessions}
            if self.fork is not None:
                wanted |= {identifier for identifier, _, of in sizes if of == self.fork.family}
            self._wanted = frozenset(wanted)
        known = [(n, size) for n, size, _ in sizes if self._wanted is None or n in self._wanted]
        self._ids = [n for n, _ in known]
        self._before: list[int] = [0, *accumulate(size for _, size in known)]
        self._ranges = [_EVERY] if self._wanted is None else _joined(self._ids)
        self._until = SEQ_MASK if until is None else until
        if until is not None and len(self._ids) == 1:
            self._ranges = [(event_id(self._ids[0], 0), event_id(self._ids[0], until))]
        self._words: dict[str, tuple[int, bool]] = {}

    def counted(self, piece: Piece) -> Counted:
        """How many events hold a piece."""
        if len(piece.words) > 1:
            rarest = min(map(self._word, piece.words))
            if rarest[1] or not rarest[0]:
                # Two lists that nearly all events are in would be read to their ends.
                return self._weighed(piece, None, *rarest)
        if len(piece.words) == 1 and not piece.is_beginning:
            return self._weighed(piece, piece.expression, *self._word(piece.words[0]))
        expression = self._forms(piece) if piece.is_beginning else piece.expression
        return self._weighed(piece, expression, *self._count(expression))

    def looked_up(self, counted: Sequence[Counted], limit: int) -> dict[int, float]:
        """Row id → score."""
        scores: dict[int, float] = {}
        room = SCORED
        order = sorted(
            (count for count in counted if count.expression is not None),
            key=lambda count: (count.is_frequent, count.holders),
        )
        frequent = [count for count in order if count.is_frequent]
        for count in order:
            if count.is_frequent or count.holders > room:
                break
            room -= count.holders
            self._add(scores, self._rows(count), count.weight)
        for count in frequent[:_FILLING]:
            if len(scores) >= limit:
                break
            self._add(scores, self._newest(count), count.weight)
        return scores

    def told(self, best: Sequence[tuple[int, float]]) -> list[Match]:
        """Those of these rows that stand in their files, in the order given."""
        rows = self._connection.execute(
            "SELECT e.id, e.tokens, e.native_id, e.block FROM json_each(?) j "
            "JOIN events e ON e.id = j.value JOIN sessions s ON s.id = e.id >> 32 "
            "JOIN sources f ON f.id = s.source_id WHERE e.generation = f.generation",
            (json.dumps([row for row, _ in best]),),
        ).fetchall()
        own = None if self.fork is None else self._copied(self.fork)
        facts = {row: (tokens, native, block) for row, tokens, native, block in rows}
        found: dict[tuple[int, int], Match] = {}
        for row, score in best:
            if row not in facts:
                continue
            tokens, native, block = facts[row]
            place: tuple[int, int] | None = (session_of(row), seq_of(row))
            if self.fork is not None and own is not None and session_of(row) != self.fork.id:
                seq = own.get((native, block))
                place = None if seq is None else (self.fork.id, seq)
            if place is not None and place[1] <= self._until:
                found.setdefault(place, Match(*place, score, tokens))
        return list(found.values())

    def _copied(self, fork: SessionRecord) -> dict[tuple[str, int], int]:
        """(native id, block) → seq, of what a fork repeats."""
        rows = self._connection.execute(
            "SELECT id, native_id, block FROM events WHERE id BETWEEN ? AND ? AND copied",
            (event_id(fork.id, 0), event_id(fork.id, _COPIES)),
        )
        return {(native, block): seq_of(row) for row, native, block in rows}

    def _word(self, word: str) -> tuple[int, bool]:
        if word not in self._words:
            self._words[word] = self._count(Piece((word,)).expression)
        return self._words[word]

    def _weighed(
        self, piece: Piece, expression: str | None, holders: int, is_frequent: bool
    ) -> Counted:
        total = max(self._before[-1], holders)
        weight = math.log(1 + (total - holders + 0.5) / (holders + 0.5))
        return Counted(piece, expression, holders, is_frequent, weight)

    def _forms(self, piece: Piece) -> str | None:
        """What begins so, spelled out: FTS5 would merge the lists of all of them first."""
        forms = dict.fromkeys(
            form for table in self._tables for form in self._forms_in(table, piece.words[-1])
        )
        whole = (Piece((*piece.words[:-1], form)).expression for form in list(forms)[:_FORMS])
        return " OR ".join(whole) or None

    def _forms_in(self, table: str, beginning: str) -> Iterator[str]:
        self._connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_terms "
            f"USING fts5vocab(main, {table}, instance)"
        )
        at = beginning
        for _ in range(_FORMS):
            row = self._connection.execute(
                f"SELECT term FROM temp.{table}_terms WHERE term >= ? LIMIT 1",  # noqa: S608
                (at,),
            ).fetchone()
            if row is None or not row[0].startswith(beginning):
                return
            yield row[0]
            # The next term: a seek for each, not a walk through all that hold this one.
            at = f"{row[0]}\x01"

    def _count(self, expression: str | None) -> tuple[int, bool]:
        """Up to the limit; above it an estimate, from how far the limit reached."""
        if expression is None:
            return 0, False
        count: int = 0
        last: int = 0
        for table in self._tables:
            for low, high in self._ranges:
                found, newest = self._connection.execute(
                    f"SELECT count(*), max(rowid) FROM (SELECT rowid FROM {table} "  # noqa: S608
                    f"WHERE {table} MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)",
                    (expression, low, high, COUNTED - count),
                ).fetchone()
                count, last = count + found, newest or last
                if count >= COUNTED:
                    reached = max(count, self._events_until(last))
                    total = max(self._before[-1], reached)
                    return count * total // reached, True
        return count, False

    def _events_until(self, row: int) -> int:
        place = bisect_right(self._ids, session_of(row))
        if not place:
            return 0
        size = self._before[place] - self._before[place - 1]
        inside = seq_of(row) if self._ids[place - 1] == session_of(row) else size
        return self._before[place - 1] + min(inside, size)

    def _rows(self, count: Counted) -> Iterator[list[tuple[int]]]:
        for table in self._tables:
            for low, high in self._ranges:
                yield self._connection.execute(
                    f"SELECT rowid FROM {table} WHERE {table} MATCH ? "  # noqa: S608
                    "AND rowid BETWEEN ? AND ?",
                    (count.expression, low, high),
                ).fetchall()

    def _newest(self, count: Counted) -> Iterator[list[tuple[int]]]:
        room = COUNTED
        for low, high in reversed(self._ranges):
            for table in self._tables:
                rows = self._connection.execute(
                    f"SELECT rowid FROM {table} WHERE {table} MATCH ? "  # noqa: S608
                    "AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
                    (count.expression, low, high, room),
                ).fetchall()
                room -= len(rows)
                yield rows

    def _add(
        self, scores: dict[int, float], found: Iterator[list[tuple[int]]], weight: float
    ) -> None:
        """The weight to each of these rows, but for those of sessions between."""
        for rows in found:
            if self._wanted is not None and len(self._ids) > 1:
                rows = [row for row in rows if row[0] >> SEQ_BITS in self._wanted]  # noqa: PLW2901
            for (row,) in rows:
                scores[row] = scores.get(row, 0.0) + weight


def _tables(connection: sqlite3.Connection) -> list[str]:
    """The index, and beside it what an older version made of what was not read anew yet."""
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE name IN ('search', 'search_words') ORDER BY name"
    )
    return [name for (name,) in rows]


def _fork(
    connection: sqlite3.Connection, sessions: Sequence[SessionRecord] | None
) -> SessionRecord | None:
    """The session, where one alone is asked for that begins with what another holds already: that
    is indexed there."""
    if sessions is None or len(sessions) != 1:
        return None
    (session,) = sessions
    first = connection.execute(
        "SELECT max(copied) FROM (SELECT copied FROM events WHERE id BETWEEN ? AND ? "
        "ORDER BY id LIMIT 64)",
        session_range(session.id, session.id),
    ).fetchone()[0]
    return session if first else None


def session_range(first: int, last: int) -> Range:
    """The rows of these sessions and of all between."""
    return event_id(first, 0), event_id(last, SEQ_MASK)


def _joined(ids: Sequence[int]) -> list[Range]:
    """The ranges of these sessions, neighbours together; where there are many, with the sessions
    in the smallest gaps between them."""
    gaps = sorted(
        (after - before, place)
        for place, (before, after) in enumerate(pairwise(ids))
        if after - before > 1
    )
    widest = gaps[max(0, len(gaps) - _RANGES + 1) :]
    cuts = sorted(place for _, place in widest)
    edges = [0, *(place + 1 for place in cuts), len(ids)]
    return [
        session_range(ids[start], ids[end - 1]) for start, end in pairwise(edges) if start < end
    ]
