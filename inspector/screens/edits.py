"""What a person wants of a compaction, edit by edit: pure values, no widget."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from compress.events import NodeId
from inspector.reports import CompactionMode
from inspector.views import SurfaceView

Edge = Literal["start", "end"]
Ends = tuple[NodeId, NodeId]

MODES: tuple[CompactionMode, ...] = ("region", "auto", "micro")
BUDGETS = (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
"""Summary tokens that ``+`` and ``-`` step through."""

_PAGE = 64
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(k?)", re.IGNORECASE)


class BudgetWordsError(ValueError):
    """Words that name no budget; the message says what would."""


@dataclass(frozen=True, slots=True)
class Edits:
    """One wish. A change gives a new one."""

    mode: CompactionMode = "auto"
    span: Ends | None = None
    """The region's first and last node, in mode ``region``."""
    budget: int | None = None
    """Counted tokens of the summary; ``None``: the default."""
    keep: tuple[NodeId, ...] = ()
    """Nodes to keep in this one operation."""

    def with_region(self, ends: Ends) -> Edits:
        """This region, whatever the mode was."""
        return replace(self, mode="region", span=ends)

    def with_mode_after(self) -> Edits:
        """The next mode."""
        return replace(self, mode=MODES[(MODES.index(self.mode) + 1) % len(MODES)])

    def with_budget_step(self, by: int, now: int) -> Edits:
        """The next larger or smaller step from the budget in force, which is ``now`` by default."""
        budget = self.budget or now
        others = [size for size in BUDGETS if (size > budget if by > 0 else size < budget)]
        if not others:
            return self
        return replace(self, budget=others[0] if by > 0 else others[-1])

    def with_kept(self, nodes: Iterable[NodeId]) -> Edits:
        """These nodes kept; where all of them are already, none of them any more."""
        named = tuple(nodes)
        if all(node in self.keep for node in named):
            return replace(self, keep=tuple(node for node in self.keep if node not in named))
        return replace(self, keep=tuple(dict.fromkeys((*self.keep, *named))))


@dataclass(frozen=True, slots=True)
class Snapped:
    """A region by row, moved out to balanced boundaries; which edges moved to get there."""

    first: int
    last: int
    moved: tuple[Edge, ...] = ()


def moved_edge(rows: tuple[int, int] | None, edge: Edge, row: int) -> tuple[int, int]:
    """The region with one edge at ``row``. An edge that passes the other takes it along."""
    first, last = rows or (row, row)
    if edge == "start":
        return row, max(last, row)
    return min(first, row), row


def nearer_edge(rows: tuple[int, int], row: int) -> Edge:
    """The edge that stands nearer to a row."""
    return "start" if abs(row - rows[0]) <= abs(row - rows[1]) else "end"


def snapped(view: SurfaceView, first: int, last: int) -> Snapped:
    """The smallest region around these rows that cuts no unit: a call stays with its result."""
    first, last = min(first, last), max(first, last)
    start, stop = unit_of(view, first)[0], unit_of(view, last)[1]
    ends: tuple[tuple[Edge, bool], ...] = (("start", start != first), ("end", stop != last))
    return Snapped(start, stop, tuple(edge for edge, was_moved in ends if was_moved))


def next_unit(view: SurfaceView, row: int, edge: Edge, by: int) -> int:
    """Where an edge at ``row`` stands one unit further, down where ``by`` is positive."""
    start, stop = unit_of(view, row)
    beyond = stop + 1 if by > 0 else start - 1
    if not 0 <= beyond < len(view):
        return row
    unit = unit_of(view, beyond)
    return unit[0] if edge == "start" else unit[1]


def unit_of(view: SurfaceView, row: int) -> tuple[int, int]:
    """First and last row of the unit that a row is part of."""
    unit = view.rows(row, row + 1)[0].unit
    if unit is None:
        return row, row
    first = last = row
    while first > 0:
        page = view.rows(max(first - _PAGE, 0), first)
        same = _run(node.unit for node in reversed(page)).count(unit)
        first -= same
        if same < len(page):
            break
    while last + 1 < len(view):
        page = view.rows(last + 1, last + 1 + _PAGE)
        same = _run(node.unit for node in page).count(unit)
        last += same
        if same < len(page):
            break
    return first, last


def _run(units: Iterable[int | None]) -> list[int | None]:
    """The units up to the first that differs from the first."""
    found: list[int | None] = []
    for unit in units:
        if found and unit != found[0]:
            break
        found.append(unit)
    return found


def budget_of(words: str) -> int | None:
    """The tokens that words like ``8192``, ``8,192`` or ``8k`` mean; ``None`` for none.

    Raises :class:`BudgetWordsError`.
    """
    plain = words.replace(",", "").replace("_", "").strip()
    if not plain:
        return None
    found = _NUMBER.fullmatch(plain)
    size = round(float(found[1]) * (1_000 if found[2] else 1)) if found else 0
    if not 0 < size <= 1_000_000:
        raise BudgetWordsError(
            "A budget is a number of tokens, as 4096 or 8k; nothing means the default."
        )
    return size
