"""A plan as a session of Claude Code.

The shape is the smallest that the agent was seen to resume: where a checkpoint stands at the head,
a compaction boundary without a parent and the summary below it, then the rest in one straight
chain; else the chain alone. At the end stand the title and a pointer to the leaf.

What the agent wrote is carried over text by text and keeps its id, so that figures which then
stand in two files are counted once; only the links are new. What the plan brings has ids and the
time of the copy.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import ClassVar

from storage.resume.base import Composed, PlanCopy, ResumeRefusedError
from storage.resume.checks import check
from storage.resume.claude_chain import Chain
from storage.resume.claude_head import read_facts


class ClaudeWriter:
    """Claude Code. Every version that knows compaction boundaries takes the shape."""

    agent: ClassVar[str] = "claude"
    label: ClassVar[str] = "Claude Code"

    def compose(self, copy: PlanCopy) -> Composed:
        """The records of the copy. Raises :class:`ResumeRefusedError`."""
        if copy.source.relation == "subagent":
            raise ResumeRefusedError(
                f"{copy.source.name} is a sub-agent's session, and Claude Code resumes none: copy "
                "the session that started it."
            )
        check(copy)
        _check_first(copy)
        facts = read_facts(copy.records(), copy.source.path.parent.name)
        if facts.project is None:
            raise ResumeRefusedError(
                f"The log of {copy.source.name} names no project folder, and Claude Code looks "
                "for a session in its project only: take the messages with ullage show "
                f"{copy.source.name} --track plan --messages."
            )
        chain = Chain(copy, facts.project, facts.prompt)
        for position, node in enumerate(copy.nodes):
            chain.add(position, node)
        return Composed(
            place=PurePosixPath(facts.folder, f"{copy.session_id}.jsonl"),
            lines=tuple(line.encode() for line in chain.finish(facts.title)),
            command=("claude", "--resume", copy.session_id),
            folder=facts.project,
            note=f"Claude Code finds the copy only in projects/{facts.folder} of its own folder.",
        )


def _check_first(copy: PlanCopy) -> None:
    said = (node for node in copy.nodes if node.pieces[0].event.role != "system")
    first = next(said, None)
    if first is not None and first.type == "assistant/message":
        raise ResumeRefusedError(
            f"The plan of {copy.source.name} begins with an answer (event {first.node}), and the "
            "provider takes only a list that begins with the user: pin what was asked before it, "
            "or choose another moment with --at.",
            choices=[first.node],
        )
