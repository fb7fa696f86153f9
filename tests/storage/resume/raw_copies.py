"""Copies of small logs that were made record by record, without a store; any agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from compress.events import SessionEvent
from compress.messages import Message, NodeContent, derive_messages
from compress.surface import fold
from storage.resume.base import CopyNode, Original, Piece, PlanCopy, SourceSession
from storage.sources.base import SourceAdapter
from tests.derivation import content, read, records
from tests.resuming import printed
from tests.storage.resume.copies import MADE_AT, SESSION
from tests.storage.sources.paths import NOWHERE

Line = tuple[object, ...]


def as_it_stands(nodes: list[CopyNode]) -> list[CopyNode]:
    return nodes


def copy_of(
    adapter: SourceAdapter,
    rows: Sequence[Any],
    change: Callable[[list[CopyNode]], list[CopyNode]] = as_it_stands,
    **source: Any,
) -> PlanCopy:
    """A copy of the surface of these records, as ``change`` makes it."""
    found = records(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    raw: dict[object, Original] = {}
    log: list[SessionEvent] = []
    reader = adapter.open(NOWHERE)
    for record in found:
        for derived in reader.feed(record):
            for event in derived.events:
                raw[event.seq] = Original(record.line, record.raw)
                log.append(event)
    nodes = change(
        [
            CopyNode(node.node, tuple(Piece(event, raw[event.seq]) for event in node.events))
            for node in content(fold(log), log)
        ]
    )
    facts: dict[str, Any] = {
        "name": "s",
        "native_id": reader.sessions[""].native_id,
        "path": Path("/logs/s.jsonl"),
        "cwd": reader.sessions[""].cwd,
    }
    return PlanCopy(
        source=SourceSession(**(facts | source)),
        nodes=tuple(nodes),
        session_id=SESSION,
        made_at=MADE_AT,
        changed_from=len(nodes),
        records=lambda: iter([Original(record.line, record.raw) for record in found]),
    )


def planned(copy: PlanCopy, agent: str) -> list[Line]:
    """What the plan would send, a line for each block."""
    nodes = [NodeContent(n.node, tuple(piece.event for piece in n.pieces)) for n in copy.nodes]
    return printed(derive_messages(nodes, agent))


def read_back(adapter: SourceAdapter, lines: Sequence[bytes]) -> list[Line]:
    """What our own adapter finds in a copy, a line for each block."""
    return printed(messages_in(adapter, lines))


def messages_in(adapter: SourceAdapter, lines: Sequence[bytes]) -> list[Message]:
    _, events = read(adapter, NOWHERE, records(b"\n".join(lines)))
    log = events.get("", [])
    return derive_messages(content(fold(log), log), adapter.agent)
