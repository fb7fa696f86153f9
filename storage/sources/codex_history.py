"""Codex' own history as nodes: what a compaction keeps, what a rollback brings back.

Source: openai/codex ``core/src/context_manager/history.rs`` (``drop_last_n_user_turns``),
``core/src/compact.rs`` (``build_compacted_history``) and
``core/src/session/rollout_reconstruction.rs`` (which compactions outlive a rollback).

Straight on, each record costs O(1). A rollback replays the log of steps, since it may undo a
compaction: that brings back what the compaction had replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from storage.sources.codex_items import Item, Mark, message_text

BYTES_PER_TOKEN = 4
KEPT_USER_TOKENS = 20_000
"""Of the user's own words, newest first, that a legacy compaction keeps."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A user message that a legacy compaction keeps."""

    node: int
    cuts: tuple[int, ...]
    """Cut down to so many tokens by each compaction in turn; empty: whole."""


class _Step(NamedTuple):
    """One record, as far as a replay needs it."""

    kind: Literal["node", "replace", "summary", "rewind", "started", "ended", "words", "settings"]
    node: int = 0
    nodes: tuple[int, ...] = ()
    turn_id: str | None = None
    turns: int = 0


@dataclass(slots=True)
class _Segment:
    """A turn, seen from its end."""

    turn_id: str | None = None
    spoken: bool = False
    """Holds words of the user's, or of another agent's."""
    base: int | None = None
    """Step of its newest compaction with a stated history."""

    def fits(self, turn_id: str | None) -> bool:
        return self.turn_id is None or turn_id is None or self.turn_id == turn_id


class History:
    """The nodes that stand, in order, and of each what a rollback or a compaction takes it for."""

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self._steps: list[_Step] = []
        self._marks: dict[int, Mark] = {}
        self._words: dict[int, int] = {}
        """Bytes of the user's own messages."""
        self._cuts: dict[int, tuple[int, ...]] = {}

    def append(self, node: int, item: Item) -> None:
        """This item now stands last."""
        self.learn(node, item)
        self.nodes.append(node)
        self._steps.append(_Step("node", node))

    def learn(self, node: int, item: Item) -> None:
        """Remember what an item is without placing it."""
        if item.mark is None:
            return
        self._marks[node] = item.mark
        if item.mark == "user":
            self._words[node] = len(message_text(item).encode("utf-8", "surrogatepass"))

    def replace(self, nodes: Sequence[int]) -> None:
        """A compaction that states the new history."""
        self.nodes = list(nodes)
        self._steps.append(_Step("replace", nodes=tuple(nodes)))

    def outlives(self) -> bool:
        """Whether a compaction that is recorded now counts. A rollback may have taken back the
        turn that it belongs to: so with one that stands behind the turn's end, or in a file
        without turn records, which is one turn to Codex."""
        if not any(step.kind == "rewind" for step in self._steps):
            return True
        self._steps.append(_Step("replace"))
        counts = self._base() == len(self._steps) - 1
        self._steps.pop()
        return counts

    def summarise(self, summary: int) -> list[Kept]:
        """A legacy compaction: this summary after the user's words. Returns the words kept."""
        self._steps.append(_Step("summary", summary))
        return self._summarise(summary)

    def rewind(self, turns: int) -> bool:
        """A rollback by so many turns. Returns whether other nodes stand now."""
        before = self.nodes
        self._steps.append(_Step("rewind", turns=turns))
        self._replay()
        return self.nodes != before

    def started(self, turn_id: str | None) -> None:
        """A turn begins here."""
        self._steps.append(_Step("started", turn_id=turn_id))

    def ended(self, turn_id: str | None, *, aborted: bool = False) -> None:
        """A turn ends here."""
        self._steps.append(_Step("ended", turn_id=turn_id, turns=int(aborted)))

    def spoke(self) -> None:
        """The user said something, by the record that is made for display."""
        self._steps.append(_Step("words"))

    def settings(self, turn_id: str | None) -> None:
        """The settings of a turn were written here."""
        self._steps.append(_Step("settings", turn_id=turn_id))

    def _summarise(self, summary: int) -> list[Kept]:
        kept = self._kept_words()
        self.nodes = [*(word.node for word in kept), summary]
        return kept

    def _kept_words(self) -> list[Kept]:
        """Newest first until the budget is used up; the one that does not fit whole is cut."""
        kept: list[Kept] = []
        left = KEPT_USER_TOKENS
        for node in reversed(self.nodes):
            if left == 0:
                break
            if node not in self._words:
                continue
            tokens = self._tokens(node)
            if tokens > left:
                self._cuts[node] = (*self._cuts.get(node, ()), left)
                tokens = left
            kept.append(Kept(node, self._cuts.get(node, ())))
            left -= tokens
        return kept[::-1]

    def _tokens(self, node: int) -> int:
        """Codex' own estimate of a user message as it stands now: four bytes a token."""
        size = self._words[node]
        for cut in self._cuts.get(node, ()):
            budget = BYTES_PER_TOKEN * cut
            removed = -(-(size - budget) // BYTES_PER_TOKEN)
            size = budget + len(f"…{removed} tokens truncated…".encode())
        return -(-size // BYTES_PER_TOKEN)

    def _cut_turns(self, turns: int) -> None:
        """Drop the newest turns, and the context that Codex put right before them; what stands
        before the first turn always stays."""
        marks = self._marks
        starts = [i for i, node in enumerate(self.nodes) if marks.get(node) in ("user", "turn")]
        if turns <= 0 or not starts:
            return
        at = starts[0] if turns >= len(starts) else starts[-turns]
        while at > starts[0] and marks.get(self.nodes[at - 1]) == "context":
            at -= 1
        self.nodes = self.nodes[:at]

    def _replay(self) -> None:
        base = self._base()
        self.nodes = [] if base is None else list(self._steps[base].nodes)
        self._cuts = {}
        for step in self._steps[0 if base is None else base + 1 :]:
            if step.kind == "node":
                self.nodes.append(step.node)
            elif step.kind == "summary":
                self._summarise(step.node)
            elif step.kind == "rewind":
                self._cut_turns(step.turns)

    def _base(self) -> int | None:
        """The newest compaction with a stated history whose turn no rollback took back: turns are
        counted off from the end, as many as the rollbacks that follow them say."""
        pending = 0
        segment: _Segment | None = None
        for index in range(len(self._steps) - 1, -1, -1):
            step = self._steps[index]
            if step.kind == "rewind":
                pending += max(0, step.turns)
                continue
            if step.kind == "started":
                if segment is not None and segment.fits(step.turn_id):
                    if pending == 0 and segment.base is not None:
                        return segment.base
                    pending -= 1 if pending and segment.spoken else 0
                    segment = None
                continue
            segment = self._observe(segment, step, index)
        return segment.base if segment is not None and pending == 0 else None

    def _observe(self, segment: _Segment | None, step: _Step, index: int) -> _Segment | None:
        aborted = step.kind == "ended" and step.turns
        if segment is None:
            if aborted and step.turn_id is None:
                return None
            segment = _Segment()
        if step.kind in ("ended", "settings"):
            segment.turn_id = segment.turn_id or step.turn_id
        elif step.kind == "replace":
            segment.base = index if segment.base is None else segment.base
        elif step.kind == "words" or (
            step.kind == "node" and self._marks.get(step.node) in ("user", "turn")
        ):
            segment.spoken = True
        return segment
