"""Turns: from the person's words to the agent's end."""

from __future__ import annotations

from dataclasses import dataclass, field

from compress.decisions.point import Content
from compress.decisions.span import Span, Told
from compress.decisions.values import Evidence, OutcomeKind, Steering, SteeringKind
from compress.decisions.words import WORDS, said, title
from compress.decisions.work import Work, keep, outcome, rationale, summary, supported

_BLOCKS = 8


@dataclass(slots=True)
class Turn:
    """A turn that runs."""

    number: int
    """The log's own count."""
    span: Span
    work: Work = field(default_factory=Work)
    words: list[tuple[str, int]] = field(default_factory=list)
    """Blocks of the message that began it, with their seqs."""
    node: int | None = None
    """The node of that message."""
    corrects: bool = False
    """The person had interrupted, refused or taken back what came before."""
    carried: Told = ("", ())
    """The title of the turn that this one goes on with."""
    steering: list[Steering] = field(default_factory=list)
    end: str = ""
    """How it ended; empty where the log has no mark of it."""
    status: str = ""
    """The same in the log's own word."""
    ended: int = 0
    """The event that says so."""
    broken: int = 0
    """The event of an error of the provider that nothing followed yet."""
    left_out: int = 0

    def speak(self, text: str, seq: int, node: int | None) -> bool:
        """A block of the person's words. False where it belongs to another message than the one
        that began the turn."""
        if self.node is None:
            self.node = node
        if node != self.node or self.work.said is not None or len(self.words) >= _BLOCKS:
            return False
        self.words.append((text[: 10 * WORDS], seq))
        return True

    def steer(self, kind: SteeringKind, text: str, *seqs: int) -> None:
        """The person said or did something while the turn ran."""
        item = Steering(kind=kind, text=text.strip()[:WORDS], source_event_seqs=seqs)
        self.left_out += keep(self.steering, item)

    def asked(self) -> Told:
        """What the person wanted last: the words by the way, else those that began the turn."""
        for item in reversed(self.steering):
            if item.kind == "message":
                return title([(item.text, int(seq)) for seq in item.source_event_seqs])
        named = title(self.words)
        return named if named[0] else self.carried

    @property
    def aborted(self) -> bool:
        """The person or the agent broke it off."""
        return self.end in ("interrupted", "aborted")

    def content(self) -> Content:
        """What its record says."""
        steering = list(self.steering)
        if self.corrects and (own := said(self.words))[0]:
            correction = Steering(kind="correction", text=own[0], source_event_seqs=own[1])
            steering.insert(0, correction)
        ended = self._outcome()
        evidence = list(self.work.evidence)
        if self.end and self.ended:
            status = Evidence(kind="status", text=self.status, source_event_seqs=(self.ended,))
            evidence.append(status)
        named = title(self.words)
        return Content(
            title=named if named[0] else self.carried,
            summary=summary(self.work),
            rationale=rationale(self.work),
            outcome=ended,
            steering=tuple(steering),
            evidence=supported(self.work, evidence, ended),
            files=tuple(self.work.files.values()),
            left_out=self.left_out + self.work.left_out,
        )

    def _outcome(self) -> tuple[OutcomeKind, tuple[int, ...]]:
        if self.aborted:
            return "aborted", (self.ended,)
        if self.end == "error":
            return "failure", (self.ended,)
        if self.broken:
            return "failure", (self.broken,)
        return outcome(self.work)
