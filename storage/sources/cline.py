"""Cline: tasks of the extension (up to 3.x) and sessions (from 4.0, and its command line)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from compress.events import ContentBlock
from storage.sources import cline_tail as files
from storage.sources.base import (
    FileReader,
    History,
    Json,
    Numbering,
    Root,
    SourceAdapter,
    Stand,
)
from storage.sources.cline_messages import block_of, is_message, is_session, row_at, rows_of
from storage.sources.cline_reader import SESSION_SUFFIX, TASK_FILE, ClineReader
from storage.sources.cline_tail import ClineTail
from storage.sources.values import mapping
from storage.tail import Position

_EXTENSION = "saoudrizwan.claude-dev"
_EDITORS = (
    "Code",
    "Code - Insiders",
    "Code - OSS",
    "VSCodium",
    "Cursor",
    "Windsurf",
    "Trae",
    "Positron",
    "Antigravity",
)
_SERVERS = (
    ".vscode-server",
    ".vscode-server-insiders",
    ".vscode-remote",
    ".cursor-server",
    ".windsurf-server",
)
_TASKS, _SESSIONS = f"*/{TASK_FILE}", f"*/*{SESSION_SUFFIX}"


class ClineAdapter(SourceAdapter):
    """Reads both stores, and copies of their documents."""

    agent: ClassVar[str] = "cline"
    revision: ClassVar[int] = 2
    beside: ClassVar[tuple[str, ...]] = (
        files.SCREEN_FILE,
        files.EDITS_FILE,
        files.METADATA_FILE,
        f"*{files.COMPACTION_SUFFIX}",
    )

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        own = environment.get("CLINE_SESSION_DATA_DIR")
        data, source = environment.get("CLINE_DATA_DIR"), "CLINE_DATA_DIR"
        if not data and (folder := environment.get("CLINE_DIR")):
            data, source = f"{folder}/data", "CLINE_DIR"
        base = Path(data) if data else home / ".cline" / "data"
        source = source if data else "default"
        sessions = Path(own) if own else base / "sessions"
        yield Root(sessions, _SESSIONS, "CLINE_SESSION_DATA_DIR" if own else source)
        yield Root(base / "tasks", _TASKS, source)
        for storage, named in _storages(environment, home):
            yield Root(storage / _EXTENSION / "tasks", _TASKS, named)

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        if any("table" in mapping(v) and any(True for _ in rows_of(v)) for v in head):
            return True
        if len(head) != 1:
            return False
        if isinstance(head[0], list):
            # Anthropic's messages; other tools keep lists of them, too.
            own = path.name == TASK_FILE and not files.is_fork(path)
            return own and all(map(is_message, head[0]))
        return is_session(mapping(head[0]))

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return ClineReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        row = row_at(value, block)
        return () if row is None else block_of(row, block)

    def keeps(self, path: Path) -> bool:
        return files.is_task(path) or files.is_session(path)

    def stand(self, path: Path) -> Stand | None:
        return ClineTail(path).stand()

    def tail(self, path: Path, position: Position | None, history: History) -> ClineTail:
        return ClineTail(path, position, history)

    def log_of(self, path: Path) -> Path:
        return files.main_file(path) or path


def _storages(environment: Mapping[str, str], home: Path) -> Iterator[tuple[Path, str]]:
    """Where editors of VS Code's family keep what extensions store. Of those that were never used
    with Cline only the first is named."""
    portable = environment.get("VSCODE_PORTABLE")
    if portable:
        yield Path(portable, "user-data", "User", "globalStorage"), "VSCODE_PORTABLE"
    named = [(v, environment.get(v)) for v in ("VSCODE_APPDATA", "XDG_CONFIG_HOME", "APPDATA")]
    bases = [(Path(value), name) for name, value in named if value]
    if not environment.get("XDG_CONFIG_HOME"):
        bases.append((home / ".config", "default"))
    bases.append((home / "Library" / "Application Support", "default"))
    places = [(base / name / "User", source) for name in _EDITORS for base, source in bases]
    places += [(home / name / "data" / "User", "default") for name in _SERVERS]
    found = [(place / "globalStorage", source) for place, source in places]
    there = [one for one in found if (one[0] / _EXTENSION).is_dir()]
    yield from there or found[:1]
