"""One session of a Claude Code file: records in order → events.

It decides which node each part belongs to and what the record did to the surface. Which nodes
stand is the graph's business, what a record holds the decoder's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compress.events import NodeId, SessionEvent, SurfaceOp, Usage
from storage.sources.base import Numbering, SessionFacts
from storage.sources.claude_chain import Chain, Change
from storage.sources.claude_compaction import Compactions
from storage.sources.claude_events import EventWriter
from storage.sources.claude_graph import Row
from storage.sources.claude_records import Part, content_of, decode, is_failure, usage_of
from storage.sources.claude_rows import link_of, row_of
from storage.sources.claude_turns import Turns
from storage.sources.draft import APPEND
from storage.sources.values import mapping, string, timestamp

_TURN_MARKS = frozenset({"turn_duration", "stop_hook_summary"})
_EXIT = "<command-name>/exit<"
_LONGEST_STEERING = 2_000
"""Characters of a queued text that are kept in ``meta``."""


class Session:
    """Feed it the records of one session; it keeps ``facts`` up to date."""

    def __init__(self, facts: SessionFacts, numbering: Numbering) -> None:
        self.facts = facts
        self.chain = Chain()
        self._writer = EventWriter(numbering)
        self._turns = Turns(facts, self._writer)
        self._compactions = Compactions(self.chain, self._writer)
        self._messages: dict[str, tuple[int, int, int]] = {}
        self._contents: dict[str, int] = {}
        self._queued = ""
        self._has_attachments = False

    def feed(self, native: str, value: Mapping[str, Any], place: int) -> Sequence[SessionEvent]:
        """The events of one record of a known type. ``place`` counts the file's records."""
        parts = decode(value)
        self._writer.open(native, timestamp(value.get("timestamp")), len(parts))
        uuid = value.get("uuid")
        if not isinstance(uuid, str) or not uuid:
            self._beside_the_graph(value, place)
            return self._writer.out
        content = hash(tuple(_content_key(part) for part in parts))
        revised = uuid in self.chain.graph
        if revised:
            if self._contents.get(uuid) == content:
                return ()
            # The same id with other content takes the old record's place.
            self._writer.rename(f"{native}~{place}")
        self._contents[uuid] = content
        row = row_of(uuid, value)
        if not revised:
            self._report_gap(row)
        boundary = self.chain.boundary
        kind = value.get("type")
        if kind == "assistant":
            self._assistant(row, value, parts, revised)
        elif kind == "system":
            self._system(row, value, parts)
        else:
            self._said(row, value, parts)
        if self.chain.boundary is not boundary and self.chain.boundary is not None:
            self._compactions.end()
        return self._writer.out

    def link(self, native: str, value: Mapping[str, Any]) -> Sequence[SessionEvent]:
        """A record of another session of the file, which paths of this one may pass through."""
        uuid = value.get("uuid")
        if not isinstance(uuid, str) or not uuid or uuid in self.chain.graph:
            return ()
        if self.chain.add(link_of(uuid, value)) is not Change.REBUILT:
            return ()
        # Its parts are events of the other session; a marker here stands behind their indices.
        self._writer.open(native, timestamp(value.get("timestamp")), len(decode(value)))
        self._settle(Change.REBUILT)
        return self._writer.out

    def unknown(self, native: str, value: Any, type_name: str) -> Sequence[SessionEvent]:
        """A record of a type that is not known: kept, and a link of the graph if it has an id."""
        self._writer.open(native, timestamp(mapping(value).get("timestamp")), 1)
        self._writer.log("unknown", {"type": type_name}, block=0)
        uuid = mapping(value).get("uuid")
        if isinstance(uuid, str) and uuid and uuid not in self.chain.graph:
            row = link_of(uuid, value)
            self._report_gap(row)
            self._settle(self.chain.add(row))
        return self._writer.out

    # What a record does to the surface

    def _stand(
        self,
        row: Row,
        parts: Sequence[Part],
        *,
        node: int | None = None,
        model: str | None = None,
        usage: Usage | None = None,
        request: NodeId | None = None,
        steps: Sequence[int] | None = None,
    ) -> None:
        """Number the parts, put the record into the graph, and make its events. ``node`` is the
        node of the message, where it stands already."""
        nodes: list[int | None] = []
        seqs = [self._writer.seq(block) for block in range(len(parts))]
        for part, seq in zip(parts, seqs, strict=True):
            if part.place == "message":
                node = seq if node is None else node
                nodes.append(node)
            else:
                nodes.append(None if part.place is None else seq)
        row.nodes = tuple(dict.fromkeys(n for n in nodes if n is not None))
        change = self.chain.add(row)
        ops = self._operations(change, nodes)
        for block, part in enumerate(parts):
            self._writer.part(
                part,
                block,
                seqs[block],
                node=nodes[block],
                op=ops[block],
                step=0 if steps is None else steps[block],
                model=model,
                usage=usage if block == 0 else None,
                request=request if block == 0 else None,
            )
        if not row.nodes:
            self._settle(change)

    def _operations(self, change: Change, nodes: Sequence[int | None]) -> list[SurfaceOp | None]:
        if change is Change.APPENDED:
            return [None if node is None else APPEND for node in nodes]
        ops: list[SurfaceOp | None] = [None] * len(nodes)
        if change is Change.REBUILT:
            placed = [block for block, node in enumerate(nodes) if node is not None]
            if placed:
                # Only the last event knows all nodes of the record; the others wait for it.
                ops[placed[-1]] = self.chain.rebase()
        return ops

    def _settle(self, change: Change) -> None:
        if change is Change.REBUILT:
            self._writer.mark(self.chain.rebase(), "branch")

    def _report_gap(self, row: Row) -> None:
        if row.parent is None:
            return
        if row.parent == row.uuid:
            self._gap("cycle", f"{row.uuid} is its own parent")
        elif self.chain.graph.parent(row) is None:
            self._gap("gap", f"parent {row.parent} is not in the file")
        elif self.chain.graph.awaited(row.uuid) and self.chain.graph.closes_cycle(row):
            self._gap("cycle", f"the parents of {row.uuid} lead back to it")

    def _gap(self, kind: str, message: str) -> None:
        self._writer.log("error", {"message": message, "kind": kind})

    # Records of the graph

    def _assistant(
        self, row: Row, value: Mapping[str, Any], parts: list[Part], revised: bool
    ) -> None:
        message = mapping(value.get("message"))
        if is_failure(value):
            self._stand(row, parts)
            if value.get("isApiErrorMessage") is True:
                self._turns.failed()
            return
        usage = usage_of(message)
        if not parts and usage is None:
            self._settle(self.chain.add(row))
            return
        model = string(message.get("model")) or None
        if model is not None and model != self.facts.model:
            self._switch(model)
        key = row.group or row.uuid
        known = None if revised else self._messages.get(key)
        if known is None:
            self._writer.step += 1
            first = self._writer.seq(0)
            known = self._messages[key] = (first, first, self._writer.step)
        node, request, step = known
        about = None if usage is None else request
        self._turns.called(parts, step)
        steps = [step] * len(parts)
        self._stand(row, parts, node=node, model=model, usage=usage, request=about, steps=steps)
        if not parts and usage is not None:
            self._writer.log("usage", {}, block=0, usage=usage, request=about, model=model)
        self._turns.tasks_changed(parts)
        self._turns.stopped(message.get("stop_reason"))

    def _switch(self, model: str) -> None:
        self.facts.model = model
        self._writer.log("request/header", {"model": model})

    def _said(self, row: Row, value: Mapping[str, Any], parts: list[Part]) -> None:
        """A user record, an attachment, or a link without content."""
        if any(part.type == "user/message" for part in parts):
            self._turns.begin()
        if value.get("type") == "attachment":
            self._has_attachments = True
        sources = {part.meta.get("source") for part in parts if part.meta}
        if "compaction" in sources:
            block = self._compactions.announce_summary()
            first = len(self._writer.out)
            self._stand(row, parts)
            self._compactions.sum_up(block, first)
        else:
            self._stand(row, parts, steps=self._note_results(parts))
            self._turns.answered(value, parts)
        if "interrupt" in sources:
            self._turns.interrupted()
        if "command" in sources and any(b.text.startswith(_EXIT) for p in parts for b in p.blocks):
            self.facts.ended = True

    def _note_results(self, parts: Sequence[Part]) -> list[int]:
        """Each result has the step of its call; what is no result stands outside any step."""
        steps: list[int] = []
        for block, part in enumerate(parts):
            if part.type == "tool/result":
                call = part.blocks[0].id or ""
                step = self._turns.step_of(call)
                self._turns.results[call] = (self._writer.seq(block), step)
                steps.append(step)
            else:
                steps.append(0)
        return steps

    def _system(self, row: Row, value: Mapping[str, Any], parts: list[Part]) -> None:
        subtype = value.get("subtype")
        if subtype == "microcompact_boundary":
            self._settle(self.chain.add(row))
            self._compactions.clear(parts, self._turns.results)
            return
        self._stand(row, parts)
        if subtype == "compact_boundary":
            self._compactions.begin(value)
        elif subtype in _TURN_MARKS:
            self._turns.marked(value)

    # Records without an id

    def _beside_the_graph(self, value: Mapping[str, Any], place: int) -> None:
        kind = value.get("type")
        if kind == "last-prompt":
            leaf = value.get("leafUuid")
            if isinstance(leaf, str):
                self._settle(self.chain.point(leaf, place))
        elif kind == "queue-operation":
            self._queue(value)
        elif kind == "api-request":
            model = string(mapping(value.get("params")).get("model"))
            if model and model != self.facts.model:
                self._switch(model)
        elif content_of(value):
            self._writer.log("unknown", {"type": f"{kind} without an id"})

    def _queue(self, value: Mapping[str, Any]) -> None:
        if value.get("operation") == "enqueue":
            self._queued = string(value.get("content"))
        elif value.get("operation") == "remove" and self._queued and not self._has_attachments:
            # Older versions hand the text to the running turn without a record of its own.
            text = self._queued[:_LONGEST_STEERING]
            self._writer.log("steering/message", {"source": "queue", "text": text})


def _content_key(part: Part) -> tuple[Any, ...]:
    blocks = tuple((block.kind, block.text, block.id, block.name) for block in part.blocks)
    return (part.type, blocks)
