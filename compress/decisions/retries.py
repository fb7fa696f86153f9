"""Retry chains: attempts at the same thing, folded into one stage."""

from __future__ import annotations

from dataclasses import dataclass, field

from compress.decisions.point import NOTHING, Content
from compress.decisions.span import Span, Told
from compress.decisions.values import Evidence, OutcomeKind
from compress.decisions.work import Work, keep


@dataclass(slots=True)
class Chain:
    """Attempts of one call, or of one request to the provider. It is a stage from the second
    attempt on, or from the first ``retry`` event."""

    span: Span
    title: Told
    reason: Told = NOTHING
    attempts: int = 0
    failures: int = 0
    told: bool = False
    """The log itself speaks of a retry."""
    work: Work = field(default_factory=Work)
    outcome: OutcomeKind = "unknown"
    decided: tuple[int, ...] = ()
    problems: list[Evidence] = field(default_factory=list)
    """Of requests: what the provider or the connection said."""
    broken: int = 0
    """The node of the newest answer that broke off."""
    left_out: int = 0

    @property
    def is_stage(self) -> bool:
        """Whether anything was tried again."""
        return self.told or self.attempts > 1

    def fail(self, message: str, seq: int) -> None:
        """A request failed."""
        self.failures += 1
        problem = Evidence(kind="error", text=message[:300], source_event_seqs=(seq,))
        self.left_out += keep(self.problems, problem)

    def content(self) -> Content:
        """What its record says."""
        evidence = (*self.work.evidence, *self.problems)
        if self.outcome == "retry" and self.work.worked is not None:
            evidence = (*evidence, self.work.worked.evidence)
        counted = f"{self.failures} failed"
        attempts = f"{self.attempts} attempts, {counted}" if self.attempts else counted
        return Content(
            title=self.title,
            summary=(attempts, (self.span.first, *self.decided[-1:])),
            rationale=self.reason,
            outcome=(self.outcome, self.decided),
            evidence=evidence,
            files=tuple(self.work.files.values()),
            left_out=self.left_out + self.work.left_out,
        )
