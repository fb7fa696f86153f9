"""The events of one pi entry, and the operation that turns what stands into what stands next."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from compress.events import EventType, NodeId, Replace, SessionEvent, SurfaceOp, Usage
from storage.sources.base import FileReader, Numbering
from storage.sources.draft import APPEND, NO_META, event, mark, rebase
from storage.sources.pi_entries import Piece
from storage.sources.pi_tree import Tree


class Step(NamedTuple):
    """From what stands to what stands next."""

    op: SurfaceOp | None
    sources: tuple[NodeId, ...] = ()


STRAIGHT = Step(APPEND)


class EntryEvents(FileReader):
    """Makes the events of the entry at hand; what the entry means is the reader's part."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._number = self.numbering("").seq
        self._tree = Tree()
        self._standing: list[int] = []
        self._turn = 0
        self._id = ""
        """The entry's native id."""
        self._time: float | None = None
        self._events: list[SessionEvent] = []

    def _step_to(self, node: int, after: list[int], *, replaces: bool = False) -> Step:
        """How this node turns what stands into ``after``: not at all where it is not in there.
        ``replaces``: it stands for what it removes, which a change of branch does not."""
        before = self._standing
        if node not in after:
            return Step(None)
        self._standing = list(after)
        if after == [*before, node]:
            return Step(APPEND)
        if replaces:
            found = _replacement(before, after, node)
            if found is not None:
                return found
        return Step(rebase(after))

    def _arrange(self, after: list[int] | None = None, marker: str = "branch") -> None:
        """Where something else stands now and no message said so: an event that does."""
        wanted = self._tree.standing() if after is None else after
        if wanted == self._standing:
            return
        self._standing = list(wanted)
        block = len(self._events)
        seq = self._seq(block)
        op, meta = rebase(wanted), {"marker": marker}
        made = mark(seq, self._id, block, op, turn=self._turn, time=self._time, meta=meta)
        self._events.append(made)

    def _place(
        self,
        piece: Piece,
        step_to: Step,
        kind: EventType,
        step: int | None,
        *,
        usage: Usage | None = None,
    ) -> None:
        """The events of a message. One that does not stand has a node all the same, for a later
        entry that brings it in."""
        first = self._next()
        node = first if piece.sent else None
        op = step_to.op
        for offset, blocks in enumerate(piece.events()):
            index = len(self._events)
            self._events.append(
                event(
                    self._seq(index),
                    kind,
                    self._id,
                    index,
                    node=node,
                    op=op if offset == 0 else (APPEND if op is not None else None),
                    role=piece.role,
                    blocks=blocks,
                    turn=self._turn or None,
                    step=step,
                    time=self._time,
                    model=piece.model,
                    usage=usage if offset == 0 else None,
                    request=first if usage is not None and offset == 0 else None,
                    source_event_seqs=step_to.sources if offset == 0 else (),
                    meta=piece.meta if offset == 0 or piece.role != "assistant" else NO_META,
                )
            )

    def _log(
        self,
        kind: EventType,
        *,
        usage: Usage | None = None,
        model: str | None = None,
        step: int | None = None,
        meta: Mapping[str, Any] = NO_META,
    ) -> None:
        """A log-only event of this entry."""
        block = len(self._events)
        seq = self._seq(block)
        self._events.append(
            event(
                seq,
                kind,
                self._id,
                block,
                turn=self._turn or None,
                step=step,
                time=self._time,
                model=model,
                usage=usage,
                request=None if usage is None else seq,
                meta=meta,
            )
        )

    def _next(self) -> int:
        """The seq of the entry's next event."""
        return self._seq(len(self._events))

    def _seq(self, block: int) -> int:
        return self._number(self._id, block)

    def _unknown(self, name: str) -> None:
        self._log("unknown", meta={"type": self._count_unknown(name)})


def _replacement(before: list[int], after: list[int], node: int) -> Step | None:
    """The replace that turns ``before`` into ``after``, where there is one: the node takes the
    place of one other, or of all from its place on but for what is kept."""
    at = after.index(node)
    if before[:at] != after[:at] or at == len(before):
        return None
    rest = after[at + 1 :]
    if rest == before[at + 1 :]:
        last, keep = before[at], []
    else:
        last, keep = before[-1], rest
        following = iter(before[at:])
        if not all(seq in following for seq in keep):
            return None
    kept = set(rest)
    gone = tuple(seq for seq in before[at:] if seq not in kept)
    if not gone:
        return None
    op = Replace.model_construct(
        op="replace", start=before[at], end=last, keep=tuple(keep), live_only=False
    )
    return Step(op, (*gone, node))
