"""The decision points of the story that the fakes tell."""

from __future__ import annotations

from typing import Any

from compress.decisions.values import (
    DecisionPoint,
    Evidence,
    FieldSources,
    Stage,
    Steering,
    TouchedFile,
)
from inspector.decision_reports import DecisionRow
from tests.inspector.story import NOW

PROJECT = "/home/me/retry"


def _point(number: int, kind: Any, index: int, title: str, **fields: Any) -> DecisionPoint:
    first, last = fields.pop("events")
    began = NOW - 3_600 + 60 * first
    still = fields.pop("running", False)
    return DecisionPoint(
        id=f"{number:032x}",
        agent="claude",
        session="s1",
        project=PROJECT,
        stage=Stage(kind=kind, title=title, index=index),
        source_event_seqs=(first, last),
        first_seq=first,
        last_seq=last,
        started_at=began,
        ended_at=None if still else began + 60 * (last - first),
        open=still,
        revision=last,
        tokens=90 + 10 * number,
        stage_tokens=1_900 * (last - first + 1),
        **fields,
    )


def points() -> list[DecisionPoint]:
    """Of the first session."""
    return [
        _point(
            1, "turn", 1, "Add retries to the fetcher, with a cap on the total time",
            events=(1, 8), level="L3", outcome="failure",
            summary="Retries are in, but the total time is not capped yet: test_total_time fails.",
            evidence=(
                Evidence(kind="totals", text="1 failed, 41 passed in 3.2s", source_event_seqs=(4,)),
                Evidence(
                    kind="exit_code", text="pytest -q tests/test_fetch.py", value=1,
                    source_event_seqs=(3, 4),
                ),
            ),
            files=(TouchedFile(path="src/fetch.py", action="changed", source_event_seqs=(5, 6)),),
            sources=FieldSources(title=(1,), summary=(7,), outcome=(3, 4), started_at=(1,)),
        ),
        _point(
            2, "plan_item", 1, "Cap the total time", events=(9, 20), outcome="success",
            summary="changed src/fetch.py; changed tests/test_fetch.py",
            rationale="A retry that outlives its caller helps nobody, so a deadline is passed in.",
            files=(
                TouchedFile(path="src/fetch.py", action="changed", source_event_seqs=(11, 12)),
                TouchedFile(path="tests/test_fetch.py", action="created", source_event_seqs=(15,)),
            ),
            sources=FieldSources(title=(9,), summary=(11, 12, 15), rationale=(9,), outcome=(20,)),
        ),
        _point(
            3, "approval", 1, "git push --force origin main", events=(21, 22), outcome="aborted",
            summary="git push --force origin main",
            steering=(
                Steering(
                    kind="rejection", text="Never push by force to main; open a pull request.",
                    source_event_seqs=(22,),
                ),
            ),
            evidence=(Evidence(kind="decision", text="rejected", source_event_seqs=(22,)),),
            sources=FieldSources(title=(21,), summary=(21,), outcome=(22,)),
        ),
        _point(
            4, "retry", 1, "pytest -q tests/test_fetch.py", events=(3, 30), outcome="retry",
            summary="It passed at the third attempt.",
            sources=FieldSources(title=(3,), summary=(30,), outcome=(29, 30)),
        ),
        _point(
            5, "turn", 2, "Now the same for the uploader", events=(31, 41), running=True,
            summary="Reading src/upload.py.", sources=FieldSources(title=(31,), summary=(40,)),
        ),
    ]  # fmt: skip


def rows(session: str | None) -> list[DecisionRow]:
    """Of one session, or of all."""
    own = [DecisionRow(session="s1", point=point) for point in points()]
    other = [
        DecisionRow(session="s3", point=point.model_copy(update={"session": "s3"}))
        for point in points()[:2]
    ]
    return own if session == "s1" else [*other, *own] if session is None else []
