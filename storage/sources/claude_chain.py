"""Claude Code's message graph: which records stand in the context, in which order.

Records link to their parent; a file is a graph, and the agent sends one path of it. The rules are
those that reproduce the agent's own requests on resume:

* the leaf is the newest message below the last ``last-prompt`` pointer, else the newest message
  in file order; times are ignored;
* the path runs from the leaf over ``parentUuid`` to a root, a missing parent or a cycle, through
  records of any type;
* what stands at or before the last compaction boundary on the path is cut; a preserved segment is
  inserted again behind its anchor;
* calls that ran in parallel branch the graph: the other records of a message on the path, and the
  results below them, are put back behind the message's last record on the path.

Records behind the leaf that are no messages (attachments, echoes of commands) extend the path in
a straight line: they are part of the next request.

A record on the straight line costs O(1); a branch costs its own length; only anomalies (a parent
that comes late, a changed record) derive the path anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


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
    """Place in the file."""
    pin: int = 0
    """The newest pointer that it stands below."""


class Change(Enum):
    """What a record did to the surface."""

    NONE = "none"
    APPENDED = "appended"
    """Its nodes follow at the end, or stand there already."""
    REBUILT = "rebuilt"
    """The surface is another; :attr:`Chain.nodes` has it."""


class Chain:
    """The graph of one session and the surface that follows from it."""

    def __init__(self) -> None:
        self.nodes: list[int] = []
        """The surface. Read-only for others."""
        self.before: list[int] = []
        """After :attr:`Change.REBUILT`: the surface as it stood until then."""
        self.boundary: Row | None = None
        """The compaction boundary at which the path is cut."""
        self._rows: dict[str, Row] = {}
        self._file: list[Row] = []
        self._groups: dict[str, list[Row]] = {}
        self._results: dict[str, list[Row]] = {}
        self._path: list[Row] = []
        self._at: dict[str, int] = {}
        self._before: list[int] = []
        self._tip: Row | None = None
        self._leaf: Row | None = None
        self._segment_end = 0
        self._missing: set[str] = set()
        self._pin = 0
        self._pointer = -1
        self._waiting: dict[str, int] = {}

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._rows

    def row(self, uuid: str) -> Row | None:
        """The record of this id, if the file holds it."""
        return self._rows.get(uuid)

    def dangling(self, row: Row) -> bool:
        """Whether the record names a parent that the file does not hold."""
        return row.parent is not None and row.parent not in self._rows

    def awaited(self, uuid: str) -> bool:
        """Whether an earlier record named this one as its parent."""
        return uuid in self._missing

    def cyclic(self, row: Row) -> bool:
        """Whether the record closes a cycle. Only one that was awaited as a parent can."""
        seen: set[str] = set()
        current: Row | None = row
        while current is not None and current.parent is not None:
            if current.parent == row.uuid:
                return True
            if current.uuid in seen:
                return False
            seen.add(current.uuid)
            current = self._rows.get(current.parent)
        return False

    def add(self, row: Row) -> Change:
        """Take the next record of the file. A known id replaces the record where it stood."""
        known = self._rows.get(row.uuid)
        if known is not None:
            return self._revise(known, row)
        row.order = len(self._file)
        self._index(row)
        late = row.uuid in self._missing
        self._missing.discard(row.uuid)
        if self.dangling(row) and row.parent is not None:
            self._missing.add(row.parent)
        if self._below_pointer(row):
            row.pin = self._pin
        pointer = self._waiting.pop(row.uuid, None) if self._waiting else None
        if pointer is not None and pointer > self._pointer:
            self._point(row, pointer)
            return self._derive(row)
        if late:
            self._mark_below()
            return self._derive(row)
        if not row.message:
            return self._trail(row)
        if row.pin != self._pin:
            # It cannot be the leaf, but may belong to a message that stands.
            start = self._first_affected(len(self._path), [row])
            return self._rebuild(start, row) if start < len(self._path) else Change.NONE
        self._leaf = row
        if self._straight(row):
            return self._extend(row)
        return self._branch(row)

    def point(self, uuid: str, order: int) -> Change:
        """A ``last-prompt`` record at place ``order`` of the file points to this record."""
        row = self._rows.get(uuid)
        if row is None:
            self._waiting[uuid] = order
            return Change.NONE
        before = self._leaf
        self._point(row, order)
        return Change.NONE if self._leaf is before else self._derive(None)

    def _index(self, row: Row) -> None:
        self._rows[row.uuid] = row
        self._file.append(row)
        if row.group is not None:
            self._groups.setdefault(row.group, []).append(row)
        if row.result and row.parent is not None:
            self._results.setdefault(row.parent, []).append(row)

    def _revise(self, known: Row, row: Row) -> Change:
        row.order, row.pin = known.order, known.pin
        self._file[row.order] = row
        self._rows[row.uuid] = row
        if known.group is not None:
            self._groups[known.group].remove(known)
        if known.result and known.parent is not None:
            self._results[known.parent].remove(known)
        if row.group is not None:
            _insert(self._groups.setdefault(row.group, []), row)
        if row.result and row.parent is not None:
            _insert(self._results.setdefault(row.parent, []), row)
        if row.parent is not None and row.parent not in self._rows:
            self._missing.add(row.parent)
        self._mark_below()
        return self._derive(row)

    # The pointer

    def _below_pointer(self, row: Row) -> bool:
        parent = self._rows.get(row.parent or row.continues or "")
        return parent is not None and parent is not row and parent.pin == self._pin

    def _point(self, row: Row, order: int) -> None:
        self._pointer = order
        self._pin += 1
        row.pin = self._pin
        self._leaf = row
        for later in self._file[row.order + 1 :]:
            if self._below_pointer(later):
                later.pin = self._pin
                if later.message:
                    self._leaf = later

    def _mark_below(self) -> None:
        """Find the leaf anew, whatever the order in which parents came."""
        if not self._pin:
            self._leaf = next((row for row in reversed(self._file) if row.message), None)
            return
        grew = True
        while grew:
            grew = False
            for row in self._file:
                if row.pin != self._pin and self._below_pointer(row):
                    row.pin = self._pin
                    grew = True
        messages = (row for row in reversed(self._file) if row.message and row.pin == self._pin)
        self._leaf = next(messages, self._leaf)

    # The straight line

    def _trail(self, row: Row) -> Change:
        tip = self._tip
        if row.boundary or (tip is not None and row.parent != tip.uuid):
            return Change.NONE
        return self._extend(row)

    def _straight(self, row: Row) -> bool:
        tip = self._tip
        if tip is None:
            return row.parent not in self._rows
        if row.parent != tip.uuid or tip.boundary:
            return False
        anchors = self.boundary and self.boundary.segment and self.boundary.segment[1] == row.uuid
        return not anchors and self._whole(row)

    def _whole(self, row: Row) -> bool:
        """Whether nothing of the record's message stands off the path."""
        if row.group is None:
            return True
        return all(
            member is row
            or (
                member.uuid in self._at
                and all(r.uuid in self._at for r in self._results.get(member.uuid, ()))
            )
            for member in self._groups[row.group]
        )

    def _extend(self, row: Row) -> Change:
        self._at[row.uuid] = len(self._path)
        self._path.append(row)
        self._before.append(len(self.nodes))
        self._tip = row
        members = [] if row.group is None else self._groups[row.group]
        standing = {node for member in members if member is not row for node in member.nodes}
        self.nodes.extend(node for node in row.nodes if node not in standing)
        return Change.APPENDED

    # Branches

    def _branch(self, row: Row) -> Change:
        added: list[Row] = []
        seen: set[str] = set()
        current: Row | None = row
        while current is not None and current.uuid not in self._at:
            if current.boundary or current.uuid in seen:
                return self._derive(row)
            seen.add(current.uuid)
            added.append(current)
            current = self._rows.get(current.parent) if current.parent else None
        if current is None or self._at[current.uuid] < self._segment_end:
            return self._derive(row)
        added.reverse()
        fork = self._at[current.uuid] + 1
        removed = self._path[fork:]
        start = self._first_affected(fork, [*removed, *added])
        for gone in removed:
            del self._at[gone.uuid]
        del self._path[fork:]
        for offset, new in enumerate(added, fork):
            self._at[new.uuid] = offset
            self._path.append(new)
        self._tip = row
        return self._rebuild(start, row)

    def _first_affected(self, fork: int, changed: Sequence[Row]) -> int:
        """The first place of the path from which nodes can stand elsewhere than before."""
        start = fork
        for row in changed:
            start = min(start, self._first_place(row))
            if row.result:
                parent = self._rows.get(row.parent or "")
                if parent is not None:
                    start = min(start, self._first_place(parent))
        place = fork - 1
        while place >= start:
            start = min(start, self._first_place(self._path[place]))
            place -= 1
        return start

    def _first_place(self, row: Row) -> int:
        far = len(self._path)
        own = self._at.get(row.uuid, far)
        if row.group is None:
            return own
        return min((self._at.get(r.uuid, far) for r in self._groups[row.group]), default=own)

    def _derive(self, row: Row | None) -> Change:
        """The whole path from the leaf."""
        path: list[Row] = []
        seen: set[str] = set()
        current = self._leaf
        boundary: Row | None = None
        while current is not None and current.uuid not in seen:
            if current.boundary:
                boundary = current
                break
            seen.add(current.uuid)
            path.append(current)
            current = self._rows.get(current.parent) if current.parent else None
        path.reverse()
        self._segment_end = 0
        if boundary is not None and boundary.segment is not None:
            path = self._with_segment(path, boundary.segment)
        tip = self._leaf
        start = 0 if tip is None else tip.order + 1
        for later in self._file[start:]:
            if later.message or later.boundary:
                continue
            if tip is None or later.parent == tip.uuid:
                tip = later
                path.append(later)
        self._path, self._tip, self.boundary = path, tip, boundary
        self._at = {row.uuid: place for place, row in enumerate(path)}
        return self._rebuild(0, row)

    def _with_segment(self, path: list[Row], segment: tuple[str, str, str]) -> list[Row]:
        head, anchor, tail = segment
        place = next((i for i, row in enumerate(path, 1) if row.uuid == anchor), None)
        if place is None:
            return path
        on_path = {row.uuid for row in path}
        kept: list[Row] = []
        current = self._rows.get(tail)
        while current is not None and current.uuid not in on_path:
            on_path.add(current.uuid)
            kept.append(current)
            if current.uuid == head:
                break
            current = self._rows.get(current.parent) if current.parent else None
        kept.reverse()
        self._segment_end = place + len(kept)
        return [*path[:place], *kept, *path[place:]]

    def _rebuild(self, start: int, row: Row | None) -> Change:
        """Make the nodes of the path anew from this place on."""
        keep = self._before[start] if start < len(self._before) else len(self.nodes)
        if start == 0:
            keep = 0
        old = self.nodes[keep:]
        del self._before[start:]
        new: list[int] = []
        emitted: set[int] = set()
        last = self._last_of_groups(start)
        for place in range(start, len(self._path)):
            current = self._path[place]
            self._before.append(keep + len(new))
            rows = [current]
            if current.group is not None and last[current.group] == place:
                rows.extend(self._off_path(current.group))
            for sent in rows:
                for node in sent.nodes:
                    if node not in emitted:
                        emitted.add(node)
                        new.append(node)
        self.nodes[keep:] = new
        fresh = [] if row is None else [node for node in row.nodes if node not in old]
        if new == old:
            return Change.NONE if fresh else Change.APPENDED
        if fresh and new == [*old, *fresh]:
            return Change.APPENDED
        self.before = [*self.nodes[:keep], *old]
        return Change.REBUILT

    def _last_of_groups(self, start: int) -> dict[str, int]:
        return {
            row.group: place
            for place, row in enumerate(self._path[start:], start)
            if row.group is not None
        }

    def _off_path(self, group: str) -> list[Row]:
        members = self._groups[group]
        siblings = [row for row in members if row.uuid not in self._at]
        results = [
            result
            for member in members
            for result in self._results.get(member.uuid, ())
            if result.uuid not in self._at
        ]
        results.sort(key=_order)
        return [*siblings, *results]


def _order(row: Row) -> int:
    return row.order


def _insert(rows: list[Row], row: Row) -> None:
    rows.append(row)
    rows.sort(key=_order)
