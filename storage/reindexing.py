"""What an older version indexed, brought into the index of today from the raw records."""

from __future__ import annotations

from storage import rows
from storage.indexing import search_text
from storage.records import parse_record
from storage.store import Store

_SLICE = 200
"""Events that are read anew in one go: a tenth of a second."""


def index_anew(store: Store) -> bool:
    """Brings a slice of what an older version indexed into the index of today, the newest events
    first, from the raw records. Whether there is more.

    Killed at any moment it goes on where it was; of two processes one does a slice.
    """
    if store.connections.read_only or (below := old_below(store)) is None:
        return False
    with store.connections.read() as connection:
        ids = [
            row[0]
            for row in connection.execute(
                "SELECT rowid FROM search_words WHERE rowid < ? ORDER BY rowid DESC LIMIT ?",
                (below, _SLICE),
            )
        ]
    texts = [(identifier, text) for identifier in ids for text in _texts(store, identifier)]
    with store.connections.write() as connection:
        if old_below(store) != below:
            return True
        connection.executemany("INSERT INTO search (rowid, text) VALUES (?, ?)", texts)
        if ids:
            connection.execute("UPDATE search_rebuild SET below = ?", (ids[-1],))
            return True
        connection.execute("DROP TABLE search_words")
        connection.execute("DELETE FROM search_rebuild")
    return False


def old_below(store: Store) -> int | None:
    """The event below which only the old index has what there is; ``None`` where there is none."""
    with store.connections.read() as connection:
        row = connection.execute("SELECT below FROM search_rebuild").fetchone()
    return None if row is None else int(row[0])


def _texts(store: Store, identifier: int) -> list[str]:
    """Of an event's contents, the earlier ones first."""
    session = store.session(rows.session_of(identifier))
    seq = rows.seq_of(identifier)
    (event,) = store.events(session, [seq])
    blocks = store.registry.for_agent(session.agent).blocks
    contents = [event.blocks]
    for raw in store.raw(session, seq)[:-1]:
        record = parse_record(raw.line, raw.offset, raw.raw)
        contents.insert(-1, blocks(record.value if record else None, event.block))
    return [text for content in contents if (text := search_text(content))]
