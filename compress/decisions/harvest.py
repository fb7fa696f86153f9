"""The fold of a session's events into decision points."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import TypeAdapter, ValidationError

from compress.decisions.fold import Fold
from compress.decisions.point import About, point
from compress.decisions.results import Judge
from compress.decisions.state import VERSION, State
from compress.decisions.text import memory_text
from compress.decisions.values import DecisionPoint
from compress.events import SessionEvent

__all__ = ["About", "Harvest", "Judge"]

_ORDER = ("turn", "plan", "plan_item", "approval", "compaction", "retry")


class Harvest:
    """Feed it a session's events in order; take the records when they are wanted.

    The records follow from the events alone: fed in pieces or whole, with or without snapshots
    between, they are the same. Work is bounded by what is fed; memory by the stages that run.
    """

    def __init__(self, about: About, count: Callable[[str], int], judge: Judge) -> None:
        """``count``: tokens of a text, for the weight of a record."""
        self._about = about
        self._count = count
        self._fold = Fold(about, judge, State())

    @classmethod
    def restore(
        cls, about: About, count: Callable[[str], int], judge: Judge, snapshot: str
    ) -> Harvest:
        """Go on where the snapshot was made: with the events after :attr:`last_seq`. Raises
        ``ValueError`` for a snapshot of another version: harvest again from the first event."""
        try:
            state = _STATE.validate_json(snapshot)
        except ValidationError as error:
            raise ValueError(_OUTDATED) from error
        if state.version != VERSION:
            raise ValueError(_OUTDATED)
        harvest = cls(about, count, judge)
        harvest._fold = Fold(about, judge, state)
        return harvest

    @property
    def last_seq(self) -> int:
        """The newest event that was fed, 0 at first."""
        return self._fold.state.last_seq

    def feed(self, event: SessionEvent, tokens: int) -> None:
        """One event of the agent's strand, with its blocks. ``tokens``: what the blocks weigh.
        One that was fed before is passed over; never raises for what an event holds."""
        self._fold.feed(event, tokens)

    def take(self) -> list[DecisionPoint]:
        """The records that are new or changed since the last call, in order of their first
        events. Call it between two records of the log, not amid the events of one."""
        self._fold.settle()
        state = self._fold.state
        found, state.finished = state.finished, []
        for span, content in state.open():
            if span.revision > span.taken:
                span.taken = span.revision
                found.append(point(self._about, span, content, running=True))
        found.sort(key=lambda p: (p.first_seq, _ORDER.index(p.stage.kind), p.stage.index))
        return [self._weighed(record) for record in found]

    def snapshot(self) -> str:
        """The state as JSON, for :meth:`restore`."""
        return _STATE.dump_json(self._fold.state).decode("utf-8")

    def _weighed(self, record: DecisionPoint) -> DecisionPoint:
        return record.model_copy(update={"tokens": self._count(memory_text(record))})


_STATE = TypeAdapter(State)
_OUTDATED = "the snapshot is of another version: harvest the session again from its first event"
