"""The two sides of a compaction: every node with its fate, and what would stand after."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType

from inspector.messages import RegionDragged, Scrolled
from inspector.reports import Fate
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.fate_rows import FateLine
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
KEPT_HERE = ("☆", "accent")
"""Kept in this one operation."""
GUTTER = 2
"""Cells at the left, cursor mark included, by which the mouse takes hold of an edge."""


class _Side(LineList[FateLine]):
    """A side tells when it scrolls, and can be dimmed while new figures are computed."""

    stale: bool = False
    led_to: int | None = None
    """Where the other side has scrolled this one: to arrive there is no news."""

    def dim(self, stale: bool) -> None:
        """Whether what is shown is no longer what was asked for."""
        if self.stale != stale:
            self.stale = stale
            self.repaint()

    def lead(self, y: int) -> None:
        """Scroll to where the other side is."""
        y = min(max(y, 0), self.max_scroll_y)
        if y != self.scroll_offset.y:
            self.led_to = y
            self.scroll_to(y=y, animate=False, immediate=True, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.led_to == round(new_value):
            self.led_to = None
        elif round(old_value) != round(new_value):
            self.post_message(Scrolled(self))

    def faded(self, cells: Cells) -> Cells:
        """The cells as they are, or dimmed."""
        return [(text, "faint") for text, _ in cells] if self.stale else cells


class BeforeList(_Side):
    """The left side: the surface as it stands, with the region in its gutter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "select", "Select", show=False, tooltip="begin a selection, or drop it"),
        Binding("shift+up,K", "extend(-1)", "Extend up", False, tooltip="grow the selection"),
        Binding("shift+down,J", "extend(1)", "Extend down", False, tooltip="grow the selection"),
    ]

    marked: tuple[int, int] | None = None
    """First and last row of the region."""
    kept: frozenset[object] = frozenset()
    """Seqs of the nodes that are kept in this one operation."""
    _edge: str = ""
    """The edge that the mouse holds."""

    def mark(self, region: tuple[int, int] | None, kept: frozenset[object]) -> None:
        """Take another region, or other nodes to keep."""
        if (region, kept) != (self.marked, self.kept):
            self.marked, self.kept = region, kept
            self.repaint()

    def paint(self, row: FateLine, index: int, width: int) -> Cells:
        node = row.node
        if node is None:
            return []
        fate = row.fate.fate if row.fate else "kept"
        sign, tone = KEPT_HERE if node.seq in self.kept else FATES[fate]
        rule = row.fate.rule if row.fate and fate != "kept" else ""
        icon, label, label_tone = label_of(node)
        dim = "muted" if fate == "shadowed" else "text"
        wide = width >= 70
        cells: Cells = [
            (pad(figures.event_name(node.seq), 6, right=True) + " ", "muted"),
            (f"{sign} ", tone),
            (f"{icon} ", label_tone),
        ]
        room = max(width - 19, 0)
        if wide:
            cells.append((pad(line(label, 10), 11), label_tone))
            room -= 11
        note = line(rule, 22 if wide else 0)
        room -= cell_len(note) + 1 if note else 0
        cells.append((pad(line(node.headline, room), room), dim))
        if note:
            cells.append((f" {note}", tone))
        cells.append((pad(figures.tokens(node.tokens), 7, right=True), dim))
        return [(self._gutter(index), "accent"), *self.faded(cells)]

    def _gutter(self, index: int) -> str:
        if self.marked is None or not self.marked[0] <= index <= self.marked[1]:
            return " "
        if self.marked[0] == self.marked[1]:
            return "╶"
        return {self.marked[0]: "┌", self.marked[1]: "└"}.get(index, "│")

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """On the gutter of the region's first or last row: take hold of that edge."""
        index, offset = self._under(event), event.get_content_offset(self)
        if index is None or offset is None or offset.x >= GUTTER or self.marked is None:
            return
        if index in self.marked:
            self._edge = "end" if index == self.marked[1] else "start"
            self.capture_mouse()
            event.prevent_default()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        index = self._under(event) if self._edge else None
        if index is None or self.marked is None:
            return
        first, last = self.marked
        moved = (min(index, last), last) if self._edge == "start" else (first, max(index, first))
        self.mark(moved, self.kept)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """What was dragged, by an edge or from row to row, is the region now."""
        rows = self.marked if self._edge else self.selection
        self._edge = ""
        if rows is not None:
            self.pivot = None
            self.post_message(RegionDragged(self, *rows))


class AfterList(_Side):
    """The right side: what would stand."""

    summary_tokens: int = 0
    shadowed: int = 0
    """Nodes that the new checkpoint stands for."""

    def paint(self, row: FateLine, index: int, width: int) -> Cells:
        return self.faded(self._cells(row, width))

    def _cells(self, row: FateLine, width: int) -> Cells:
        node = row.node
        room = max(width - 18, 0)
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
