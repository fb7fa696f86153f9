"""The surface, one row a node; a checkpoint unfolds to what it shadows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType

from compress.events import NodeId
from inspector.reports import NodeReport
from inspector.sanitize import line
from inspector.views import SurfaceView
from inspector.widgets import figures
from inspector.widgets.line_list import LineList
from inspector.widgets.tones import Cells, pad

SEQ = 7
LABEL = 12
TOKENS = 7
BAR = 8
OVERSIZE = 0.10
"""A node above this share of the window is marked."""


@dataclass(frozen=True, slots=True)
class SurfaceLine:
    """One line of the list: a node that stands, or one that a checkpoint shadows."""

    seq: NodeId
    row: int
    """The node's row on the surface; for a shadowed one, that of its checkpoint."""
    node: NodeReport | None = None
    """``None`` for a shadowed node whose content is not known here."""
    shadowed: bool = False
    unfolded: bool = False


class SurfaceLines:
    """The lines of a surface, some checkpoints unfolded. A line costs O(log unfolded)."""

    def __init__(
        self, view: SurfaceView, unfolded: Mapping[int, Sequence[SurfaceLine]] | None = None
    ) -> None:
        self.view = view
        self._rows = sorted(unfolded or {})
        self._children = [(unfolded or {})[row] for row in self._rows]
        self._starts: list[int] = []
        """Line number of each unfolded checkpoint."""
        extra = 0
        for row, children in zip(self._rows, self._children, strict=True):
            self._starts.append(row + extra)
            extra += len(children)
        self._length = len(view) + extra

    def __len__(self) -> int:
        return self._length

    def rows(self, start: int, stop: int) -> Sequence[SurfaceLine]:
        lines: list[SurfaceLine] = []
        at, stop = start, min(stop, self._length)
        while at < stop:
            row, child, block = self._locate(at)
            if child is not None:
                children = self._children[block][child : child + stop - at]
                lines.extend(children)
                at += len(children)
                continue
            upto = row + stop - at
            if block + 1 < len(self._rows):
                upto = min(upto, self._rows[block + 1])
            opened = block >= 0 and self._rows[block] == row
            if opened:
                upto = row + 1
            nodes = self.view.rows(row, upto)
            lines.extend(
                SurfaceLine(node.seq, row + offset, node, unfolded=opened)
                for offset, node in enumerate(nodes)
            )
            if not nodes:
                break
            at += len(nodes)
        return lines

    def line_of_row(self, row: int) -> int:
        """The line of a standing node."""
        before = bisect_right(self._rows, row - 1)
        return row + sum(len(children) for children in self._children[:before])

    def line_of(self, seq: NodeId) -> int | None:
        """The line of a node, standing or unfolded; ``None`` where it is not shown."""
        row = self.view.index_of(seq)
        if row is not None:
            return self.line_of_row(row)
        for start, children in zip(self._starts, self._children, strict=True):
            for offset, child in enumerate(children):
                if child.seq == seq:
                    return start + 1 + offset
        return None

    def _locate(self, at: int) -> tuple[int, int | None, int]:
        """Surface row, child of its checkpoint or ``None``, and the last block begun by then."""
        block = bisect_right(self._starts, at) - 1
        if block < 0:
            return at, None, block
        offset = at - self._starts[block]
        if 0 < offset <= len(self._children[block]):
            return self._rows[block], offset - 1, block
        if offset == 0:
            return self._rows[block], None, block
        return self._rows[block] + offset - len(self._children[block]), None, block


_ICONS = {
    "user/message": ("❯", "user", "user"),
    "assistant/message": ("◆", "assistant", "assistant"),
    "tool/result": ("└", "result", "tool_results"),
    "context/message": ("§", "context", "instructions"),
    "steering/message": ("»", "steering", "user"),
}


def type_label(kind: str) -> str:
    """A type in one word: ``user`` for ``user/message``."""
    return _ICONS[kind][1] if kind in _ICONS else kind


def label_of(node: NodeReport) -> tuple[str, str, str]:
    """Icon, label and tone of a node."""
    if node.checkpoint is not None:
        return "▣", "checkpoint", "checkpoints"
    icon, label, tone = _ICONS.get(node.type, ("?", node.type, "muted"))
    if node.tool and node.type in ("tool/result", "assistant/message"):
        label = node.tool
        tone = "tool_calls" if node.type == "assistant/message" else tone
    return icon, label, tone


def marks_of(node: NodeReport, window: int | None) -> Cells:
    """What is out of the ordinary about a node, one sign each."""
    cells: Cells = []
    if node.pinned:
        cells.append(("★", "accent"))
    if node.restored:
        cells.append(("↺", "accent"))
    if node.is_error:
        cells.append(("✗", "hot"))
    if node.orphan:
        cells.append(("⚠", "warm"))
    if node.receipt:
        cells.append(("∅", "muted"))
    if window and node.tokens > window * OVERSIZE:
        cells.append(("▲", "warm"))
    return cells


class SurfaceList(LineList[SurfaceLine]):
    """Nodes in surface order."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "select", "Select", show=False, tooltip="begin a selection, or drop it"),
        Binding("shift+up,K", "extend(-1)", "Extend up", False, tooltip="grow the selection"),
        Binding("shift+down,J", "extend(1)", "Extend down", False, tooltip="grow the selection"),
    ]

    window: int | None = None
    """Tokens; over-large nodes are marked against it."""
    largest: int = 1
    """Tokens that fill the bar of a row."""

    def paint(self, row: SurfaceLine, index: int, width: int) -> Cells:
        node = row.node
        seq = pad(figures.event_name(row.seq), SEQ, right=True)
        if node is None:
            return [(f"{seq}  ┊ ", "faint"), (line("shadowed", width - SEQ - 4), "faint")]
        bar = BAR if width >= 64 else 0
        icon, label, tone = label_of(node)
        faint = "faint" if row.shadowed or node.receipt else None
        lead = "┊ " if row.shadowed else ""
        name = line(label, LABEL - 2 - len(lead))
        cells: Cells = [
            (f"{seq} ", faint or "muted"),
            (lead, "rule"),
            (f"{icon} ", faint or tone),
            (pad(name, LABEL - 2 - len(lead)) + " ", faint or tone),
        ]
        marks = marks_of(node, self.window)
        room = max(width - SEQ - 1 - LABEL - 1 - TOKENS - 1 - (bar + 1 if bar else 0), 0)
        if node.checkpoint is not None:
            cells.append(("▾ " if row.unfolded else "▸ ", "checkpoints"))
            room -= 2
        if marks:
            cells += [*marks, (" ", "text")]
            room -= sum(cell_len(sign) for sign, _ in marks) + 1
        text = node.headline
        if node.checkpoint is not None:
            text = f"{len(node.checkpoint.shadowed_seqs):,} shadowed · {text}"
        cells.append((pad(line(text, room), max(room, 0)) + " ", faint or _text_tone(node)))
        if bar:
            share = node.tokens / max(self.largest, 1)
            cells.append((pad(figures.bar(min(share, 1.0), bar), bar) + " ", faint or tone))
        cells.append((pad(figures.tokens(node.tokens), TOKENS, right=True), faint or "text"))
        return cells


def _text_tone(node: NodeReport) -> str:
    if node.is_error:
        return "hot"
    return "muted" if node.type == "tool/result" else "text"


def shadowed_lines(
    past: SurfaceView, shadowed: Sequence[NodeId], checkpoint: int
) -> list[SurfaceLine]:
    """The lines of shadowed nodes, from a surface on which they stood. One that does not stand
    there either is shown by its number alone."""
    places = {seq: past.index_of(seq) for seq in shadowed}
    known = [row for row in places.values() if row is not None]
    first = min(known, default=0)
    nodes = past.rows(first, max(known) + 1) if known else ()
    lines = []
    for seq in shadowed:
        row = places[seq]
        node = nodes[row - first] if row is not None else None
        lines.append(SurfaceLine(seq, checkpoint, node, shadowed=True))
    return lines
