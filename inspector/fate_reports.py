"""The fates of a preview as a report lists them: each is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from pydantic import BaseModel, ConfigDict

from compress.compaction import fates as engine
from compress.compaction.fates import Fate, FateRun, Fates
from compress.events import NodeId


class NodeFate(BaseModel):
    """What becomes of one node, and by which rule. Counted tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    seq: NodeId
    fate: Fate
    rule: str
    tokens_before: int
    tokens_after: int


class ReportedFates(Sequence[NodeFate]):
    """The fate of every row of the surface before, in its order."""

    def __init__(self, fates: Fates) -> None:
        self._fates = fates

    @property
    def runs(self) -> tuple[FateRun, ...]:
        """Rows that share a fate, together."""
        return self._fates.runs

    @property
    def shadowed(self) -> int:
        """How many nodes are shadowed."""
        return self._fates.shadowed

    def __len__(self) -> int:
        return len(self._fates)

    @overload
    def __getitem__(self, index: int) -> NodeFate: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[NodeFate, ...]: ...
    def __getitem__(self, index: int | slice) -> NodeFate | tuple[NodeFate, ...]:
        if isinstance(index, slice):
            return tuple(_reported(fate) for fate in self._fates[index])
        return _reported(self._fates[index])

    def __iter__(self) -> Iterator[NodeFate]:
        return map(_reported, self._fates)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ReportedFates):
            return self._fates == other._fates
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._fates)


def fate_runs(nodes: Sequence[NodeFate]) -> tuple[FateRun, ...]:
    """The runs of any list of reported fates; of a plain one, a run a node."""
    if isinstance(nodes, ReportedFates):
        return nodes.runs
    return tuple(
        FateRun(at, at + 1, node.fate, node.rule, node.tokens_before, node.tokens_after)
        for at, node in enumerate(nodes)
    )


def _reported(fate: engine.NodeFate) -> NodeFate:
    return NodeFate.model_construct(
        seq=fate.node,
        fate=fate.fate,
        rule=fate.rule,
        tokens_before=fate.tokens_before,
        tokens_after=fate.tokens_after,
    )
