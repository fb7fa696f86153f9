"""opencode: a database of all sessions, and the tree of files of older versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from compress.events import ContentBlock
from storage.row_tail import RowTail
from storage.sources import opencode_database as database
from storage.sources import opencode_tree as tree
from storage.sources.base import (
    FileReader,
    History,
    Json,
    Numbering,
    Root,
    SourceAdapter,
    Stand,
)
from storage.sources.opencode_reader import OpencodeReader
from storage.sources.opencode_rows import ROW_BLOCKS, blocks_of, rows_of
from storage.tail import Position


class OpencodeAdapter(SourceAdapter):
    """Reads the database of 1.2 and later, the files before it, and ``opencode export``."""

    agent: ClassVar[str] = "opencode"
    revision: ClassVar[int] = 2
    global_ids: ClassVar[bool] = True
    beside: ClassVar[tuple[str, ...]] = ("msg_*.json", "prt_*.json")

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        shared = environment.get("XDG_DATA_HOME")
        base, source = (Path(shared), "XDG_DATA_HOME") if shared else (home / ".local/share", "")
        folder = base / "opencode"
        named = environment.get("OPENCODE_DB")
        if named and named != ":memory:":
            path = folder / named
            yield Root(path.parent, path.name, "OPENCODE_DB")
        yield Root(folder, "opencode*.db", source or "default")
        yield Root(folder / "storage" / "session", "*/*.json", source or "default")

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        return any(True for value in head for _ in rows_of(value))

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return OpencodeReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        base = block // ROW_BLOCKS * ROW_BLOCKS
        for row in rows_of(value):
            if row.base == base and row.table == "part":
                return blocks_of(row.data, block - base)
        return ()

    def keeps(self, path: Path) -> bool:
        return database.is_database(path) or tree.is_session(path)

    def stand(self, path: Path) -> Stand | None:
        if path.suffix == ".db":
            return database.stand_of(path)
        return tree.TreeTail(path).stand()

    def tail(self, path: Path, position: Position | None, history: History) -> RowTail:
        kind = database.DatabaseTail if path.suffix == ".db" else tree.TreeTail
        return kind(path, position, history)

    def log_of(self, path: Path) -> Path:
        if path.name.endswith(f".db{database.WAL}"):
            return path.with_name(path.name.removesuffix(database.WAL))
        return tree.session_of(path) or path
