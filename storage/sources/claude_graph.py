"""Claude Code's records as a graph, and which of them is the leaf.

The leaf is the newest message below the last ``last-prompt`` pointer whose target the file holds,
else the newest message in file order. Times are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Row:
    """One record of the graph."""

    uuid: str
    parent: str | None
    message: bool = False
    """A user or assistant record: it can be the leaf."""
    group: str | None = None
    """The message id of an assistant record: its records are one node."""
    result: bool = False
    """A user record that holds tool results."""
    boundary: bool = False
    continues: str | None = None
    """Of a boundary without a parent: the record that it was written after."""
    segment: tuple[str, str, str] | None = None
    """Head, anchor and tail of what a compaction kept."""
    nodes: tuple[int, ...] = ()
    """The nodes that it stands for; empty where it sends nothing."""
    order: int = 0
    """Place among the rows."""
    pointer: int = 0
    """Number of the newest pointer that it stands below; 0 for none."""


class Graph:
    """All rows of one session. Knows parents, siblings and the leaf; no path."""

    def __init__(self) -> None:
        self.leaf: Row | None = None
        self.file: list[Row] = []
        """In file order."""
        self._rows: dict[str, Row] = {}
        self._groups: dict[str, list[Row]] = {}
        self._results: dict[str, list[Row]] = {}
        self._missing: set[str] = set()
        self.cyclic = False
        """Parents lead in a circle somewhere."""
        self._ordered = True
        """No parent came after its child."""
        self._pointer = 0
        self._target: str | None = None
        self._pointer_place = -1
        self._waiting: dict[str, int] = {}

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._rows

    def get(self, uuid: str | None) -> Row | None:
        """The row of this id, if the file holds it."""
        return self._rows.get(uuid) if uuid else None

    def parent(self, row: Row) -> Row | None:
        """The row's parent, if it has one and the file holds it."""
        return self._rows.get(row.parent) if row.parent else None

    def members(self, group: str) -> list[Row]:
        """The records of one message, in file order."""
        return self._groups[group]

    def results_below(self, row: Row) -> list[Row]:
        """The records with tool results whose parent is this row, in file order."""
        return self._results.get(row.uuid, [])

    def awaited(self, uuid: str) -> bool:
        """Whether an earlier record named this one as its parent, before the file held it."""
        return uuid in self._missing

    def closes_cycle(self, row: Row) -> bool:
        """Whether the row's parents lead back to it."""
        seen: set[str] = set()
        current: Row | None = row
        while current is not None and current.uuid not in seen:
            seen.add(current.uuid)
            if current.parent == row.uuid:
                return True
            current = self.parent(current)
        return False

    def take(self, row: Row) -> bool:
        """Add the next row of the file, or let it take the place of the row of the same id.
        True where paths through other rows may have changed with it."""
        known = self._rows.get(row.uuid)
        late = self.awaited(row.uuid)
        self._ordered = self._ordered and not late
        self._missing.discard(row.uuid)
        if known is None:
            row.order = len(self.file)
            self.file.append(row)
        else:
            row.order, row.pointer = known.order, known.pointer
            self.file[row.order] = row
            self._forget(known)
        self._index(row)
        if late or known is not None or row.parent == row.uuid:
            self.cyclic = self.cyclic or self.closes_cycle(row)
        if self._below_pointer(row):
            row.pointer = self._pointer
        place = self._waiting.pop(row.uuid, None) if self._waiting else None
        if place is not None and place > self._pointer_place:
            self._point(row, place)
            return True
        if late or known is not None:
            self._find_leaf()
            return True
        if row.message and row.pointer == self._pointer:
            self.leaf = row
        return False

    def point(self, uuid: str, place: int) -> bool:
        """A ``last-prompt`` record at this place of the file points to a row. True where the leaf
        is another one now."""
        row = self._rows.get(uuid)
        if row is None:
            self._waiting[uuid] = place
            return False
        before = self.leaf
        self._point(row, place)
        return self.leaf is not before

    def _index(self, row: Row) -> None:
        self._rows[row.uuid] = row
        if row.group is not None:
            _insert(self._groups.setdefault(row.group, []), row)
        if row.result and row.parent is not None:
            _insert(self._results.setdefault(row.parent, []), row)
        link = row.parent or row.continues
        if link is not None and link not in self._rows:
            self._missing.add(link)

    def _forget(self, row: Row) -> None:
        if row.group is not None:
            self._groups[row.group].remove(row)
        if row.result and row.parent is not None:
            self._results[row.parent].remove(row)

    def _point(self, row: Row, place: int) -> None:
        self._pointer_place = place
        self._target = row.uuid
        self._pointer += 1
        row.pointer = self._pointer
        self.leaf = row
        if not self._ordered:
            self._find_leaf()
            return
        for later in self.file[row.order + 1 :]:
            if self._below_pointer(later):
                later.pointer = self._pointer
                if later.message:
                    self.leaf = later

    def _below_pointer(self, row: Row) -> bool:
        # A compaction goes on with the branch that it compacts, though it cuts the parent link.
        parent = self.get(row.parent or row.continues)
        return parent is not None and parent.pointer == self._pointer

    def _find_leaf(self) -> None:
        """The leaf from scratch, in whatever order the parents came."""
        grew = self._pointer > 0
        while grew:
            grew = False
            for row in self.file:
                if row.pointer != self._pointer and self._below_pointer(row):
                    row.pointer = self._pointer
                    grew = True
        newest_first = reversed(self.file)
        messages = (row for row in newest_first if row.message and row.pointer == self._pointer)
        self.leaf = next(messages, None) or self.get(self._target)


def by_order(row: Row) -> int:
    """The sort key of file order."""
    return row.order


def _insert(rows: list[Row], row: Row) -> None:
    if rows and rows[-1].order > row.order:
        rows.append(row)
        rows.sort(key=by_order)
    else:
        rows.append(row)
