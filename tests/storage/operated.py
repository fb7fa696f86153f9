"""A store with operations of two sessions, and what the check of it finds."""

from __future__ import annotations

from pathlib import Path

from compress.operations import OperationDraft, OperationKind, OperationRow, draft_event, number
from storage.connection import Connections
from storage.sources.registry import registry
from storage.store import Store
from storage.verification import Finding, verify
from tests.storage.test_ingest import conversation, ingest

TABLES = ("operation_events", "operation_commits", "operation_heads")
NAMES = ("11111111-0000-0000-0000-000000000000", "22222222-0000-0000-0000-000000000000")


def operate(store: Store, session: str, kind: OperationKind, *types: str, at: float = 1.5) -> None:
    """One operation of a session, with an event of each of these types."""
    events = [
        draft_event(index, type=event, meta={"node": index, "words": "é 你好 \0 \u2028"})
        for index, event in enumerate(types, 1)
    ]
    found = store.find(session)

    def rows(strand: list[OperationRow]) -> tuple[OperationRow, ...]:
        first = strand[-1].number + 1 if strand else 1
        return number(OperationDraft(kind, tuple(events)), first, found.last_seq, at)

    store.append_operations(found, rows)  # type: ignore[arg-type]


def fill(path: Path) -> None:
    """Two sessions: a pin, a compaction, another pin, an undo; a pin alone."""
    store = Store(path, registry())
    for name in NAMES:
        log = path.parent / f"{name}.jsonl"
        log.write_bytes(
            conversation(4).replace(b"11111111-2222-3333-4444-555555555555", name.encode())
        )
        ingest(store, log)
    first, second = NAMES
    operate(store, first, "pin", "pin/add")
    operate(store, first, "compact", "compact/start", "compact/summary", "compact/end", at=7)
    operate(store, second, "pin", "pin/add")
    operate(store, first, "pin", "pin/add")
    operate(store, first, "undo", "operation/undo")
    store.close()


def findings(path: Path, noted: str | None = None) -> tuple[Finding, ...]:
    connections = Connections(path)
    try:
        return verify(connections, noted=noted).findings
    finally:
        connections.close()
