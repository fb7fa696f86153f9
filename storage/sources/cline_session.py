"""What stands of a Cline conversation, and the events that say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from compress.events import EventType, Rebase, Replace, SessionEvent, SurfaceOp, Usage
from storage.sources.base import Numbering, SessionFacts
from storage.sources.cline_messages import FACT, Slot
from storage.sources.draft import APPEND, NO_META, event, mark, rebase


@dataclass(slots=True, eq=False)
class Node:
    """A node of the surface."""

    type: EventType
    slots: list[bytes] = field(default_factory=list)
    """What each of its events says."""
    seq: int = 0
    """0 until its first event is made."""
    step: int | None = None


class Made(NamedTuple):
    """Events of a node that are to be made."""

    node: Node
    slots: Sequence[tuple[int, Slot]]
    usage: Usage | None = None
    model: str | None = None


class ClineSession:
    """Makes the events of the record at hand; what it means is the reader's part."""

    def __init__(self, name: str, numbering: Numbering) -> None:
        self.facts = SessionFacts(native_id=name)
        self.events: list[SessionEvent] = []
        self.turn = 0
        self.step = 0
        self.steps: dict[str | None, int] = {}
        """Call → the request that made it."""
        self.standing: list[Node] = []
        self._number = numbering.seq
        self._native = ""
        self._time: float | None = None
        self._facts = 0

    def begin(self, native: str, time: float | None) -> None:
        """A record, or a message of one, follows."""
        self._native, self._time, self._facts = native, time, 0

    def log(
        self,
        kind: EventType,
        meta: Mapping[str, Any] = NO_META,
        *,
        usage: Usage | None = None,
        request: Node | None = None,
    ) -> None:
        """A log-only event; with ``usage``, of the request that produced this node."""
        seq, block = self._next_fact()
        step = self.step if request is None else request.step
        produced = seq if request is None or not request.seq else request.seq
        self.events.append(
            event(
                seq,
                kind,
                self._native,
                block,
                turn=self.turn or None,
                step=step or None,
                time=self._time,
                model=self.facts.model if usage is not None else None,
                usage=usage,
                request=produced if usage is not None else None,
                meta=meta,
            )
        )

    def place(self, made: Sequence[Made], wanted: list[Node] | None) -> None:
        """The events of these slots. Afterwards exactly the wanted nodes stand; ``None``: the new
        ones behind those that do."""
        new = [one.node for one in made if not one.node.seq]
        here = {*new} if wanted is None else {*wanted}
        if wanted is None or wanted == [*self.standing, *new]:
            for one in made:
                self._make(one, APPEND if one.node in here else None)
            self.standing.extend(new)
            return
        before = self.standing
        self.standing = wanted
        region = _region(before, wanted) if len(made) == 1 and _replaces(made[0]) else None
        if region is not None:
            sources = tuple(n.seq for n in before if n not in here)
            self._make(made[0], region, sources=sources)
            return
        free = [one for one in made if one.node in here and not one.node.seq]
        carrier = free[-1] if free else None
        for one in made:
            if one is not carrier:
                # One that stands already is extended in place.
                self._make(one, APPEND if one.node.seq and one.node in here else None)
        if carrier is not None:
            self._make(carrier, None, wanted=(before, wanted))
        elif before != wanted:
            self._mark(before, wanted, {"marker": "branch"})

    def stand(self, wanted: list[Node], meta: Mapping[str, Any]) -> bool:
        """Exactly these nodes stand now, and no message said so. Whether that is anything new."""
        before = self.standing
        if before == wanted:
            return False
        self.standing = wanted
        self._mark(before, wanted, meta)
        return True

    def _mark(self, before: Sequence[Node], wanted: list[Node], meta: Mapping[str, Any]) -> None:
        # A compaction names all that stands; other steps are told shortly.
        known = () if "checkpoint" in meta else before
        seq, block = self._next_fact()
        op = _rebase(known, wanted)
        made = mark(seq, self._native, block, op, turn=self.turn, time=self._time, meta=meta)
        self.events.append(made)

    def _make(
        self,
        made: Made,
        op: SurfaceOp | None,
        *,
        sources: tuple[int, ...] = (),
        wanted: tuple[list[Node], list[Node]] | None = None,
    ) -> None:
        """``wanted``: the last event carries the step from the one list to the other."""
        node = made.node
        for offset, (block, slot) in enumerate(made.slots):
            seq = self._number(self._native, block)
            node.seq = node.seq or seq
            if wanted is not None and offset == len(made.slots) - 1:
                op = _rebase(*wanted)
            said = slot.block
            self.events.append(
                event(
                    seq,
                    slot.type,
                    self._native,
                    block,
                    node=node.seq,
                    op=op if offset == 0 or wanted is not None or op is None else APPEND,
                    role=slot.role,
                    blocks=() if said is None else (said,),
                    turn=self.turn or None,
                    step=node.step,
                    time=self._time,
                    model=made.model,
                    usage=made.usage if offset == 0 else None,
                    request=node.seq if made.usage is not None and offset == 0 else None,
                    source_event_seqs=(*sources, seq) if sources and offset == 0 else (),
                    meta=slot.meta,
                )
            )

    def _next_fact(self) -> tuple[int, int]:
        block = FACT + self._facts
        self._facts += 1
        return self._number(self._native, block), block


def _replaces(made: Made) -> bool:
    """Whether what it takes the place of is told of it: a summary, or a result that is shortened.
    An edited text is just another text."""
    return made.node.type == "tool/result" or "checkpoint" in made.slots[0][1].meta


def _region(before: Sequence[Node], wanted: Sequence[Node]) -> Replace | None:
    """The step from the one list to the other, where it is that one new node stands in place of
    some that were neighbours but for those that stay."""
    first = _alike(before, wanted)
    stays = {*wanted}
    gone = [at for at, node in enumerate(before) if node not in stays]
    if first >= len(wanted) or wanted[first].seq or not gone or gone[0] < first:
        return None
    last = gone[-1]
    kept = [node for node in before[first:last] if node in stays]
    if [*before[:first], wanted[first], *kept, *before[last + 1 :]] != wanted:
        return None
    keep = tuple(node.seq for node in kept)
    return Replace(start=before[first].seq, end=before[last].seq, keep=keep)


def _alike(before: Sequence[Node], wanted: Sequence[Node]) -> int:
    """How many nodes both lists begin with."""
    pairs = enumerate(zip(before, wanted, strict=False))
    shorter = min(len(before), len(wanted))
    return next((at for at, (old, new) in pairs if old is not new), shorter)


def _rebase(before: Sequence[Node], wanted: Sequence[Node]) -> Rebase:
    """The step from one list to the other: what they begin with alike is not told again."""
    alike = _alike(before, wanted)
    after = wanted[alike - 1].seq if alike else None
    return rebase((node.seq for node in wanted[alike:]), after)
