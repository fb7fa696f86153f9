"""Copies of hand-made logs, without a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from compress.events import ContentBlock, NodeId, SessionEvent
from compress.messages import Message, derive_messages
from compress.messages.base import NodeContent
from compress.surface import fold
from storage.resume.base import Checkpoint, CopyNode, Original, Piece, PlanCopy, SourceSession
from tests.derivation import content
from tests.storage.sources.claude_log import Log

SESSION = "01900000-0000-7000-8000-000000000001"
MADE_AT = 1_780_000_000.25
"""2026-05-28T20:26:40.250Z"""

Change = Callable[[list[CopyNode]], list[CopyNode]]


def nodes_of(log: Log) -> list[CopyNode]:
    """The surface of the log, as a copy is given it."""
    raw = {
        row["uuid"]: Original(line, json.dumps(row).encode())
        for line, row in enumerate(log.rows, 1)
        if isinstance(row, dict) and "uuid" in row
    }
    surface = content(fold(log.events), log.events)
    return [
        CopyNode(
            node.node,
            tuple(Piece(event, raw[event.native_id]) for event in node.events),
            Checkpoint("agent", 100, "auto", "gone")
            if node.events[0].meta.get("checkpoint")
            else None,
        )
        for node in surface
    ]


def copy_of(
    log: Log,
    change: Change = lambda nodes: nodes,
    *,
    changed_from: int | None = None,
    source: Mapping[str, Any] | None = None,
) -> PlanCopy:
    """A copy of the log's surface, as ``change`` makes it."""
    nodes = change(nodes_of(log))
    lines = [Original(n, json.dumps(row).encode()) for n, row in enumerate(log.rows, 1)]
    facts: dict[str, Any] = {"version": "2.1.9", "path": Path("/logs/-p/s.jsonl"), **(source or {})}
    return PlanCopy(
        source=SourceSession(name="s", native_id="s", **facts),
        nodes=tuple(nodes),
        session_id=SESSION,
        made_at=MADE_AT,
        changed_from=len(nodes) if changed_from is None else changed_from,
        records=lambda: iter(lines),
    )


def checkpoint(name: str, text: str, behind: str | None = "gone") -> CopyNode:
    """A summary that the plan brings."""
    event = SessionEvent(
        seq=name,
        type="user/message",
        native_id=name,
        node=name,
        role="user",
        blocks=(ContentBlock(kind="text", text=text),),
        meta={"checkpoint": "user"},
    )
    return CopyNode(name, (Piece(event, None),), Checkpoint("user", 1_234, None, behind))


def receipt(name: str, node: CopyNode, text: str) -> CopyNode:
    """What stands in a cleared result's place."""
    old = node.pieces[0].event
    blocks = tuple(block.model_copy(update={"text": text, "images": ()}) for block in old.blocks)
    made = {"seq": name, "native_id": name, "node": name, "blocks": blocks, "meta": {}}
    return CopyNode(name, (Piece(old.model_copy(update=made), None),))


def planned(nodes: Sequence[CopyNode]) -> list[Message]:
    """What the plan would send."""
    return derive_messages(
        [NodeContent(node.node, tuple(piece.event for piece in node.pieces)) for node in nodes],
        "claude",
    )


def read_back(lines: Sequence[bytes]) -> tuple[list[Message], Log]:
    """What our own adapter finds in a copy."""
    log = Log(SESSION)
    for line in lines:
        log.raw(json.loads(line))
    surface = content(fold(log.events), log.events)
    return derive_messages(surface, "claude"), log


def texts(messages: Sequence[Message]) -> list[tuple[object, ...]]:
    """Role and blocks, in order. A ``context`` block is a text to the model."""
    return [
        (
            message.role,
            "text" if block.kind == "context" else block.kind,
            block.id,
            block.name,
            json.dumps(block.input),
            block.text,
            block.signature,
        )
        for message in messages
        for block in message.blocks
    ]


def names(nodes: Sequence[CopyNode]) -> list[NodeId]:
    return [node.node for node in nodes]
