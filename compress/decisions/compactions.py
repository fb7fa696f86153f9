"""Compactions that the agent made itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from compress.decisions.point import NOTHING, Content
from compress.decisions.span import Span, Told
from compress.decisions.values import Evidence, OutcomeKind
from compress.events import SessionEvent

_SUMMARY = 800
_STATED = ("pre_tokens", "post_tokens")


@dataclass(slots=True)
class Compaction:
    """A compaction between its start and its end. ``cleared``: results that were cleared, of a
    compaction that did no more than that."""

    span: Span
    title: Told
    said: Told = NOTHING
    """The agent's own summary."""
    checkpoint: int = 0
    """The event that took the place of what was compacted."""
    ended: int = 0
    error: str = ""
    abandoned: bool = False
    cleared: list[int] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)

    def content(self) -> Content:
        """What its record says."""
        evidence = list(self.evidence)
        if self.ended and self.error:
            evidence.append(
                Evidence(kind="error", text=self.error[:300], source_event_seqs=(self.ended,))
            )
        return Content(
            title=self.title,
            summary=self._summary(),
            outcome=self._outcome(),
            evidence=tuple(evidence),
        )

    def _summary(self) -> Told:
        if self.cleared:
            return f"{len(self.cleared)} results cleared", tuple(self.cleared)
        return self.said

    def _outcome(self) -> tuple[OutcomeKind, tuple[int, ...]]:
        if self.cleared:
            return "success", tuple(self.cleared)
        if self.error:
            return "failure", (self.ended,)
        if self.checkpoint:
            seqs = (self.checkpoint, self.ended) if self.ended else (self.checkpoint,)
            return "success", seqs
        return ("aborted", (self.span.first,)) if self.abandoned else ("unknown", ())


def started(span: Span, event: SessionEvent, seq: int) -> Compaction:
    """The compaction that this ``compact/start`` begins."""
    trigger = event.meta.get("trigger")
    named = f"compaction ({trigger})" if isinstance(trigger, str) and trigger else "compaction"
    made = Compaction(span, (named[:200], (seq,)))
    note_tokens(made, event, seq)
    return made


def note_tokens(compaction: Compaction, event: SessionEvent, seq: int) -> None:
    """Token figures that the log states, before and after."""
    for name in _STATED:
        stated = event.meta.get(name)
        if isinstance(stated, int) and not isinstance(stated, bool):
            compaction.evidence.append(
                Evidence(kind="tokens", text=name, value=stated, source_event_seqs=(seq,))
            )


def take_summary(compaction: Compaction, event: SessionEvent, text: str, seq: int) -> None:
    """What the agent says of what it compacted: the checkpoint's text, else the announced one."""
    message = event.meta.get("message")
    said = text.strip() or (message.strip() if isinstance(message, str) else "")
    if said:
        compaction.said = (said[:_SUMMARY], (seq,))
