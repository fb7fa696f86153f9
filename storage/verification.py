"""Whether the recorded operations are still what was appended: the check of both chains.

Reads only; a finding is a sentence, never an exception. What it cannot see, ``chain.py`` says.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from storage.chain import ALL, GENESIS, STRAND_COLUMNS, Commit, Head, StrandRow, genesis, head
from storage.connection import Connections
from storage.errors import HeadFormatError, StoreUnusableError

FindingKind = Literal["changed", "missing", "added", "head", "unknown_session", "noted"]
"""``head``: a chain does not end as its head says. ``noted``: a head that was noted elsewhere is
not on the chain."""

_SHORTEST = 16
"""Digits of a noted digest that are enough to tell it from all others."""

_ROWS = f"SELECT {STRAND_COLUMNS}, digest FROM operation_events ORDER BY session_id, number"  # noqa: S608
_COMMITS = (
    "SELECT position, session_id, count, head, digest FROM operation_commits ORDER BY position"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was recorded."""

    kind: FindingKind
    message: str
    """A sentence for a person. Holds names from logs."""
    session: str | None = None
    operation: str | None = None
    """``"oN"`` of the row that it was found at."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A head that was noted elsewhere, found on a chain: up to there nothing was changed."""

    digest: str
    session: str | None
    """The session whose strand it is on; ``None``: the chain of commits."""
    since: int
    """Links that were appended after it."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at and found."""

    rows: int
    commits: int
    head: Head
    """Of the chain of commits."""
    findings: tuple[Finding, ...]
    noted: Noted | None = None


def verify(
    connections: Connections, session: int | None = None, noted: str | None = None
) -> Verification:
    """Checks the strand of one session (``None``: of all), and the chain of commits, as they stand
    at one moment. ``noted``: the digest of an earlier head, in hex, or its first 16 digits or more.

    Raises :class:`HeadFormatError` for what is no digest, :class:`StoreUnusableError` for a store
    that was made before operations were chained and may only be read.
    """
    wanted = None if noted is None else _digest(noted)
    with connections.read() as connection:
        _refuse_unchained(connection, connections.path)
        connection.execute("BEGIN")
        try:
            return _Check(connection, wanted).run(session)
        finally:
            connection.execute("COMMIT")


def head_of(connections: Connections, session: int | None = None) -> Head:
    """The head of a session's strand, or (``None``) of the chain of commits.

    Raises :class:`StoreUnusableError` as :func:`verify` does.
    """
    with connections.read() as connection:
        _refuse_unchained(connection, connections.path)
        if session is None:
            return head(connection) or Head(0, GENESIS)
        names = _names(connection)
        return head(connection, session) or Head(0, genesis(names[session]))


class _Check:
    """One verification. The chains are read once, a session at a time."""

    def __init__(self, connection: sqlite3.Connection, noted: str | None) -> None:
        self._connection = connection
        self._names = _names(connection)
        self._noted = noted
        self._found: Noted | None = None
        self._rows = 0
        self._whole = True
        """No commit is missing."""

    def run(self, session: int | None) -> Verification:
        commits = [
            (Commit(position, owner, Head(count, newest)), digest)
            for position, owner, count, newest, digest in self._connection.execute(_COMMITS)
        ]
        heads = {
            owner: Head(count, digest)
            for owner, count, digest in self._connection.execute(
                "SELECT session_id, count, digest FROM operation_heads"
            )
        }
        findings = list(self._commits(commits, heads.get(ALL)))
        self._whole = not findings
        by_session: dict[int, list[Head]] = {}
        for commit, _ in commits:
            by_session.setdefault(commit.session_id, []).append(commit.strand)
        findings += self._strands(session, heads, by_session)
        if self._noted is not None and self._found is None:
            findings.append(
                Finding(
                    "noted",
                    f"The head {self._noted} is on no chain: what was recorded when it was noted "
                    "was rewritten or removed, or it was noted of another store or session.",
                )
            )
        newest = heads.get(ALL) or Head(0, GENESIS)
        return Verification(self._rows, len(commits), newest, tuple(findings), self._found)

    def _strands(
        self, only: int | None, heads: Mapping[int, Head], commits: Mapping[int, Sequence[Head]]
    ) -> Iterator[Finding]:
        seen = set()
        every = self._connection.execute(_ROWS)
        for owner, group in groupby(every, key=lambda row: int(row[0])):
            seen.add(owner)
            if only in (None, owner):
                rows = ((StrandRow(*row[:-1]), row[-1]) for row in group)
                yield from self._strand(owner, rows, heads.get(owner), commits.get(owner, ()))
        for owner in sorted({*heads, *commits} - seen - {ALL}):
            if only in (None, owner):
                yield from self._strand(owner, (), heads.get(owner), commits.get(owner, ()))

    def _strand(
        self,
        owner: int,
        rows: Iterable[tuple[StrandRow, bytes]],
        newest: Head | None,
        commits: Sequence[Head],
    ) -> Iterator[Finding]:
        """Of one session: its rows against one another, its head, and what commits say of it."""
        name = self._names.get(owner)
        if name is None:
            count = sum(1 for _ in rows)
            self._rows += count
            yield Finding(
                "unknown_session",
                f"{count:,} events of operations and {len(commits):,} commits are of session "
                f"number {owner}, which is not in this store.",
            )
            return
        start = genesis(name)
        digests: dict[int, bytes] = {}
        findings = list(_chained(name, start, rows, digests))
        findings += _ended(name, start, digests, newest)
        yield from findings
        self._rows += len(digests)
        self._look_for(name, [start, *digests.values()])
        if not findings:
            yield from _committed(name, digests, commits, whole=self._whole)

    def _commits(
        self, commits: Sequence[tuple[Commit, bytes]], newest: Head | None
    ) -> Iterator[Finding]:
        """The chain of commits against itself and its head."""
        previous: bytes | None = GENESIS
        expected = 1
        for commit, digest in commits:
            if commit.position > expected:
                gone = commit.position - expected
                yield Finding(
                    "missing",
                    f"{_commits_counted(gone)} before commit {commit.position} of this store "
                    f"{'is' if gone == 1 else 'are'} missing.",
                )
                previous = None
            if previous is not None and commit.link(previous) != digest:
                yield Finding(
                    "changed",
                    f"Commit {commit.position} of this store is not what was recorded: it was "
                    "changed, or moved.",
                    self._names.get(commit.session_id),
                )
            previous, expected = digest, commit.position + 1
        last = commits[-1][1] if commits else GENESIS
        if newest is None:
            yield Finding("head", "The head of the commits of this store is missing.")
        elif newest.count > expected - 1:
            gone = newest.count - expected + 1
            yield Finding(
                "missing",
                f"The newest {_commits_counted(gone)} of this store "
                f"{'is' if gone == 1 else 'are'} missing.",
            )
        elif newest != Head(expected - 1, last):
            yield Finding("head", "The commits of this store do not end as its head says.")
        self._look_for(None, [GENESIS, *(digest for _, digest in commits)])

    def _look_for(self, session: str | None, digests: Sequence[bytes]) -> None:
        if self._noted is None or self._found is not None:
            return
        for index, digest in enumerate(digests):
            if digest.hex().startswith(self._noted):
                self._found = Noted(digest.hex(), session, len(digests) - 1 - index)


def _chained(
    name: str,
    start: bytes,
    rows: Iterable[tuple[StrandRow, bytes]],
    digests: dict[int, bytes],
) -> Iterator[Finding]:
    """Each row behind the one before it. Compared with the digest that is stored there, so that
    one changed row is one finding. Fills in the ``digests`` by number, as the rows go by."""
    previous: bytes | None = start
    expected = 1
    for row, digest in rows:
        digests[row.number] = digest
        if row.number > expected:
            yield Finding(
                "missing",
                f"{_run(expected, row.number - 1)} of session {name} "
                f"{'is' if row.number == expected + 1 else 'are'} missing.",
                name,
                f"o{expected}",
            )
            # What the next row followed is gone, and with it the means to judge it.
            previous = None
        if row.number < expected:
            yield Finding("added", f"o{row.number} of session {name} was never recorded.", name)
            continue
        if previous is not None and row.link(previous) != digest:
            yield Finding(
                "changed",
                f"o{row.number} of session {name} is not what was recorded: it was changed, or "
                "moved.",
                name,
                f"o{row.number}",
            )
        previous, expected = digest, row.number + 1


def _ended(
    name: str, start: bytes, digests: Mapping[int, bytes], newest: Head | None
) -> Iterator[Finding]:
    """The end of a strand against the head that is kept apart."""
    last = max(digests, default=0)
    if newest is None:
        if digests:
            yield Finding("head", f"The head of session {name} is missing.", name)
    elif newest.count > last:
        one = newest.count == last + 1
        yield Finding(
            "missing",
            f"{_run(last + 1, newest.count)}, the newest of session {name}, "
            f"{'is' if one else 'are'} missing.",
            name,
            f"o{last + 1}",
        )
    elif newest.count < last:
        yield Finding(
            "added",
            f"{_run(newest.count + 1, last)} of session {name} "
            f"{'is' if last == newest.count + 1 else 'are'} behind the end that was recorded.",
            name,
            f"o{newest.count + 1}",
        )
    elif newest.digest != digests.get(last, start) or not digests:
        yield Finding("head", f"Session {name} does not end as its head says.", name)


def _committed(
    name: str, digests: Mapping[int, bytes], commits: Sequence[Head], *, whole: bool
) -> Iterator[Finding]:
    """A strand that is sound in itself against what the commits of the store say of it; ``whole``:
    none of those is missing."""
    newest = max(digests, default=0)
    for commit in commits:
        if digests.get(commit.count) != commit.digest:
            yield Finding(
                "changed",
                f"Session {name} does not hold what the commits of this store say of "
                f"o{commit.count}.",
                name,
                f"o{commit.count}",
            )
            return
    recorded = commits[-1].count if commits else 0
    if whole and recorded != newest:
        yield Finding(
            "added",
            f"{_run(recorded + 1, newest)} of session {name} "
            f"{'is' if newest == recorded + 1 else 'are'} in no commit of this store.",
            name,
            f"o{recorded + 1}",
        )


def _run(first: int, last: int) -> str:
    return f"o{first}" if first >= last else f"o{first} to o{last}"


def _commits_counted(count: int) -> str:
    return f"{count:,} {'commit' if count == 1 else 'commits'}"


def _digest(text: str) -> str:
    wanted = text.strip().lower()
    if re.fullmatch(f"[0-9a-f]{{{_SHORTEST},64}}", wanted) is None:
        raise HeadFormatError(
            f"{text!r} is no head: give the digest that ullage audit --head printed, at least its "
            f"first {_SHORTEST} digits."
        )
    return wanted


def _names(connection: sqlite3.Connection) -> dict[int, str]:
    return dict(connection.execute("SELECT id, name FROM sessions"))


def _refuse_unchained(connection: sqlite3.Connection, path: str) -> None:
    there = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE name = 'operation_heads'"
    ).fetchone()
    if there is None:
        raise StoreUnusableError(
            f"The store {path} is of an older version, without chained operations, and may only be "
            "read by this user: open it once as one who may write it."
        )
