"""A continuation context: what is asked, what it is made of, what of the session it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compress.compaction.material import Digest
from compress.compaction.values import SessionInput
from compress.decisions.values import DecisionPoint
from compress.packs.values import Candidate, PackLine

SectionName = Literal[
    "pinned",
    "instructions",
    "rules",
    "open_items",
    "jobs",
    "errors",
    "decisions",
    "turns",
    "retrieved",
    "names",
]


@dataclass(frozen=True, slots=True)
class ContinuationRequest:
    """What is asked for. ``query``: what the work goes on with; it steers what is retrieved."""

    query: str
    budget: int
    """Tokens of the whole text, as counted."""
    type_aware: bool = True
    """Off: turns and retrieved beliefs stand word for word, or not at all."""
    session: str = ""
    """The session's name, for the pointers."""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Material:
    """What a context is rebuilt from: pure values, of one moment."""

    session: SessionInput
    """The plan surface of that moment, its pins, and the content of every node behind it."""
    found: Digest
    """The facts of that surface and of the raw behind its checkpoints."""
    decisions: Sequence[DecisionPoint] = ()
    """Of the session, in log order."""
    candidates: Sequence[Candidate] = ()
    """What the query found; none that is newer than the moment."""


@dataclass(frozen=True, slots=True)
class ContinuationSection:
    """One part. ``text`` begins with its heading; ``tokens`` are of the text, counted alone."""

    name: SectionName
    title: str
    text: str
    tokens: int
    items: int
    """Messages, items, errors, decisions, units, beliefs or names that stand."""
    left_out: int = 0
    """Those that stand as a pointer or in a number only."""
    degraded: int = 0
    """Of the items, those that do not stand word for word."""


@dataclass(frozen=True, slots=True)
class Availability:
    """What of the session still stands in the text. Necessary, not sufficient: a name may stand
    without its meaning."""

    identifiers: int
    """Names of the session that were looked for: those most likely needed again."""
    standing: int
    """Those of them that stand."""
    missing: tuple[str, ...] = ()
    """Those that do not, the most likely first."""
    instructions: tuple[str, ...] = ()
    """The user's words and standing rules that do not stand whole: their beginning, their place."""
    errors: tuple[str, ...] = ()
    """Unresolved errors whose telling lines do not all stand."""
    instructions_of: int = 0
    errors_of: int = 0

    @property
    def share(self) -> float:
        """Of the names looked for, those that stand: 0 to 1; 1 where there are none."""
        return self.standing / self.identifiers if self.identifiers else 1.0


@dataclass(frozen=True, slots=True)
class Continuation:
    """The result. ``tokens``: what the whole text counts, never above the budget."""

    request: ContinuationRequest
    text: str
    tokens: int
    counter: str
    sections: tuple[ContinuationSection, ...]
    """In the order of the text."""
    lines: tuple[PackLine, ...]
    """Of every candidate, by rank."""
    availability: Availability
