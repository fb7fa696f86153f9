"""DecisionPoint: what one stage of a session was, how it ended, and which events say so."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from compress.events import NodeId

StageKind = Literal["turn", "plan_item", "plan", "approval", "compaction", "retry"]
"""``turn``: from the user's words to the agent's end. ``plan_item``: an item of a plan or to-do
list, from its first event in progress to its completion. ``plan``: a plan that a person accepted
or rejected. ``approval``: a tool call that a person approved, refused, edited or answered.
``compaction``: by the agent itself. ``retry``: attempts at the same thing, folded into one."""

OutcomeKind = Literal["success", "failure", "retry", "aborted", "unknown"]
"""``retry``: it worked, after attempts that failed (stages of kind ``retry`` only). ``unknown``:
the log does not say; also every stage that still runs."""

Level = Literal["L2", "L3"]
"""``L2``: the session's memory, ``L3``: the project's."""

SteeringKind = Literal[
    "message", "interruption", "rejection", "approval", "edit", "answer", "correction", "rewind"
]
"""``message``: said while the turn ran. ``correction``: the words that follow an interruption, a
rejection or a rewind. ``edit``: the person changed what a call was about to do."""

EvidenceKind = Literal["exit_code", "totals", "error", "flag", "decision", "status", "tokens"]
"""``totals``: a line that counts, copied. ``error``: the head of an error, copied. ``flag``: the
agent marked a result as an error. ``decision``: of a person. ``status``: how the agent's log says
that a turn, an item or a compaction ended. ``tokens``: of a compaction, as the log states them."""

FileAction = Literal["changed", "created"]

Seqs = tuple[NodeId, ...]
"""Events, in rising order, without repeats."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Stage(_Value):
    """What was completed. ``index`` counts the stages of this kind in the session, from 1."""

    kind: StageKind
    title: str
    """One line, at most 200 characters, from the log."""
    index: int


class Steering(_Value):
    """Something that the person said or did to the stage. ``text``: the person's own words, at
    most 2,000 characters; empty where there were none."""

    kind: SteeringKind
    text: str
    source_event_seqs: Seqs


class Evidence(_Value):
    """A fact about the end of a stage. ``text`` is copied from the log, at most 300 characters;
    ``value``: the exit code, or the tokens, where the fact is a number."""

    kind: EvidenceKind
    text: str
    source_event_seqs: Seqs
    value: int | None = None


class TouchedFile(_Value):
    """A file that a call of the stage changed or created, by the path that the call gave. A call
    whose result says that it failed touches nothing."""

    path: str
    action: FileAction
    source_event_seqs: Seqs


class FieldSources(_Value):
    """The events that each field of one value was read from; empty where the field is. Fields that
    are lists name theirs in each item."""

    title: Seqs = ()
    summary: Seqs = ()
    rationale: Seqs = ()
    outcome: Seqs = ()
    """The events that decided it: the end of the turn, the results, the decision."""
    started_at: Seqs = ()
    ended_at: Seqs = ()


class DecisionPoint(_Value):
    """One stage. Later states of it have the same ``id`` and a greater ``revision``; of two, the
    greater is the newer."""

    id: str
    """32 hex digits: hash of agent, session, stage kind and the identity of the first source
    event. The same from every machine that reads the log."""
    agent: str
    session: str
    """The session's native id."""
    project: str | None
    """Its working directory."""
    stage: Stage
    summary: str
    """What was done, at most 800 characters: the agent's last words, or what its calls did."""
    rationale: str | None = None
    """Why, from a field that carries a reason; ``None`` where no field does."""
    steering: tuple[Steering, ...] = ()
    outcome: OutcomeKind = "unknown"
    evidence: tuple[Evidence, ...] = ()
    files: tuple[TouchedFile, ...] = ()
    source_event_seqs: Seqs = ()
    """The stage's first event and every event that a field was read from, lists included."""
    first_seq: NodeId
    last_seq: NodeId
    """The stage's first and newest event; what lies between belongs to it."""
    tokens: int = 0
    """What the record itself weighs as a line of memory (``memory_text``), by the counter that the
    harvest was given."""
    stage_tokens: int = 0
    """What the events of the stage weigh, by the session's counter."""
    started_at: float | None = None
    ended_at: float | None = None
    """Seconds since 1970, UTC. ``None`` where the log has no time, or the stage still runs."""
    level: Level = "L2"
    open: bool
    """The stage still runs: its outcome is unknown, and the record may grow."""
    revision: int
    """The seq of the newest event that this state of the record knows of."""
    left_out: int = 0
    """Items of steering, evidence and files beyond the limits of a record."""
    sources: FieldSources = Field(default_factory=FieldSources)

    @property
    def state(self) -> OutcomeKind | Literal["running"]:
        """How it ended, or that it runs."""
        return "running" if self.open else self.outcome
