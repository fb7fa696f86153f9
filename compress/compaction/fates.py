"""What becomes of every node, as runs: a preview of a million nodes has a handful of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, overload

from compress.events import NodeId
from compress.measured import (
    ASSISTANT,
    CHECKPOINT,
    CONTEXT,
    RESULT,
    STEERING,
    TYPE_MASK,
    USER,
    Measured,
)

Fate = Literal["kept", "pinned", "shadowed", "receipt", "reduced"]

MERGED = "checkpoint merged"
RULES: Mapping[int, str] = {
    USER: "user's words: verbatim, headline or pointer",
    STEERING: "user's words: verbatim, headline or pointer",
    ASSISTANT: "calls, closing words, names",
    RESULT: "outcome, errors, names",
    CONTEXT: "rules, names",
}
"""By which rule the nodes of a type stand in a summary."""


@dataclass(frozen=True, slots=True)
class NodeFate:
    """What becomes of one node, and by which rule. Counted tokens."""

    node: NodeId
    fate: Fate
    rule: str
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class FateRun:
    """Nodes ``start`` … ``stop - 1`` of the surface, which share a fate. Counted tokens of all of
    them together."""

    start: int
    stop: int
    fate: Fate
    rule: str | None
    """``None``: it follows from the type of each node."""
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class Mark:
    """The fate of one node that does not share its neighbours'. ``after``: its tokens then;
    ``None``: as before."""

    fate: Fate
    rule: str
    after: int | None = None


class Fates(Sequence[NodeFate]):
    """Of every node of a surface, in its order. A node's own fate is made when it is asked for."""

    def __init__(self, measured: Measured, runs: Sequence[FateRun]) -> None:
        self.nodes = measured.nodes
        self.runs: tuple[FateRun, ...] = tuple(runs)
        self._measured = measured
        self._starts = [run.start for run in self.runs]

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, index: int) -> NodeFate: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[NodeFate, ...]: ...
    def __getitem__(self, index: int | slice) -> NodeFate | tuple[NodeFate, ...]:
        if isinstance(index, slice):
            return tuple(self[position] for position in range(*index.indices(len(self))))
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(index)
        return self._of(self.runs[bisect_right(self._starts, position) - 1], position)

    def __iter__(self) -> Iterator[NodeFate]:
        for run in self.runs:
            for position in range(run.start, run.stop):
                yield self._of(run, position)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Fates):
            return (self.runs, self.nodes) == (other.runs, other.nodes) and (
                self._measured.tokens == other._measured.tokens
                and self._measured.kinds == other._measured.kinds
            )
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Fates({len(self)} nodes, {self.runs!r})"

    @cached_property
    def shadowed(self) -> int:
        """How many nodes are shadowed."""
        return sum(run.stop - run.start for run in self.runs if run.fate == "shadowed")

    def _of(self, run: FateRun, position: int) -> NodeFate:
        before = self._measured.tokens[position]
        after = before if run.fate in ("kept", "pinned") else 0
        if run.stop - run.start == 1:
            after = run.tokens_after
        rule = _rule(self._measured.kinds[position]) if run.rule is None else run.rule
        return NodeFate(self.nodes[position], run.fate, rule, before, after)


def runs_of(
    measured: Measured,
    region: tuple[int, int] | None,
    marks: Mapping[int, Mark],
    kept: str,
    *,
    tail: tuple[int, str] | None = None,
) -> Iterator[FateRun]:
    """The runs of a surface: a region is shadowed, every other node is kept by the rule ``kept``,
    and a marked node has its own fate. ``tail``: from this position on another rule keeps."""
    start, stop = region or (0, 0)
    cuts = {0, len(measured), start, stop} | ({tail[0]} if tail else set())
    for position in marks:
        cuts.update((position, position + 1))
    edges = sorted(cuts)
    for first, last in pairwise(edges):
        before = measured.weight(first, last)
        mark = marks.get(first)
        if mark is not None:
            after = before if mark.after is None else mark.after
            yield FateRun(first, last, mark.fate, mark.rule, before, after)
        elif start <= first < stop:
            yield FateRun(first, last, "shadowed", None, before, 0)
        else:
            rule = tail[1] if tail and first >= tail[0] else kept
            yield FateRun(first, last, "kept", rule, before, before)


def _rule(kind: int) -> str:
    return MERGED if kind & CHECKPOINT else RULES.get(kind & TYPE_MASK, "summarised")
