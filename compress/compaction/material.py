"""What a summary is made of: the facts of a region, folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from compress.compaction.identifiers import Mention
from compress.events import NodeId
from compress.toolcalls import Outcome

HEADLINE = 160
"""Characters of a message's headline."""


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the user's, and their beginning with a pointer. ``flat``: without line breaks and
    repeated blanks; ``rank``: 0 the last message, 1 the first, 2 any other."""

    node: NodeId
    text: str
    brief: str
    flat: str
    rank: int = 2

    def ranked(self, rank: int) -> Said:
        """The same with another rank."""
        return Said(self.node, self.text, self.brief, self.flat, rank)


def said(node: NodeId, text: str) -> Said:
    """Words of the user's."""
    flat = " ".join(text.split())
    brief = f"{headline(text)} {pointer(node)}"
    return Said(node, text, brief, text if flat == text else flat)


class Briefs(Sequence[str]):
    """The beginnings of these words, without a list of them: there may be 50,000."""

    def __init__(self, said: Sequence[Said]) -> None:
        self._said = said

    def __len__(self) -> int:
        return len(self._said)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(one.brief for one in self._said[index])
        return self._said[index].brief

    def __iter__(self) -> Iterator[str]:
        return (one.brief for one in self._said)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


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

    said: Sequence[Said] = ()
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
