"""What the harvest knows between two events: the stages that run, and what they wait for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from compress.decisions.approvals import Approval
from compress.decisions.calls import Call
from compress.decisions.compactions import Compaction
from compress.decisions.items import Item, ItemStage, running
from compress.decisions.point import NOTHING, About, Content, point
from compress.decisions.retries import Chain
from compress.decisions.span import Span, Told
from compress.decisions.turns import Turn
from compress.decisions.values import DecisionPoint, StageKind, Steering
from compress.decisions.work import Work
from compress.events import SessionEvent

VERSION = 1
"""Of the form of a snapshot."""


@dataclass(slots=True)
class State:
    """Small: it holds running stages, never a closed one that was handed out."""

    version: int = VERSION
    last_seq: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    """Stages so far, by kind."""
    turn: Turn | None = None
    turn_number: int = 0
    turn_title: Told = NOTHING
    """Of the newest turn."""
    corrects: bool = False
    """What the person says next corrects what was broken off or taken back."""
    between: list[Steering] = field(default_factory=list)
    """Said or done while no turn ran."""
    record: str = ""
    """Native id of the newest event."""
    record_names: dict[str, int] = field(default_factory=dict)
    """How often this record was the first source of a stage, or made a call, by name."""
    record_reason: Told = NOTHING
    """The reason that the newest call of this record gives."""
    record_plan: Told = NOTHING
    """The plan that this record holds."""
    calls: dict[str, Call] = field(default_factory=dict)
    """Of the turn that runs, by id: without a result, or with one in this record, in which a
    person's decision may follow it."""
    answered: list[str] = field(default_factory=list)
    """Ids of the calls that have their result in this record."""
    lists: dict[str, list[Item]] = field(default_factory=dict)
    """The items as they were last listed, by kind of artifact."""
    items: dict[str, ItemStage] = field(default_factory=dict)
    """Those that run, by identity."""
    approvals: dict[str, Approval] = field(default_factory=dict)
    """Those that run, by id of the call."""
    asked: dict[str, str] = field(default_factory=dict)
    """Id of a question → id of the call that it is about."""
    compaction: Compaction | None = None
    chains: dict[str, Chain] = field(default_factory=dict)
    """Failed calls by key, which may be tried again."""
    request: Chain | None = None
    """Requests to the provider that failed, and may be made again."""
    finished: list[DecisionPoint] = field(default_factory=list)
    """Closed, and not handed out yet."""

    def span(self, kind: StageKind, identity: str, event: SessionEvent, tokens: int) -> Span:
        """The extent of a stage that this event begins."""
        seq = int(event.seq)
        span = Span(kind, self.named(f"{kind}:", identity), 0, seq, seq, seq)
        span.touch(event, seq, tokens)
        return span

    def named(self, prefix: str, identity: str) -> str:
        """The identity, told apart from an equal one in this record."""
        count = self.record_names.get(prefix + identity, 0)
        self.record_names[prefix + identity] = count + 1
        return f"{identity}~{count}" if count else identity

    def span_of(self, kind: StageKind, call: Call) -> Span:
        """The extent of a stage that began with this call."""
        span = Span(kind, call.identity, 0, call.seq, call.seq, call.seq, call.tokens)
        if call.time is not None:
            span.started = span.ended = (call.time, call.seq)
        return span

    def number(self, span: Span) -> None:
        """Count a stage, now that it is one."""
        span.index = self.counts[span.kind] = self.counts.get(span.kind, 0) + 1

    def works(self) -> list[Work]:
        """Of all stages in which the agent works now."""
        works = [stage.work for stage in running(self.items.values())]
        return works if self.turn is None else [self.turn.work, *works]

    def open(self) -> Iterator[tuple[Span, Content]]:
        """The stages that run, with what their records say."""
        if self.turn is not None:
            yield self.turn.span, self.turn.content()
        if self.compaction is not None:
            yield self.compaction.span, self.compaction.content()
        if self.request is not None and self.request.is_stage:
            yield self.request.span, self.request.content()
        stages: list[Mapping[str, ItemStage] | Mapping[str, Approval]] = [
            self.items,
            self.approvals,
        ]
        for stage in (stage for group in stages for stage in group.values()):
            yield stage.span, stage.content()
        for chain in self.chains.values():
            if chain.is_stage:
                yield chain.span, chain.content()

    def close(self, about: About, span: Span, content: Content, seq: int) -> None:
        """The stage is over, by this event."""
        span.revision = max(span.revision, seq)
        self.finished.append(point(about, span, content, running=False))
