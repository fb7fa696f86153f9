"""What becomes of a file's row in the store, beside its batches. One transaction a function."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from storage.catalog import SourceRecord
from storage.connection import Connections
from storage.tail import Position

Inodes = Mapping[tuple[int, int], SourceRecord]
"""(device, inode) → the source whose file it was when it was last read."""


def add_sources(connections: Connections, paths: Sequence[Path]) -> None:
    """Rows for files that were never looked at; what they are, their first batch will tell."""
    if paths:
        with connections.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO sources (path) VALUES (?)", [(str(p),) for p in paths]
            )


def note(connections: Connections, source: int, reason: str, position: Position) -> None:
    """Why there is nothing to see in this file, as it is now."""
    with connections.write() as connection:
        connection.execute(
            "UPDATE sources SET note = ?, size = ?, mtime_ns = ?, gone = 0 WHERE id = ?",
            (reason, position.size, position.mtime_ns, source),
        )


def mark_gone(connections: Connections, source: int) -> None:
    """The file does not exist any more. What was read of it stays."""
    with connections.write() as connection:
        connection.execute("UPDATE sources SET gone = 1 WHERE id = ?", (source,))


def come_back(connections: Connections, source: int) -> None:
    """The file is there again, as it was."""
    with connections.write() as connection:
        connection.execute("UPDATE sources SET gone = 0 WHERE id = ?", (source,))


def rename(connections: Connections, source: int, path: Path) -> None:
    """The same file under a new name, whose own row holds nothing yet."""
    with connections.write() as connection:
        connection.execute(
            "DELETE FROM sources WHERE path = ? AND id <> ? AND position IS NULL",
            (str(path), source),
        )
        connection.execute(
            "UPDATE sources SET path = ?, gone = 0 WHERE id = ?", (str(path), source)
        )


def begin_again(
    connections: Connections, source: int, generation: int, agent: str, revision: int
) -> None:
    """The file is read from its first line: what does not come again is no longer in the file,
    but stays in the store."""
    with connections.write() as connection:
        connection.execute(
            "UPDATE sources SET generation = ?, position = NULL, records = 0, agent = ?, "
            "revision = ?, gone = 0 WHERE id = ?",
            (generation, agent, revision, source),
        )
        connection.execute(
            "UPDATE sessions SET events = 0, problems = 0, started_at = NULL, "
            "last_event_at = NULL WHERE source_id = ?",
            (source,),
        )


def set_aside(connections: Connections, source: int) -> None:
    """Another file has taken this one's name: the row keeps what was read, and frees the path."""
    with connections.write() as connection:
        connection.execute(
            "UPDATE sources SET path = path || ' (replaced, was source ' || id || ')', gone = 1 "
            "WHERE id = ?",
            (source,),
        )


def position_of(source: SourceRecord | None) -> Position | None:
    """Where reading this file goes on; ``None`` where nothing was read of it."""
    if source is None or source.position is None:
        return None
    return Position(**json.loads(source.position))


def is_new(known: SourceRecord | None) -> bool:
    """Whether nothing was ever read of this file."""
    return known is None or (known.position is None and known.generation == 1)


def has_pending(source: SourceRecord) -> bool:
    """Whether bytes stood behind the last whole line. Costs no parsing."""
    return source.position is not None and '"pending": 0' not in source.position


def by_inode(sources: Iterable[SourceRecord]) -> Inodes:
    """The files of which something was read, by device and inode."""
    return {
        (old.device, old.inode): source
        for source in sources
        if (old := position_of(source)) is not None
    }


def moved_to(position: Position, inodes: Inodes) -> SourceRecord | None:
    """The source whose file this is under a new name: same inode, the old name leads to it no
    more. What follows is compared by the tail."""
    source = inodes.get((position.device, position.inode))
    if source is None:
        return None
    try:
        here = Path(source.path).stat()
    except OSError:
        return source
    return source if here.st_ino != position.inode else None
