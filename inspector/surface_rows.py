"""The rows of one state of a surface: values for lists, made by the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from compress.entries import LogEntry
from compress.events import NodeId
from compress.measured import Measured, measure
from compress.plan import PlanState
from inspector.reports import (
    CheckpointReport,
    NodeReport,
    ProblemReport,
    SessionHeader,
    Track,
    ViewName,
)

_BROKEN_LINKS = frozenset({"gap", "cycle"})


class SurfaceRows:
    """A :class:`inspector.views.SurfaceView` over a plan state (or the agent's own surface)."""

    def __init__(
        self,
        session: SessionHeader,
        state: PlanState,
        tools: Mapping[str, str],
        *,
        pins: frozenset[NodeId],
        track: Track,
        view: ViewName,
        at_seq: NodeId | None,
        counter: str,
        measured: Measured | None = None,
    ) -> None:
        """``measured``: of this state, where it is known; else it is measured when it is needed."""
        self.session = session
        self.track = track
        self.view = view
        self.at_seq = at_seq
        self.replace_generation = state.surface.replace_generation
        self.counter = counter
        self.state = state
        self._tools = tools
        self._pins = pins
        self._nodes = state.surface.nodes
        self._measured = measure(state) if measured is None else measured
        self._pairing = self._measured.paired
        self.tokens = self._measured.total

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def problems(self) -> tuple[ProblemReport, ...]:
        """What the log, the fold and the pairing could not take as it stands."""
        found = (*self.state.surface.problems, *self._pairing.problems)
        return (
            *(ProblemReport(kind=p.kind, where=p.where, detail=p.detail) for p in found),
            *self._gaps(),
        )

    def _gaps(self) -> Iterator[ProblemReport]:
        """Links of the log that lead nowhere, or in a circle, up to this moment: what stands is
        certain only behind them."""
        for entry in self.state.entries.values():
            if entry.type != "error" or entry.meta.get("kind") not in _BROKEN_LINKS:
                continue
            if not isinstance(self.at_seq, int) or int(entry.seq) <= self.at_seq:
                detail = str(entry.meta.get("message", ""))
                yield ProblemReport(kind=entry.meta["kind"], where=int(entry.seq), detail=detail)

    def rows(self, start: int, stop: int) -> Sequence[NodeReport]:
        """Rows by position; cheap but for the first call, which pairs the whole surface."""
        start, stop = max(0, start), min(stop, len(self._nodes))
        return [self._row(position) for position in range(start, stop)]

    def index_of(self, seq: NodeId) -> int | None:
        """The row of a node, or of the node that an event belongs to."""
        found = self._measured.place(seq)
        if found is not None:
            return found
        entry = self.state.entries.get(seq)
        return None if entry is None or entry.node is None else self._measured.place(entry.node)

    def weight(self, node: NodeId) -> int:
        """Counted tokens of a node, before calibration."""
        entries = self.state.entries
        return sum(entries[seq].tokens for seq in self.state.surface.members[node])

    def node(self, node: NodeId) -> NodeReport:
        """The row of any known node, also of one that does not stand.

        Raises ``KeyError`` for an unknown one.
        """
        position = self.index_of(node)
        if position is not None:
            return self._row(position)
        entry = self.state.entries[node]
        return self._report(entry.seq if entry.node is None else entry.node)

    @cached_property
    def _orphan_results(self) -> frozenset[NodeId]:
        return frozenset(p.where for p in self._pairing.problems if p.kind == "orphan_result")

    def _row(self, position: int) -> NodeReport:
        node = self._nodes[position]
        members = self.state.surface.members[node]
        paired = self._pairing
        return self._report(
            node,
            unit=paired.unit_index(position),
            orphan=position in paired.unanswered
            or not self._orphan_results.isdisjoint((node, *members)),
        )

    def _report(self, node: NodeId, *, unit: int | None = None, orphan: bool = False) -> NodeReport:
        members = self.state.surface.members.get(node) or (node,)
        log = [self.state.entries[seq] for seq in members]
        head = log[0]
        return NodeReport(
            seq=node,
            type=head.type,
            role=head.role,
            turn=head.turn,
            step=head.step,
            unit=unit,
            tokens=sum(entry.tokens for entry in log),
            headline=_headline(log),
            tool=self._tool(log),
            time=head.time,
            pinned=node in self._pins,
            orphan=orphan,
            is_error=any(entry.is_error for entry in log),
            receipt=bool(head.meta.get("receipt")),
            restored=node in self.state.restored,
            checkpoint=self._checkpoint(node, head),
            events=tuple(members),
        )

    def _tool(self, log: Sequence[LogEntry]) -> str | None:
        names = [name for entry in log for _, name in entry.calls]
        names += [self._tools[call] for e in log for call in e.results if call in self._tools]
        return ", ".join(dict.fromkeys(names)) or None

    def _checkpoint(self, node: NodeId, head: LogEntry) -> CheckpointReport | None:
        shadowed = self.state.surface.shadowed.get(node)
        agents = head.meta.get("checkpoint") == "agent"
        if not agents and (shadowed is None or head.type == "tool/result"):
            return None
        operation = self.state.operation_of(node)
        origin = operation.origin if operation is not None else "agent"
        return CheckpointReport(
            shadowed_seqs=shadowed or (),
            origin=origin,
            operation=operation.id if operation is not None else None,
        )


def _headline(log: Sequence[LogEntry]) -> str:
    """What the node says: its text before its calls, its calls before its thinking."""

    def rank(entry: LogEntry) -> int:
        if entry.tokens and entry.thinking_tokens == entry.tokens:
            return 2
        return 1 if entry.calls else 0

    lines = [entry.headline for entry in sorted(log, key=rank) if entry.headline]
    return lines[0] if lines else ""
