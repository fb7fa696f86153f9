"""What ``ullage rebuild`` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compress.continuation.values import Continuation, SectionName
from compress.events import NodeId
from inspector.pack_reports import PackReport
from inspector.reports import Report

QuerySource = Literal["given", "session"]
"""``session``: the newest words of the user's, and what is open."""


class SectionReport(Report):
    """One part of the context, in the order of the text."""

    name: SectionName
    title: str
    tokens: int
    """Of the part alone, its heading included."""
    items: int
    """Messages, items, errors, decisions, units, beliefs or names that stand."""
    left_out: int = 0
    degraded: int = 0
    """Of the items, those that do not stand word for word."""
    text: str


class MissingReport(Report):
    """What of a kind does not stand: how many of how many, and the first of them."""

    total: int
    of: int
    items: tuple[str, ...] = ()
    """At most 200."""


class AvailabilityReport(Report):
    """What of the session still stands in the text. Necessary, not sufficient: a name may stand
    without its meaning."""

    share: float
    """Of the names most likely needed again, those that stand: 0 to 1."""
    identifiers: MissingReport
    """The most likely ones first."""
    instructions: MissingReport
    """The user's words and standing rules, in log order."""
    errors: MissingReport
    """That nothing resolved since."""


class RebuildReport(PackReport):
    """A continuation context: a pack, with what stands around it."""

    at_seq: NodeId
    """The moment that it was rebuilt from."""
    query_source: QuerySource
    query_seqs: tuple[NodeId, ...] = ()
    """The messages whose words it was taken from."""
    query_items: int = 0
    """Open items in it, behind the words."""
    sections: tuple[SectionReport, ...]
    availability: AvailabilityReport


@dataclass(frozen=True, slots=True)
class RebuildHandle:
    """A rebuilt context together with what its commit needs. Nothing of it is written."""

    report: RebuildReport
    continuation: Continuation
    past: bool
    """It is of a moment of the past, and cannot be committed."""

    @property
    def session(self) -> str:
        """Its name in the store."""
        return self.report.session or ""
