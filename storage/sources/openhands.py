"""OpenHands: conversations of its SDK and CLI, and those from before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from compress.events import ContentBlock
from storage.row_tail import RowTail
from storage.sources import openhands_tree as tree
from storage.sources.base import (
    FileReader,
    History,
    Json,
    Numbering,
    Root,
    SourceAdapter,
    Stand,
)
from storage.sources.openhands_reader import OpenhandsReader
from storage.sources.openhands_rows import blocks_at, rows_of
from storage.tail import Position


class OpenhandsAdapter(SourceAdapter):
    """Reads folders of conversations, one event a line, and exported lists."""

    agent: ClassVar[str] = "openhands"
    revision: ClassVar[int] = 2
    beside: ClassVar[tuple[str, ...]] = (tree.EVENT_FILES,)

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        own = environment.get("OPENHANDS_PERSISTENCE_DIR")
        source = "OPENHANDS_PERSISTENCE_DIR" if own else "default"
        folder = (Path(own) if own else home / ".openhands") / "conversations"
        if named := environment.get("OPENHANDS_CONVERSATIONS_DIR"):
            folder, source = Path(named), "OPENHANDS_CONVERSATIONS_DIR"
        yield Root(folder, f"*/{tree.STATE}", source)
        yield Root(folder, f"*/subagents/*/{tree.STATE}", source)
        old = environment.get("FILE_STORE_PATH")
        shared, why = (Path(old), "FILE_STORE_PATH") if old else (home / ".openhands", "default")
        yield Root(shared / "sessions", f"*/{tree.EVENTS}/{tree.OLD_FIRST}", why)

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        if tree.conversation_of(path) not in (None, path):
            return False
        known = sum(bool(rows_of(value)) for value in head)
        return 0 < known >= len(head) / 2

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return OpenhandsReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        return blocks_at(value, block)

    def keeps(self, path: Path) -> bool:
        return tree.is_conversation(path)

    def stand(self, path: Path) -> Stand | None:
        return tree.FolderTail(path).stand()

    def tail(self, path: Path, position: Position | None, history: History) -> RowTail:
        return tree.FolderTail(path, position, history)

    def log_of(self, path: Path) -> Path:
        return tree.conversation_of(path) or path
