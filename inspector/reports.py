"""What the use-cases answer: one model for each thing that ``--json`` prints.

Stable contracts: fields may be added, none is renamed or dropped within a major version. A seq is
a number for an event of the agent's log, a string ``"oN"`` for one of the user's operations.
The JSON Schemas under ``assets/schemas/`` are made from these models (``ullage schema``).
"""

# Long because: most commands have a model here, a few fields each; larger answers have a file of
# their own (``*_reports.py``).

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SkipValidation, field_serializer

from compress.compaction.fates import Fate
from compress.events import NodeId
from inspector.fate_reports import NodeFate, ReportedFates, fate_runs

__all__ = ["Fate", "NodeFate", "ReportedFates", "fate_runs"]

Track = Literal["agent", "plan"]
ViewName = Literal["resume", "live"]
SessionState = Literal["running", "waiting", "idle", "ended"]
WindowSource = Literal["user", "log", "observed", "table", "unknown"]
OperationState = Literal["standing", "undone", "superseded"]
CompactionMode = Literal["region", "auto", "micro", "reduce"]
Proposed = Literal["micro", "compact"]


class Report(BaseModel):
    """Base of all reports: immutable, no fields beyond the stated."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class SessionHeader(Report):
    """Which session a report speaks of."""

    id: str
    agent: str
    agent_version: str | None = None
    cwd: str | None = None
    title: str | None = None
    model: str | None = None
    approximate: str | None = None
    """Why what is shown is not just what the agent sends, where its log tells too little."""


class ProblemReport(Report):
    """Something in a log that could not be taken as it stands."""

    kind: str
    where: int | str
    detail: str


class SessionRow(Report):
    """A line of ``ullage sessions``."""

    id: str
    agent: str
    path: str
    project: str | None = None
    title: str | None = None
    model: str | None = None
    parent: str | None = None
    """The session that this one is a sub-agent or a fork of: its id, or its name in the agent's
    own log where it is not listed."""
    relation: Literal["main", "subagent", "fork"] = "main"
    started_at: float | None = None
    last_event_at: float | None = None
    state: SessionState = "idle"
    events: int = 0
    tokens: int | None = None
    """Tokens in the window after the last event: the provider's figure, or an estimate."""
    tokens_source: Literal["provider", "estimated"] = "estimated"
    window: int | None = None
    pressure: float | None = None
    """tokens ÷ window, 0…; ``None`` where the window is unknown."""
    proposed: Proposed | None = None
    """What the policy would do at this pressure."""
    history: tuple[float, ...] = ()
    """Pressure over the last requests, oldest first, at most 32 values (the sparkline)."""
    problems: int = 0
    note: str | None = None
    """Why there is nothing to see (empty, stub, not understood), that the file is gone, or that
    what is shown is approximate."""


class MessageBlock(Report):
    kind: Literal[
        "text", "thinking", "tool_call", "tool_result", "image", "opaque", "context", "synthetic"
    ]
    id: str | None = None
    name: str | None = None
    input: Any = None
    text: str = ""


class MessageReport(Report):
    role: Literal["user", "assistant", "system", "developer"]
    seqs: tuple[NodeId, ...]
    blocks: tuple[MessageBlock, ...]


class MessagesReport(Report):
    """``ullage show X --messages --json``: the exact list that the agent would send on resume."""

    session: SessionHeader
    track: Track
    at_seq: NodeId | None
    view: ViewName = "resume"
    messages: tuple[MessageReport, ...]


class CheckpointReport(Report):
    shadowed_seqs: tuple[NodeId, ...]
    origin: Literal["agent", "user", "policy"]
    operation: NodeId | None = None


class NodeReport(Report):
    """One row of the surface."""

    seq: NodeId
    type: str
    role: str | None = None
    turn: int | None = None
    step: int | None = None
    unit: int | None = None
    """Number of the surface unit (a closed step, or one message outside any step), from 0."""
    tokens: int = 0
    headline: str = ""
    tool: str | None = None
    time: float | None = None
    pinned: bool = False
    orphan: bool = False
    """A result whose call does not stand, or a call without a result."""
    is_error: bool = False
    receipt: bool = False
    """The content was cleared by micro-compaction; a receipt stands in its place."""
    restored: bool = False
    """Re-inserted by the plan because it is pinned and the agent removed it."""
    checkpoint: CheckpointReport | None = None
    events: tuple[NodeId, ...] = ()


class SurfaceReport(Report):
    """``ullage show X --json``."""

    session: SessionHeader
    track: Track
    view: ViewName = "resume"
    at_seq: NodeId | None
    replace_generation: int
    counter: str
    nodes: tuple[NodeReport, ...]
    problems: tuple[ProblemReport, ...] = ()


class Composition(Report):
    """Tokens by what they are; the sum is ``used``."""

    system_and_tools: int = 0
    instructions: int = 0
    user: int = 0
    assistant: int = 0
    thinking: int = 0
    tool_calls: int = 0
    tool_results: int = 0
    checkpoints: int = 0


class Thresholds(Report):
    """Tokens at which micro-compaction and compaction begin; ``None`` without a window."""

    micro: int | None = None
    compact: int | None = None


class Forecast(Report):
    """Steps left to each threshold, from the robust slope of the last steps."""

    steps_to_micro: int | None = None
    steps_to_compact: int | None = None


class RequestReport(Report):
    seq: NodeId
    """The first event that this request produced."""
    model: str | None = None
    actual_input: int | None = None
    predicted_input: int
    tail_counted: int


class MeterError(Report):
    """The meter's own error on this session (figure of merit of the design, section 3)."""

    n: int
    median_ape_increment: float | None = None
    p90_ape_increment: float | None = None
    median_ape_total: float | None = None


class PressureReport(Report):
    """``ullage pressure X --json``."""

    session: SessionHeader
    model: str | None = None
    window: int | None = None
    window_source: WindowSource = "unknown"
    view: ViewName = "live"
    track: Track = "agent"
    at_seq: NodeId | None = None
    used: int = 0
    used_source: Literal["provider", "estimated"] = "estimated"
    overhead: int = 0
    composition: Composition = Field(default_factory=Composition)
    tool_results_by_tool: dict[str, int] = Field(default_factory=dict)
    thresholds: Thresholds = Field(default_factory=Thresholds)
    proposed: Proposed | None = None
    """What the policy would do at this pressure."""
    forecast: Forecast = Field(default_factory=Forecast)
    requests: tuple[RequestReport, ...] = ()
    compactions: tuple[NodeId, ...] = ()
    """Events at which the agent compacted, for the marks on the curve."""
    error: MeterError = Field(default_factory=lambda: MeterError(n=0))


class RegionReport(Report):
    start: NodeId
    end: NodeId


class SummaryReport(Report):
    text: str
    tokens: int
    sections: dict[str, int] = Field(default_factory=dict)
    """Section title → tokens."""


class LostReport(Report):
    """What no longer stands anywhere on the surface: the most important first, cut to what can be
    read, with how many there are in all."""

    identifiers: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    identifiers_total: int = 0
    instructions_total: int = 0
    errors_total: int = 0
    unread_nodes: int = 0
    """Nodes that stand and were not read, since they are too far from the end: what stands in
    those alone is listed as lost."""


class AgentSide(Report):
    """The agent's own compaction beside a preview of the same moment, by the same measure."""

    operation: NodeId
    at: float | None = None
    trigger: str | None = None
    """The agent's own word for why."""
    summary: SummaryReport | None = None
    """Its own summary, tokens as counted; ``None`` where it cannot be read (encrypted)."""
    shadowed_seqs: tuple[NodeId, ...] = ()
    tokens_before: int = 0
    """Provider tokens in the window, as those of the preview beside it."""
    tokens_after: int = 0
    stated_before: int | None = None
    """Tokens before, as the agent's own log states them."""
    pressure_after: float | None = None
    cache_invalidated_tokens: int = 0
    """Provider tokens that the next request could not reuse."""
    lost: LostReport = Field(default_factory=LostReport)


class CompactionReport(Report):
    """``ullage compact X --json``: a preview; with ``operation`` set, what was committed."""

    session: SessionHeader
    at_seq: NodeId | None
    replace_generation: int
    region: RegionReport | None
    nodes: SkipValidation[Sequence[NodeFate]] = Field((), json_schema_extra={"default": []})
    """Of every row of the surface before, in its order."""

    @field_serializer("nodes")
    def _all_nodes(self, nodes: Sequence[NodeFate]) -> tuple[NodeFate, ...]:
        return tuple(nodes)

    summary: SummaryReport | None = None
    tokens_before: int = 0
    """Provider tokens in the window, overhead included, as the gauge shows them; the figures of
    single nodes are counted ones, before calibration."""
    tokens_after: int = 0
    window: int | None = None
    """The denominator of both pressures: the context window in force, ``None`` where unknown."""
    pressure_before: float | None = None
    pressure_after: float | None = None
    cache_invalidated_tokens: int = 0
    """Provider tokens that the next request cannot reuse."""
    floor: int = 0
    """Provider tokens that no compaction can free: overhead, pins, retained tail."""
    oversized_units: tuple[NodeId, ...] = ()
    lost: LostReport = Field(default_factory=LostReport)
    warnings: tuple[str, ...] = ()
    operation: NodeId | None = None
    head: str | None = None
    """Of the chain of operations after the commit (``ullage audit --head``), to be noted."""
    theirs: AgentSide | None = None
    """With ``--before-compaction``: what the agent did there."""
    kept_only_here: LostReport = Field(default_factory=LostReport)
    """What the agent's own compaction lost and this one would keep."""
    kept_only_there: LostReport = Field(default_factory=LostReport)
    """The other way round."""


class AuditRow(Report):
    """One operation, of the user's, the policy's or the agent's own."""

    session: str | None = None
    operation: NodeId
    kind: str
    """compact · micro · pin · unpin · undo · redo · pack · graduate · clear · branch"""
    origin: Literal["agent", "user", "policy"]
    at: float | None = None
    rule: str = ""
    region: RegionReport | None = None
    shadowed_seqs: tuple[NodeId, ...] = ()
    tokens_before: int | None = None
    tokens_after: int | None = None
    trigger: str | None = None
    """The agent's own word for why, of one of its operations."""
    stated_before: int | None = None
    """Tokens before, as the agent's own log states them."""
    summary_tokens: int | None = None
    """Counted tokens of the checkpoint that it brought."""
    cache_invalidated_tokens: int | None = None
    """Counted tokens that the next request could not reuse; of operations that were judged."""
    compaction: int | None = None
    """K, of the agent's own K-th compaction: what ``--before-compaction`` takes."""
    lost: LostReport = Field(default_factory=LostReport)
    state: OperationState = "standing"
    superseded_by: NodeId | None = None
    note: str | None = None


class OperationReport(Report):
    """What ``pin``, ``unpin``, ``undo`` and ``redo`` print."""

    operation: NodeId
    state: OperationState
    surface_tokens: int
    """Counted tokens of the plan surface."""
    targets: tuple[NodeId, ...] = ()
    """The nodes that were pinned or unpinned, the operations that were undone or redone."""
    head: str | None = None
    """Of the chain of operations after it (``ullage audit --head``), to be noted."""


class SearchHit(Report):
    session: str
    seq: int
    type: str
    headline: str
    score: float
    partial: bool = False
    """It holds some of the words only, as all hits of this search: no event holds all."""
    excerpt: str = ""
    """Of the best hits: the sentence or line that holds most of the words."""


class Damage(Report):
    file: str
    line: int
    offset: int
    reason: str


class IngestReport(Report):
    files: int = 0
    records: int = 0
    events: int = 0
    damaged: tuple[Damage, ...] = ()
    notes: tuple[str, ...] = ()
    """Files that were passed over or not understood, and why."""
    seconds: float = 0.0


class SourceReport(Report):
    agent: str
    root: str
    files: int = 0
    records: int = 0
    recognised: int = 0
    unknown_types: dict[str, int] = Field(default_factory=dict)
    problems: int = 0
    notes: tuple[str, ...] = ()
    """Files that show nothing, or less than they hold, and why; by path."""
    approximate: str | None = None
    """Why sessions of this agent are not shown just as they are sent."""


class DoctorReport(Report):
    sources: tuple[SourceReport, ...] = ()
    store: dict[str, Any] = Field(default_factory=dict)
    tokenizer: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)


class EventDetail(Report):
    """Everything about one node, for the detail pane."""

    node: NodeReport
    blocks: tuple[MessageBlock, ...]
    raw: str
    """The raw records, decoded with replacement, each on its own line."""
    provenance: str
    """File, line and offset of the first record."""
    operations: tuple[str, ...] = ()
    """Which operations touched this node, a sentence each."""
    sub_agent: str | None = None
    """The session of the sub-agent whose work this result tells."""


class Refusal(Report):
    """``{"error": …}`` on stdout with exit code 1."""

    code: str
    message: str
    choices: tuple[Any, ...] = ()
