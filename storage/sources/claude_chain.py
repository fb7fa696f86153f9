"""Claude Code's surface: the path through the graph that the agent sends, and its nodes.

The rules are those that reproduce the agent's own requests on resume:

* the path runs from the leaf over ``parentUuid`` to a root, a missing parent or a cycle, through
  records of any type;
* what stands at or before the last compaction boundary on the path is cut; a preserved segment is
  inserted again behind its anchor;
* calls that ran in parallel branch the graph: the other records of a message on the path, and the
  results below them in file order, are put back behind the message's last record on the path;
* all records of a message stand at the place of the first.

Records behind the leaf that are no messages (attachments, echoes of commands) extend the path in
a straight line: they are part of the next request.

A record on the straight line costs O(1), a branch its own length; only anomalies (a parent that
comes late, a changed record) derive the whole path.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from compress.events import Rebase
from storage.sources.claude_graph import Graph, Row, by_order
from storage.sources.draft import rebase


class Change(Enum):
    """What a record did to the surface."""

    NONE = "none"
    APPENDED = "appended"
    """Its nodes follow at the end, or stand there already."""
    REBUILT = "rebuilt"
    """The surface is another; :attr:`Chain.nodes` has it."""


class Chain:
    """The path of one session and the surface that follows from it."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.nodes: list[int] = []
        """The surface. Read-only for others."""
        self.before: list[int] = []
        """After :attr:`Change.REBUILT`: the surface as it stood until then."""
        self.rebuilt_from = 0
        """After :attr:`Change.REBUILT`: the first node that is another."""
        self.boundary: Row | None = None
        """The compaction boundary at which the path is cut."""
        self._path: list[Row] = []
        self._at: dict[str, int] = {}
        self._nodes_before: list[int] = []
        self._tip: Row | None = None
        self._leafless = True
        self._firm_from = 0
        """The first place of the path from which a branch keeps all that stands before it."""

    def add(self, row: Row) -> Change:
        """Take the next record of the file. A known id replaces the record where it stood."""
        if self.graph.take(row) or self._in_segment(row):
            return self._derive(row)
        if row is self.graph.leaf:
            if self._leafless:
                return self._derive(row)
            return self._extend(row) if self._is_straight(row) else self._branch(row)
        if row.message:
            # It cannot be the leaf, but may belong to a message that stands.
            start = self._first_affected(len(self._path), [row])
            return self._rebuild(start, row) if start < len(self._path) else Change.NONE
        trails = self._tip is None or row.parent == self._tip.uuid
        return self._extend(row) if trails and not row.boundary else Change.NONE

    def point(self, uuid: str, place: int) -> Change:
        """A ``last-prompt`` record at this place of the file points to a record."""
        return self._derive(None) if self.graph.point(uuid, place) else Change.NONE

    # The straight line

    def _is_straight(self, row: Row) -> bool:
        tip = self._tip
        on_line = tip is not None and row.parent == tip.uuid and not tip.boundary
        return on_line and self._is_whole(row)

    def _in_segment(self, row: Row) -> bool:
        segment = None if self.boundary is None else self.boundary.segment
        return segment is not None and row.uuid in segment

    def _is_whole(self, row: Row) -> bool:
        """Whether nothing of the record's message stands off the path."""
        if row.group is None:
            return True
        return all(
            member is row
            or (
                member.uuid in self._at
                and all(r.uuid in self._at for r in self.graph.results_below(member))
            )
            for member in self.graph.members(row.group)
        )

    def _extend(self, row: Row) -> Change:
        self._at[row.uuid] = len(self._path)
        self._path.append(row)
        self._nodes_before.append(len(self.nodes))
        self._tip = row
        members = [] if row.group is None else self.graph.members(row.group)
        standing = {node for member in members if member is not row for node in member.nodes}
        self.nodes.extend(node for node in row.nodes if node not in standing)
        return Change.APPENDED

    # Branches

    def _branch(self, row: Row) -> Change:
        if self.graph.cyclic:
            # Where the path begins depends on where one comes from.
            return self._derive(row)
        added: list[Row] = []
        current: Row | None = row
        while current is not None and current.uuid not in self._at:
            if current.boundary or self._in_segment(current):
                return self._derive(row)
            added.append(current)
            current = self.graph.parent(current)
        if current is None or self._at[current.uuid] < self._firm_from:
            return self._derive(row)
        added.reverse()
        fork = self._at[current.uuid] + 1
        removed = self._path[fork:]
        start = self._first_affected(fork, [*removed, *added])
        for gone in removed:
            del self._at[gone.uuid]
        del self._path[fork:]
        for place, new in enumerate(added, fork):
            self._at[new.uuid] = place
            self._path.append(new)
        self._tip = row
        return self._rebuild(start, row)

    def _first_affected(self, fork: int, changed: Sequence[Row]) -> int:
        """The first place of the path from which nodes can stand elsewhere than before, so that
        no message has records on both sides of it."""
        start = fork
        for row in changed:
            start = min(start, self._first_place(row))
            parent = self.graph.parent(row) if row.result else None
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
        return min((self._at.get(r.uuid, far) for r in self.graph.members(row.group)), default=own)

    # From scratch

    def _derive(self, row: Row | None) -> Change:
        """The whole path from the leaf; ``row`` is the record that came, if one did."""
        leaf = self.graph.leaf
        self._leafless = leaf is None
        path: list[Row] = []
        seen: set[str] = set()
        current = leaf
        while current is not None and current.uuid not in seen and not current.boundary:
            seen.add(current.uuid)
            path.append(current)
            current = self.graph.parent(current)
        path.reverse()
        self.boundary = current if current is not None and current.boundary else None
        self._firm_from = 0
        if self.boundary is not None and self.boundary.segment is not None:
            path = self._with_segment(path, self.boundary.segment)
        self._path = path
        self._at = {each.uuid: place for place, each in enumerate(path)}
        self._tip = leaf
        for later in self.graph.file[0 if leaf is None else leaf.order + 1 :]:
            trails = self._tip is None or later.parent == self._tip.uuid
            if trails and not later.message and not later.boundary and later.uuid not in self._at:
                self._tip = later
                self._at[later.uuid] = len(path)
                path.append(later)
        return self._rebuild(0, row)

    def _with_segment(self, path: list[Row], segment: tuple[str, str, str]) -> list[Row]:
        head, anchor, tail = segment
        # Until the whole segment is found behind its anchor, another path may give another one.
        self._firm_from = len(self.graph.file) + 1
        place = next((i for i, row in enumerate(path, 1) if row.uuid == anchor), None)
        if place is None:
            return path
        seen = {row.uuid for row in path}
        kept: list[Row] = []
        current = self.graph.get(tail)
        while current is not None and current.uuid not in seen:
            seen.add(current.uuid)
            kept.append(current)
            if current.uuid == head:
                self._firm_from = place + len(kept)
                break
            current = self.graph.parent(current)
        kept.reverse()
        return [*path[:place], *kept, *path[place:]]

    # Path → nodes

    def _rebuild(self, start: int, row: Row | None) -> Change:
        """Make the nodes of the path anew from this place on."""
        keep = len(self.nodes)
        if start < len(self._nodes_before):
            keep = self._nodes_before[start]
        old = self.nodes[keep:]
        new = self._nodes_from(start, keep)
        self.nodes[keep:] = new
        fresh = [] if row is None else [node for node in row.nodes if node not in old]
        if new == old:
            return Change.NONE if fresh else Change.APPENDED
        if fresh and new == [*old, *fresh]:
            return Change.APPENDED
        self.before = [*self.nodes[:keep], *old]
        same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
        self.rebuilt_from = keep + (min(len(old), len(new)) if same is None else same)
        return Change.REBUILT

    def rebase(self) -> Rebase:
        """The newest rebuilding as a surface operation."""
        first = self.rebuilt_from
        after = self.nodes[first - 1] if first else None
        return rebase(self.nodes[first:], after)

    def _nodes_from(self, start: int, keep: int) -> list[int]:
        del self._nodes_before[start:]
        new: dict[int, None] = {}
        rows = self._path[start:]
        last = {row.group: place for place, row in enumerate(rows) if row.group is not None}
        for place, row in enumerate(rows):
            self._nodes_before.append(keep + len(new))
            new.update(dict.fromkeys(row.nodes))
            if row.group is not None and last[row.group] == place:
                for recovered in self._off_path(row.group):
                    new.update(dict.fromkeys(recovered.nodes))
        return list(new)

    def _off_path(self, group: str) -> list[Row]:
        members = self.graph.members(group)
        results = [
            result
            for member in members
            for result in self.graph.results_below(member)
            if result.uuid not in self._at
        ]
        siblings = [row for row in members if row.uuid not in self._at]
        return [*siblings, *sorted(results, key=by_order)]
