"""What a store's file is known by."""

from __future__ import annotations

MEMORY = ":memory:"
"""In place of a path: a store that lives only as long as the process."""

APPLICATION_ID = 0x554C4C47
"""``ULLG``, in SQLite's header, so that a foreign file is never taken for a store."""

VERSION = 7
"""``PRAGMA user_version`` of a store that all migrations below were applied to."""

SEQ_BITS = 32
SEQ_MASK = (1 << SEQ_BITS) - 1
"""An event's row id is ``session_id << SEQ_BITS | seq``."""
