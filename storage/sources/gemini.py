"""Gemini CLI: chats below its folder for temporary files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from compress.events import ContentBlock
from storage.sources.base import Contents, FileReader, Json, Numbering, Root, SourceAdapter
from storage.sources.gemini_messages import decode, is_content
from storage.sources.gemini_reader import GeminiReader
from storage.sources.values import listing, mapping

_TYPES = frozenset({"user", "gemini", "info", "warning", "error"})


class GeminiAdapter(SourceAdapter):
    """Its JSONL, the JSON documents of older versions, what ``/chat save`` writes, and bare lists
    of contents."""

    agent: ClassVar[str] = "gemini"
    revision: ClassVar[int] = 3

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        own = environment.get("GEMINI_CLI_HOME")
        base, source = (Path(own), "GEMINI_CLI_HOME") if own else (home, "default")
        yield Root(base / ".gemini" / "tmp", "*/chats/**/*.json*", source)

    def select(self, paths: Sequence[Path]) -> Sequence[Path]:
        """A resumed document goes on as JSONL beside itself: then only that one counts."""
        lines = {path for path in paths if path.suffix == ".jsonl"}
        return [
            path
            for path in paths
            if path in lines or (path.suffix == ".json" and path.with_suffix(".jsonl") not in lines)
        ]

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        return any(_is_own(value) for value in head)

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return GeminiReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        return self.contents(value)(block)

    def contents(self, value: Json) -> Contents:
        slots = list(decode(value).slots)
        return lambda block: slots[block].blocks if 0 <= block < len(slots) else ()


def _is_own(value: Json) -> bool:
    if isinstance(value, list):
        return sum(map(is_content, value)) * 2 > len(value)
    record = mapping(value)
    if isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str):
        return True
    if isinstance(record.get("id"), str) and record.get("type") == "gemini":
        return True
    if isinstance(record.get("$rewindTo"), str):
        return True
    history = listing(record.get("history"))
    return bool(history) and all(map(is_content, history))
