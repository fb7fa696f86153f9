"""What the check of the recorded operations answers. A digest is 64 hexadecimal digits."""

from __future__ import annotations

from typing import Literal

from inspector.reports import Report

FindingKind = Literal["changed", "missing", "added", "head", "unknown_session", "noted"]


class HeadReport(Report):
    """``ullage audit [SESSION] --head``: where a chain of operations ends, to be noted."""

    session: str | None = None
    """Whose operations are chained; ``None``: the commits of all sessions."""
    count: int
    """Links of the chain: events of a session's operations, commits of the store."""
    digest: str


class FindingReport(Report):
    """One thing that is not as it was recorded."""

    kind: FindingKind
    session: str | None = None
    operation: str | None = None
    """The event of an operation that it was found at, ``"oN"``."""
    message: str


class NotedReport(Report):
    """An earlier head that was found on a chain: up to there nothing was changed."""

    digest: str
    session: str | None = None
    """The session whose chain it is on; ``None``: the chain of commits."""
    since: int
    """Links that were appended after it."""


class VerificationReport(Report):
    """``ullage audit [SESSION] --verify``."""

    intact: bool
    session: str | None = None
    """The only session whose operations were checked; ``None``: all of them."""
    events: int
    """Events of operations that were checked."""
    commits: int
    head: HeadReport
    """Of the chain of commits."""
    noted: NotedReport | None = None
    """With ``--head DIGEST``, where it was found."""
    findings: tuple[FindingReport, ...] = ()
