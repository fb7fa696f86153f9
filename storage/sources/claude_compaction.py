"""What Claude Code's own compactions are in our terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compress.events import NodeId, Rebase, Replace, SessionEvent
from storage.sources.claude_chain import Chain
from storage.sources.claude_events import EventWriter
from storage.sources.claude_records import Part
from storage.sources.values import count, mapping


class Compactions:
    """Follows the compactions of one session: begun, summed up, cleared results."""

    def __init__(self, chain: Chain, writer: EventWriter) -> None:
        self._chain = chain
        self._writer = writer
        self._begun = False
        self._receipts: dict[int, int] = {}

    def begin(self, boundary: Mapping[str, Any]) -> None:
        """A boundary record. It takes effect with the first message behind it."""
        metadata = mapping(boundary.get("compactMetadata"))
        meta: dict[str, Any] = {}
        if isinstance(metadata.get("trigger"), str):
            meta["trigger"] = metadata["trigger"]
        for ours, theirs in (("pre_tokens", "preTokens"), ("post_tokens", "postTokens")):
            tokens = count(metadata.get(theirs))
            if tokens is not None:
                meta[ours] = tokens
        self._begun = True
        self._writer.log("compact/start", meta)

    def end(self) -> None:
        """The cut has taken effect."""
        if self._begun:
            self._begun = False
            self._writer.log("compact/end", {})

    def announce_summary(self) -> int:
        """Before the summary's own event: make sure that a compaction has begun, and give the
        block index of the ``compact/summary`` event that goes first."""
        if not self._begun:
            self._begun = True
            self._writer.log("compact/start", {})
        block = self._writer.spare()
        self._writer.seq(block)
        return block

    def sum_up(self, block: int, first: int) -> None:
        """After the summary's own events (those of the record from index ``first``): state the
        change as a positional replace where it is one, and log what was summed up."""
        out = self._writer.out
        own, out[first:] = out[first:], []
        meta: dict[str, Any] = {}
        gone: tuple[NodeId, ...] = ()
        for place, event in enumerate(own):
            replace = self._as_replace(event)
            if replace is None:
                continue
            keep = set(replace.keep)
            gone = tuple(node for node in self._chain.before if node not in keep)
            cited = (*gone, *self._receipts_of(gone), self._writer.seq(block))
            own[place] = event.model_copy(update={"op": replace, "source_event_seqs": cited})
            meta = {"start": replace.start, "end": replace.end}
        self._writer.log("compact/summary", meta, block=block, source_event_seqs=gone)
        out.extend(own)
        self.end()

    def clear(self, parts: Sequence[Part], results: Mapping[str, tuple[int, int]]) -> None:
        """Micro-compaction: a receipt for each result that stands, which only the running agent
        sees. ``results`` maps call ids to node and step."""
        standing = set(self._chain.nodes)
        for block, part in enumerate(parts):
            node, step = results.get(part.blocks[0].id or "", (0, 0))
            if node not in standing:
                continue
            seq = self._receipts[node] = self._writer.seq(block)
            self._writer.part(
                part,
                block,
                seq,
                node=seq,
                op=Replace(start=node, end=node, live_only=True),
                step=step,
                source_event_seqs=(node,),
            )

    def _as_replace(self, event: SessionEvent) -> Replace | None:
        """The same change, if the event comes first and what follows stood before in this
        order."""
        before = self._chain.before
        if not isinstance(event.op, Rebase) or not before or event.op.seqs[:1] != (event.node,):
            return None
        kept = event.op.seqs[1:]
        rest = iter(before)
        if not all(any(node == other for other in rest) for node in kept):
            return None
        return Replace(start=before[0], end=before[-1], keep=kept)

    def _receipts_of(self, nodes: Sequence[NodeId]) -> list[NodeId]:
        return [self._receipts[n] for n in nodes if isinstance(n, int) and n in self._receipts]
