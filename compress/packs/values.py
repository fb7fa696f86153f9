"""A retrieval pack: what it is asked, what it is made of, and the reason for every line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from compress.beliefs.values import Belief, Strategy

Reason = Literal[
    "packed",
    "locked",
    "duplicate",
    "below_floor",
    "over_budget",
    "excluded",
    "standing",
]
"""Why a line is in or out. ``excluded``: a person took it out. ``standing``: its content stands
beside the pack already (in a rebuilt context)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A belief and the signals that it is ranked by."""

    belief: Belief
    match: float = 0.0
    """How well it matches the query (BM25, greater is better); 0: not at all."""
    age: int = 0
    """How many candidates or events are newer; 0 is the newest. Only its order counts."""
    uses: int = 0
    """How often the agent came back to it: later calls on the same file, later mentions."""


@dataclass(frozen=True, slots=True)
class PackRequest:
    """What is asked for. Overrides and choices are by the belief's id."""

    query: str
    budget: int
    """Tokens of the whole rendered pack: header, separators and pointers included."""
    type_aware: bool = True
    """Off: every belief is rendered verbatim."""
    overrides: Mapping[str, Strategy] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    included: frozenset[str] = frozenset()
    """Packed before what is ranked, after locks, as far as they fit."""
    allow_overflow: bool = False
    """Locks alone may exceed the budget; then nothing else is packed."""


@dataclass(frozen=True, slots=True)
class PackLine:
    """A candidate's line in the preview."""

    belief: Belief
    rank: int
    """From 1, the best first; locked ones before all."""
    score: float
    strategy: Strategy
    rendered: str
    """As it stands, or would stand, in the pack."""
    tokens_raw: int
    tokens_rendered: int
    packed: bool
    reason: Reason
    duplicate_of: str | None = None
    """Id of the belief that has the same content."""
    fell_back: Strategy | None = None


@dataclass(frozen=True, slots=True)
class Pack:
    """The result. ``text`` is what is committed, and ``tokens`` what the whole of it counts."""

    request: PackRequest
    text: str
    tokens: int
    counter: str
    lines: tuple[PackLine, ...]
    """Of every candidate, by rank."""
    overflow: int = 0
    """Tokens above the budget; only where locks were allowed to."""
