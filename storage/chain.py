"""The chain of the user's operations, which makes the audit tamper-evident.

Each row of ``operation_events`` holds a digest: SHA-256 of the digest of the row before it in its
session and of its own columns as canonical JSON. The first one follows the session's name, so that
a strand cannot be handed to another session. The newest digest of a session is kept apart
(``operation_heads``), so that missing last rows are seen. Over all sessions, every commit is a row
of ``operation_commits``, chained the same way and with a head of its own (``session_id`` 0), so
that a session's operations cannot vanish as a whole.

All of it lies in one file: who rewrites the rows, both chains and all heads leaves no trace in it.
A head that was noted elsewhere still tells (:func:`storage.verification.verify`).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ALL = 0
"""In ``operation_heads``: the chain of commits over all sessions."""

GENESIS = hashlib.sha256(b"ullage commits 1").digest()
"""What the first commit follows."""


STRAND_COLUMNS = (
    "session_id, number, operation, after, CAST(origin AS BLOB), at, CAST(event AS BLOB)"
)
"""In the order of :class:`StrandRow`."""


@dataclass(frozen=True, slots=True)
class Head:
    """How long a chain is, and the digest of its newest link."""

    count: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class StrandRow:
    """The columns of one row of ``operation_events``; texts as the bytes that are stored, so that
    no change of one of them is overlooked."""

    session_id: int
    number: int
    operation: int
    after: int
    origin: bytes
    at: float | None
    event: bytes

    def link(self, previous: bytes) -> bytes:
        """The digest of this row behind the one with that digest."""
        return _link(
            previous,
            {
                "session": self.session_id,
                "number": self.number,
                "operation": self.operation,
                "after": self.after,
                "origin": _text(self.origin),
                "at": self.at,
                "event": _text(self.event),
            },
        )


@dataclass(frozen=True, slots=True)
class Commit:
    """One row of ``operation_commits``: a session's strand as it was right after a commit."""

    position: int
    session_id: int
    strand: Head

    def link(self, previous: bytes) -> bytes:
        """The digest of this row behind the one with that digest."""
        return _link(
            previous,
            {
                "position": self.position,
                "session": self.session_id,
                "count": self.strand.count,
                "head": self.strand.digest.hex(),
            },
        )


def genesis(name: str) -> bytes:
    """What the first row of a session's strand follows."""
    return hashlib.sha256(b"ullage operations 1\0" + name.encode("utf-8")).digest()


def linked(previous: bytes, rows: Sequence[StrandRow]) -> list[bytes]:
    """The digests of rows that follow the one with the digest ``previous``."""
    digests = []
    for row in rows:
        previous = row.link(previous)
        digests.append(previous)
    return digests


def head(connection: sqlite3.Connection, session: int = ALL) -> Head | None:
    """The head of a session's strand, or of the chain of commits; ``None`` where nothing was
    appended yet."""
    row = connection.execute(
        "SELECT count, digest FROM operation_heads WHERE session_id = ?", (session,)
    ).fetchone()
    return None if row is None else Head(*row)


def append(connection: sqlite3.Connection, rows: Sequence[StrandRow]) -> None:
    """Appends the rows of one commit to a session's strand, inside the caller's transaction.

    They follow the heads, not the rows that happen to be there: so that what was found missing
    today is still found after the next commit.
    """
    if not rows:
        return
    session = rows[0].session_id
    digests = linked(_previous(connection, session), rows)
    connection.executemany(
        "INSERT INTO operation_events "
        "(session_id, number, operation, after, origin, at, event, digest) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                row.session_id,
                row.number,
                row.operation,
                row.after,
                row.origin.decode("utf-8"),
                row.at,
                row.event.decode("utf-8"),
                digest,
            )
            for row, digest in zip(rows, digests, strict=True)
        ],
    )
    record_commit(connection, session, Head(rows[-1].number, digests[-1]))


def record_commit(connection: sqlite3.Connection, session: int, strand: Head) -> None:
    """Enters a session's new head, and chains it to the commits before."""
    before = head(connection) or Head(0, GENESIS)
    commit = Commit(before.count + 1, session, strand)
    digest = commit.link(before.digest)
    connection.execute(
        "INSERT INTO operation_commits (position, session_id, count, head, digest) "
        "VALUES (?, ?, ?, ?, ?)",
        (commit.position, session, strand.count, strand.digest, digest),
    )
    _set_head(connection, session, strand)
    _set_head(connection, ALL, Head(commit.position, digest))


def begin(connection: sqlite3.Connection) -> None:
    """Chains what a store without a chain holds, each session's strand as one commit, in the order
    of the sessions. Inside the caller's transaction."""
    _set_head(connection, ALL, Head(0, GENESIS))
    for session, name in connection.execute(
        "SELECT id, name FROM sessions WHERE id IN (SELECT session_id FROM operation_events) "
        "ORDER BY id"
    ).fetchall():
        rows = [
            StrandRow(*row)
            for row in connection.execute(
                f"SELECT {STRAND_COLUMNS} FROM operation_events "  # noqa: S608 - constant
                "WHERE session_id = ? ORDER BY number",
                (session,),
            )
        ]
        digests = linked(genesis(name), rows)
        connection.executemany(
            "UPDATE operation_events SET digest = ? WHERE session_id = ? AND number = ?",
            [(digest, session, row.number) for row, digest in zip(rows, digests, strict=True)],
        )
        record_commit(connection, session, Head(rows[-1].number, digests[-1]))


def _set_head(connection: sqlite3.Connection, session: int, new: Head) -> None:
    connection.execute(
        "INSERT INTO operation_heads (session_id, count, digest) VALUES (?, ?, ?) "
        "ON CONFLICT (session_id) DO UPDATE SET count = excluded.count, digest = excluded.digest",
        (session, new.count, new.digest),
    )


def _previous(connection: sqlite3.Connection, session: int) -> bytes:
    known = head(connection, session)
    if known is not None:
        return known.digest
    (name,) = connection.execute("SELECT name FROM sessions WHERE id = ?", (session,)).fetchone()
    return genesis(name)


def _link(previous: bytes, facts: Mapping[str, object]) -> bytes:
    """Canonical JSON in the manner of RFC 8785: sorted keys, no blanks, UTF-8; numbers as Python
    writes them, which is the shortest form that reads back the same."""
    text = json.dumps(facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(previous + text.encode("utf-8", "surrogateescape")).digest()


def _text(stored: bytes) -> str:
    """Bytes that are no UTF-8 become lone surrogates, and the same bytes again when hashed."""
    return stored.decode("utf-8", "surrogateescape")
