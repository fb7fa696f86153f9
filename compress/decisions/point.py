"""A stage's state → its record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from compress.decisions.span import IntSeqs, Span, Told, point_id, rising
from compress.decisions.values import (
    DecisionPoint,
    Evidence,
    FieldSources,
    OutcomeKind,
    Stage,
    Steering,
    TouchedFile,
)

NOTHING: Told = ("", ())
_TITLE = 200


@dataclass(frozen=True, slots=True)
class About:
    """The session that is harvested."""

    agent: str
    session: str
    """Its native id."""
    project: str | None = None
    """Its working directory."""


@dataclass(frozen=True, slots=True)
class Content:
    """What the record of a stage says, before it is put into form."""

    title: Told
    summary: Told = NOTHING
    rationale: Told = NOTHING
    outcome: tuple[OutcomeKind, IntSeqs] = ("unknown", ())
    steering: tuple[Steering, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    files: tuple[TouchedFile, ...] = field(default=())
    left_out: int = 0


def point(about: About, span: Span, content: Content, *, running: bool) -> DecisionPoint:
    """The record. ``tokens`` is not known yet."""
    kind, decided = ("unknown", ()) if running else content.outcome
    outcome: OutcomeKind = kind
    ended = None if running else span.ended
    sources = FieldSources(
        title=content.title[1],
        summary=content.summary[1] if content.summary[0] else (),
        rationale=content.rationale[1] if content.rationale[0] else (),
        outcome=rising(decided),
        started_at=_seqs(span.started),
        ended_at=_seqs(ended),
    )
    evidence = sorted(content.evidence, key=lambda item: rising(item.source_event_seqs)[-1:])
    return DecisionPoint(
        id=point_id(about.agent, about.session, span),
        agent=about.agent,
        session=about.session,
        project=about.project,
        stage=Stage(kind=span.kind, title=one_line(content.title[0]), index=span.index),
        summary=content.summary[0],
        rationale=content.rationale[0] or None,
        steering=content.steering,
        outcome=outcome,
        evidence=tuple(evidence),
        files=content.files,
        source_event_seqs=rising(
            (span.first,),
            sources.title,
            sources.summary,
            sources.rationale,
            sources.outcome,
            sources.started_at,
            sources.ended_at,
            _of(content.steering),
            _of(evidence),
            _of(content.files),
        ),
        first_seq=span.first,
        last_seq=span.last,
        stage_tokens=span.tokens,
        started_at=span.started[0] if span.started is not None else None,
        ended_at=ended[0] if ended is not None else None,
        open=running,
        revision=span.revision,
        left_out=content.left_out,
        sources=sources,
    )


def one_line(text: str) -> str:
    """A title: the first words of a text in one line."""
    return " ".join(text[: 20 * _TITLE].split())[:_TITLE]


def _seqs(moment: tuple[float, int] | None) -> IntSeqs:
    return () if moment is None else (moment[1],)


def _of(items: Iterable[Steering | Evidence | TouchedFile]) -> IntSeqs:
    return rising(*(item.source_event_seqs for item in items))
