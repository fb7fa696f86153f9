"""What a region holds, harvested from its structure: the material of a summary.

Checkpoints and receipts in the region are opened: what they shadow is read again, so that a
summary of a summary is a summary of the raw, merged and not nested.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compress.compaction.identifiers import Mention, collect
from compress.compaction.values import SessionInput
from compress.entries import LogEntry
from compress.events import ContentBlock, NodeId, SessionEvent
from compress.operations import is_operation_id
from compress.toolcalls import Outcome, ToolCall, outcome, tool_call

RAW_TOKENS = 3_000_000
"""Counted tokens of raw behind a region that are read; what lies further back is read for the
user's own words only."""

_ERROR_LINES = 6
_ERROR_TEXT = 80_000
"""Characters of a failed result that are looked through: its head and, mostly, its end."""
_PLACE = re.compile(r"[\w./\\-]+\.\w+:\d+|\b\w*[a-z](?:Error|Exception|Panic)\b|\b\w+\[[A-Z]\d+\]")


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the user's. ``rank``: 0 the last message, 1 the first, 2 any other."""

    node: NodeId
    text: str
    rank: int = 2


@dataclass(slots=True)
class FileTouch:
    """What happened to one file. ``last``: label of the newest outcome."""

    path: str
    reads: int = 0
    changes: int = 0
    created: bool = False
    last: str = ""
    node: NodeId = 0
    index: int = 0


@dataclass(slots=True)
class CommandRun:
    """A command and how its newest run ended."""

    command: str
    runs: int
    outcome: Outcome
    node: NodeId
    index: int


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that no later success of the same call resolved."""

    call: str
    lines: tuple[str, ...]
    node: NodeId


@dataclass(slots=True)
class Digest:
    """The facts of a region, in log order."""

    said: list[Said] = field(default_factory=list)
    rules: list[Said] = field(default_factory=list)
    """Instructions that the agent injects itself (memory files and the like)."""
    open_items: list[str] = field(default_factory=list)
    done_items: int = 0
    decisions: list[tuple[str, NodeId]] = field(default_factory=list)
    files: dict[str, FileTouch] = field(default_factory=dict)
    commands: dict[str, CommandRun] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    jobs: list[tuple[str, NodeId]] = field(default_factory=list)
    notes: list[tuple[str, NodeId]] = field(default_factory=list)
    """The agent's own closing words, one a turn."""
    earlier: list[tuple[str, NodeId]] = field(default_factory=list)
    """Summaries that the agent itself wrote."""
    mentions: dict[str, Mention] = field(default_factory=dict)
    length: int = 0
    """Nodes that were read."""


def digest(session: SessionInput, nodes: Sequence[NodeId], *, opened: bool = True) -> Digest:
    """The facts of these nodes; with ``opened`` those of the raw behind their checkpoints too."""
    found = Digest()
    harvest = _Harvest(session, found)
    near, distant = _open(session, nodes) if opened else (list(nodes), [])
    for node in distant:
        entry = _entry(session, node)
        if entry is not None and entry.type in ("user/message", "steering/message"):
            harvest.user(node, session.content(node).events)
    for node in near:
        harvest.node(node)
    found.length = len(near)
    harvest.finish(nodes)
    return found


def raw_tokens(session: SessionInput, nodes: Sequence[NodeId]) -> int:
    """Counted tokens of these nodes, checkpoints made here weighed as the raw behind them."""
    near, distant = _open(session, nodes)
    return sum(session.tokens(node) for node in (*near, *distant))


def _open(session: SessionInput, nodes: Iterable[NodeId]) -> tuple[list[NodeId], list[NodeId]]:
    """The raw nodes behind these, oldest first: those to read, and those too far back."""
    shadowed = session.plan.surface.shadowed
    flat: dict[NodeId, None] = {}
    stack = list(reversed(list(nodes)))
    while stack:
        node = stack.pop()
        hidden = shadowed.get(node)
        if node in flat:
            continue
        if hidden is None or not is_operation_id(node):
            flat[node] = None
        stack.extend(reversed([n for n in hidden or () if n not in flat]))
    budget, near = RAW_TOKENS, 0
    order = list(flat)
    for node in reversed(order):
        budget -= session.tokens(node)
        if budget < 0:
            break
        near += 1
    return order[len(order) - near :], order[: len(order) - near]


def _entry(session: SessionInput, node: NodeId) -> LogEntry | None:
    members = session.plan.surface.members.get(node, ())
    return session.plan.entries.get(members[0]) if members else None


class _Harvest:
    """Reads nodes in order and fills a digest."""

    def __init__(self, session: SessionInput, found: Digest) -> None:
        self.session = session
        self.found = found
        self.index = -1
        self._calls: dict[str, tuple[ToolCall, NodeId, str]] = {}
        self._failed: dict[tuple[str, str], Failure] = {}
        self._last_text: tuple[str, NodeId] | None = None

    def node(self, node: NodeId) -> None:
        self.index += 1
        events = self.session.content(node).events
        kind = events[0].type if events else None
        if kind == "user/message" and events[0].meta.get("checkpoint"):
            self._collect(_text(events), "result")
        elif kind in ("user/message", "steering/message"):
            self.user(node, events)
        elif kind == "assistant/message":
            self._assistant(node, events)
        elif kind == "tool/result":
            for event in events:
                self._results(node, event)
        elif kind == "context/message":
            self._context(node, events)

    def user(self, node: NodeId, events: Sequence[SessionEvent]) -> None:
        text = _text(events)
        if not text:
            return
        self._end_of_turn()
        self.found.said.append(Said(node, text))
        collect(self.found.mentions, text, max(self.index, 0), by="user")

    def finish(self, nodes: Sequence[NodeId]) -> None:
        self._end_of_turn()
        said = self.found.said
        if said:
            said[0] = Said(said[0].node, said[0].text, 1)
            said[-1] = Said(said[-1].node, said[-1].text, 0)
        self.found.failures = list(self._failed.values())
        self._plan(nodes)

    def _assistant(self, node: NodeId, events: Sequence[SessionEvent]) -> None:
        for event in events:
            for block in event.blocks:
                if block.kind == "text" and block.text.strip():
                    self._last_text = (block.text.strip(), node)
                    self._collect(block.text, "agent")
                elif block.kind == "tool_call":
                    self._call(node, block)
                elif block.kind in ("tool_result", "synthetic"):
                    self._result(node, block)

    def _call(self, node: NodeId, block: ContentBlock) -> None:
        call = tool_call(block.name or "", block.input)
        self._collect(" ".join(strings(block.input)), "agent")
        self._calls[block.id or ""] = (call, node, headline_of(call))
        for fact in call.facts:
            if fact.action in ("read", "changed", "created"):
                self._touch(fact.action, fact.target, node)
        if call.background:
            self.found.jobs.append((headline_of(call), node))

    def _touch(self, action: str, path: str, node: NodeId) -> None:
        known = self.found.files.setdefault(path, FileTouch(path))
        if action == "read":
            known.reads += 1
        else:
            known.created = known.created or (
                action == "created" and not known.reads and not known.changes
            )
            known.changes += 1
        known.node, known.index = node, self.index

    def _results(self, node: NodeId, event: SessionEvent) -> None:
        for block in event.blocks:
            if block.kind in ("tool_result", "synthetic"):
                self._result(node, block)

    def _result(self, node: NodeId, block: ContentBlock) -> None:
        self._collect(block.text, "result")
        asked = self._calls.pop(block.id or "", None)
        if asked is None:
            return
        call, _, headline = asked
        ended = outcome(block.text, block.is_error)
        for fact in call.facts:
            touched = self.found.files.get(fact.target)
            if touched is not None:
                touched.last = ended.label
            if fact.action == "ran":
                self._ran(fact.target, ended, node)
        if ended.failed:
            self._failed[call.key] = Failure(headline, critical_lines(block.text), node)
        else:
            self._failed.pop(call.key, None)

    def _ran(self, command: str, ended: Outcome, node: NodeId) -> None:
        known = self.found.commands.pop(command, None)
        runs = 1 if known is None else known.runs + 1
        self.found.commands[command] = CommandRun(command, runs, ended, node, self.index)

    def _context(self, node: NodeId, events: Sequence[SessionEvent]) -> None:
        text = _text(events)
        meta = events[0].meta
        if not text:
            return
        if meta.get("checkpoint"):
            self.found.earlier.append((text, node))
            self._collect(text, "result")
        elif "instruction" in str(meta.get("source", "")) or meta.get("rules"):
            self.found.rules.append(Said(node, text))
            self._collect(text, "user")
        else:
            self._collect(text, "result")

    def _end_of_turn(self) -> None:
        if self._last_text is not None:
            self.found.notes.append(self._last_text)
            self._last_text = None

    def _plan(self, nodes: Sequence[NodeId]) -> None:
        """The newest state of the agent's own list, whenever it was written, and what the log-only
        events of the region say about decisions."""
        entries = self.session.plan.entries
        latest: Mapping[str, Any] | None = None
        for seq in range(self.session.plan.agent_seq, 0, -1):
            entry = entries.get(seq)
            if entry is not None and entry.type == "artifact/update" and "items" in entry.meta:
                latest = entry.meta
                break
        for item in _items(latest):
            if item.get("status") == "completed":
                self.found.done_items += 1
            else:
                doing = " (in progress)" if item.get("status") == "in_progress" else ""
                self.found.open_items.append(f"{_one_line(str(item.get('text', '')))}{doing}")
        seqs = [node for node in nodes if isinstance(node, int)]
        if not seqs:
            return
        for seq in range(min(seqs), max(seqs) + 1):
            entry = entries.get(seq)
            if entry is not None:
                self._decision(entry)

    def _decision(self, entry: LogEntry) -> None:
        if entry.type == "approval/decision":
            self.found.decisions.append((entry.headline, entry.seq))
        elif entry.type == "artifact/update":
            said = entry.meta.get("explanation")
            if isinstance(said, str) and said.strip():
                self.found.decisions.append((_one_line(said), entry.seq))

    def _collect(self, text: str, by: str) -> None:
        collect(self.found.mentions, text, self.index, by=by)


def headline_of(call: ToolCall) -> str:
    """A call in one line."""
    target = call.facts[0].target if call.facts else ""
    return _one_line(f"{call.name} {target}")[:160].strip()


def critical_lines(text: str) -> tuple[str, ...]:
    """The lines of a failed result that say most: those that name a place in a file or an error
    by the shape of its name, else the last ones. At most six, in their order."""
    if len(text) > _ERROR_TEXT:
        text = f"{text[: _ERROR_TEXT // 4]}\n{text[-_ERROR_TEXT * 3 // 4 :]}"
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    telling = [line for line in lines if _says_where(line)]
    chosen = telling[:2] + telling[2:][-(_ERROR_LINES - 2) :] if telling else lines[-3:]
    return tuple(line.strip()[:300] for line in chosen)


def _says_where(line: str) -> bool:
    """Whether a line looks like ``file.ext:12``, ``SomethingError: …`` or ``error[E0308]``."""
    return len(line) < 500 and bool(_PLACE.search(line))


def _items(meta: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    listed = (meta or {}).get("items")
    for item in listed if isinstance(listed, list | tuple) else ():
        if isinstance(item, Mapping):
            yield item


def _text(events: Iterable[SessionEvent]) -> str:
    parts = [
        block.text
        for event in events
        for block in event.blocks
        if block.kind in ("text", "context") and block.text.strip()
    ]
    return "\n".join(parts).strip()


def strings(value: Any) -> Iterator[str]:
    """All strings of a call's input, keys left out, without recursion."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            stack.extend(reversed(list(item.values())))
        elif isinstance(item, list | tuple):
            stack.extend(reversed(item))


def _one_line(text: str) -> str:
    return " ".join(text.split())
