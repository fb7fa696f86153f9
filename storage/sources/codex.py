"""Codex: rollouts below ``CODEX_HOME``.

``response_item`` records are the surface; ``event_msg`` records are turn boundaries, usage, and
copies made for display. One response item is one node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compress.events import ContentBlock
from storage.sources.base import Contents, FileReader, Json, Numbering, Root, SourceAdapter
from storage.sources.codex_reader import CodexReader
from storage.sources.codex_records import KNOWN_TYPES, blocks_of
from storage.sources.values import mapping

_SESSION_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$")


class CodexAdapter(SourceAdapter):
    """Codex' rollout files, 0.34 … 0.171."""

    agent = "codex"
    revision = 4

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        named = environment.get("CODEX_HOME")
        base, source = (Path(named), "CODEX_HOME") if named else (home / ".codex", "default")
        yield Root(base / "sessions", "**/*.jsonl", source)
        yield Root(base / "archived_sessions", "**/*.jsonl", source)

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        first = mapping(next(iter(head), None))
        if first.get("type") == "session_meta":
            return isinstance(first.get("payload"), dict)
        if not path.name.startswith("rollout-"):
            return False
        if "payload" not in first:  # the oldest files: bare items after a bare header
            return isinstance(first.get("id"), str) and "timestamp" in first
        return any(mapping(record).get("type") in KNOWN_TYPES for record in head)

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        found = _SESSION_ID.search(path.stem)
        return CodexReader(path, numbering, found.group(1) if found else path.stem)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        return self.contents(value)(block)

    def contents(self, value: Json) -> Contents:
        found = blocks_of(value)
        return lambda block: found[block] if 0 <= block < len(found) else ()
