"""What a summary is made of: the facts of a region, folded."""

from __future__ import annotations

from dataclasses import dataclass, field

from compress.compaction.identifiers import Mention
from compress.events import NodeId
from compress.toolcalls import Outcome

HEADLINE = 160
"""Characters of a message's headline."""


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the user's, and their beginning with a pointer. ``rank``: 0 the last message, 1 the
    first, 2 any other."""

    node: NodeId
    text: str
    brief: str
    rank: int = 2

    def ranked(self, rank: int) -> Said:
        """The same with another rank."""
        return Said(self.node, self.text, self.brief, rank)


def said(node: NodeId, text: str) -> Said:
    """Words of the user's."""
    return Said(node, text, f"{headline(text)} {pointer(node)}")


def pointer(node: NodeId) -> str:
    """Where the raw is."""
    return f"[event {node}]"


def headline(text: str, length: int = HEADLINE) -> str:
    """The beginning of a text, in one line of at most so many characters."""
    line = " ".join(text[: 8 * length].split())
    return line if len(line) <= length else line[: length - 1] + "…"


@dataclass(slots=True)
class FileTouch:
    """What happened to one file. ``last``: label of the newest outcome; ``wrote``: telling lines
    of what was put into it, newest last."""

    path: str
    reads: int = 0
    changes: int = 0
    created: bool = False
    last: str = ""
    node: NodeId = 0
    index: int = 0
    wrote: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class CommandRun:
    """A command and how its newest run ended. ``last``: the last line of its output."""

    command: str
    runs: int
    outcome: Outcome
    node: NodeId
    index: int
    last: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that no later success of the same call resolved."""

    call: str
    lines: tuple[str, ...]
    node: NodeId


@dataclass(slots=True)
class Step:
    """One call of the agent's, with how it ended."""

    headline: str
    node: NodeId
    ended: str = ""


@dataclass(slots=True)
class Digest:
    """The facts of a region, in log order."""

    said: list[Said] = field(default_factory=list)
    rules: list[Said] = field(default_factory=list)
    """Instructions that the agent injects itself (memory files and the like)."""
    open_items: list[str] = field(default_factory=list)
    done_items: list[str] = field(default_factory=list)
    decisions: list[tuple[str, NodeId]] = field(default_factory=list)
    files: dict[str, FileTouch] = field(default_factory=dict)
    commands: dict[str, CommandRun] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    jobs: list[tuple[str, NodeId]] = field(default_factory=list)
    """Background jobs that nothing says have ended."""
    notes: list[tuple[str, NodeId]] = field(default_factory=list)
    """The agent's own closing words, one a turn."""
    words: list[tuple[str, NodeId]] = field(default_factory=list)
    """All of the agent's own words."""
    steps: list[Step] = field(default_factory=list)
    earlier: list[tuple[str, NodeId]] = field(default_factory=list)
    """Summaries that the agent itself wrote."""
    mentions: dict[str, Mention] = field(default_factory=dict)
    length: int = 0
    """Nodes that were read."""
