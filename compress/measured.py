"""A surface with what is summed over it once: tokens, balance, units, kinds.

A preview that is edited asks for these again and again, on surfaces of up to a million nodes. All
of it is kept in flat arrays, one value a node, with prefix sums, so that a figure of any region
costs its edges and not its length. :class:`Measuring` extends the newest measures while the
surface only grows, and measures anew after anything else; the values are the same either way.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise

from compress.entries import LogEntry
from compress.errors import StaleNodeError
from compress.events import NodeId
from compress.operations import operation_number
from compress.pairing import STEP_TYPES, Pairing, Walk
from compress.pieces import CHUNK
from compress.plan import PlanState
from compress.surface import Surface

USER, STEERING, ASSISTANT, RESULT, CONTEXT = range(1, 6)
"""Codes of the types of nodes; 0 is any other."""
CHECKPOINT = 16
"""Added to the code of a node that stands for others."""
TYPE_MASK = CHECKPOINT - 1

_CODES: Mapping[str, int] = {
    "user/message": USER,
    "steering/message": STEERING,
    "assistant/message": ASSISTANT,
    "tool/result": RESULT,
    "context/message": CONTEXT,
}
_NOTED = frozenset({"artifact/update", "approval/decision"})
_NO_STEP = -1
_SURFACES = 3
"""Surfaces whose measures are kept to be extended."""
_DESCENTS = 32
"""So many stretches of ascending nodes are looked through one by one for a place."""


class Measured:
    """The measures of one plan surface. Never changed once it is handed out."""

    def __init__(self, state: PlanState, arrays: Arrays, paired: Pairing) -> None:
        self.nodes = state.surface.nodes
        self.agent_seq = state.agent_seq
        self.paired = paired
        self.ids = arrays.ids
        """The nodes as numbers, an operation's ``"oN"`` as −N."""
        self.counts = arrays.counts
        """Events of each node."""
        self.tokens: Sequence[int] = arrays.tokens
        """Counted tokens of each node."""
        self.sums: Sequence[int] = arrays.sums
        """Tokens before each cut, ``len(nodes) + 1`` values."""
        self.kinds = arrays.kinds
        """The code of each node's type, with :data:`CHECKPOINT` where it stands for others."""
        self.units: Sequence[int] = arrays.units
        """Positions at which a unit begins."""
        self.unit_tokens: Sequence[int] = arrays.unit_tokens
        """Tokens of each unit."""
        self.noted: Sequence[int] = arrays.noted
        """Seqs of the log-only events that tell of plans and decisions, ascending."""
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def total(self) -> int:
        """Counted tokens of all nodes."""
        return self.sums[-1]

    def weight(self, start: int, stop: int) -> int:
        """Counted tokens of the nodes ``start`` … ``stop - 1``."""
        return self.sums[stop] - self.sums[start]

    def place(self, node: NodeId) -> int | None:
        """Position of a node; ``None`` where it does not stand."""
        identity = _number(node)
        if identity is None:
            return None
        edges = self.arrays.descents
        if len(edges) > _DESCENTS:
            return self._places.get(node)
        # Most surfaces stand in log order, or nearly, so the place can be looked for by halves.
        start = 0
        for stop in (*edges, len(self.ids)):
            guess = bisect_left(self.ids, identity, start, stop)
            if guess < stop and self.ids[guess] == identity:
                return guess
            start = stop
        return None

    def position(self, node: NodeId) -> int:
        """The same. Raises :class:`StaleNodeError` where it does not stand."""
        found = self.place(node)
        if found is None:
            raise StaleNodeError(node, "is not on the surface")
        return found

    def unit(self, position: int) -> range:
        """The positions of the unit that a node is part of."""
        index = bisect_right(self.units, position) - 1
        last = index + 1 == len(self.units)
        return range(self.units[index], len(self) if last else self.units[index + 1])

    def bytes_of(self, start: int, stop: int) -> Iterable[memoryview]:
        """The bytes that change with the nodes ``start`` … ``stop - 1``, their order, their events
        and their weight."""
        for values in (self.arrays.ids, self.arrays.counts, self.arrays.tokens):
            yield memoryview(values)[start:stop].cast("B")

    @cached_property
    def heaviest(self) -> int:
        """Tokens of the unit that weighs most; 0 where nothing stands."""
        weights = self.arrays.unit_tokens
        starts = range(0, len(weights), CHUNK)
        return max((max(weights[start : start + CHUNK]) for start in starts), default=0)

    @cached_property
    def _places(self) -> Mapping[NodeId, int]:
        return {node: position for position, node in enumerate(self.nodes)}


class Arrays:
    """The flat values behind :class:`Measured`."""

    def __init__(self) -> None:
        self.ids = array("q")
        self.descents = array("q")
        """Positions of the nodes whose number is not above that of the node before."""
        self.counts = array("l")
        self.tokens = array("q")
        self.sums = array("q", [0])
        self.kinds = bytearray()
        self.steps = array("q")
        """Step of each node that is part of one, else −1."""
        self.units = array("q")
        self.unit_tokens = array("q")
        self.noted = array("q")

    def copy(self) -> Arrays:
        """Its values, free to be changed."""
        other = Arrays()
        for name, values in vars(self).items():
            setattr(other, name, values[:])
        return other

    def note(self, seqs: Iterable[int], entries: Mapping[NodeId, LogEntry]) -> None:
        """Take what these events of the log say of plans and decisions."""
        for seq in seqs:
            entry = entries.get(seq)
            if entry is not None and entry.type in _NOTED:
                self.noted.append(seq)

    def add_up(self, first: int) -> None:
        """The prefix sums from the node at ``first`` on."""
        base = self.sums[first]
        del self.sums[first:]
        self.sums.extend(accumulate(self.tokens[first:], initial=base))

    def find_units(self, first: int, balance: Sequence[int]) -> None:
        """The units from the cut at ``first`` on, and the weight of the one before it."""
        known = bisect_left(self.units, first)
        del self.units[known:]
        del self.unit_tokens[max(0, known - 1) :]
        steps, units = self.steps, self.units
        before = steps[first - 1] if first else _NO_STEP
        for cut in range(first, len(steps)):
            step = steps[cut]
            if balance[cut] == 0 and (step == _NO_STEP or step != before):
                units.append(cut)
            before = step
        sums = self.sums
        edges = [*units[max(0, known - 1) :], len(steps)]
        self.unit_tokens.extend(sums[stop] - sums[start] for start, stop in pairwise(edges))


class Measuring:
    """Measures of a plan that grows. Not locked: one caller at a time."""

    def __init__(self) -> None:
        self.rebuilds = 0
        """How often a surface was measured whole."""
        self._kept: list[tuple[Measured, Walk, Surface]] = []
        """What was measured last, the newest first: of the agent's surface, of the plan, and of
        what stood before that changed otherwise than by growing, since an undo brings it back."""
        self._walk = Walk()

    def of(self, state: PlanState) -> Measured:
        """The measures of a state of this session's plan."""
        for known, _, surface in self._kept:
            if surface is state.surface:
                return known
        for index, (last, walk, _) in enumerate(self._kept):
            self._walk = walk
            found = self._extended(last, state)
            if found is not None:
                del self._kept[index]
                break
        else:
            found = self._measured(state)
        self._kept.insert(0, (found, self._walk, state.surface))
        del self._kept[_SURFACES:]
        return found

    def _measured(self, state: PlanState) -> Measured:
        self.rebuilds += 1
        self._walk = Walk()
        arrays = Arrays()
        _take(arrays, self._walk, state, 0)
        arrays.note(range(1, state.agent_seq + 1), state.entries)
        arrays.add_up(0)
        self._walk.settle(len(arrays.tokens))
        arrays.find_units(0, self._walk.balance)
        return self._finished(state, arrays)

    def _extended(self, last: Measured, state: PlanState) -> Measured | None:
        """The measures where the surface only grew; ``None`` where it did not."""
        count, nodes = len(last), state.surface.nodes
        if state.agent_seq < last.agent_seq or nodes[:count] != last.nodes:
            return None
        changes = self._changes(last, state, count)
        if changes is None:
            return None
        arrays = last.arrays.copy()
        arrays.note(range(last.agent_seq + 1, state.agent_seq + 1), state.entries)
        first = min(changes, default=count)
        walk = self._walk
        walk.lowest = count
        walk.grow(len(nodes))
        members = state.surface.members
        for position, added in sorted(changes.items()):
            arrays.tokens[position] += sum(entry.tokens for entry in added)
            arrays.counts[position] = len(members[nodes[position]])
            for entry in added:
                walk.event(entry, position)
        _take(arrays, walk, state, count)
        arrays.add_up(first)
        arrays.find_units(min(walk.lowest, count, first), walk.balance)
        return self._finished(state, arrays)

    def _changes(
        self, last: Measured, state: PlanState, count: int
    ) -> dict[int, list[LogEntry]] | None:
        """Position → the events that nodes which stood before have got since; ``None`` where the
        order in which they came could matter to what answers what."""
        fresh = state.surface.nodes[count:]
        if any(not isinstance(node, int) or node <= last.agent_seq for node in fresh):
            return None
        changes: dict[int, list[LogEntry]] = {}
        for seq in range(last.agent_seq + 1, state.agent_seq + 1):
            entry = state.entries.get(seq)
            if entry is None or entry.node is None or entry.node == seq:
                continue
            if entry.node > last.agent_seq if isinstance(entry.node, int) else True:
                continue
            position = last.place(entry.node)
            if position is None:
                continue
            if position < count - 1 and not self._walk.indifferent(entry):
                return None
            changes.setdefault(position, []).append(entry)
        return changes

    def _finished(self, state: PlanState, arrays: Arrays) -> Measured:
        surface, walk = state.surface, self._walk
        paired = Pairing(
            nodes=surface.nodes,
            members=surface.members,
            entries=state.entries,
            balance=tuple(walk.balance),
            problems=tuple(walk.problems),
            unanswered=walk.unanswered(),
            unasked=frozenset(walk.unasked),
            known_units=arrays.units,
        )
        return Measured(state, arrays, paired)


def measure(state: PlanState) -> Measured:
    """The measures of one plan surface, computed whole."""
    return Measuring().of(state)


def _take(arrays: Arrays, walk: Walk, state: PlanState, first: int) -> None:
    """Weigh and pair the nodes from the position ``first`` on."""
    surface, entries = state.surface, state.entries
    members, shadowed = surface.members, surface.shadowed
    ids, counts, tokens = arrays.ids, arrays.counts, arrays.tokens
    kinds, steps, descents = arrays.kinds, arrays.steps, arrays.descents
    newest = ids[-1] if ids else 0
    for position, node in enumerate(surface.nodes[first:], first):
        seqs = members[node]
        log = [entries[seq] for seq in seqs]
        weight = 0
        for entry in log:
            weight += entry.tokens
            if entry.calls or entry.results:
                walk.event(entry, position)
        identity = node if isinstance(node, int) else -operation_number(node)
        if identity <= newest and position:
            descents.append(position)
        newest = identity
        ids.append(identity)
        counts.append(len(seqs))
        tokens.append(weight)
        head = log[0] if log else None
        if head is None:
            kinds.append(0)
            steps.append(_NO_STEP)
            continue
        stands_for = node in shadowed or head.meta.get("checkpoint")
        kinds.append(_CODES.get(head.type, 0) | (CHECKPOINT if stands_for else 0))
        inside = head.type in STEP_TYPES and head.step is not None
        steps.append(head.step if inside and head.step is not None else _NO_STEP)


def _number(node: NodeId) -> int | None:
    if isinstance(node, int):
        return node
    try:
        return -operation_number(node)
    except ValueError:
        return None
