"""The events of one Gemini CLI record, and the operations that make the surface what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from compress.events import (
    SURFACE_TYPES,
    Append,
    EventType,
    NodeId,
    Rebase,
    Replace,
    Role,
    SessionEvent,
    SurfaceOp,
    Usage,
)
from storage.sources.base import FileReader, Numbering
from storage.sources.draft import APPEND, NO_META, event, mark, rebase
from storage.sources.gemini_messages import Group

EXTRA_BLOCKS = 1 << 20
"""Block index of the first log-only event beside a message's content: behind any content, so that
it stays the same where a document grows."""
View = Literal["resume", "live"]
_RESTRICTED: Mapping[View | None, Append] = {
    None: APPEND,
    "resume": Append(view="resume"),
    "live": Append(view="live"),
}


@dataclass(slots=True, eq=False)
class Node:
    """A node of the surface, whichever record told of it first."""

    type: EventType
    view: View | None
    call: str | None
    key: bytes = b""
    slots: list[bytes] = field(default_factory=list)
    """What each of its events says."""
    seq: int = 0
    """0 until its first event is made."""
    alive: bool = True
    """One of the messages holds it."""

    def take(self, group: Group) -> None:
        """It says what the group says."""
        self.key, self.slots = group.key, [slot.key for slot in group.slots]


@dataclass(frozen=True, slots=True)
class Emission:
    """Events of a message that are to be made: the slots of a group from ``first`` on."""

    message: str
    """Its id."""
    native: str
    raw: Mapping[str, Any]
    group: Group
    node: Node | None
    block: int
    """Of the slot ``first``."""
    first: int = 0
    turn: int | None = None
    step: int | None = None
    time: float | None = None
    model: str | None = None


_SEQ = attrgetter("seq")


class GeminiEvents(FileReader):
    """Makes the events of the record at hand; what it means is the reader's part."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._number = self.numbering("").seq
        self._events: list[SessionEvent] = []
        self._extras: dict[str, int] = {}
        """Log-only events beside the content so far, of this record, by native id."""
        self._standing: list[Node] = []
        self._turn = 0
        self._native = ""
        """Of the record itself."""
        self._time: float | None = None

    def _log(
        self,
        kind: EventType,
        meta: Mapping[str, Any] = NO_META,
        *,
        native: str | None = None,
        turn: int | None = None,
        step: int | None = None,
        usage: Usage | None = None,
        request: NodeId | None = None,
        model: str | None = None,
    ) -> None:
        """A log-only event of the record, or of the message with this native id."""
        seq, name, block = self._extra(native)
        if usage is not None and request is None:
            request = seq
        self._events.append(
            event(
                seq,
                kind,
                name,
                block,
                turn=turn or self._turn or None,
                step=step,
                time=self._time,
                model=model,
                usage=usage,
                request=request,
                meta=meta,
            )
        )

    def _extra(self, native: str | None = None) -> tuple[int, str, int]:
        name = self._native if native is None else native
        block = EXTRA_BLOCKS + self._extras.get(name, 0)
        self._extras[name] = self._extras.get(name, 0) + 1
        return self._number(name, block), name, block

    def _mark(self, marker: str, at: int) -> None:
        """Other nodes stand now behind the first ``at``, and no message said so."""
        seq, name, block = self._extra()
        op, meta = _rebase(self._standing, at), {"marker": marker}
        made = mark(seq, name, block, op, turn=self._turn, time=self._time, meta=meta)
        self._events.append(made)

    def _place(
        self, emissions: Sequence[Emission], wanted: list[Node], *, compacts: bool, at: int = 0
    ) -> None:
        """The events of these slots. Afterwards exactly the wanted nodes stand, behind the first
        ``at`` of those that stand now."""
        before = self._standing[at:]
        new = [e for e in emissions if e.node is not None and not e.node.seq]
        straight = wanted == [*before, *(e.node for e in new)]
        summary = None
        if compacts:
            summary = next((e for e in new if e.group.meta.get("checkpoint")), None)
        in_place = {} if straight or summary is not None else _replaced(before, wanted)
        current = wanted if straight else [in_place.get(node, node) for node in before]
        if straight or current == wanted:
            carrier = None
        else:
            free = [e for e in new if e.node and e.node.view is None and e.node not in in_place]
            carrier = summary or (free[-1] if free else None)
        new_of: dict[Node | None, Node] = {node: old for old, node in in_place.items()}
        if summary is not None:
            self._log("compact/start")
            words = "".join(b.text for slot in summary.group.slots for b in slot.blocks)
            self._log("compact/summary", {"message": words[:500]})
        # All others first: the list that the last one carries names them.
        for emission in [e for e in emissions if e is not carrier]:
            self._make(emission, straight=straight, replaces=new_of.get(emission.node))
        self._standing[at:] = wanted
        if carrier is not None:
            self._make(carrier, moved_from=at)
        elif current != wanted:
            self._mark("branch" if self._standing else "clear", at)
        if summary is not None:
            self._log("compact/end")

    def _make(
        self,
        emission: Emission,
        *,
        straight: bool = False,
        replaces: Node | None = None,
        moved_from: int | None = None,
    ) -> None:
        """The events of one emission: appended, in place of one other node, with the list of what
        stands then behind so many nodes (``moved_from``), or not standing yet."""
        group, node = emission.group, emission.node
        usage = self._spent(emission) if group.type == "assistant/message" else None
        for offset, slot in enumerate(group.slots[emission.first :]):
            block = emission.block + offset
            seq = self._number(emission.native, block)
            op: SurfaceOp | None = None
            sources: tuple[NodeId, ...] = ()
            if node is not None:
                node.seq = node.seq or seq
                if straight or emission.first or node.view is not None:
                    op = _RESTRICTED[node.view]
                elif replaces is not None and offset == 0:
                    op = Replace(start=replaces.seq, end=replaces.seq)
                    sources = (replaces.seq, seq)
                elif replaces is not None:
                    op = APPEND
                elif moved_from is not None and offset == len(group.slots) - 1:
                    op = _rebase(self._standing, moved_from)
            self._events.append(
                event(
                    seq,
                    group.type,
                    emission.native,
                    block,
                    node=None if node is None else node.seq,
                    op=op,
                    role=_role(group),
                    blocks=slot.blocks,
                    turn=emission.turn,
                    step=emission.step,
                    time=emission.time,
                    model=emission.model,
                    usage=usage if offset == 0 else None,
                    request=node.seq if usage is not None and node and offset == 0 else None,
                    source_event_seqs=sources,
                    meta=group.meta,
                )
            )
        self._tell_of(emission)

    def _tell_of(self, emission: Emission) -> None:
        """What the message says besides its content."""
        raise NotImplementedError

    def _spent(self, emission: Emission) -> Usage | None:
        """The figures that this message tells anew."""
        raise NotImplementedError


def _replaced(before: Sequence[Node], wanted: Sequence[Node]) -> dict[Node, Node]:
    """Nodes that new ones stand in place of, one for one: old → new. One that stood before and
    comes back brings no event that could say so."""
    if len(before) != len(wanted):
        return {}
    stays = {*before} & {*wanted}
    return {
        old: new
        for old, new in zip(before, wanted, strict=True)
        if not new.seq and not stays & {old, new} and old.view is None and new.view is None
    }


def _rebase(wanted: Sequence[Node], at: int) -> Rebase:
    """The first ``at`` stand already. Told behind the last of them that stands in both views."""
    while at and wanted[at - 1].view is not None:
        at -= 1
    return rebase(map(_SEQ, wanted[at:]), wanted[at - 1].seq if at else None)


def _role(group: Group) -> Role | None:
    if group.type == "assistant/message":
        return "assistant"
    return "user" if group.type in SURFACE_TYPES else None
