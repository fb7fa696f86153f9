"""Copilot CLI: one ``events.jsonl`` a session, below its folder of session states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from compress.events import ContentBlock
from storage.sources.base import FileReader, Json, Numbering, Root, SourceAdapter
from storage.sources.copilot_reader import CopilotReader
from storage.sources.copilot_records import TYPES, said
from storage.sources.values import mapping


class CopilotAdapter(SourceAdapter):
    """Its log holds less than the list that it sends, so what is shown is approximate."""

    agent: ClassVar[str] = "copilot"
    revision: ClassVar[int] = 3
    approximate: ClassVar[str | None] = (
        "Approximate: the log of Copilot CLI tells neither what stays after a compaction or a "
        "truncation, nor what the model reads of a failure, nor its tools, nor what a prompt cost"
    )

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        own = environment.get("COPILOT_HOME")
        base, source = (Path(own), "COPILOT_HOME") if own else (home / ".copilot", "default")
        yield Root(base / "session-state", "*/events.jsonl", source)
        # Before it had a folder a session.
        yield Root(base / "session-state", "*.jsonl", source)

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        known = sum(_is_own(value) for value in head)
        return 0 < known >= len(head) / 2

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return CopilotReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        found = said(value)
        return () if found is None or block < 0 else found.parts[block : block + 1]


def _is_own(value: Json) -> bool:
    record = mapping(value)
    kind = record.get("type")
    # "abort" alone is a word that others may use, too.
    known = isinstance(kind, str) and kind in TYPES and "." in kind
    return known and isinstance(record.get("data"), dict)
