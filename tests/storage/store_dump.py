"""A store's content as one comparable value: what two ingests of the same logs must agree on."""

from __future__ import annotations

import hashlib
from typing import Any

from storage.store import Store

_TABLES = {
    "sources": "SELECT path, agent, size, generation, next_position, records, recognised, "
    "unknown_types, gone, note FROM sources ORDER BY path",
    "sessions": "SELECT f.path, s.key, s.name, s.native_id, s.agent, s.agent_version, s.cwd, "
    "s.title, s.model, s.relation, s.parent_native_id, s.parent_call_id, s.turn_open, s.waiting, "
    "s.ended, s.started_at, s.last_event_at, s.events, s.last_seq, s.problems, s.tokens, "
    "s.tokens_source, s.log_window, s.window, s.history, s.counter "
    "FROM sessions s JOIN sources f ON f.id = s.source_id ORDER BY f.path, s.key",
    "events": "SELECT f.path, s.key, e.id & 4294967295, e.position, e.generation, e.type, "
    "e.native_id, e.block, e.node, e.op, e.sources, e.role, e.turn, e.step, e.tokens, "
    "e.thinking_tokens, e.call_tokens, e.image_tokens, e.calls, e.results, e.is_error, e.time, "
    "e.model, e.usage, e.request, e.headline, e.meta, e.digest, e.copied "
    "FROM events e JOIN sessions s ON s.id = e.id >> 32 JOIN sources f ON f.id = s.source_id "
    "ORDER BY f.path, s.key, e.id",
    "operations": "SELECT session_id, number, operation, after, origin, event "
    "FROM operation_events ORDER BY session_id, number",
    "damage": "SELECT f.path, r.generation, r.line, r.offset, r.size, r.damage FROM records r "
    "JOIN sources f ON f.id = r.source_id ORDER BY f.path, r.generation, r.line",
}


def dump(store: Store) -> dict[str, list[Any]]:
    """Every logical row, and a digest of each file's raw records in order."""
    content: dict[str, list[Any]] = {}
    with store.connections.read() as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        for name, query in _TABLES.items():
            content[name] = connection.execute(query).fetchall()
        records = connection.execute(
            "SELECT f.path, r.id FROM records r JOIN sources f ON f.id = r.source_id "
            "ORDER BY f.path, r.generation, r.line"
        ).fetchall()
        indexed = connection.execute("SELECT count(*) FROM search").fetchone()[0]
    digests: dict[str, Any] = {}
    for path, record in records:
        digest = digests.setdefault(path, hashlib.sha256())
        digest.update(store._raw(record).raw + b"\n")
    content["raw"] = [(path, digest.hexdigest()) for path, digest in sorted(digests.items())]
    content["indexed"] = [indexed]
    return content
