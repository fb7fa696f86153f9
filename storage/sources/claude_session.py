"""One session of a Claude Code file: records in order → events.

The state machine behind the reader. It knows turns, steps and requests; which nodes stand is the
graph's business (:mod:`storage.sources.claude_chain`), what a record holds is the decoder's
(:mod:`storage.sources.claude_records`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compress.events import EventType, NodeId, Rebase, Replace, SessionEvent, SurfaceOp
from storage.sources.base import Numbering, SessionFacts
from storage.sources.claude_chain import Chain, Change, Row
from storage.sources.claude_plans import Tasks
from storage.sources.claude_records import Part, content_of, decode, is_failure, usage_of
from storage.sources.draft import APPEND, event
from storage.sources.values import count, mapping, string, timestamp

_QUESTIONS = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Calls that wait for the person."""
_TURN_MARKS = frozenset({"turn_duration", "stop_hook_summary"})
_RUNNING = frozenset({"tool_use", "pause_turn"})
"""Stop reasons after which the turn goes on."""


class Session:
    """Feed it the records of one session; it keeps ``facts`` up to date."""

    def __init__(self, facts: SessionFacts, numbering: Numbering) -> None:
        self.facts = facts
        self.chain = Chain()
        self._numbering = numbering
        self._out: list[SessionEvent] = []
        self._native = ""
        self._next_block = 0
        self._time: float | None = None
        self._turn = 0
        self._step = 0
        self._turn_ended = False
        self._messages: dict[str, tuple[int, int, int]] = {}
        self._calls: dict[str, tuple[str, int]] = {}
        self._open_questions: set[str] = set()
        self._results: dict[str, int] = {}
        self._receipts: dict[int, int] = {}
        self._contents: dict[str, int] = {}
        self._tasks = Tasks()
        self._compacting = False
        self._has_attachments = False

    def feed(self, native: str, value: Mapping[str, Any], place: int) -> list[SessionEvent]:
        """The events of one record that the adapter knows. ``place`` counts the file's records."""
        kind = value.get("type")
        parts = decode(value)
        self._open(native, value, len(parts))
        uuid = value.get("uuid")
        if not isinstance(uuid, str) or not uuid:
            self._without_identity(kind, value, place)
            return self._out
        content = hash(tuple(_content_key(part) for part in parts))
        if uuid in self.chain:
            if self._contents.get(uuid) == content:
                return []
            # The same id with other content takes the old record's place.
            self._native = f"{native}~{place}"
        self._contents[uuid] = content
        row = _row(uuid, value)
        self._report_gap(row)
        if kind == "assistant":
            self._assistant(row, value, parts)
        elif kind == "system":
            self._system(row, value, parts)
        else:
            self._said(row, value, parts)
        return self._out

    def link(self, value: Mapping[str, Any]) -> None:
        """A record of another session of the file, which paths of this one may pass through."""
        uuid = value.get("uuid")
        if isinstance(uuid, str) and uuid not in self.chain:
            parent = value.get("parentUuid")
            self.chain.add(Row(uuid, parent if isinstance(parent, str) else None))

    def unknown(self, native: str, value: Any, type_name: str) -> list[SessionEvent]:
        """A record that the adapter does not know: kept, and a link of the graph if it has an
        id."""
        self._open(native, mapping(value), 1)
        self._log("unknown", {"type": type_name}, block=0)
        uuid = mapping(value).get("uuid")
        if isinstance(uuid, str) and uuid and uuid not in self.chain:
            row = _row(uuid, value)
            self._report_gap(row)
            self._settle(self.chain.add(row))
        return self._out

    # Events

    def _open(self, native: str, value: Mapping[str, Any], parts: int) -> None:
        self._out = []
        self._native = native
        self._next_block = parts
        self._time = timestamp(value.get("timestamp"))

    def _seq(self, block: int) -> int:
        return self._numbering.seq(self._native, block)

    def _log(
        self,
        kind: EventType,
        meta: Mapping[str, Any],
        *,
        block: int | None = None,
        **more: Any,
    ) -> SessionEvent:
        """A log-only event. Those that follow from what came before take the block indices
        behind the record's own."""
        if block is None:
            block = self._next_block
            self._next_block += 1
        made = event(
            self._seq(block),
            kind,
            self._native,
            block,
            turn=self._turn or None,
            step=self._step or None,
            time=self._time,
            meta=meta,
            **more,
        )
        self._out.append(made)
        return made

    def _stand(
        self,
        row: Row,
        parts: Sequence[Part],
        **more: Any,
    ) -> None:
        """Number the parts, put the record into the graph, and make its events."""
        seqs: list[int] = []
        nodes: list[int | None] = []
        message = more.pop("node", None)
        for block, part in enumerate(parts):
            seq = self._seq(block)
            seqs.append(seq)
            if part.place == "message" and message is None:
                message = seq
            nodes.append(message if part.place == "message" else seq if part.place else None)
        row.nodes = tuple(dict.fromkeys(node for node in nodes if node is not None))
        boundary = self.chain.boundary
        change = self.chain.add(row)
        ops = self._operations(change, nodes, seqs)
        steps = more.pop("steps", None)
        for block, part in enumerate(parts):
            step = steps[block] if steps else self._step
            self._out.append(
                event(
                    seqs[block],
                    part.type,
                    self._native,
                    block,
                    node=nodes[block],
                    op=ops[block],
                    role=part.role,
                    blocks=part.blocks,
                    turn=self._turn or None,
                    step=step or None,
                    time=self._time,
                    meta=part.meta,
                    **(more if block == 0 else {k: more[k] for k in more if k == "model"}),
                )
            )
        if change is Change.REBUILT and not row.nodes:
            self._mark("branch")
        if self.chain.boundary is not boundary and self._compacting:
            self._compacting = False
            self._log("compact/end", {})

    def _operations(
        self, change: Change, nodes: Sequence[int | None], seqs: Sequence[int]
    ) -> list[SurfaceOp | None]:
        ops: list[SurfaceOp | None] = [None] * len(nodes)
        placed = [block for block, node in enumerate(nodes) if node is not None]
        if change is Change.APPENDED:
            for block in placed:
                ops[block] = APPEND
        elif change is Change.REBUILT and placed:
            # The last event knows all nodes of the record; those before it wait off the surface.
            ops[placed[-1]] = Rebase.model_construct(op="rebase", seqs=tuple(self.chain.nodes))
        return ops

    def _settle(self, change: Change, marker: str = "branch") -> None:
        if change is Change.REBUILT:
            self._mark(marker)

    def _mark(self, marker: str) -> None:
        """An event that changes the surface and does not stand on it."""
        block = self._next_block
        self._next_block += 1
        seq = self._seq(block)
        self._out.append(
            event(
                seq,
                "context/message",
                self._native,
                block,
                node=seq,
                op=Rebase(seqs=tuple(self.chain.nodes)),
                turn=self._turn or None,
                step=self._step or None,
                time=self._time,
                meta={"marker": marker},
            )
        )

    def _report_gap(self, row: Row) -> None:
        if row.parent is None:
            return
        if row.parent == row.uuid:
            self._log("error", {"message": f"{row.uuid} is its own parent", "kind": "gap"})
        elif self.chain.dangling(row):
            message = f"parent {row.parent} is not in the file"
            self._log("error", {"message": message, "kind": "gap"})
        elif self.chain.awaited(row.uuid) and self.chain.cyclic(row):
            message = f"the parents of {row.uuid} lead back to it"
            self._log("error", {"message": message, "kind": "cycle"})

    # Assistant records

    def _assistant(self, row: Row, value: Mapping[str, Any], parts: list[Part]) -> None:
        message = mapping(value.get("message"))
        if is_failure(value):
            self._stand(row, parts)
            if value.get("isApiErrorMessage") is True:
                self._end_turn("error")
            return
        model = string(message.get("model")) or None
        if model is not None and model != self.facts.model:
            self.facts.model = model
            self._log("request/header", {"model": model})
        revised = self._native.startswith(f"{row.uuid}~")
        key = row.group or row.uuid
        known = None if revised else self._messages.get(key)
        if known is None:
            self._step += 1
        usage = usage_of(message)
        first = self._seq(0) if parts else self._seq(self._next_block)
        node, request, step = known or (first, first, self._step)
        self._messages[key] = (node, request, step)
        if parts:
            self._calls_of(parts, step)
            more: dict[str, Any] = {"node": node, "model": model, "steps": [step] * len(parts)}
            if usage is not None:
                more.update(usage=usage, request=request)
            self._stand(row, parts, **more)
        else:
            self._settle(self.chain.add(row))
            if usage is not None:
                self._log("usage", {}, usage=usage, request=request, model=model)
        self._task_updates(parts)
        reason = message.get("stop_reason")
        self._turn_ended = isinstance(reason, str) and reason not in _RUNNING
        self.facts.turn_open = not self._turn_ended
        self.facts.waiting = bool(self._open_questions)

    def _calls_of(self, parts: Sequence[Part], step: int) -> None:
        for part in parts:
            for block in part.blocks:
                if block.kind == "tool_call" and part.place is not None and block.id:
                    name = block.name or ""
                    self._calls[block.id] = (name, step)
                    if name in _QUESTIONS:
                        self._open_questions.add(block.id)

    def _task_updates(self, parts: Sequence[Part]) -> None:
        changed = False
        for part in parts:
            for block in part.blocks:
                if block.kind == "tool_call" and block.name == "TaskUpdate":
                    changed = self._tasks.updated(mapping(block.input)) or changed
        if changed:
            self._log("artifact/update", {"kind": "todo", "items": self._tasks.items()})

    # User records and attachments

    def _said(self, row: Row, value: Mapping[str, Any], parts: list[Part]) -> None:
        sources = {part.meta.get("source") for part in parts if part.meta}
        if any(part.type == "user/message" for part in parts):
            self._begin_turn()
        if value.get("type") == "attachment":
            self._has_attachments = True
        if "compaction" in sources:
            self._summary(row, value, parts)
        else:
            self._stand(row, parts, steps=self._results_of(parts))
            self._answered(value, parts)
        if "interrupt" in sources:
            self._end_turn("interrupted")
        self.facts.waiting = bool(self._open_questions)

    def _results_of(self, parts: Sequence[Part]) -> list[int]:
        """Note the answers; each has the step of its call."""
        steps: list[int] = []
        for block, part in enumerate(parts):
            step = self._step
            if part.type == "tool/result":
                call = part.blocks[0].id or ""
                step = self._calls.get(call, ("", step))[1]
                self._results[call] = self._seq(block)
                self._open_questions.discard(call)
                self.facts.turn_open = True
            steps.append(step)
        return steps

    def _answered(self, value: Mapping[str, Any], parts: Sequence[Part]) -> None:
        """What follows from an answer, given the call that it answers."""
        decided = any(part.type == "approval/decision" for part in parts)
        for part in parts:
            if part.type != "tool/result":
                continue
            call = part.blocks[0].id or ""
            name = self._calls.get(call, ("", 0))[0]
            if name == "TaskCreate" and self._tasks.created(value.get("toolUseResult")):
                self._log("artifact/update", {"kind": "todo", "items": self._tasks.items()})
            elif name == "ExitPlanMode" and not decided:
                decision = "rejected" if part.blocks[0].is_error else "approved"
                self._log("approval/decision", {"decision": decision, "call": call})

    def _begin_turn(self) -> None:
        if self._turn_ended:
            self._end_turn("completed")
        self._turn += 1
        self.facts.turn_open = True
        self._log("turn/start", {})

    def _end_turn(self, reason: str, **meta: Any) -> None:
        self._turn_ended = False
        self.facts.turn_open = False
        self._log("turn/end", {"reason": reason, **meta})

    # Compaction

    def _summary(self, row: Row, value: Mapping[str, Any], parts: list[Part]) -> None:
        if not self._compacting:
            self._log("compact/start", {})
        summary_block = self._next_block
        self._next_block += 1
        summary = self._seq(summary_block)
        waiting = len(self._out)
        self._compacting = False
        self._stand(row, parts)
        range_: dict[str, Any] = {}
        gone: tuple[NodeId, ...] = ()
        own = row.nodes[0] if row.nodes else None
        for place, made in enumerate(self._out[waiting:], waiting):
            if isinstance(made.op, Rebase) and made.node == own:
                op, gone = self._as_replace(made.op)
                if op is not None:
                    range_ = {"start": op.start, "end": op.end}
                    cited = (*gone, *self._receipts_of(gone), summary)
                    update = {"op": op, "source_event_seqs": cited}
                    self._out[place] = made.model_copy(update=update)
        self._out.insert(
            waiting,
            event(
                summary,
                "compact/summary",
                self._native,
                summary_block,
                turn=self._turn or None,
                step=self._step or None,
                time=self._time,
                source_event_seqs=gone,
                meta=range_,
            ),
        )
        self._log("compact/end", {})

    def _as_replace(self, rebase: Rebase) -> tuple[Replace | None, tuple[NodeId, ...]]:
        """The same change as a positional replace, where the summary comes first and what
        follows stood before in this order; with the nodes that it shadows."""
        before, kept = self.chain.before, rebase.seqs[1:]
        standing = iter(before)
        if not before or not all(any(node == other for other in standing) for node in kept):
            return None, ()
        keep = set(kept)
        gone = tuple(node for node in before if node not in keep)
        return Replace(start=before[0], end=before[-1], keep=kept), gone

    def _receipts_of(self, nodes: Sequence[NodeId]) -> list[NodeId]:
        return [self._receipts[n] for n in nodes if isinstance(n, int) and n in self._receipts]

    # System records

    def _system(self, row: Row, value: Mapping[str, Any], parts: list[Part]) -> None:
        subtype = value.get("subtype")
        if subtype == "microcompact_boundary":
            self._settle(self.chain.add(row))
            self._clear(parts)
            return
        self._stand(row, parts)
        if subtype == "compact_boundary":
            metadata = mapping(value.get("compactMetadata"))
            meta: dict[str, Any] = {}
            if isinstance(metadata.get("trigger"), str):
                meta["trigger"] = metadata["trigger"]
            for ours, theirs in (("pre_tokens", "preTokens"), ("post_tokens", "postTokens")):
                if count(metadata.get(theirs)) is not None:
                    meta[ours] = metadata[theirs]
            self._compacting = True
            self._log("compact/start", meta)
        elif subtype in _TURN_MARKS and (self._turn_ended or self.facts.turn_open):
            duration = count(value.get("durationMs"))
            more = {} if duration is None else {"duration_ms": duration}
            self._end_turn("completed", **more)

    def _clear(self, parts: Sequence[Part]) -> None:
        """Micro-compaction: receipts that only the running agent sees."""
        standing = set(self.chain.nodes)
        for block, part in enumerate(parts):
            node = self._results.get(part.blocks[0].id or "")
            if node is None or node not in standing:
                continue
            seq = self._seq(block)
            self._receipts[node] = seq
            self._out.append(
                event(
                    seq,
                    "tool/result",
                    self._native,
                    block,
                    node=seq,
                    op=Replace(start=node, end=node, live_only=True),
                    role="user",
                    blocks=part.blocks,
                    turn=self._turn or None,
                    step=self._step or None,
                    time=self._time,
                    source_event_seqs=(node,),
                    meta=part.meta,
                )
            )

    # Records without an id

    def _without_identity(self, kind: Any, value: Mapping[str, Any], place: int) -> None:
        if kind == "last-prompt":
            leaf = value.get("leafUuid")
            if isinstance(leaf, str):
                self._settle(self.chain.point(leaf, place))
        elif kind == "queue-operation":
            self._queued(value)
        elif kind == "api-request":
            model = mapping(value.get("params")).get("model")
            if isinstance(model, str) and model and model != self.facts.model:
                self.facts.model = model
                self._log("request/header", {"model": model})
        elif content_of(value):
            self._log("unknown", {"type": f"{kind} without an id"})

    def _queued(self, value: Mapping[str, Any]) -> None:
        operation = value.get("operation")
        if operation == "enqueue":
            content = value.get("content")
            self._queue = content if isinstance(content, str) else ""
        elif operation == "remove" and self._queue and not self._has_attachments:
            # Older versions hand the text to the running turn without a record of its own.
            self._log("steering/message", {"source": "queue", "text": self._queue[:2_000]})

    _queue = ""


def _content_key(part: Part) -> tuple[Any, ...]:
    return (
        part.type,
        tuple((block.kind, block.text, block.id, block.name) for block in part.blocks),
    )


def _row(uuid: str, value: Mapping[str, Any]) -> Row:
    kind = value.get("type")
    parent = value.get("parentUuid")
    group = mapping(value.get("message")).get("id") if kind == "assistant" else None
    boundary = kind == "system" and value.get("subtype") == "compact_boundary"
    logical = value.get("logicalParentUuid")
    return Row(
        uuid,
        parent if isinstance(parent, str) and parent else None,
        message=kind in ("user", "assistant"),
        group=group if isinstance(group, str) and group else None,
        result=kind == "user" and any(_is_result(item) for item in content_of(value)),
        boundary=boundary,
        continues=logical if boundary and isinstance(logical, str) else None,
        segment=_segment(value) if boundary else None,
    )


def _is_result(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "tool_result"


def _segment(value: Mapping[str, Any]) -> tuple[str, str, str] | None:
    kept = mapping(mapping(value.get("compactMetadata")).get("preservedSegment"))
    head, anchor, tail = (kept.get(name) for name in ("headUuid", "anchorUuid", "tailUuid"))
    if isinstance(head, str) and isinstance(anchor, str) and isinstance(tail, str):
        return head, anchor, tail
    return None
