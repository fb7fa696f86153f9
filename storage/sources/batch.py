"""OpenAI's batch files, and preferences for fine-tuning: each line, or each request with its
result, is a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from compress.events import ContentBlock, Rebase, SessionEvent, SurfaceOp
from storage.sources.base import (
    Contents,
    Derived,
    FileReader,
    Json,
    Numbering,
    Record,
    SessionFacts,
    SourceAdapter,
)
from storage.sources.batch_content import Exchange, exchange
from storage.sources.draft import (
    APPEND,
    LONGEST_FACT,
    Identities,
    Turns,
    event,
    title_of,
    type_name,
)
from storage.sources.values import mapping, string

EXTRA_BLOCKS = 1 << 20
"""Block index of a line's first log-only event: behind any content."""


class BatchAdapter(SourceAdapter):
    """Has no place of its own: it reads what it is pointed at."""

    agent: ClassVar[str] = "batch"
    revision: ClassVar[int] = 2

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        known = sum(exchange(value) is not None for value in head)
        return 0 < known >= len(head) / 2

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return BatchReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        return self.contents(value)(block)

    def contents(self, value: Json) -> Contents:
        found = exchange(value)
        slots = [] if found is None else found.slots()
        return lambda block: slots[block].blocks() if 0 <= block < len(slots) else ()


@dataclass(slots=True)
class _Session:
    """One request and what became of it."""

    facts: SessionFacts
    turns: Turns = field(default_factory=Turns)
    standing: list[int] = field(default_factory=list)
    """The nodes of its results, while its request has not come."""


@dataclass(slots=True)
class _Named:
    """How many lines with one ``custom_id`` there were."""

    asked: int = 0
    answered: int = 0


class BatchReader(FileReader):
    """One file of requests, of results, or of both."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._sessions: dict[str, _Session] = {}
        self._keys: dict[tuple[str, int], str] = {}
        """``custom_id`` and which of its requests → the key of its session."""
        self._named: dict[str, _Named] = {}
        self._identities = Identities()

    def feed(self, record: Record) -> Iterable[Derived]:
        if record.value is None and record.damage is not None:
            return ()
        found = exchange(record.value)
        if found is None:
            url = string(mapping(record.value).get("url"))
            name = self._count_unknown(url or type_name(record.value))
            native = self._identities.of(record, record.value)
            session = self._session(None, record)
            seq = self.numbering(session.facts.key).seq(native, EXTRA_BLOCKS)
            unknown = event(seq, "unknown", native, EXTRA_BLOCKS, meta={"type": name})
            return (Derived(session.facts.key, [unknown]),)
        self.recognised += 1
        session = self._session(found, record)
        events = list(self._events(record, found, session))
        return (Derived(session.facts.key, events),) if events else ()

    def _session(self, found: Exchange | None, record: Record) -> _Session:
        """A line's session; of a result, that of its request."""
        name = "" if found is None else found.name
        place = None if found is None or not name else (name, self._place(found))
        key = None if place is None else self._keys.get(place)
        if key is None:
            key = "" if not self._sessions else str(record.line)
            if place is not None:
                self._keys[place] = key
        session = self._sessions.get(key)
        if session is None:
            native = name or f"{self.path.stem}#{key}".rstrip("#")
            session = self._sessions[key] = _Session(SessionFacts(key=key, native_id=native))
            self.sessions[key] = session.facts
        return session

    def _place(self, found: Exchange) -> int:
        """Which of the requests with its ``custom_id`` a line is or answers: each begins a
        session, and the results answer them in their order; a further one the newest."""
        named = self._named.setdefault(found.name, _Named())
        if not found.answers_another:
            named.asked += 1
            return named.asked - 1
        place = min(named.answered, max(0, named.asked - 1))
        named.answered = place + 1
        return place

    def _events(self, record: Record, found: Exchange, session: _Session) -> Iterator[SessionEvent]:
        facts = session.facts
        facts.model = found.model or facts.model
        identities = self._identities
        native = identities.own(found.id) if found.id else identities.of(record, record.value)
        number = self.numbering(facts.key).seq
        block = 0
        usage = found.usage
        behind = session.standing
        nodes: list[int] = []
        last = len(found.slots()) - 1 if behind and not found.answers_another else -1
        for slots, stands in found.groups():
            node: int | None = None
            for slot in slots:
                seq = number(native, block)
                blocks = slot.blocks()
                alone = slot.type == "tool/result"
                begins = node is None
                if begins or alone:
                    session.turns.begin(slot.type)
                    node = seq
                    if slot.type == "user/message" and not facts.title:
                        facts.title = title_of("".join(b.text for b in blocks))
                    if stands:
                        nodes.append(seq)
                op: SurfaceOp | None = APPEND if stands else None
                if last >= 0:
                    # The result came first: the request goes in front of it, all at once.
                    op = Rebase(seqs=(*nodes, *behind)) if block == last else None
                of_answer = slot.type == "assistant/message" and not found.request
                cost = usage if stands and of_answer else None
                usage = None if cost is not None else usage
                yield event(
                    seq,
                    slot.type,
                    native,
                    block,
                    node=node,
                    op=op,
                    role=slot.role,
                    blocks=blocks,
                    turn=session.turns.turn or None,
                    step=session.turns.step_of(slot.type, blocks),
                    model=facts.model if slot.type == "assistant/message" else None,
                    usage=cost,
                    request=node if cost is not None else None,
                    meta={"source": slot.role} if slot.type == "context/message" else {},
                )
                block += 1
        session.standing = [*behind, *nodes] if found.answers_another else []
        extra = EXTRA_BLOCKS
        if usage is not None:
            seq = number(native, extra)
            yield event(seq, "usage", native, extra, model=facts.model, usage=usage, request=seq)
            extra += 1
        if found.error:
            meta = {"message": found.error[:LONGEST_FACT]}
            yield event(number(native, extra), "error", native, extra, meta=meta)
            extra += 1
        for offset, name in enumerate(found.strangers(), extra):
            meta = {"type": self._count_unknown(name)}
            yield event(number(native, offset), "unknown", native, offset, meta=meta)
