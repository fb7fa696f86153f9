"""The operations that the agent made itself, as its log tells them, for the audit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from compress.entries import LogEntry
from compress.events import NodeId, Rebase, Replace
from compress.surface import SurfaceFold

AgentKind = Literal["compact", "micro", "clear", "rewind", "branch", "edit"]
"""``edit``: one node took the place of others, without being a summary."""


@dataclass(frozen=True, slots=True)
class AgentOperation:
    """One operation of the agent's. Tokens are counted ones, of the whole surface that the running
    agent saw."""

    kind: AgentKind
    seq: NodeId
    """The event that changed the surface (of a micro-compaction: the first)."""
    shadowed: tuple[NodeId, ...]
    """What it took off the surface, in surface order."""
    tokens_before: int
    tokens_after: int
    events: tuple[NodeId, ...]
    """All events that changed the surface."""
    time: float | None = None
    trigger: str | None = None
    """The agent's own word for why, where its log has one."""
    stated_before: int | None = None
    """Tokens before, as the agent's own log states them."""
    finished: bool = True
    """False for a ``compact/start`` that a crash left alone: it changed nothing."""
    last: NodeId = 0
    """The newest event that belongs to it, copies of what it keeps included: the surface after it
    is that of this moment."""
    told: tuple[NodeId, ...] = ()
    """Its ``compact/…`` events, which tell of it without changing the surface."""

    @property
    def summary(self) -> NodeId | None:
        """The node of the agent's own summary, of a compaction."""
        return self.seq if self.kind == "compact" and self.finished else None


def agent_operations(entries: Iterable[LogEntry]) -> list[AgentOperation]:
    """The agent's own operations, in log order. ``entries`` are those of the whole session, in
    seq order. A seq of one of them, minus one, names the state just before it."""
    reader = _Reader()
    for entry in entries:
        reader.feed(entry)
    return reader.done()


_TOLD = ("compact/start", "compact/summary", "compact/end")


class _Reader:
    def __init__(self) -> None:
        self.found: list[AgentOperation] = []
        self._fold = SurfaceFold("live")
        self._weights: dict[NodeId, int] = {}
        self._start: LogEntry | None = None
        self._newest: NodeId = 0
        self._told: list[NodeId] = []
        """The ``compact/…`` events since the newest start."""
        self._open = False
        """Between a start and its end, messages are copies of what the agent keeps."""
        self._settling = False
        """The newest operation may still bring copies of what it keeps."""

    def feed(self, entry: LogEntry) -> None:
        if entry.type == "compact/start":
            self._settle()
            self._abandon()
            self._start, self._open = entry, True
            self._told = []
        if entry.type in _TOLD:
            self._told.append(entry.seq)
        copied = self._open and entry.type == "user/message"
        if entry.type in ("assistant/message", "user/message", "turn/start") and not copied:
            self._settle()
        if entry.type in ("user/message", "turn/start") and not isinstance(entry.op, Replace):
            self._abandon()
        if isinstance(entry.op, Replace | Rebase):
            self._operation(entry)
        else:
            self._fold.apply_leniently(entry)
            self._weigh(entry)
        self._newest = entry.seq
        if entry.type == "compact/end":
            self._settle()
            if entry.meta.get("error"):
                self._abandon()
            self._start, self._open = None, False

    def done(self) -> list[AgentOperation]:
        self._settle()
        self._abandon()
        return self.found

    def _operation(self, entry: LogEntry) -> None:
        nodes, before = list(self._fold.nodes), self._total()
        generation = self._fold.replace_generation
        self._fold.apply_leniently(entry)
        self._weigh(entry)
        if self._fold.replace_generation == generation:
            return
        standing = set(self._fold.nodes)
        gone = tuple(node for node in nodes if node not in standing)
        kind = _kind(entry)
        if not gone and kind == "branch":
            # A mere change of order: nothing left the window.
            return
        last = self.found[-1] if self.found else None
        if last is not None and kind == last.kind == "micro" and self._settling:
            self.found[-1] = replace(
                last,
                shadowed=(*last.shadowed, *gone),
                events=(*last.events, entry.seq),
                tokens_after=self._total(),
            )
            return
        self._settle()
        begun = self._start.meta if self._start is not None else {}
        stated = begun.get("pre_tokens")
        self.found.append(
            AgentOperation(
                kind=kind,
                seq=entry.seq,
                shadowed=gone,
                tokens_before=before,
                tokens_after=self._total(),
                events=(entry.seq,),
                time=entry.time,
                last=entry.seq,
                trigger=str(begun["trigger"]) if begun.get("trigger") else None,
                stated_before=stated if isinstance(stated, int) else None,
            )
        )
        self._settling = True
        self._start = None

    def _settle(self) -> None:
        if not self._settling:
            return
        self._settling = False
        last = self.found.pop()
        standing = set(self._fold.nodes)
        gone = tuple(node for node in last.shadowed if node not in standing)
        if last.kind == "branch" and not gone:
            # A record that was written before its parent: all stood again at once.
            return
        told: tuple[NodeId, ...] = ()
        if last.kind == "compact":
            told, self._told = tuple(self._told), []
        self.found.append(
            replace(last, shadowed=gone, tokens_after=self._total(), last=self._newest, told=told)
        )

    def _abandon(self) -> None:
        """A start that nothing followed is shown as such."""
        start, self._start = self._start, None
        if start is None:
            return
        total = self._total()
        self.found.append(
            AgentOperation(
                kind="compact",
                seq=start.seq,
                shadowed=(),
                tokens_before=total,
                tokens_after=total,
                events=(),
                time=start.time,
                trigger=str(start.meta["trigger"]) if start.meta.get("trigger") else None,
                finished=False,
                last=start.seq,
                told=tuple(self._told),
            )
        )
        self._told = []

    def _weigh(self, entry: LogEntry) -> None:
        if entry.node is not None or entry.op is not None:
            node = entry.seq if entry.node is None else entry.node
            self._weights[node] = self._weights.get(node, 0) + entry.tokens

    def _total(self) -> int:
        return sum(self._weights.get(node, 0) for node in self._fold.nodes)


def _kind(entry: LogEntry) -> AgentKind:
    if entry.meta.get("checkpoint"):
        return "compact"
    if isinstance(entry.op, Replace):
        return "micro" if entry.op.live_only or entry.type == "tool/result" else "edit"
    marker = entry.meta.get("marker")
    if marker == "clear":
        return "clear"
    if marker == "rewind":
        return "rewind"
    return "branch"
