"""The rows of both sides of a compaction, made by the page from runs of like fates."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inspector.reports import CompactionReport, Fate, NodeFate, NodeReport, fate_runs
from inspector.views import SurfaceView

STAYS: frozenset[Fate] = frozenset({"kept", "pinned", "receipt", "reduced"})
"""Fates that leave a node, or what stands for it, at its place."""


@dataclass(frozen=True, slots=True)
class FateLine:
    """One row of either side."""

    node: NodeReport | None
    """``None`` for the new checkpoint."""
    fate: NodeFate | None = None
    """``None`` for a node that the preview does not speak of: it is kept."""


class Before:
    """The surface, each node beside its fate."""

    def __init__(self, view: SurfaceView, report: CompactionReport | None) -> None:
        self.view = view
        self._fates: Sequence[NodeFate] = report.nodes if report is not None else ()

    def __len__(self) -> int:
        return len(self.view)

    def rows(self, start: int, stop: int) -> Sequence[FateLine]:
        return _lines(self.view, self._fates, start, min(stop, len(self)))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Rows that stand together on both sides. ``row`` is ``None`` for the new checkpoint."""

    place: int
    row: int | None
    count: int


class After:
    """What would stand: the checkpoint at the place of its region, and all that is not shadowed.

    Costs what the report has runs of like fates.
    """

    def __init__(self, view: SurfaceView, report: CompactionReport) -> None:
        self._view = view
        self._fates: Sequence[NodeFate] = report.nodes
        region = report.region
        first = view.index_of(region.start) if region is not None else None
        self._first = first if report.summary is not None else None
        self._stretches = list(self._laid_out())
        last = self._stretches[-1] if self._stretches else _Stretch(0, 0, 0)
        self._length = last.place + last.count
        self._places = [stretch.place for stretch in self._stretches]
        self._rows = [
            (self._first or 0) if stretch.row is None else stretch.row
            for stretch in self._stretches
        ]
        self.checkpoint = next((s.place for s in self._stretches if s.row is None), None)
        """The row of the new checkpoint; ``None`` where none is made."""
        self.shadowed = len(view) - sum(s.count for s in self._stretches if s.row is not None)
        """How many nodes the surface loses."""

    def __len__(self) -> int:
        return self._length

    def rows(self, start: int, stop: int) -> Sequence[FateLine]:
        lines: list[FateLine] = []
        place, stop = max(start, 0), min(stop, self._length)
        while place < stop:
            stretch = self._stretches[bisect_right(self._places, place) - 1]
            upto = min(stop, stretch.place + stretch.count)
            if stretch.row is None:
                lines.append(FateLine(None))
            else:
                row = stretch.row + place - stretch.place
                lines += _lines(self._view, self._fates, row, row + upto - place)
            place = upto
        return lines

    def place_of(self, row: int) -> int:
        """Where a row of the left side stands here; for one that goes, the checkpoint, else what
        stands before it."""
        if not self._stretches:
            return 0
        stretch = self._stretches[max(bisect_right(self._rows, row) - 1, 0)]
        if stretch.row is not None and row < stretch.row + stretch.count:
            return stretch.place + max(row - stretch.row, 0)
        if self.checkpoint is not None:
            return self.checkpoint
        return stretch.place + stretch.count - 1

    def row_of(self, place: int) -> int:
        """The row of the left side that stands at a place here; for the checkpoint, the first of
        its region."""
        if not self._stretches:
            return 0
        stretch = self._stretches[max(bisect_right(self._places, place) - 1, 0)]
        if stretch.row is None:
            return self._first or 0
        return stretch.row + min(place - stretch.place, stretch.count - 1)

    def _laid_out(self) -> Iterator[_Stretch]:
        place = 0
        for row, count in self._pieces():
            yield _Stretch(place, row, count)
            place += count

    def _pieces(self) -> Iterator[tuple[int | None, int]]:
        """What stands, in order: (first row, how many), with the checkpoint among them."""
        waiting = self._first
        for run in fate_runs(self._fates):
            start, stop, fate = run.start, run.stop, run.fate
            cut = start
            if waiting is not None and start <= waiting < stop:
                if fate in STAYS and waiting > start:
                    yield start, waiting - start
                yield None, 1
                cut, waiting = waiting, None
            if fate in STAYS and cut < stop:
                yield cut, stop - cut
        known = len(self._fates)
        if len(self._view) > known:
            # Appended since the preview.
            yield known, len(self._view) - known


def _lines(
    view: SurfaceView, fates: Sequence[NodeFate], start: int, stop: int
) -> Sequence[FateLine]:
    """Rows with their fates; a node that stands elsewhere than the preview knew it has none."""
    nodes = view.rows(start, stop)
    known = fates[start:stop]
    return [
        FateLine(node, known[at] if at < len(known) and known[at].seq == node.seq else None)
        for at, node in enumerate(nodes)
    ]
