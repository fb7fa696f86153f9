"""The events of one rollout record, and what a compaction or a rollback makes of the surface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compress.events import (
    ContentBlock,
    EventType,
    NodeId,
    Rebase,
    Replace,
    SessionEvent,
    SurfaceOp,
    Usage,
)
from storage.sources.base import FileReader, Numbering, Record
from storage.sources.codex_history import History, Shortened
from storage.sources.codex_items import Item
from storage.sources.codex_records import Compacted, compacted_of, events_of_item
from storage.sources.codex_usage import Requests
from storage.sources.draft import APPEND, NO_META, Identities, event, mark, rebase, word
from storage.sources.values import count

_SUMMARY: Mapping[str, Any] = {"checkpoint": "agent"}


class RolloutEvents(FileReader):
    """Makes the events of the record at hand; what the record means is the reader's part."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None) -> None:
        super().__init__(path, numbering)
        self._number = self.numbering("").seq
        self._identities = Identities()
        self._history = History()
        self._requests = Requests()
        self._turn = 0
        self._model: str | None = None
        self._context: int | None = None
        """Tokens in the window at the newest request, by Codex' own reckoning."""
        self._record: Record
        self._content: Any = None
        """What identifies the record."""
        self._id: str | None = None
        self._time: float | None = None
        self._events: list[SessionEvent] = []

    def _add(
        self,
        kind: EventType,
        block: int = 0,
        *,
        usage: Usage | None = None,
        request: NodeId | None = None,
        step: int | None = None,
        blocks: tuple[ContentBlock, ...] = (),
        meta: Mapping[str, Any] = NO_META,
    ) -> int:
        """A log-only event of this record. Returns its seq."""
        seq = self._seq(block)
        self._events.append(
            event(
                seq,
                kind,
                self._native_id(),
                block,
                blocks=blocks,
                turn=self._turn or None,
                step=step,
                time=self._time,
                model=self._model if usage is not None else None,
                usage=usage,
                request=request,
                meta=meta,
            )
        )
        return seq

    def _native_id(self) -> str:
        if self._id is None:
            self._id = self._identities.of(self._record, self._content)
        return self._id

    def _seq(self, block: int) -> int:
        return self._number(self._native_id(), block)

    def _unknown(self, name: str) -> None:
        self._add("unknown", meta={"type": self._count_unknown(name)})

    def _place(
        self,
        item: Item,
        block: int,
        op: SurfaceOp | None,
        kind: EventType,
        step: int | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
        sources: tuple[NodeId, ...] = (),
    ) -> int:
        """The events of an item, from this block index on. Returns the node. An item that comes
        without an operation has a node all the same, for one that brings it in later."""
        node = self._seq(block)
        on_surface = item.sent
        for offset, blocks in enumerate(events_of_item(item)):
            own = op if offset == 0 else (APPEND if op is not None else None)
            self._events.append(
                event(
                    self._seq(block + offset),
                    kind,
                    self._native_id(),
                    block + offset,
                    node=node if on_surface else None,
                    op=own,
                    role=item.role,
                    blocks=blocks,
                    turn=self._turn or None,
                    step=step,
                    time=self._time,
                    model=self._model if item.produced else None,
                    source_event_seqs=sources if offset == 0 else (),
                    meta=item.meta if meta is None else meta,
                )
            )
        return node

    def on_compacted(self, payload: dict[str, Any]) -> None:
        """The events of a ``compacted`` record."""
        self._requests.broken()
        found = compacted_of(payload)
        text = word(payload.get("message"))
        facts: dict[str, Any] = {} if self._context is None else {"pre_tokens": self._context}
        self._add("compact/start", 0, meta=facts)
        about = {"strategy": "user words" if found.legacy else "stated history"}
        self._add("compact/summary", 1, meta={**about, "message": text[:500]} if text else about)
        if not found.legacy and not self._history.outlives():
            for item in (found.summary, *found.before, *found.after):
                if item is not None:
                    self._place(item, len(self._events), None, item.type, meta=_copy(item))
        elif found.summary is None:
            self._mark(2, rebase(()), {"marker": "clear", "checkpoint": "agent"})
            self._history.replace(())
        elif found.legacy:
            self._summarise(found.summary)
        else:
            self._restate(found, found.summary)
        self._add("compact/end", len(self._events))

    def _checkpoint(
        self,
        summary: Item,
        over: Shortened,
        meta: Mapping[str, Any],
        kind: EventType = "context/message",
    ) -> int:
        """The event that holds the summary, over what stood but for what is kept."""
        node = self._seq(2)
        op: SurfaceOp = APPEND
        sources: tuple[NodeId, ...] = ()
        if over.edges:
            start, end = over.edges
            op = Replace.model_construct(
                op="replace", start=start, end=end, keep=over.kept, live_only=False
            )
            sources = (*over.gone, self._seq(0), self._seq(1))
        self._place(summary, 2, op, kind, meta=meta, sources=sources)
        return node

    def _restate(self, found: Compacted, summary: Item) -> None:
        """The record lists the new history. A replace puts the summary first; where copies stand
        before it, the last of them moves all into place."""
        all_of_it = Shortened.whole(self._history.nodes)
        if found.summarised:
            node = self._checkpoint(summary, all_of_it, _SUMMARY)
        else:
            node = self._checkpoint(summary, all_of_it, _copy(summary), summary.type)
        self._history.learn(node, summary)
        nodes: list[int] = []
        for item in found.before:
            block = len(self._events)
            own = self._seq(block)
            nodes.append(own)
            last = len(nodes) == len(found.before)
            op = rebase((*nodes, node)) if last else None
            self._history.learn(self._place(item, block, op, item.type, meta=_copy(item)), item)
        nodes.append(node)
        for item in found.after:
            own = self._place(item, len(self._events), APPEND, item.type, meta=_copy(item))
            self._history.learn(own, item)
            nodes.append(own)
        self._history.replace(nodes)

    def _summarise(self, summary: Item) -> None:
        """Codex' older rule: the user's words stay, the summary comes after them."""
        node = self._seq(2)
        self._history.learn(node, summary)
        over = self._history.summarise(node)
        self._checkpoint(summary, over, {**_SUMMARY, "rebuilt": over.words})
        if over.kept:
            self._mark(len(self._events), rebase(self._history.nodes), {"marker": "order"})

    def _mark(self, block: int, op: Rebase, meta: Mapping[str, Any]) -> None:
        """An event without content that says what stands now, and stays off the surface."""
        seq, native = self._seq(block), self._native_id()
        made = mark(seq, native, block, op, turn=self._turn, time=self._time, meta=meta)
        self._events.append(made)

    def on_rolled_back(self, payload: dict[str, Any]) -> None:
        """The event of a ``thread_rolled_back`` record, where it changes what stands."""
        self._requests.broken()
        turns = count(payload.get("num_turns")) or 0
        stays = self._history.rewind(turns)
        if stays is not None:
            nodes = self._history.nodes
            op = rebase(nodes[stays:], nodes[stays - 1] if stays else None)
            self._mark(0, op, {"marker": "rewind", "turns": turns})


def _copy(item: Item) -> Mapping[str, Any]:
    return {**item.meta, "copy": True}
