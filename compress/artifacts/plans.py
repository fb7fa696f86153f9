"""A plan that is a text: what it says now, who changed it, what a person decided about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from compress.artifacts.document import Document, read
from compress.artifacts.edits import FileChange
from compress.artifacts.lists import Item, together
from compress.artifacts.values import ArtifactStatus, ArtifactStep
from compress.events import NodeId

PLAN_FOLDER = "plans"
"""Name of the folders in which agents keep plans (Claude Code's ``~/.claude/plans``)."""


def is_plan_file(path: str) -> bool:
    """Whether this is a Markdown file in a folder for plans, at any depth."""
    *folders, name = path.replace("\\", "/").split("/")
    return name.lower().endswith(".md") and PLAN_FOLDER in (folder.lower() for folder in folders)


@dataclass(slots=True)
class PlanText:
    """One document, from its first text to the one that takes its place."""

    path: str
    number: int
    """Its place among the documents of the session, from 1."""
    text: str | None = None
    items: Sequence[Item] = ()
    """What the agent's log lists of it, where its text is not known."""
    seqs: list[NodeId] = field(default_factory=list)
    """The events that gave it its text, and those that decided about it."""
    call: str = ""
    """The call that asks a person about it."""
    decision: str = ""
    proposed: bool = False
    """The agent showed it to the person."""
    stale: bool = False
    replaced: bool = False
    newest: NodeId = 0
    """The event that gave it its newest text."""
    _read: tuple[str, Document] | None = None

    @property
    def document(self) -> Document:
        """Its structure."""
        text = self.text or ""
        if self._read is None or self._read[0] != text:
            self._read = (text, read(text))
        return self._read[1]

    def renamed_by(self, text: str) -> bool:
        """Whether this text is another plan: the title is another now, and the old plan was
        approved, or nothing but its title tells the two apart."""
        apart = self.decision == "approved" or not (self.path or self.call)
        return apart and self.text is not None and read(text).title != self.document.title

    def take(self, text: str, seq: NodeId) -> None:
        """Its text after this event. A text that stays leaves what was decided about it."""
        self.stale = False
        if text == self.text:
            self.note(seq)
            return
        self.text, self.newest = text, seq
        self.note(seq)
        if self.decision == "rejected":
            self.decision = ""

    def after(self, change: FileChange) -> str | None:
        """Its text after a change of its file; ``None`` where that is not known."""
        return change.apply(self.text)

    def note(self, seq: NodeId) -> None:
        """This event is about the document."""
        if not self.seqs or self.seqs[-1] != seq:
            self.seqs.append(seq)

    def steps(self) -> tuple[ArtifactStep, ...]:
        """Its steps; those that the log lists where the text is not known."""
        if self.text is None:
            return tuple(
                ArtifactStep(
                    number=number,
                    title=item.text[:200],
                    status="unknown" if item.status == "pending" else item.status,
                    text=item.text,
                    source_event_seqs=(self.newest,),
                )
                for number, item in enumerate(self.items, 1)
            )
        document = self.document
        return tuple(
            ArtifactStep(
                number=number,
                title=step.title,
                status=step.status,
                text=document.text_of(step),
                lines=(step.start + 1, step.stop),
                source_event_seqs=(self.newest,),
            )
            for number, step in enumerate(document.steps, 1)
        )

    def status(self, steps: Sequence[ArtifactStep]) -> ArtifactStatus:
        """What its boxes say; else what a person decided."""
        if self.replaced:
            return "replaced"
        if self.decision == "rejected":
            return "rejected"
        said = together(step.status for step in steps)
        if said != "pending":
            return said
        if self.decision == "approved":
            return "approved"
        return "proposed" if self.proposed else "pending"
