"""The two sides of a compaction: every node with its fate, and what would stand after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType

from compress.events import NodeId
from inspector.reports import CompactionReport, Fate, NodeFate, NodeReport
from inspector.sanitize import line
from inspector.views import SurfaceView
from inspector.widgets import figures
from inspector.widgets.line_list import LineList
from inspector.widgets.surface_list import label_of
from inspector.widgets.tones import Cells, pad

FATES: dict[Fate, tuple[str, str]] = {
    "kept": ("═", "muted"),
    "pinned": ("★", "accent"),
    "shadowed": ("−", "hot"),
    "receipt": ("∅", "warm"),
    "reduced": ("≈", "warm"),
}
"""A fate's sign and tone."""


@dataclass(frozen=True, slots=True)
class FateLine:
    """One row of either side."""

    node: NodeReport | None
    fate: NodeFate | None
    """``None`` on the left for a node that the preview does not name: it is kept. On the right,
    with no node either: the new checkpoint."""
    inside: bool = False
    """Within the region."""


class Before:
    """The surface, each node beside its fate. ``region`` is shown where there is no report."""

    def __init__(
        self,
        view: SurfaceView,
        report: CompactionReport | None,
        region: tuple[NodeId, NodeId] | None = None,
    ) -> None:
        self.view = view
        fates = report.nodes if report is not None else ()
        self._fates: dict[NodeId, NodeFate] = {fate.seq: fate for fate in fates}
        if report is not None and report.region is not None:
            region = (report.region.start, report.region.end)
        first, last = (view.index_of(seq) for seq in region) if region else (None, None)
        self.region = (first, last) if first is not None and last is not None else None

    def __len__(self) -> int:
        return len(self.view)

    def rows(self, start: int, stop: int) -> Sequence[FateLine]:
        return [
            FateLine(node, self._fates.get(node.seq), self._inside(start + offset))
            for offset, node in enumerate(self.view.rows(start, stop))
        ]

    def _inside(self, row: int) -> bool:
        return self.region is not None and self.region[0] <= row <= self.region[1]


class After:
    """What would stand: the checkpoint at the place of its region, and all that is not shadowed.

    Costs the length of the region, so it is built off the UI thread.
    """

    def __init__(self, view: SurfaceView, report: CompactionReport) -> None:
        self._view = view
        self._fates: dict[NodeId, NodeFate] = {fate.seq: fate for fate in report.nodes}
        region = Before(view, report).region
        self._first, self._last = region if region is not None else (0, -1)
        self._middle = [
            row
            for row, node in enumerate(view.rows(self._first, self._last + 1), self._first)
            if node.seq not in self._fates or self._fates[node.seq].fate != "shadowed"
        ]
        self.checkpoint = self._first if region is not None and report.summary else None
        """The row of the new checkpoint; ``None`` where none is made."""
        if self.checkpoint is not None:
            self._middle.insert(0, -1)

    def __len__(self) -> int:
        return len(self._view) - (self._last + 1 - self._first) + len(self._middle)

    def rows(self, start: int, stop: int) -> Sequence[FateLine]:
        return [self._line(index) for index in range(start, min(stop, len(self)))]

    def place_of(self, row: int) -> int:
        """Where a row of the left side stands here; for a shadowed one, its checkpoint."""
        if row < self._first:
            return row
        if row > self._last:
            return row - (self._last + 1 - self._first) + len(self._middle)
        return self._first + (self._middle.index(row) if row in self._middle else 0)

    def _line(self, index: int) -> FateLine:
        row = index
        if index >= self._first + len(self._middle):
            row = index - len(self._middle) + self._last + 1 - self._first
        elif index >= self._first:
            row = self._middle[index - self._first]
        if row < 0:
            return FateLine(None, None, inside=True)
        node = self._view.rows(row, row + 1)[0]
        return FateLine(node, self._fates.get(node.seq))


class BeforeList(LineList[FateLine]):
    """The left side."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "select", "Select", show=False, tooltip="begin a selection, or drop it"),
        Binding("shift+up,K", "extend(-1)", "Extend up", False, tooltip="grow the selection"),
        Binding("shift+down,J", "extend(1)", "Extend down", False, tooltip="grow the selection"),
    ]

    def paint(self, row: FateLine, index: int, width: int) -> Cells:
        node = row.node
        if node is None:
            return []
        fate = row.fate.fate if row.fate else "kept"
        sign, tone = FATES[fate]
        rule = row.fate.rule if row.fate and fate != "kept" else ""
        edge = "│" if row.inside else " "
        icon, label, label_tone = label_of(node)
        dim = "muted" if fate == "shadowed" else "text"
        wide = width >= 70
        cells: Cells = [
            (edge, "accent"),
            (pad(figures.event_name(node.seq), 6, right=True) + " ", "muted"),
            (f"{sign} ", tone),
            (f"{icon} ", label_tone),
        ]
        room = width - 19
        if wide:
            cells.append((pad(line(label, 10), 11), label_tone))
            room -= 11
        note = line(rule, 22 if wide else 0)
        room -= len(note) + 1 if note else 0
        cells.append((pad(line(node.headline, room), room), dim))
        if note:
            cells.append((f" {note}", tone))
        cells.append((pad(figures.tokens(node.tokens), 7, right=True), dim))
        return cells


class AfterList(LineList[FateLine]):
    """The right side."""

    summary_tokens: int = 0
    shadowed: int = 0
    """Nodes that the new checkpoint stands for."""

    def paint(self, row: FateLine, index: int, width: int) -> Cells:
        node = row.node
        room = width - 18
        if node is None:
            text = line(f"new checkpoint for {figures.counted(self.shadowed, 'node')}", room)
            return [
                ("    new ", "accent"),
                ("▣ ", "checkpoints"),
                (pad(text, room + 1), "checkpoints"),
                (pad(figures.tokens(self.summary_tokens), 7, right=True), "text"),
            ]
        icon, _, tone = label_of(node)
        fate = row.fate.fate if row.fate else "kept"
        sign, sign_tone = FATES[fate]
        tokens = row.fate.tokens_after if row.fate else node.tokens
        return [
            (pad(figures.event_name(node.seq), 6, right=True) + " ", "muted"),
            (f"{sign if fate != 'kept' else ' '}", sign_tone),
            (f"{icon} ", tone),
            (pad(line(node.headline, room), room + 1), "text"),
            (pad(figures.tokens(tokens), 7, right=True), "text"),
        ]
