"""The events of one record as they are made: identities, numbers, turn and step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compress.events import EventType, NodeId, Rebase, SessionEvent, SurfaceOp, Usage
from storage.sources.base import Numbering
from storage.sources.claude_records import Part
from storage.sources.draft import event, mark


class EventWriter:
    """Collects the events of the record at hand in :attr:`out`, in order of their seqs.

    The record's own parts take the block indices from 0; events that follow from what came before
    take those behind.
    """

    def __init__(self, numbering: Numbering) -> None:
        self.out: list[SessionEvent] = []
        self.turn = 0
        self.step = 0
        self._numbering = numbering
        self._native = ""
        self._spare = 0
        self._time: float | None = None

    def open(self, native: str, time: float | None, parts: int) -> None:
        """Begin with a record that has this identity and this many parts."""
        self.out = []
        self._native = native
        self._time = time
        self._spare = parts

    def rename(self, native: str) -> None:
        """Another identity for the record at hand, before its first event."""
        self._native = native

    def seq(self, block: int) -> int:
        """The seq of the record's event with this block index."""
        return self._numbering.seq(self._native, block)

    def spare(self) -> int:
        """The next block index behind the record's own."""
        block = self._spare
        self._spare += 1
        return block

    def log(
        self,
        kind: EventType,
        meta: Mapping[str, Any],
        *,
        block: int | None = None,
        model: str | None = None,
        usage: Usage | None = None,
        request: NodeId | None = None,
        source_event_seqs: tuple[NodeId, ...] = (),
    ) -> None:
        """A log-only event, under a spare block index unless one is given."""
        if block is None:
            block = self.spare()
        self.out.append(
            event(
                self.seq(block),
                kind,
                self._native,
                block,
                turn=self.turn or None,
                step=self.step or None,
                time=self._time,
                model=model,
                usage=usage,
                request=request,
                source_event_seqs=source_event_seqs,
                meta=meta,
            )
        )

    def part(
        self,
        part: Part,
        block: int,
        seq: int,
        *,
        node: NodeId | None,
        op: SurfaceOp | None,
        step: int,
        model: str | None = None,
        usage: Usage | None = None,
        request: NodeId | None = None,
        source_event_seqs: tuple[NodeId, ...] = (),
    ) -> None:
        """The event of one of the record's own parts, with the seq of its block index; step 0
        means outside any step."""
        self.out.append(
            event(
                seq,
                part.type,
                self._native,
                block,
                node=node,
                op=op,
                role=part.role,
                blocks=part.blocks,
                turn=self.turn or None,
                step=step or None,
                time=self._time,
                model=model,
                usage=usage,
                request=request,
                source_event_seqs=source_event_seqs,
                meta=part.meta,
            )
        )

    def mark(self, rebase: Rebase, marker: str) -> None:
        """An event that changes the surface and does not stand on it itself."""
        block = self.spare()
        seq, meta = self.seq(block), {"marker": marker}
        made = mark(seq, self._native, block, rebase, turn=self.turn, time=self._time, meta=meta)
        self.out.append(made)
