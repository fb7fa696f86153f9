"""Decision points that hold whatever a log may hold."""

from __future__ import annotations

from compress.decisions.values import (
    DecisionPoint,
    Evidence,
    FieldSources,
    Stage,
    Steering,
    TouchedFile,
)


def point_of(text: str, number: int = 1, *, path: str | None = None) -> DecisionPoint:
    """A record in which this text stands wherever a text of the log can."""
    first = 10 * number
    return DecisionPoint(
        id=f"{number:032x}",
        agent="claude",
        session="s1",
        project=text if path is None else path,
        stage=Stage(kind="turn", title=text, index=number),
        summary=f"{text}",
        rationale=text,
        steering=(Steering(kind="message", text=text, source_event_seqs=(first + 1,)),),
        outcome="failure",
        evidence=(
            Evidence(kind="error", text=text, source_event_seqs=(first + 2,)),
            Evidence(kind="exit_code", text=text, value=1, source_event_seqs=(first + 2,)),
        ),
        files=(TouchedFile(path=text, action="changed", source_event_seqs=(first + 3,)),),
        source_event_seqs=(first, first + 1, first + 2, first + 3),
        first_seq=first,
        last_seq=first + 9,
        tokens=120,
        stage_tokens=4_000,
        started_at=1_770_000_000.0,
        ended_at=1_770_000_060.5,
        open=False,
        revision=first + 9,
        sources=FieldSources(title=(first,), outcome=(first + 2,)),
    )
