"""What ``ullage profiles --json`` prints."""

from __future__ import annotations

from inspector.reports import Report


class ProfileRow(Report):
    """One element of ``ullage profiles --json``: a profile in force here."""

    name: str
    description: str
    origin: str
    """``definition`` (a tool's own), ``project`` or ``built-in``."""
    path: str
    examples: int
    """Inline tests."""


class ExampleRow(Report):
    """One inline test of a profile."""

    profile: str
    name: str
    faults: tuple[str, ...]
    """What does not hold; empty where all does."""


class ProfileCheck(Report):
    """``ullage profiles check FILE --json``."""

    path: str
    profiles: tuple[str, ...]
    examples: tuple[ExampleRow, ...]
    failed: int
