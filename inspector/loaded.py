"""One session in memory: its weighed events, folds and meters, brought up to date by what is new.

The functional core is in ``compress``; this only keeps its state between two looks at the store.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from compress.artifacts.values import Artifact
from compress.compaction.facts import FactsCache
from compress.entries import LogEntry
from compress.events import Append, NodeId, Replace
from compress.measured import Measured, Measuring, measure
from compress.meter import TokenMeter
from compress.operations import OperationRow, moment
from compress.plan import PlanState, plan
from compress.surface import SurfaceFold, View
from inspector.contents import Kept
from inspector.reports import LostReport
from storage.catalog import SessionRecord
from storage.errors import UnknownEventError
from storage.store import Store

PLAN_VIEW: View = "live"
"""The view that the plan, the meter and the thresholds stand on (design, section 1)."""

_KEPT = 4
"""Moments whose plan and measures are kept."""

_STEP = 8_192
"""Events that are taken between two looks at whether anyone waits still."""
_PAUSE = 0.0005
"""Seconds in which another thread gets the lock while a long log is metered."""

_Track = tuple[View, NodeId | None, bool]
"""View, moment (``None``: now), whether operations are applied."""


@dataclass(slots=True)
class _Moment:
    """The surface of one track as it was last asked for."""

    stamp: tuple[int, int, int]
    """Events, newest seq and newest operation that it is made of."""
    state: PlanState
    measuring: Measuring
    measured: Measured | None = None


class LoadedSession:
    """A session's log and operations, as far as the store holds them. Safe in any thread."""

    def __init__(
        self, store: Store, record: SessionRecord, asked: Callable[[], None] = lambda: None
    ) -> None:
        """``asked`` is called on the way where much is read, and may raise: what is done by then
        is kept as far as it can be."""
        self._store = store
        self._asked = asked
        self.lock = threading.RLock()
        """Hold it while reading what :meth:`refresh` changes: folds and meters."""
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
        self.facts = FactsCache()
        """Of nodes that were read for a preview."""
        self.artifacts: tuple[object, tuple[Artifact, ...]] | None = None
        """Those that were asked for last, under what they follow from."""
        self.contents: Kept = OrderedDict()
        """The nodes that were read last."""
        self._version: object = None
        """Of the store, when it was last looked at."""
        self._folds: dict[View, SurfaceFold] = {}
        self._views_differ = False
        """Whether the running agent saw something that a resume sends otherwise."""
        self._meter: TokenMeter | None = None
        self._metered = 0
        """How many events the meter was fed."""
        self._past_meter: tuple[int, TokenMeter] | None = None
        self._moments: OrderedDict[_Track, _Moment] = OrderedDict()
        self._measurings: dict[View, Measuring] = {}
        self._take(self._store.entries(record, self._asked))
        self.operations = self._store.operations(record)

    def refresh(self) -> None:
        """Takes what the store has got since. Costs what is new."""
        with self.lock:
            version = self._store.data_version()
            if version == self._version:
                return
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
            new_rows = self._store.operations(record, self.newest_operation)
            if new_rows:
                self.operations = [*self.operations, *new_rows]
            self._version = version

    @property
    def newest_operation(self) -> int:
        """N of the newest ``oN`` that is known here; 0 where there is none."""
        return self.operations[-1].number if self.operations else 0

    def took(self, rows: Sequence[OperationRow]) -> None:
        """Operations that were just appended here: they need not be read back."""
        with self.lock:
            if rows and rows[0].number == self.newest_operation + 1:
                self.operations = [*self.operations, *rows]

    def _last_seq(self) -> int:
        return max((int(entry.seq) for entry in self.order[-1:]), default=0)

    def _take(self, new: Sequence[LogEntry]) -> None:
        for entry in new:
            self.order.append(entry)
            self.entries[entry.seq] = entry
            for call, tool in entry.calls:
                if call:
                    self.tools[call] = tool
            if not self._views_differ and _parts_views(entry):
                self._views_differ = True
                self._folds = {}
        for fold in self._folds.values():
            for entry in new:
                fold.apply_leniently(entry)

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
        with self.lock:
            log, _ = self.until(at)
            if log is not self.order:
                return self._folded(log, view)
            # One fold serves both views while they are the same.
            kept = view if self._views_differ else PLAN_VIEW
            if kept not in self._folds:
                self._folds[kept] = self._folded(log, kept)
            return self._folds[kept]

    def plan(self, at: NodeId | None = None) -> PlanState:
        """The agent's surface with the user's operations applied, at a moment. Over what the
        running agent saw: that is what an operation is made on."""
        with self.lock:
            log, rows = self.until(at)
            return self._kept_plan(PLAN_VIEW, None if log is self.order else at, rows)

    def _kept_plan(self, view: View, at: NodeId | None, rows: Sequence[OperationRow]) -> PlanState:
        """``at``: ``None`` where the whole log is meant."""
        kept = view if self._views_differ else PLAN_VIEW
        track = (kept, at, bool(rows))
        stamp = (len(self.order), self.record.last_seq, rows[-1].number if rows else 0)
        found = self._moments.get(track)
        if found is None or found.stamp != stamp:
            state = plan(self.fold(view, at).snapshot(), self.entries, rows)
            if at is None:
                # Agent's surface and plan are the same but for the operations.
                measuring = self._measurings.setdefault(kept, Measuring())
            else:
                measuring = Measuring() if found is None else found.measuring
            found = _Moment(stamp, state, measuring)
            self._moments[track] = found
        self._moments.move_to_end(track)
        while len(self._moments) > _KEPT:
            self._moments.popitem(last=False)
        return found.state

    def measured(self, state: PlanState) -> Measured:
        """The measures of a plan or an agent's surface of this session."""
        with self.lock:
            moment_ = next((m for m in self._moments.values() if m.state is state), None)
            if moment_ is None:
                return measure(state)
            if moment_.measured is None:
                moment_.measured = moment_.measuring.of(state)
            return moment_.measured

    def agent_only(self, view: View, at: NodeId | None = None) -> PlanState:
        """The agent's surface in the same shape, without any operation but with the pins' marks."""
        with self.lock:
            log, _ = self.until(at)
            return self._kept_plan(view, None if log is self.order else at, ())

    def plan_before(self, row: OperationRow) -> PlanState:
        """The plan just before an operation's first event."""
        with self.lock:
            earlier = [other for other in self.operations if other.number < row.number]
            return plan(self.fold(PLAN_VIEW, row.after).snapshot(), self.entries, earlier)

    def meter(
        self, at: NodeId | None = None, asked: Callable[[], None] = lambda: None
    ) -> TokenMeter:
        """The session's meter, of what the running agent saw, since that is what the provider's
        figures speak of: kept and fed for now, fed anew for a past moment.

        ``asked`` is called on the way, and may raise: the next call goes on where this one was.
        """
        while True:
            with self.lock:
                log, _ = self.until(at)
                if log is not self.order:
                    return self._meter_of_past(log, asked)
                if self._meter is None:
                    self._meter = TokenMeter("live")
                page = log[self._metered : self._metered + _STEP]
                self._meter.feed_all(page)
                self._metered += len(page)
                if self._metered == len(log):
                    return self._meter
            self._asked()
            asked()
            # A lock that is taken again at once is never free for those who wait for it.
            time.sleep(_PAUSE)

    def _meter_of_past(self, log: Sequence[LogEntry], asked: Callable[[], None]) -> TokenMeter:
        if self._past_meter is None or self._past_meter[0] != len(log):
            past = TokenMeter("live")
            for page in self._pages(log, asked):
                past.feed_all(page)
            self._past_meter = len(log), past
        return self._past_meter[1]

    def _folded(self, log: Sequence[LogEntry], view: View) -> SurfaceFold:
        fold = SurfaceFold(view)
        for page in self._pages(log):
            for entry in page:
                fold.apply_leniently(entry)
        return fold

    def _pages(
        self, log: Sequence[LogEntry], asked: Callable[[], None] = lambda: None
    ) -> Iterator[Sequence[LogEntry]]:
        """The log by pieces, as long as someone waits for it."""
        for first in range(0, len(log), _STEP):
            if first:
                self._asked()
                asked()
            yield log[first : first + _STEP]


def _parts_views(entry: LogEntry) -> bool:
    """Whether a resume and the running agent see something else from here on."""
    op = entry.op
    return (isinstance(op, Replace) and op.live_only) or (
        isinstance(op, Append) and op.view is not None
    )
