"""What stands around events that were found: the calls that they answer, and later mentions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from storage.catalog import SessionRecord
from storage.connection import Connections
from storage.pieces import Piece, words_of
from storage.rows import event_id, seq_of

_BEFORE = 64
"""Events before a result among which its call is looked for."""
_BEHIND = 20_000
"""Events behind the first mention among which later ones are looked for."""
_MENTIONS = 200
_PATH_WORDS = 5
"""Words at the end of a path that tell it."""


def calls_answered(
    connections: Connections, session: SessionRecord, results: Sequence[tuple[int, str]]
) -> Mapping[int, int]:
    """Of results (seq, call id): seq → seq of the event that made the call, where one near before
    it did."""
    asked = json.dumps(
        [(event_id(session.id, seq), json.dumps(call, ensure_ascii=False)) for seq, call in results]
    )
    with connections.read() as connection:
        rows = connection.execute(
            "SELECT j.value->>0, (SELECT e.id FROM events e "
            "WHERE e.id BETWEEN (j.value->>0) - ? AND j.value->>0 "
            "AND e.calls IS NOT NULL AND instr(e.calls, j.value->>1) ORDER BY e.id DESC LIMIT 1) "
            "FROM json_each(?) j",
            (_BEFORE, asked),
        ).fetchall()
    return {seq_of(result): seq_of(call) for result, call in rows if call is not None}


def mentions_behind(
    connections: Connections,
    session: SessionRecord,
    text: str,
    seq: int,
    until: int | None = None,
) -> tuple[int, ...]:
    """Seqs of the events behind ``seq`` (and not behind ``until``) that name this path or pointer,
    in order; bounded."""
    words = words_of(text)[-_PATH_WORDS:]
    last = min(seq + _BEHIND, session.last_seq if until is None else until)
    if not words or last <= seq:
        return ()
    with connections.read() as connection:
        rows = connection.execute(
            "SELECT rowid FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?",
            (
                Piece(words).expression,
                event_id(session.id, seq + 1),
                event_id(session.id, last),
                _MENTIONS,
            ),
        ).fetchall()
    return tuple(seq_of(row) for (row,) in rows)
