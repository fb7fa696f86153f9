"""One session in memory: its weighed events, folds and meters, brought up to date by what is new.

The functional core is in ``compress``; this only keeps its state between two looks at the store.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from compress.entries import LogEntry
from compress.events import NodeId
from compress.meter import TokenMeter
from compress.operations import OperationRow, moment
from compress.plan import PlanState, plan
from compress.surface import SurfaceFold, View
from inspector.reports import LostReport
from storage.catalog import SessionRecord
from storage.errors import UnknownEventError
from storage.store import Store

PLAN_VIEW: View = "live"
"""The view that the plan, the meter and the thresholds stand on (design, section 1)."""


class LoadedSession:
    """A session's log and operations, as far as the store holds them. Safe in any thread."""

    def __init__(self, store: Store, record: SessionRecord) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._begin(record)

    def _begin(self, record: SessionRecord) -> None:
        self.record = record
        self.order: list[LogEntry] = []
        """In the order of the fold."""
        self.entries: dict[NodeId, LogEntry] = {}
        """By seq."""
        self.tools: dict[str, str] = {}
        """Call id → name of its tool; the newest call of an id that was used again."""
        self.operations: Sequence[OperationRow] = ()
        self.judgements: dict[tuple[NodeId, int], tuple[LostReport, int]] = {}
        """What operations lost, and the tokens that the next request sent anew, by operation and
        number of nodes that it took away."""
        self._folds: dict[View, SurfaceFold] = {}
        self._meter: TokenMeter | None = None
        self._take(self._store.entries(record))
        self.operations = self._store.operations(record)

    def refresh(self) -> None:
        """Takes what the store has got since. Costs what is new."""
        with self._lock:
            record = self._store.session(self.record.id)
            grown = record.events - self.record.events
            if record.generation != self.record.generation or grown < 0:
                self._begin(record)
                return
            if record.last_seq > self.record.last_seq or grown:
                new = self._store.entries_after(record, self._last_seq())
                if len(self.order) + len(new) != record.events:
                    # Something older was revised: the order of the fold is not just longer.
                    self._begin(record)
                    return
                self._take(new)
            self.record = record
            self.operations = self._store.operations(record)

    def _last_seq(self) -> int:
        return max((int(entry.seq) for entry in self.order[-1:]), default=0)

    def _take(self, new: Sequence[LogEntry]) -> None:
        for entry in new:
            self.order.append(entry)
            self.entries[entry.seq] = entry
            for call, tool in entry.calls:
                if call:
                    self.tools[call] = tool
        for fold in self._folds.values():
            for entry in new:
                fold.apply_leniently(entry)
        if self._meter is not None:
            self._meter.feed_all(new)

    def until(self, at: NodeId | None) -> tuple[Sequence[LogEntry], Sequence[OperationRow]]:
        """The log and the operations as they stood at a moment (``None``: now).

        Raises :class:`compress.errors.StaleNodeError` for an operation that does not exist,
        :class:`UnknownEventError` for a seq that the log has not reached.
        """
        if at is None:
            return self.order, self.operations
        if isinstance(at, int) and at > self.record.last_seq:
            raise UnknownEventError(
                f"Session {self.record.name} has no event {at}; its newest is "
                f"{self.record.last_seq}."
            )
        seq, rows = moment(self.operations, at)
        if seq is None or seq >= self.record.last_seq:
            return self.order, rows
        return [entry for entry in self.order if int(entry.seq) <= seq], rows

    def fold(self, view: View, at: NodeId | None = None) -> SurfaceFold:
        """The agent's surface: kept and extended for now, folded anew for a past moment."""
        with self._lock:
            log, _ = self.until(at)
            if log is not self.order:
                return _folded(log, view)
            if view not in self._folds:
                self._folds[view] = _folded(log, view)
            return self._folds[view]

    def plan(self, at: NodeId | None = None) -> PlanState:
        """The agent's surface with the user's operations applied, at a moment. Over what the
        running agent saw: that is what an operation is made on."""
        with self._lock:
            _, rows = self.until(at)
            return plan(self.fold(PLAN_VIEW, at).snapshot(), self.entries, rows)

    def agent_only(self, view: View, at: NodeId | None = None) -> PlanState:
        """The agent's surface in the same shape, without any operation but with the pins' marks."""
        with self._lock:
            return plan(self.fold(view, at).snapshot(), self.entries, ())

    def plan_before(self, row: OperationRow) -> PlanState:
        """The plan just before an operation's first event."""
        with self._lock:
            earlier = [other for other in self.operations if other.number < row.number]
            return plan(self.fold(PLAN_VIEW, row.after).snapshot(), self.entries, earlier)

    def meter(self, at: NodeId | None = None) -> TokenMeter:
        """The session's meter, of what the running agent saw, since that is what the provider's
        figures speak of: kept and fed for now, fed anew for a past moment."""
        with self._lock:
            log, _ = self.until(at)
            if log is not self.order:
                return TokenMeter("live").feed_all(log)
            if self._meter is None:
                self._meter = TokenMeter("live").feed_all(log)
            return self._meter


def _folded(log: Sequence[LogEntry], view: View) -> SurfaceFold:
    fold = SurfaceFold(view)
    for entry in log:
        fold.apply_leniently(entry)
    return fold
