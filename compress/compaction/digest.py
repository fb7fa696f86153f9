"""What a region holds: the facts of its nodes folded into the material of a summary.

Checkpoints and receipts in the region are opened: what they shadow is read again, so that a
summary of a summary is a summary of the raw, merged and not nested.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from compress.compaction.facts import (
    CallFacts,
    FactsCache,
    NodeFacts,
    ResultFacts,
    critical_lines,
    headline_of,
    one_line,
    strings,
)
from compress.compaction.identifiers import IdentifierKind, Mention
from compress.compaction.values import SessionInput
from compress.entries import LogEntry
from compress.events import NodeId
from compress.operations import is_operation_id
from compress.toolcalls import Outcome

__all__ = ["Digest", "critical_lines", "digest", "headline_of", "raw_tokens", "strings"]

RAW_TOKENS = 1_000_000
"""Counted tokens of raw behind a region that are read; what lies further back is read for the
user's own words only."""
RAW_NODES = 12_000
"""The same bound in nodes: what a fold may take at each key of a person who edits a region."""
_CHUNK = 1_024
"""Far-back nodes whose facts are merged and kept together."""


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the user's. ``rank``: 0 the last message, 1 the first, 2 any other."""

    node: NodeId
    text: str
    rank: int = 2


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
    tools: dict[str, int] = field(default_factory=dict)
    """Tool → calls of it."""
    earlier: list[tuple[str, NodeId]] = field(default_factory=list)
    """Summaries that the agent itself wrote."""
    mentions: dict[str, Mention] = field(default_factory=dict)
    length: int = 0
    """Nodes that were read."""


def digest(session: SessionInput, nodes: Sequence[NodeId], *, opened: bool = True) -> Digest:
    """The facts of these nodes; with ``opened`` those of the raw behind their checkpoints too."""
    found = Digest()
    cache = session.cache or FactsCache()
    near, distant = _reach(session, nodes, opened=opened)
    words = {s.node: s for run in distant for s in _far_words(session, cache, run, opened=opened)}
    known = set(near) if words else set()
    found.said.extend(said for node, said in words.items() if node not in known)
    fold = _Fold(found)
    members = session.plan.surface.members
    for node in near:
        fold.node(node, cache.facts(session.content, node, len(members[node])))
    found.length = len(near)
    fold.finish()
    _plan(session, found, nodes)
    return found


def raw_tokens(session: SessionInput, nodes: Sequence[NodeId]) -> int:
    """Counted tokens of these nodes, checkpoints made here weighed as the raw behind them; at
    :data:`RAW_TOKENS` the count ends."""
    total = 0
    for node in _backwards(session, [(nodes, len(nodes))], opened=True):
        total += session.tokens(node)
        if total >= RAW_TOKENS:
            break
    return total


_Run = tuple[Sequence[NodeId], int]
"""The first so many nodes of a sequence."""


def _reach(
    session: SessionInput, nodes: Sequence[NodeId], *, opened: bool
) -> tuple[list[NodeId], list[_Run]]:
    """The raw nodes to read, oldest first, and the runs of those too far back, oldest first."""
    stack: list[_Run] = [(nodes, len(nodes))]
    near: list[NodeId] = []
    budget = RAW_TOKENS
    for node in _backwards(session, stack, opened=opened):
        budget -= session.tokens(node)
        if near and (budget < 0 or len(near) >= RAW_NODES):
            stack.append(((node,), 1))
            break
        near.append(node)
    near.reverse()
    return near, [run for run in stack if run[1]]


def _backwards(session: SessionInput, stack: list[_Run], *, opened: bool) -> Iterator[NodeId]:
    """The raw nodes behind these, newest first, each once; ``stack`` always holds what is left.

    A checkpoint made here is what it shadows; the agent's own stands before what it shadows.
    """
    shadowed = session.plan.surface.shadowed if opened else {}
    seen: set[NodeId] = set()
    itself: set[NodeId] = set()
    while stack:
        nodes, stop = stack.pop()
        if not stop:
            continue
        node = nodes[stop - 1]
        stack.append((nodes, stop - 1))
        if node in seen:
            continue
        hidden = shadowed.get(node)
        if hidden is None or node in itself:
            seen.add(node)
            yield node
            continue
        if is_operation_id(node):
            seen.add(node)
        else:
            itself.add(node)
            stack.append(((node,), 1))
        stack.append((hidden, len(hidden)))


def _far_words(
    session: SessionInput, cache: FactsCache, run: _Run, *, opened: bool
) -> Iterator[Said]:
    """The user's words in nodes that lie far back, merged by chunks."""
    nodes, stop = run
    at = 0
    while at < stop:
        end = _chunk_end(nodes, at, stop)
        chunk = tuple(nodes[at:end])
        make = partial(_words_of, session, cache, chunk, opened=opened)
        yield from cache.chunk(chunk, make)
        at = end


def _chunk_end(nodes: Sequence[NodeId], at: int, stop: int) -> int:
    """Where a chunk ends: before the next seq that :data:`_CHUNK` divides, so that chunks stay the
    same while the region's edges move."""
    node = nodes[at]
    if not isinstance(node, int):
        return at + 1
    edge = (node // _CHUNK + 1) * _CHUNK
    return bisect_left(nodes, edge, at + 1, min(stop, at + _CHUNK), key=_number)


def _number(node: NodeId) -> int:
    return node if isinstance(node, int) else -1


def _words_of(
    session: SessionInput, cache: FactsCache, nodes: Sequence[NodeId], *, opened: bool
) -> list[Said]:
    shadowed = session.plan.surface.shadowed if opened else {}
    words: list[Said] = []
    for node in nodes:
        hidden = shadowed.get(node)
        if hidden:
            words.extend(_far_words(session, cache, (hidden, len(hidden)), opened=opened))
        entry = _entry(session, node)
        if entry is None or entry.type not in ("user/message", "steering/message"):
            continue
        facts = cache.facts(session.content, node, len(session.plan.surface.members[node]))
        if facts.kind == "user":
            words.append(Said(node, facts.text))
    return words


def _entry(session: SessionInput, node: NodeId) -> LogEntry | None:
    members = session.plan.surface.members.get(node, ())
    return session.plan.entries.get(members[0]) if members else None


class _Fold:
    """Takes the facts of nodes in order and fills a digest."""

    def __init__(self, found: Digest) -> None:
        self.found = found
        self.index = -1
        self._calls: dict[str, tuple[CallFacts, Step]] = {}
        self._failed: dict[tuple[str, str], Failure] = {}
        self._jobs: dict[str, tuple[str, NodeId, set[str]]] = {}
        self._last_text: tuple[str, NodeId] | None = None

    def node(self, node: NodeId, facts: NodeFacts) -> None:
        self.index += 1
        found = self.found
        if facts.kind == "user":
            self._end_of_turn()
            found.said.append(Said(node, facts.text))
        elif facts.kind == "agent":
            if facts.text:
                self._last_text = (facts.text, node)
                found.words.append((facts.text, node))
        elif facts.kind == "earlier":
            found.earlier.append((facts.text, node))
        elif facts.kind == "rules":
            found.rules.append(Said(node, facts.text))
        for name, kind, by, place in facts.names:
            self._mention(name, kind, by, place)
        for call in facts.calls:
            self._call(node, call)
        for result in facts.results:
            self._result(node, result)

    def finish(self) -> None:
        self._end_of_turn()
        said = self.found.said
        if said:
            said[0] = Said(said[0].node, said[0].text, 1)
            said[-1] = Said(said[-1].node, said[-1].text, 0)
        self.found.failures = list(self._failed.values())
        self.found.jobs = [(headline, node) for headline, node, _ in self._jobs.values()]

    def _mention(self, name: str, kind: IdentifierKind, by: str, place: str) -> None:
        index = self.index
        known = self.found.mentions.get(name)
        if known is None:
            known = Mention(name, kind, index, index, schema=by == "schema")
            self.found.mentions[name] = known
        known.last = index
        if by in ("result", "user"):
            known.seen += 1
            known.told = known.told or by == "user"
        else:
            if known.used_last != index:
                known.uses += 1
                known.used_last = index
            if by == "said":
                known.said += 1
        if by != "schema":
            if known.schema:
                known.schema, known.place = False, ""
            known.place = place or known.place
        elif known.schema:
            known.place = place

    def _call(self, node: NodeId, facts: CallFacts) -> None:
        call = facts.call
        step = Step(_did(facts), node)
        self.found.steps.append(step)
        self.found.tools[call.name] = self.found.tools.get(call.name, 0) + 1
        self._calls[facts.id] = (facts, step)
        for fact in call.facts:
            if fact.action in ("read", "changed", "created"):
                self._touch(fact.action, fact.target, node, facts.wrote)
        if call.background:
            self._jobs[facts.id] = (facts.headline, node, set())

    def _touch(self, action: str, path: str, node: NodeId, wrote: Iterable[str]) -> None:
        known = self.found.files.setdefault(path, FileTouch(path))
        if action == "read":
            known.reads += 1
        else:
            known.created = known.created or (
                action == "created" and not known.reads and not known.changes
            )
            known.changes += 1
            for line in wrote:
                known.wrote.pop(line, None)
                known.wrote[line] = None
        known.node, known.index = node, self.index

    def _result(self, node: NodeId, result: ResultFacts) -> None:
        asked = self._calls.pop(result.id, None)
        place = ""
        if asked is not None:
            fact = asked[0].call.facts[0] if asked[0].call.facts else None
            if fact is not None and fact.action in ("read", "changed", "created"):
                place = fact.target
        for name, kind in result.names:
            self._mention(name, kind, "result", place if name != place else "")
        if asked is None:
            return
        call, step = asked
        step.ended = result.ended.label
        for fact in call.call.facts:
            touched = self.found.files.get(fact.target)
            if touched is not None:
                touched.last = result.ended.label
            if fact.action == "ran":
                self._ran(fact.target, result, node)
        self._follow_jobs(call, result)
        if result.ended.failed:
            self._failed[call.call.key] = Failure(call.headline, result.lines, node)
        else:
            self._failed.pop(call.call.key, None)

    def _follow_jobs(self, call: CallFacts, result: ResultFacts) -> None:
        """A job is known by the ids in the answer to its start; a later call with such an id whose
        result states an exit code tells that it has ended."""
        started = self._jobs.get(call.id)
        if started is not None:
            started[2].update(name for name, kind in result.names if kind != "path")
            return
        if result.ended.exit_code is None:
            return
        for key in [k for k, (_, _, ids) in self._jobs.items() if not ids.isdisjoint(call.words)]:
            del self._jobs[key]

    def _ran(self, command: str, result: ResultFacts, node: NodeId) -> None:
        known = self.found.commands.pop(command, None)
        runs = 1 if known is None else known.runs + 1
        self.found.commands[command] = CommandRun(
            command, runs, result.ended, node, self.index, result.last
        )

    def _end_of_turn(self) -> None:
        if self._last_text is not None:
            self.found.notes.append(self._last_text)
            self._last_text = None


def _did(facts: CallFacts) -> str:
    """A call in one line that says what it changed where its own input does not show it."""
    fact = facts.call.facts[0] if facts.call.facts else None
    if fact is None or fact.action not in ("changed", "created"):
        return facts.headline
    more = len(facts.call.facts) - 1
    return f"{facts.call.name}: {fact.action} {fact.target}{f' and {more} more' if more else ''}"


def _plan(session: SessionInput, found: Digest, nodes: Sequence[NodeId]) -> None:
    """The newest state of the agent's own list, whenever it was written, and what the log-only
    events of the region say about decisions."""
    entries = session.plan.entries
    noted = session.measure().noted
    latest = next((entries[seq].meta for seq in reversed(noted) if _is_list(entries[seq])), None)
    for item in _items(latest):
        text = one_line(str(item.get("text", "")))
        if item.get("status") == "completed":
            found.done_items.append(text)
        else:
            doing = " (in progress)" if item.get("status") == "in_progress" else ""
            found.open_items.append(f"{text}{doing}")
    first, last = _seqs(nodes)
    for seq in noted[bisect_left(noted, first) : bisect_right(noted, last)]:
        entry = entries[seq]
        said = entry.meta.get("explanation")
        if entry.type == "approval/decision":
            found.decisions.append((entry.headline, seq))
        elif isinstance(said, str) and said.strip():
            found.decisions.append((one_line(said), seq))


def _is_list(entry: LogEntry) -> bool:
    return entry.type == "artifact/update" and "items" in entry.meta


def _seqs(nodes: Sequence[NodeId]) -> tuple[int, int]:
    """The first and the last seq of the agent's among the edges of these nodes."""
    first = next((node for node in nodes if isinstance(node, int)), 0)
    last = next((node for node in reversed(nodes) if isinstance(node, int)), -1)
    return first, last


def _items(meta: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    listed = (meta or {}).get("items")
    for item in listed if isinstance(listed, list | tuple) else ():
        if isinstance(item, Mapping):
            yield item
