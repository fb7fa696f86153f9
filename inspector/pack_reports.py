"""What ``ullage pack`` and ``ullage rebuild`` answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import AliasChoices, ConfigDict, Field

from compress.beliefs.values import BeliefType, RetentionClass, Strategy
from compress.events import NodeId
from compress.packs.values import Pack, Reason
from inspector.reports import Report

PackScope = Literal["session", "project", "store"]
"""Where it is looked for."""


class PackLineReport(Report):
    """A candidate: what it is, what it costs, whether it is packed, and why."""

    model_config = ConfigDict(serialize_by_alias=True)

    belief: str
    """Its id."""
    type: BeliefType
    retention: RetentionClass = Field(
        serialization_alias="class", validation_alias=AliasChoices("class", "retention")
    )
    label: str
    locked: bool
    strategy: Strategy
    fell_back: Strategy | None = None
    rank: int
    score: float
    tokens_raw: int
    tokens_rendered: int
    packed: bool
    reason: Reason
    duplicate_of: str | None = None
    source_event_seqs: tuple[NodeId, ...]
    session: str
    """Its name in the store."""
    rendered: str
    """As it stands, or would stand, in the pack."""


class PackReport(Report):
    """A pack, previewed or committed."""

    model_config = ConfigDict(serialize_by_alias=True)

    query: str
    scope: PackScope
    session: str | None = None
    """On whose plan surface it is, or would be, committed."""
    budget: int
    tokens: int
    """Of the text, whole."""
    overflow: int = 0
    counter: str
    compression: bool
    compression_source: str
    """Where that was set: a flag, a variable, a file, ``default``, or ``chosen`` in the app."""
    text: str
    lines: tuple[PackLineReport, ...]
    note: str | None = None
    """What the query lacked, where nothing of it was found or could be looked for."""
    operation: str | None = None
    """Of the commit; none for a preview."""
    files: tuple[str, ...] = ()
    """That were written, as Markdown and as JSON."""


@dataclass(frozen=True, slots=True)
class PackHandle:
    """A preview together with what its commit needs. Nothing of it is written."""

    report: PackReport
    pack: Pack
