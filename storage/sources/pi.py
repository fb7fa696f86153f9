"""pi: session trees below its agent folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compress.events import ContentBlock
from storage.sources.base import FileReader, Json, Numbering, Root, SourceAdapter
from storage.sources.pi_entries import STREAM_TYPES, blocks_of
from storage.sources.pi_reader import PiReader
from storage.sources.values import mapping


class PiAdapter(SourceAdapter):
    """pi's session files, v1 … v3."""

    agent = "pi"
    revision = 1

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        for name, below in (
            ("PI_CODING_AGENT_SESSION_DIR", ""),
            ("PI_CODING_AGENT_DIR", "sessions"),
        ):
            if environment.get(name):
                yield Root(_expanded(environment[name], home) / below, "**/*.jsonl", name)
                return
        yield Root(home / ".pi" / "agent" / "sessions", "**/*.jsonl")

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        header = mapping(next(iter(head), None))
        if header.get("type") != "session" or not isinstance(header.get("id"), str):
            return False
        if not isinstance(header.get("timestamp"), str):
            return False
        types = [mapping(record).get("type") for record in head]
        return not any(isinstance(kind, str) and kind in STREAM_TYPES for kind in types)

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return PiReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        found = blocks_of(value)
        return found[block] if 0 <= block < len(found) else ()


def _expanded(name: str, home: Path) -> Path:
    """pi writes ``~`` for the home folder in its own settings."""
    return home / name[2:] if name.startswith("~/") else Path(name)
