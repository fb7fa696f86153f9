"""The events of one row of opencode's, and the operations that make the surface what it says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from compress.events import (
    ContentBlock,
    EventType,
    Replace,
    Role,
    SessionEvent,
    SurfaceOp,
    Usage,
)
from storage.sources.base import FileReader, Numbering
from storage.sources.draft import APPEND, NO_META, event, rebase
from storage.sources.opencode_session import OpencodeSession

FACT = 8
"""Block index of a row's first log-only event."""


class Said(NamedTuple):
    """An event with content, before it is known how it comes to stand."""

    kind: EventType
    native: str
    block: int
    role: Role
    blocks: tuple[ContentBlock, ...]
    meta: Mapping[str, Any] = NO_META
    model: str | None = None
    step: int | None = None


class RowEvents(FileReader):
    """Makes the events of the row at hand; what it means is the reader's part."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._events: list[SessionEvent] = []
        self._time: float | None = None
        self._native = ""
        """Of this version of the row."""
        self._fact = FACT

    def _place(
        self,
        session: OpencodeSession,
        said: Said,
        node: int | None = None,
        *,
        replaces: int | None = None,
        announced: bool = False,
    ) -> None:
        """An event whose node (its own where none is given) is to stand where it is sent.
        ``announced``: it was said already that a compaction comes into force."""
        seq = session.number(said.native, said.block)
        node = seq if node is None else node
        operations = session.operations
        if node in operations:
            # A further block of its node, or a block that says something else now.
            standing = APPEND if session.stands(node) else None
            self._emit(session, said, seq, node, operations[node] if seq == node else standing)
        elif session.grows_by(node):
            session.append(node)
            operations[node] = APPEND
            self._emit(session, said, seq, node, APPEND)
        else:
            op, sources, begins = self._step_to(session, node, replaces)
            operations[node] = op
            if begins:
                said = said._replace(meta={**said.meta, "checkpoint": "agent"})
            self._emit(session, said, seq, node, op, sources=sources)
            if begins and not announced:
                self._compaction_begins(session)
            if begins:
                self._log(session, "compact/end")

    def _step_to(
        self, session: OpencodeSession, node: int, replaces: int | None
    ) -> tuple[SurfaceOp | None, tuple[int, ...], bool]:
        """How this new node turns what stands into what is to stand: the operation, what it
        replaces, and whether a compaction comes into force with it."""
        before, standing = session.list.compacted, session.standing
        wanted = session.list.sent()
        if node not in wanted:
            session.list.compacted = before
            return None, (), False
        begins = bool(session.list.compacted) and session.list.compacted != before
        session.set(wanted)
        if wanted == [*standing, node]:
            return APPEND, (), begins
        if replaces is not None and wanted == [node if n == replaces else n for n in standing]:
            return Replace(start=replaces, end=replaces), (replaces, node), begins
        return rebase(wanted), (), begins

    def _arrange(self, session: OpencodeSession, marker: str) -> None:
        """Where something else stands now and no content said so: an event that does."""
        if session.is_settled():
            return
        before, standing = session.list.compacted, session.standing
        wanted = session.list.sent()
        session.set(wanted)
        if wanted == standing:
            return
        begins = bool(session.list.compacted) and session.list.compacted != before
        if begins:
            self._compaction_begins(session)
        meta = {"checkpoint": "agent"} if begins else {"marker": marker}
        seq, block = self._next_fact(session)
        said = Said("context/message", self._native, block, "user", (), meta)
        self._emit(session, said, seq, seq, rebase(wanted))
        if begins:
            self._log(session, "compact/end")

    def _compaction_begins(
        self, session: OpencodeSession, mark: str = "", words: str | None = None
    ) -> None:
        """The log-only events of a compaction: by which message, with which summary."""
        name = mark or session.list.compacted
        told = session.list.by_id[name].compaction() or {}
        self._log(session, "compact/start", {"trigger": "auto" if told.get("auto") else "manual"})
        summary = {"message": words[:500]} if words else NO_META
        self._log(session, "compact/summary", summary)

    def _next_fact(self, session: OpencodeSession) -> tuple[int, int]:
        block = self._fact
        self._fact += 1
        return session.number(self._native, block), block

    def _log(
        self,
        session: OpencodeSession,
        kind: EventType,
        meta: Mapping[str, Any] = NO_META,
        *,
        usage: Usage | None = None,
        request: int | None = None,
        model: str | None = None,
        step: int | None = None,
    ) -> None:
        """A log-only event of the row."""
        seq, block = self._next_fact(session)
        self._events.append(
            event(
                seq,
                kind,
                self._native,
                block,
                turn=session.turn or None,
                step=step,
                time=self._time,
                model=model,
                usage=usage,
                request=(request or seq) if usage is not None else None,
                meta=meta,
            )
        )

    def _emit(
        self,
        session: OpencodeSession,
        said: Said,
        seq: int,
        node: int | None,
        op: SurfaceOp | None,
        *,
        sources: tuple[int, ...] = (),
    ) -> None:
        step = session.step_of.get(node) if said.step is None and node is not None else said.step
        self._events.append(
            event(
                seq,
                said.kind,
                said.native,
                said.block,
                node=node,
                op=op,
                role=said.role,
                blocks=said.blocks,
                turn=session.turn or None,
                step=step,
                time=self._time,
                model=said.model,
                source_event_seqs=sources,
                meta=said.meta,
            )
        )
