"""What ``ullage usage`` answers: tokens as the providers reported them, never a price."""

from __future__ import annotations

from typing import Literal

from inspector.reports import Report

UsageBy = Literal["day", "session", "model", "agent"]


class TokenTotals(Report):
    """Sums over requests. The buckets do not overlap; a figure that a provider did not tell adds
    nothing, and ``unknown`` says how often that was."""

    requests: int = 0
    """Requests that a provider reported figures for, each once."""
    input: int = 0
    """Input tokens neither read from nor written to the prompt cache."""
    cache_read: int = 0
    cache_creation: int = 0
    output: int = 0
    """Output tokens, reasoning included."""
    lower_bounds: int = 0
    """Requests whose stream was cut, so that their true output is at least what is summed."""
    unknown: int = 0
    """Requests of which the provider left out the input or the output."""
    errors: int = 0
    """Failed requests, which have no figures and are not among ``requests``."""


class UsageShare(Report):
    """What the sessions themselves spent, what their sub-agents did, and both together."""

    main: TokenTotals = TokenTotals()
    subagents: TokenTotals = TokenTotals()
    total: TokenTotals = TokenTotals()


class UsageRow(UsageShare):
    key: str | None
    """The day (``2026-03-29``), session, model or agent; ``None`` where the log does not tell."""
    agent: str | None = None
    """Of a session."""
    title: str | None = None


class UsageReport(Report):
    """``ullage usage --json``. Sub-agents count with the session that started them."""

    by: UsageBy
    zone: str
    """In which the days begin and end: its IANA name, or what this machine calls its own."""
    since: str | None = None
    """The first day, and the last one, that were asked for."""
    until: str | None = None
    rows: tuple[UsageRow, ...] = ()
    """Days in order, what is undated last; all else with the most tokens first."""
    total: UsageShare = UsageShare()
    """Over all rows."""
    undated: UsageShare = UsageShare()
    """Requests without a time. Between ``since`` and ``until`` they are in no row, else in all."""
