"""Codex' own history as nodes: what a compaction keeps, what a rollback brings back.

Source: openai/codex ``core/src/context_manager/history.rs`` (``drop_last_n_user_turns``),
``core/src/compact.rs`` (``build_compacted_history``) and
``core/src/session/rollout_reconstruction.rs`` (which begins with the newest compaction that
outlives the rollbacks, and takes the records behind it one by one).

A rollback that takes back a compaction brings back what that had replaced, and with it what came
since. So what stood before each stated history is kept, and the steps since, without those that a
later rollback undid: a record costs a fixed amount of work, a rollback as much as the records that
it takes back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from storage.sources.codex_items import Item, Mark, message_text
from storage.sources.codex_turns import BEGINNING, Turns

BYTES_PER_TOKEN = 4
KEPT_USER_TOKENS = 20_000
"""Of the user's own words, newest first, that a legacy compaction keeps."""
_BEGINS_TURN = ("user", "turn")


Word = list[Any]
"""A message of the user's as events tell of it: the node, and the list of how many tokens each
compaction in turn cut it down to. Shared by events; never written to."""


class Shortened(NamedTuple):
    """What a compaction makes of what stands."""

    edges: tuple[int, int] | None
    """The first and the last node that stood."""
    gone: Sequence[int]
    kept: tuple[int, ...] = ()
    """The messages of the user's that stay, in order."""
    words: Sequence[Word] = ()
    """The same, with their cuts."""

    @classmethod
    def whole(cls, nodes: Sequence[int]) -> Shortened:
        """All of these go."""
        return cls((nodes[0], nodes[-1]) if nodes else None, nodes)


class _Step(NamedTuple):
    """What one record does to the history, whatever stands."""

    kind: Literal["node", "summary", "rewind"]
    number: int
    """The node; of a rewind, its turns."""


@dataclass(slots=True)
class _Known:
    """Of the nodes, what a rollback or a compaction takes them for."""

    marks: dict[int, Mark] = field(default_factory=dict)
    words: dict[int, int] = field(default_factory=dict)
    """Bytes of the user's own messages."""


class _Standing:
    """What stands if the log is read from one stated history on."""

    def __init__(self, base: int, nodes: Iterable[int], known: _Known) -> None:
        self.base = base
        self.nodes: list[int] = []
        self.steps: list[_Step] = []
        """The steps since, without those that a later rollback undid. A rollback is a step itself
        where it depends on the history below what it takes back."""
        self._run = 0
        """So many nodes stand last, each by its own step, the last ones."""
        self._known = known
        self._starts: list[int] = []
        """Where in the list turns begin."""
        self._words: list[Word] = []
        """The user's own messages."""
        self._weights: list[int] = []
        """Of each its tokens and those of all before it, and as many as the first has below it."""
        self._below = 0
        self._lead = 0
        """So many nodes stand first that are the user's own messages, by a legacy compaction."""
        for node in nodes:
            self._stand_last(node)

    def take_all(self, steps: Iterable[_Step]) -> None:
        """All of these, in order."""
        for step in steps:
            if step.kind == "node":
                self.append(step)
            elif step.kind == "summary":
                self.summarise(step)
            else:
                self.rewind(step)

    def append(self, step: _Step) -> None:
        """This node stands last."""
        self._stand_last(step.number)
        self.steps.append(step)
        self._run += 1

    def summarise(self, step: _Step) -> Shortened:
        """The user's words, then this summary: the newest until the budget is used up; the one
        that does not fit whole is cut."""
        nodes, lead = self.nodes, self._lead
        first = self._cut_words() if self._words else 0
        # What stood first since the last time is not looked at again.
        newer = [word[0] for word in self._words[max(lead - first, 0) :]]
        stays = set(newer)
        gone = nodes[: min(first, lead)]
        gone += [node for node in nodes[lead:] if node not in stays]
        kept = nodes[min(first, lead) : lead] + newer
        found = Shortened.whole(nodes)._replace(gone=gone, kept=tuple(kept), words=self._words[:])
        self.nodes, self._starts, self._lead = kept, list(range(len(kept))), len(kept)
        self._stand_last(step.number)
        self.steps.append(step)
        self._run = 0
        return found

    def rewind(self, step: _Step) -> bool:
        """Drop the newest turns, and the context that Codex put right before them; what stands
        before the first turn always stays. Returns whether that changes anything."""
        turns, starts, nodes = step.number, self._starts, self.nodes
        if turns <= 0:
            return False
        at = len(nodes)
        if starts:
            at = starts[-turns] if turns <= len(starts) else starts[0]
            while at > starts[0] and self._is_context(at - 1):
                at -= 1
        gone = len(nodes) - at
        if self._is_own(turns):
            del self.steps[len(self.steps) - gone :]
            self._run -= gone
        else:
            self.steps.append(step)
            self._run = 0
        while starts and starts[-1] >= at:
            if nodes[starts.pop()] in self._known.words:
                self._words.pop()
                self._weights.pop()
        del nodes[at:]
        self._lead = min(self._lead, at)
        return gone > 0

    def _stand_last(self, node: int) -> None:
        if self._known.marks.get(node) in _BEGINS_TURN:
            self._starts.append(len(self.nodes))
        self.nodes.append(node)
        size = self._known.words.get(node)
        if size is not None:
            below = self._weights[-1] if self._weights else self._below
            self._words.append([node, []])
            self._weights.append(below + _tokens(size, ()))

    def _cut_words(self) -> int:
        """Leave of the user's words what fits the budget. Returns how many go."""
        first = bisect_right(self._weights, self._weights[-1] - KEPT_USER_TOKENS)
        below = self._weights[first - 1] if first else self._below
        words, weights = self._words[first:], self._weights[first:]
        left = KEPT_USER_TOKENS - (weights[-1] - weights[0])
        if weights[0] - below > left:
            node, cuts = words[0]
            words[0] = [node, [*cuts, left]]
            below = weights[0] - _tokens(self._known.words[node], words[0][1])
        self._words, self._weights, self._below = words, weights, below
        return first

    def _is_own(self, turns: int) -> bool:
        """Whether a rewind by so many turns undoes the newest steps and no other, whatever stands
        below them: another turn begins among them, or the first to go has no context before it."""
        starts, first = self._starts, len(self.nodes) - self._run
        if turns < len(starts) and starts[-turns - 1] >= first:
            return True
        start = starts[-turns] if turns <= len(starts) else 0
        return start > first and not self._is_context(start - 1)

    def _is_context(self, at: int) -> bool:
        return self._known.marks.get(self.nodes[at]) == "context"


def _tokens(size: int, cuts: Iterable[int]) -> int:
    """Codex' own estimate of a user message as it stands after these cuts: four bytes a token."""
    for cut in cuts:
        budget = BYTES_PER_TOKEN * cut
        removed = -(-(size - budget) // BYTES_PER_TOKEN)
        size = budget + len(f"…{removed} tokens truncated…".encode())
    return -(-size // BYTES_PER_TOKEN)


class _Stated(NamedTuple):
    """A stated history, and how many steps came before it."""

    at: int
    nodes: tuple[int, ...]


class History:
    """The nodes that stand, in order, and of each what a rollback or a compaction takes it for."""

    def __init__(self) -> None:
        self._known = _Known()
        self._turns = Turns()
        self._stated = [_Stated(0, ())]
        """By the number of the compaction; before the first, nothing."""
        self._steps: list[_Step] = []
        """All of them."""
        self._layers = [_Standing(BEGINNING, (), self._known)]
        """The last one is in force; each one before it as it was when the next one was stated."""

    @property
    def nodes(self) -> list[int]:
        """What stands. Changed in place by what comes next."""
        return self._layers[-1].nodes

    def append(self, node: int, item: Item) -> None:
        """This item now stands last."""
        self.learn(node, item)
        if item.mark in _BEGINS_TURN:
            self._turns.spoke()
        else:
            self._turns.holds()
        self._layers[-1].append(self._step("node", node))

    def learn(self, node: int, item: Item) -> None:
        """Remember what an item is without placing it."""
        if item.mark is None:
            return
        self._known.marks[node] = item.mark
        if item.mark == "user":
            size = len(message_text(item).encode("utf-8", "surrogatepass"))
            self._known.words[node] = size

    def replace(self, nodes: Sequence[int]) -> None:
        """A compaction that states the new history."""
        number = len(self._stated)
        self._turns.compacted(number)
        self._stated.append(_Stated(len(self._steps), tuple(nodes)))
        self._layers.append(_Standing(number, nodes, self._known))

    def outlives(self) -> bool:
        """Whether a compaction with a stated history that is recorded now counts."""
        return self._turns.takes_compaction

    def summarise(self, summary: int) -> Shortened:
        """A legacy compaction: this summary after the user's words."""
        self._turns.holds()
        return self._layers[-1].summarise(self._step("summary", summary))

    def rewind(self, turns: int) -> int | None:
        """A rollback by so many turns. Returns behind how many of the nodes others stand now, or
        none; ``None`` where nothing changed."""
        self._turns.rewound(max(0, turns))
        before = self._layers[-1]
        layer = self._layer(self._turns.base)
        changes = layer.rewind(self._step("rewind", turns))
        if layer is before:
            return len(layer.nodes) if changes else None
        return 0 if layer.nodes != before.nodes else None

    def started(self, turn_id: str | None) -> None:
        """A turn begins here."""
        self._turns.started(turn_id)

    def ended(self, turn_id: str | None, *, aborted: bool = False) -> None:
        """A turn ends here."""
        self._turns.ended(turn_id, aborted=aborted)

    def spoke(self) -> None:
        """The user said something, by the record that is made for display."""
        self._turns.spoke()

    def settings(self, turn_id: str | None) -> None:
        """The settings of a turn were written here."""
        self._turns.holds(turn_id)

    def _step(self, kind: Literal["node", "summary", "rewind"], number: int) -> _Step:
        step = _Step(kind, number)
        self._steps.append(step)
        return step

    def _layer(self, base: int) -> _Standing:
        """What stands by this compaction, which is in force now: what those above it held besides
        their stated histories came behind it, too."""
        layers, above = self._layers, []
        while layers and layers[-1].base > base:
            above.append(layers.pop())
        if layers and layers[-1].base == base:
            for layer in reversed(above):
                layers[-1].take_all(layer.steps)
        else:
            # A turn that was taken back is back, since words were added to the one behind it or it
            # was given another name. What is below this compaction is read anew if it is wanted.
            stated = self._stated[base]
            layer = _Standing(base, stated.nodes, self._known)
            layer.take_all(self._steps[stated.at :])
            self._layers = layers = [layer]
        return layers[-1]
