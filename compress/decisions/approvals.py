"""Calls and plans that a person decided on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compress.decisions.calls import Answer, Call
from compress.decisions.point import NOTHING, Content
from compress.decisions.span import Span, Told, rising
from compress.decisions.values import Evidence, OutcomeKind, Steering, SteeringKind
from compress.decisions.words import WORDS
from compress.decisions.work import Work, summary

STEERING: Mapping[str, SteeringKind] = {
    "rejected": "rejection",
    "approved": "approval",
    "edited": "edit",
    "answered": "answer",
}
"""The decisions that adapters tell of (meta ``decision``), and what they are as steering."""


@dataclass(slots=True)
class Approval:
    """A call, or the plan that it hands in, between the question and its end."""

    span: Span
    call: str
    named: Told
    reason: Told = NOTHING
    plan: Told = NOTHING
    question: Told = NOTHING
    decision: str = ""
    decided: int = 0
    message: str = ""
    work: Work = field(default_factory=Work)
    result: int = 0
    failed: bool = False

    def decide(self, meta: Mapping[str, Any], seq: int) -> None:
        """A person decided."""
        self.decision, self.decided = str(meta.get("decision", ""))[:40], seq
        self.message = word(meta, "message")[:WORDS]
        if question := word(meta, "question"):
            self.question = (question[:WORDS], (seq,))

    def answer(self, answer: Answer) -> None:
        """The call has its result."""
        self.result, self.failed = answer.seq, answer.reading.failed
        if answer.call.sort != "looked":
            self.work.answered(answer)

    @property
    def over(self) -> bool:
        """It is decided, and what was allowed has run."""
        return bool(self.decided) and (bool(self.result) or not self._is_allowed)

    @property
    def _is_allowed(self) -> bool:
        return self.decision in ("approved", "edited", "answered")

    def steering(self) -> Steering | None:
        """What the person said by it; a bare approval says nothing."""
        kind = STEERING.get(self.decision)
        if kind is None or (kind == "approval" and not self.message):
            return None
        return Steering(kind=kind, text=self.message, source_event_seqs=(self.decided,))

    def content(self) -> Content:
        """What its record says."""
        steering = self.steering()
        answered = self.decision == "answered" and self.message
        evidence = list(self.work.evidence)
        if self.decided:
            decision = Evidence(
                kind="decision", text=self.decision, source_event_seqs=(self.decided,)
            )
            evidence.append(decision)
        if self.plan[0]:
            done = self.plan
        elif answered:
            done = (self.message, (self.decided,))
        else:
            done = summary(self.work) if self.work.files else self.named
        return Content(
            title=self.question if self.question[0] else self.named,
            summary=done,
            rationale=(self.message, (self.decided,)) if answered else self.reason,
            outcome=self._outcome(),
            steering=() if steering is None else (steering,),
            evidence=tuple(evidence),
            files=tuple(self.work.files.values()),
            left_out=self.work.left_out,
        )

    def _outcome(self) -> tuple[OutcomeKind, tuple[int, ...]]:
        if self.decided and not self._is_allowed:
            return "aborted", (self.decided,)
        if self.plan[0] or self.decision == "answered":
            return ("success", (self.decided,)) if self.decided else ("unknown", ())
        if self.failed:
            return "failure", rising((self.result,))
        if self.work.worked is not None:
            return "success", rising((self.decided,), self.work.worked.seqs)
        return "unknown", ()


def word(meta: Mapping[str, Any], *names: str) -> str:
    """The first of these facts that is a text."""
    for name in names:
        found = meta.get(name)
        if isinstance(found, str) and found.strip():
            return found.strip()
    return ""


def headline(call: Call | None, meta: Mapping[str, Any], seq: int) -> Told:
    """What is decided on, in a line."""
    if call is not None:
        return call.headline, (call.seq,)
    return word(meta, "text", "tool", "toolName", "kind", "reason"), (seq,)
