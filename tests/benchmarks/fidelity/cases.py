"""The compactions and cuts of real sessions, with what stood before and what came after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from compress.compaction.agent import AgentOperation, agent_operations
from compress.errors import CompressError
from compress.events import SURFACE_TYPES, NodeId, SessionEvent
from compress.surface import SurfaceFold
from inspector.loaded import PLAN_VIEW, LoadedSession
from inspector.settings import Loaded, Settings
from inspector.usecases import UseCases
from storage.catalog import SessionRecord
from storage.resources import counter_for
from storage.sources.registry import registry
from storage.store import Store
from tests.benchmarks.fidelity.arms import Count, Piece
from tests.benchmarks.fidelity.scoring import Later, Target, targets
from tests.benchmarks.fidelity.texts import Texts

AGENTS = ("claude", "codex", "pi", "dsh")
STEP = 40_000
"""Counted tokens of log between two fixed cuts."""
SMALLEST = 2_000
"""Counted tokens; a region below is no case, since a summary of it would have nothing to leave
out."""
_LATER_TRIES = 40
_SHORT = 400
_ENDS = ("compact", "clear")


@dataclass(frozen=True, slots=True)
class Case:
    """One cut. ``number``: the agent's own compaction, from 1; ``None``: a fixed cut."""

    session: str
    number: int | None
    at: NodeId
    first: NodeId
    last: NodeId
    pieces: Sequence[Piece]
    region_tokens: int
    own: str | None
    """The agent's own summary, where there is one that can be read."""
    wanted: Sequence[Target]
    count: Count

    @property
    def name(self) -> str:
        """As the table shows it."""
        what = f"compaction {self.number}" if self.number else f"cut at {self.at}"
        return f"{self.session} {what}"


class Sessions:
    """The corpus in a store of its own, read by the product's own ways. Close it when done."""

    def __init__(self, corpus: Path, folder: Path, *, schema: bool = True) -> None:
        """``schema``: see :class:`Texts`."""
        self._texts = Texts(schema)
        path = folder / "fidelity.db"
        self._store = Store(path, registry())
        self.usecases = UseCases(self._store, Loaded(Settings(db=str(path))))
        logs = [p for agent in AGENTS for p in sorted((corpus / agent).glob("*")) if p.is_file()]
        self.usecases.ingest(logs)
        self.small = 0
        """Compactions by an agent that are no case, since their region is below the smallest."""

    def close(self) -> None:
        """Closes the store."""
        self.usecases.close()

    def cases(self, only: str = "", cuts: bool = True) -> Iterator[Case]:
        """All cases, those of the agents themselves first. Of two sessions that share their
        start, a shared cut is taken once, from the longer one."""
        records = sorted(
            (record for record in self._store.sessions() if only in record.name),
            key=lambda record: (-record.events, record.name),
        )
        seen: set[int] = set()
        for find in (self._own, self._fixed) if cuts else (self._own,):
            for record in records:
                for case in find(record):
                    key = hash(tuple(piece.text for piece in case.pieces))
                    if key not in seen:
                        seen.add(key)
                        yield case

    def _own(self, record: SessionRecord) -> Iterator[Case]:
        session = LoadedSession(self._store, record)
        operations = agent_operations(session.order)
        made = [operation for operation in operations if operation.summary is not None]
        for number, operation in enumerate(made, 1):
            at = _before(session, operation)
            before = session.fold(PLAN_VIEW, at)
            standing = set(before.nodes)
            gone = [node for node in operation.shadowed if node in standing]
            if _weight(session, gone, before) < SMALLEST:
                self.small += 1
                continue
            end = _end(session, operation)
            after = session.fold(PLAN_VIEW, end)
            summary = self._texts.of(self._events(session, [operation.seq], after)[operation.seq])
            kept = [node for node in after.nodes if node != operation.seq]
            stays = self._events(session, kept, after)
            yield self._case(
                session,
                number,
                (at, before, gone),
                (end, "\n".join(self._texts.of(events) for events in stays.values())),
                summary or None,
            )

    def _fixed(self, record: SessionRecord) -> Iterator[Case]:
        session = LoadedSession(self._store, record)
        total, aim = 0, STEP
        waiting: dict[str, int] = {}
        tries = 0
        for here, following in zip(session.order, session.order[1:], strict=False):
            total += here.tokens
            for call, _ in here.calls:
                waiting[call] = waiting.get(call, 0) + 1
            for call in here.results:
                waiting[call] = waiting.get(call, 0) - 1
            if (
                total < aim
                or following.type != "assistant/message"
                or following.node != (following.seq)
            ):
                continue
            if any(count > 0 for count in waiting.values()) and tries < _LATER_TRIES:
                tries += 1
                continue
            waiting.clear()
            fold = session.fold(PLAN_VIEW, here.seq)
            nodes = list(fold.nodes)
            if _weight(session, nodes, fold) < STEP // 4 or not self._legal(
                record, nodes, here.seq
            ):
                tries += 1
                if tries < _LATER_TRIES:
                    continue
            else:
                yield self._case(session, None, (here.seq, fold, nodes), (here.seq, ""), None)
            tries, aim = 0, (total // STEP + 1) * STEP

    def _legal(self, record: SessionRecord, nodes: Sequence[NodeId], at: NodeId) -> bool:
        try:
            self.usecases.preview(record.name, start=nodes[0], end=nodes[-1], at=at, budget=4_096)
        except CompressError:
            return False
        return True

    def _case(
        self,
        session: LoadedSession,
        number: int | None,
        cut: tuple[NodeId, SurfaceFold, Sequence[NodeId]],
        after: tuple[NodeId, str],
        own: str | None,
    ) -> Case:
        at, before, gone = cut
        end, stays = after
        pieces = [
            self._texts.piece(events) for events in self._events(session, gone, before).values()
        ]
        wanted = targets([piece.text for piece in pieces], stays, self._later(session, end))
        return Case(
            session=session.record.name,
            number=number,
            at=at,
            first=gone[0],
            last=gone[-1],
            pieces=pieces,
            region_tokens=_weight(session, gone, before),
            own=own,
            wanted=wanted,
            count=_remembering(counter_for(session.record.model).count),
        )

    def _later(self, session: LoadedSession, end: NodeId) -> Iterator[Later]:
        """What came after, until the agent compacts or clears again."""
        stops = [
            int(operation.seq)
            for operation in agent_operations(session.order)
            if operation.kind in _ENDS and operation.finished and int(operation.seq) > int(end)
        ]
        stop = min(stops, default=session.record.last_seq + 1)
        seqs = [
            entry.seq
            for entry in session.order
            if int(end) < int(entry.seq) < stop and entry.type in SURFACE_TYPES
        ]
        for event in self._store.events(session.record, [int(seq) for seq in seqs]):
            yield Later(event.type == "assistant/message", self._texts.of([event]))

    def _events(
        self, session: LoadedSession, nodes: Sequence[NodeId], fold: SurfaceFold
    ) -> dict[NodeId, list[SessionEvent]]:
        """Node → its events, in order."""
        seqs = [int(seq) for node in nodes for seq in fold.members[node]]
        read = iter(self._store.events(session.record, seqs))
        return {node: list(islice(read, len(fold.members[node]))) for node in nodes}


def _remembering(count: Count) -> Count:
    """The same, but each short text is counted once in a case."""
    known: dict[str, int] = {}

    def counted(text: str) -> int:
        if len(text) > _SHORT:
            return count(text)
        if text not in known:
            known[text] = count(text)
        return known[text]

    return counted


def _before(session: LoadedSession, operation: AgentOperation) -> int:
    """The newest event that is no part of the compaction yet."""
    at = int(operation.seq) - 1
    while at in session.entries and session.entries[at].type in (
        "compact/start",
        "compact/summary",
    ):
        at -= 1
    return at


def _end(session: LoadedSession, operation: AgentOperation) -> int:
    """The end of the compaction, copies of what is kept included."""
    seq = int(operation.events[-1])
    while seq in session.entries and session.entries[seq].type != "assistant/message":
        if session.entries[seq].type == "compact/end":
            return seq
        seq += 1
    return int(operation.events[-1])


def _weight(session: LoadedSession, nodes: Sequence[NodeId], fold: SurfaceFold) -> int:
    return sum(session.entries[seq].tokens for node in nodes for seq in fold.members[node])
