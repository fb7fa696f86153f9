"""What compaction is handed and what it answers: frozen values, printable, nothing written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from compress.compaction.facts import FactsCache
from compress.compaction.fates import Fate, Fates, NodeFate
from compress.compaction.policy import Policy
from compress.entries import LogEntry
from compress.events import NodeId
from compress.measured import Measured, measure
from compress.messages.base import NodeContent
from compress.operations import OperationDraft, OperationKind
from compress.plan import PlanState
from compress.tokens import TokenCounter

__all__ = [
    "Fate",
    "Lost",
    "NodeFate",
    "PressureInputs",
    "Preview",
    "Region",
    "SessionInput",
    "Summary",
]


@dataclass(frozen=True, slots=True)
class SessionInput:
    """One session at one moment, as compaction sees it."""

    plan: PlanState
    """The plan surface, its entries, its pins."""
    content: Callable[[NodeId], NodeContent]
    """The content of any node, standing or shadowed, of either strand. Pure: the same node gives
    the same value."""
    counter: TokenCounter
    policy: Policy = field(default_factory=Policy)
    window: int | None = None
    """Tokens of the context window in force; ``None`` where it is unknown."""
    overhead: int | None = None
    """Provider tokens of system prompt and tool schemas; ``None`` where no anchor told."""
    calibration: float | None = None
    """Provider tokens per counted token; ``None`` counts as 1."""
    measured: Measured | None = None
    """What is summed over the plan surface, where it is kept; ``None`` has it measured anew."""
    cache: FactsCache | None = None
    """Facts of nodes that were read before; ``None`` has each read anew. Never changes a result."""

    def measure(self) -> Measured:
        """The measures of the plan surface. The same whether they were kept or are made now."""
        return measure(self.plan) if self.measured is None else self.measured

    def entry(self, seq: NodeId) -> LogEntry:
        """The weighed event. Raises ``KeyError`` for an unknown one."""
        return self.plan.entries[seq]

    def tokens(self, node: NodeId) -> int:
        """Counted tokens of a node, before calibration."""
        entries = self.plan.entries
        return sum(entries[seq].tokens for seq in self.plan.surface.members[node])

    def calibrated(self, counted: int) -> int:
        """Provider tokens for counted ones."""
        return round(counted * (self.calibration or 1.0))

    def pressure(self, counted: int) -> float | None:
        """(counted × calibration + overhead) ÷ window; ``None`` without a window."""
        if not self.window:
            return None
        return (self.calibrated(counted) + (self.overhead or 0)) / self.window


@dataclass(frozen=True, slots=True)
class PressureInputs:
    """What the meter says now. ``used``: provider tokens in the window, overhead included."""

    used: int
    window: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary with what each of its sections costs. ``degraded``: instructions that could not
    stand verbatim, as they read in the original."""

    text: str
    tokens: int
    sections: Mapping[str, int] = field(default_factory=dict)
    degraded: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Lost:
    """What stood before and stands nowhere on the surface after, most important first."""

    identifiers: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    unread: int = 0
    """Nodes that stand and were not read, since they are too far from the end: what stands in
    those alone is listed as lost."""


@dataclass(frozen=True, slots=True)
class Region:
    """Two nodes of the surface, by position."""

    start: NodeId
    end: NodeId


@dataclass(frozen=True, slots=True)
class Preview:
    """All that a compaction would do. Token figures are counted ones, before calibration."""

    kind: OperationKind
    region: Region
    fates: Fates
    """Every node of the surface before, in its order."""
    surface: Sequence[NodeId]
    """The nodes after; ``"+N"`` are those that the draft brings."""
    summary: Summary | None
    tokens_before: int
    """All nodes before."""
    tokens_after: int
    """All nodes after."""
    region_before: int
    """What is shadowed."""
    region_after: int
    """What takes its place."""
    pressure_before: float | None
    pressure_after: float | None
    floor: int
    """Counted tokens that no compaction can free: overhead, pins, retained tail."""
    oversized: tuple[NodeId, ...]
    """First nodes of units that alone exceed the retained tail's budget."""
    lost: Lost
    cache_invalidated_tokens: int
    """Counted tokens of the next request from the first change on: its cache cannot serve them."""
    warnings: tuple[str, ...]
    draft: OperationDraft
    fingerprint: str
    """Of the region, its pins and its edges: what ``check_commit`` compares."""
