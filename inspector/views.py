"""What long lists are made of: rows that are fetched by page, never all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from compress.events import NodeId
from inspector.reports import NodeReport, ProblemReport, SessionHeader, Track, ViewName


class SurfaceView(Protocol):
    """One state of one session's surface. Immutable: a new state is a new view.

    ``len(view)`` is the number of nodes; rows are numbered from 0 in surface order.
    """

    session: SessionHeader
    track: Track
    view: ViewName
    at_seq: NodeId | None
    """The newest event that is part of this state."""
    replace_generation: int
    counter: str
    tokens: int
    """Tokens of all nodes together, as counted (overhead and calibration left out)."""

    @property
    def problems(self) -> tuple[ProblemReport, ...]: ...

    def __len__(self) -> int: ...

    def rows(self, start: int, stop: int) -> Sequence[NodeReport]:
        """The rows ``start`` … ``stop - 1``, cut to what there is. Cheap: a page of values."""
        ...

    def index_of(self, seq: NodeId) -> int | None:
        """The row of a node (or of the node that an event belongs to); ``None`` where it does not
        stand."""
        ...
