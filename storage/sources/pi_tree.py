"""The tree of a pi session, and the nodes that stand for a leaf of it.

Source: pi's ``core/session-manager.js``: ``buildSessionPath``, ``buildContextEntries``,
``buildSessionProjection``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Entry(NamedTuple):
    """An entry, as far as the tree needs it."""

    id: str
    parent: str | None
    nodes: tuple[int, ...] = ()
    """In the order in which the model reads them."""
    system: bool = False
    """Holds a system prompt: a later compaction restates it, and never keeps it."""
    compaction: bool = False
    first_kept: str | None = None
    edits: str | None = None
    """The entry whose content this one replaces."""
    omits: bool = False
    """That entry is left out."""
    replacement: int | None = None
    """The node that stands in that entry's place."""


class Tree:
    """All entries by id. A repeated id stands for its newest entry."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.leaf: str | None = None
        """Of the newest line, of whatever type."""
        self._edited: set[str] = set()

    def add(self, entry: Entry) -> bool:
        """Add the newest entry, which is the leaf now. Returns whether it goes on straight from
        the leaf before it, so that what stands need not be derived anew."""
        straight = (
            entry.parent == self.leaf
            and entry.id not in self.entries
            and entry.id not in self._edited
            and not entry.compaction
            and entry.edits is None
        )
        self.entries[entry.id] = entry
        self.leaf = entry.id
        if entry.edits is not None:
            self._edited.add(entry.edits)
        return straight

    def _back(self) -> Iterator[Entry]:
        """From the leaf to the root. A missing parent ends it; so does a cycle."""
        seen: set[str] = set()
        at = self.leaf
        while at is not None and at in self.entries and at not in seen:
            seen.add(at)
            entry = self.entries[at]
            yield entry
            at = entry.parent

    def standing(self) -> list[int]:
        """The nodes that the model would read now, derived from scratch."""
        context = self._context()
        edits = {entry.edits: entry for entry in context if entry.edits is not None}
        nodes: list[int] = []
        for index, entry in enumerate(context):
            if entry.compaction and index > 0:
                continue  # an older compaction inside the kept range says nothing
            edit = edits.get(entry.id)
            if edit is not None and edit.omits:
                continue
            if edit is not None and edit.replacement is not None and entry.nodes:
                nodes.append(edit.replacement)
            else:
                nodes.extend(entry.nodes)
        return nodes

    def _context(self) -> Sequence[Entry]:
        """The newest compaction on the way to the leaf, the entries that it keeps, and those after
        it. What is older is not looked at."""
        way = self._back()
        after: list[Entry] = []
        for entry in way:
            if entry.compaction:
                return [entry, *self._kept(entry.first_kept, way), *reversed(after)]
            after.append(entry)
        return after[::-1]

    def _kept(self, first: str | None, way: Iterator[Entry]) -> Sequence[Entry]:
        """From this entry on, on the way back; none where it is not on it."""
        kept: list[Entry] = []
        for entry in way if first in self.entries else ():
            if not entry.system:
                kept.append(entry)
            if entry.id == first:
                return kept[::-1]
        return ()
