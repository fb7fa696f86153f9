"""Surfaces in memory: some nodes, or a million that exist only while they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compress.events import NodeId
from inspector.reports import (
    NodeReport,
    ProblemReport,
    SessionHeader,
    Track,
    ViewName,
)
from tests.inspector.story import nodes_of_story


@dataclass
class FakeView:
    """A surface of nodes that are all there."""

    session: SessionHeader
    nodes: list[NodeReport]
    track: Track = "agent"
    view: ViewName = "resume"
    at_seq: NodeId | None = 41
    replace_generation: int = 1
    counter: str = "o200k_base"
    problems: tuple[ProblemReport, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(node.tokens for node in self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def rows(self, start: int, stop: int) -> Sequence[NodeReport]:
        return self.nodes[max(start, 0) : stop]

    def index_of(self, seq: NodeId) -> int | None:
        return next((at for at, node in enumerate(self.nodes) if seq in node.events), None)


class MillionView(FakeView):
    """A million nodes that exist only while they are looked at."""

    def __init__(self, session: SessionHeader, count: int = 1_000_000) -> None:
        super().__init__(session, [], at_seq=count)
        self.count = count
        self._story = nodes_of_story()

    @property
    def tokens(self) -> int:
        return self.count * 900

    def __len__(self) -> int:
        return self.count

    def rows(self, start: int, stop: int) -> Sequence[NodeReport]:
        return [self._node(row) for row in range(max(start, 0), min(stop, self.count))]

    def index_of(self, seq: NodeId) -> int | None:
        return seq - 1 if isinstance(seq, int) and 1 <= seq <= self.count else None

    def _node(self, row: int) -> NodeReport:
        model = self._story[row % len(self._story)]
        return model.model_copy(update={"seq": row + 1, "events": (row + 1,)})
