"""What ``ullage decisions`` answers with."""

from __future__ import annotations

from compress.decisions.values import DecisionPoint
from inspector.reports import Report


class DecisionRow(Report):
    """A record, with the name that its session has here."""

    session: str
    point: DecisionPoint


class DecisionsReport(Report):
    """Records in the order of their sessions, within one by their first event."""

    rows: tuple[DecisionRow, ...] = ()
    hidden: int = 0
    """Older ones of the projects' memory beyond the cap of what is shown; every one is kept, and
    exported."""
    hidden_tokens: int = 0
    undated: int = 0
    """Without a time, and so in no range of days."""
    masked: int = 0
    """Secrets that a mark stands for."""

    @property
    def points(self) -> tuple[DecisionPoint, ...]:
        """The records alone: what is exported."""
        return tuple(row.point for row in self.rows)


class ExportReport(Report):
    """A file that was written."""

    path: str
    records: int
    masked: int
