"""Tool calls and their results: balance at a cut, and surface units.

*Balance* at a cut is the number of tool calls before it whose result stands after it, walking in
surface order (DeepSeek Harness, ``tool-pairing.ts``, with ids where that counts only). A cut is
legal where it is zero. N nodes have N + 1 cuts; cut k stands before node k.

A call and its result are paired by id. Where an id is used again, or is empty, the newest earlier
call with that id that still waits is meant, and calls of earlier steps wait no longer: the key is
(id, occurrence). Orphan results and reused ids are reported, never guessed at.

A *unit* is a closed step (a message that makes calls, its thinking, all of its results), or one
message outside any step.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Protocol

from compress.entries import LogEntry
from compress.errors import StaleNodeError
from compress.events import Append, NodeId
from compress.surface import Problem

STEP_TYPES = ("assistant/message", "tool/result")
"""Types of the nodes that a step is made of."""


class PairedSurface(Protocol):
    """What pairing needs of a surface."""

    @property
    def nodes(self) -> Sequence[NodeId]: ...
    @property
    def members(self) -> Mapping[NodeId, Sequence[NodeId]]: ...
    @property
    def replace_generation(self) -> int: ...
    @property
    def last_seq(self) -> NodeId | None: ...


@dataclass(frozen=True)
class Pairing:
    """The balance of one surface."""

    nodes: Sequence[NodeId]
    members: Mapping[NodeId, Sequence[NodeId]]
    entries: Mapping[NodeId, LogEntry]
    balance: Sequence[int]
    """Per cut, ``len(nodes) + 1`` values; 0 = legal."""
    problems: tuple[Problem, ...]
    unanswered: frozenset[int]
    """Positions of the nodes that make a call without a result."""
    unasked: frozenset[int]
    """Positions of the nodes that answer a call which does not stand before them."""
    known_units: Sequence[int] | None = None
    """:attr:`units`, where they are known already."""

    @property
    def orphans(self) -> frozenset[NodeId]:
        """The nodes that lack their counterpart, either way."""
        return frozenset(self.nodes[position] for position in self.unanswered | self.unasked)

    def legal(self, cut: int) -> bool:
        """Whether the surface may be cut before node ``cut``: no pair is split, and no thinking
        is parted from the rest of its step."""
        return self.balance[cut] == 0 and not self._parts_thinking(cut)

    def balanced_before(self, node: NodeId) -> bool:
        """Raises :class:`StaleNodeError` where the node does not stand."""
        return self.balance[self.position(node)] == 0

    def balanced_after(self, node: NodeId) -> bool:
        """Raises :class:`StaleNodeError` where the node does not stand."""
        return self.balance[self.position(node) + 1] == 0

    def position(self, node: NodeId) -> int:
        """Index of a node. Raises :class:`StaleNodeError` where it does not stand."""
        try:
            return self.nodes.index(node)
        except ValueError:
            raise StaleNodeError(node, "is not on the surface") from None

    @cached_property
    def units(self) -> Sequence[int]:
        """Positions at which a unit begins, in order."""
        if self.known_units is not None:
            return self.known_units
        return [cut for cut in range(len(self.nodes)) if self.is_edge(cut)]

    def is_edge(self, cut: int) -> bool:
        """Whether a unit ends and another begins at this cut."""
        return self.balance[cut] == 0 and not self._inside_step(cut)

    def unit_of(self, position: int) -> range:
        """The positions of the unit that a node is part of."""
        start, stop = position, position + 1
        while not self.is_edge(start):
            start -= 1
        while not self.is_edge(stop):
            stop += 1
        return range(start, stop)

    def unit_index(self, position: int) -> int:
        """Number of the unit that a node is part of, from 0."""
        return bisect_right(self.units, position) - 1

    def cut_before(self, cut: int) -> int:
        """The nearest legal cut at or before this one."""
        while not self.legal(cut):
            cut -= 1
        return cut

    def cut_after(self, cut: int) -> int:
        """The nearest legal cut at or after this one."""
        while not self.legal(cut):
            cut += 1
        return cut

    @cached_property
    def open_from(self) -> int | None:
        """Position at which an open tail step begins: a call that may still be answered, since no
        later message follows it. ``None`` where the tail is closed."""
        found: int | None = None
        tail: LogEntry | None = None
        for position in range(len(self.nodes) - 1, -1, -1):
            entry = self._head(position)
            if entry is None or entry.type not in ("assistant/message", "user/message"):
                continue
            if entry.type == "user/message":
                break
            if tail is not None and (entry.step is None or entry.step != tail.step):
                break
            tail = entry
            if position in self.unanswered:
                found = position
        return None if found is None else self.unit_of(found).start

    def _thinks(self, position: int) -> bool:
        seqs = self.members[self.nodes[position]]
        found = (self.entries.get(seq) for seq in seqs)
        return any(entry is not None and _is_thought(entry) for entry in found)

    def _parts_thinking(self, cut: int) -> bool:
        """A request's thinking belongs to all that the request brought, its last call included."""
        while self._inside_step(cut):
            cut -= 1
            if self._thinks(cut):
                return True
        return False

    def _inside_step(self, cut: int) -> bool:
        if not 0 < cut < len(self.nodes):
            return False
        before, after = self._head(cut - 1), self._head(cut)
        return (
            before is not None
            and after is not None
            and before.step is not None
            and before.step == after.step
            and before.type in STEP_TYPES
            and after.type in STEP_TYPES
        )

    def _head(self, position: int) -> LogEntry | None:
        members = self.members[self.nodes[position]]
        return self.entries.get(members[0]) if members else None


def _is_thought(entry: LogEntry) -> bool:
    """Whether it holds thinking: what can be read of it, or, of a sealed one, nothing at all."""
    sealed = entry.type == "assistant/message" and not (
        entry.tokens or entry.calls or entry.results
    )
    return sealed or entry.thinking_tokens > 0


class BalanceCache:
    """The balance of a growing surface.

    While ``replace_generation`` stands still only new events are looked at, log-only ones cost
    nothing; after a replace or rebase everything is computed again.
    """

    def __init__(self) -> None:
        self.rebuilds = 0
        self._nodes = 0
        self._edge: tuple[NodeId, NodeId] | None = None
        self._generation = -1
        self._upto = 0
        self._walk = Walk()

    def pairing(self, surface: PairedSurface, entries: Mapping[NodeId, LogEntry]) -> Pairing:
        """The balance of this surface, extended from the last one where that is possible."""
        if self._extends(surface):
            self._extend(surface, entries)
        else:
            self._build(surface, entries)
        self._generation = surface.replace_generation
        self._nodes = len(surface.nodes)
        self._edge = (surface.nodes[0], surface.nodes[-1]) if surface.nodes else None
        return Pairing(
            nodes=tuple(surface.nodes),
            members=surface.members,
            entries=entries,
            balance=tuple(self._walk.balance),
            problems=tuple(self._walk.problems),
            unanswered=self._walk.unanswered(),
            unasked=frozenset(self._walk.unasked),
        )

    def _extends(self, surface: PairedSurface) -> bool:
        if surface.replace_generation != self._generation or len(surface.nodes) < self._nodes:
            return False
        if self._edge is None:
            return False
        return (surface.nodes[0], surface.nodes[self._nodes - 1]) == self._edge

    def _extend(self, surface: PairedSurface, entries: Mapping[NodeId, LogEntry]) -> None:
        last = surface.last_seq
        if not isinstance(last, int):
            return
        new = {node: position for position, node in enumerate(surface.nodes[self._nodes :])}
        self._walk.grow(len(surface.nodes))
        for seq in range(self._upto + 1, last + 1):
            entry = entries.get(seq)
            if entry is None or not isinstance(entry.op, Append):
                continue
            node = seq if entry.node is None else entry.node
            if node in new:
                self._walk.event(entry, self._nodes + new[node])
            elif (entry.calls or entry.results) and entry.op.view is None:
                self._walk.event(entry, _last_index(surface.nodes, node))
        self._upto = last

    def _build(self, surface: PairedSurface, entries: Mapping[NodeId, LogEntry]) -> None:
        self.rebuilds += 1
        self._walk = Walk()
        upto = surface.last_seq if isinstance(surface.last_seq, int) else 0
        members = surface.members
        for position, node in enumerate(surface.nodes):
            for seq in members[node]:
                entry = entries.get(seq)
                if entry is not None and (entry.calls or entry.results):
                    self._walk.event(entry, position)
                if isinstance(seq, int) and seq > upto:
                    upto = seq
        self._walk.settle(len(surface.nodes))
        self._upto = upto


def pairing(surface: PairedSurface, entries: Mapping[NodeId, LogEntry]) -> Pairing:
    """The balance of one surface, computed whole."""
    return BalanceCache().pairing(surface, entries)


class Walk:
    """Pairs calls with results, in the order in which their events are handed in."""

    def __init__(self) -> None:
        self.balance: list[int] = []
        self.lowest = 0
        """The first cut whose balance changed since this was last set, where it is lower."""
        self.problems: list[Problem] = []
        self._pairs: list[tuple[int, int]] = []
        self._settled = False
        self._waiting: dict[str, list[tuple[int, int | None]]] = {}
        """Call id → (position, step) of its calls without a result."""
        self._given_up: set[int] = set()
        self.unasked: set[int] = set()
        self._seen: set[str] = set()
        self._astray: set[str] = set()
        """Ids that a result named and no call before it."""

    def event(self, entry: LogEntry, position: int) -> None:
        for call, _ in entry.calls:
            self._call(call, entry, position)
        for call in entry.results:
            waiting = self._waiting.get(call)
            if not waiting:
                why = "was answered before" if call in self._seen else "is not here"
                self.problems.append(
                    Problem("orphan_result", entry.seq, f"answers call {call!r}, which {why}")
                )
                self.unasked.add(position)
                self._astray.add(call)
                continue
            asked, _ = waiting.pop()
            if not waiting:
                del self._waiting[call]
            self._pair(asked, position)

    def indifferent(self, entry: LogEntry) -> bool:
        """Whether an event that comes late, for a node that others stand behind, pairs as if it
        had come in the order of the surface: its ids were never named before."""
        return not entry.results and not any(
            call in self._seen or call in self._astray for call, _ in entry.calls
        )

    def grow(self, nodes: int) -> None:
        self.balance.extend([0] * (nodes + 1 - len(self.balance)))

    def settle(self, nodes: int) -> None:
        """The balance of all pairs so far, in one pass."""
        change = [0] * (nodes + 2)
        for asked, answered in self._pairs:
            change[asked + 1] += 1
            change[answered + 1] -= 1
        self.balance = list(accumulate(change[: nodes + 1]))
        self._pairs = []
        self._settled = True

    def unanswered(self) -> frozenset[int]:
        waiting = {place for calls in self._waiting.values() for place, _ in calls}
        return frozenset(waiting | self._given_up)

    def _call(self, call: str, entry: LogEntry, position: int) -> None:
        waiting = self._waiting.setdefault(call, [])
        if call in self._seen:
            kind = "reused_call_id" if call else "empty_call_id"
            self.problems.append(Problem(kind, entry.seq, f"call id {call!r} was used before"))
        self._seen.add(call)
        stale = [w for w in waiting if None not in (w[1], entry.step) and w[1] != entry.step]
        if stale:
            self._given_up.update(place for place, _ in stale)
            waiting[:] = [w for w in waiting if w not in stale]
        waiting.append((position, entry.step))

    def _pair(self, asked: int, answered: int) -> None:
        if asked >= answered:
            return
        if not self._settled:
            self._pairs.append((asked, answered))
            return
        self.lowest = min(self.lowest, asked + 1)
        for cut in range(asked + 1, answered + 1):
            self.balance[cut] += 1


def _last_index(nodes: Sequence[NodeId], node: NodeId) -> int:
    for position in range(len(nodes) - 1, -1, -1):
        if nodes[position] == node:
            return position
    raise StaleNodeError(node, "is not on the surface")
