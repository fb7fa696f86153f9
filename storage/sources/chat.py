"""Plain chat in the OpenAI style: the list as it stands is what the model saw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from compress.events import ContentBlock, SessionEvent
from storage.sources import chat_content as content
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
from storage.sources.draft import APPEND, Identities, Turns, event
from storage.sources.values import count, mapping, string, timestamp


class ChatAdapter(SourceAdapter):
    """Has no place of its own: it reads what it is pointed at."""

    agent: ClassVar[str] = "chat"
    revision: ClassVar[int] = 2

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        known = sum(any(found.messages for found in content.conversations(v)) for v in head)
        return 0 < known >= len(head) / 2

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return ChatReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        return self.contents(value)(block)

    def contents(self, value: Json) -> Contents:
        slots = list(_all_slots(value))

        def read(block: int) -> tuple[ContentBlock, ...]:
            slot = slots[block] if 0 <= block < len(slots) else None
            return () if slot is None else slot.blocks()

        return read


@dataclass(slots=True)
class _State:
    """Where one conversation stands."""

    key: str
    identities: Identities = field(default_factory=Identities)
    turns: Turns = field(default_factory=Turns)
    model: str | None = None


class ChatReader(FileReader):
    """One file: the conversation that its lines make up, or one for each list that it holds."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._states: dict[str, _State] = {}

    def feed(self, record: Record) -> Iterable[Derived]:
        value = record.value
        if value is None:
            return ()
        found = list(content.conversations(value))
        if not found:
            name = string(mapping(value).get("type")) or type(value).__name__
            self._count_unknown(name)
            return (self._unknown(record, name),)
        self.recognised += 1
        derived = []
        block = 0
        for index, conversation in enumerate(found):
            state = self._state(conversation, f"{record.line}.{index}")
            events = list(self._events(record, conversation, state, block))
            block += sum(1 for _ in _slots(conversation))
            derived.append(Derived(state.key, events))
        return derived

    def _state(self, conversation: content.Conversation, key: str) -> _State:
        """The main session takes the lines, else the first list; each further list is its own."""
        if not conversation.own or "" not in self._states:
            key = ""
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = _State(key)
            self.sessions[key] = SessionFacts(
                key=key, native_id=conversation.name or (f"{self.path.stem}#{key}".rstrip("#"))
            )
        return state

    def _unknown(self, record: Record, name: str) -> Derived:
        state = self._state(content.Conversation([], {}, own=False), "")
        native = state.identities.of(record, record.value)
        seq = self.numbering("").seq(native)
        return Derived("", [event(seq, "unknown", native, meta={"type": name})])

    def _events(
        self, record: Record, conversation: content.Conversation, state: _State, block: int
    ) -> Iterator[SessionEvent]:
        request = conversation.request
        numbers = self.numbering(state.key)
        facts = self.sessions[state.key]
        model = string(request.get("model")) or string(_response(request).get("model"))
        facts.model = state.model = model or state.model
        facts.window = count(request.get("context_window")) or facts.window
        node: int | None = None
        for message in conversation.messages:
            native = state.identities.of(record, message)
            node = None
            for slot in content.slots(message) or (None,):
                seq = numbers.seq(native, block)
                if slot is None:
                    name = _name(message)
                    self._count_unknown(name)
                    yield event(seq, "unknown", native, block, meta={"type": name})
                else:
                    own = slot.type == "tool/result"
                    node = seq if node is None and not own else node
                    place = seq if own or node is None else node
                    yield self._event(
                        message, slot, state, seq=seq, native=native, block=block, node=place
                    )
                block += 1
        usage = content.usage(_response(request).get("usage"))
        if usage is not None:
            # In a log of requests the answer stands in no list, but says what the list cost; the
            # figures of a line are those of its own message.
            native = state.identities.of(record, {"usage": _response(request).get("usage")})
            seq = numbers.seq(native, block)
            yield event(
                seq,
                "usage",
                native,
                block,
                turn=state.turns.turn or None,
                step=state.turns.step + conversation.own,
                time=timestamp(request.get("timestamp")),
                model=state.model,
                usage=usage,
                request=seq if conversation.own or node is None else node,
            )

    def _event(
        self,
        message: dict[str, Any],
        slot: content.Slot,
        state: _State,
        *,
        seq: int,
        native: str,
        block: int,
        node: int,
    ) -> SessionEvent:
        blocks = slot.blocks()
        if seq == node:
            state.turns.begin(slot.type)
        return event(
            seq,
            slot.type,
            native,
            block,
            node=node,
            op=APPEND,
            role=slot.role,
            blocks=blocks,
            turn=state.turns.turn or None,
            step=state.turns.step_of(slot.type, blocks),
            time=timestamp(message.get("timestamp")),
            model=state.model if slot.type == "assistant/message" else None,
            meta={"source": slot.role} if slot.type == "context/message" else {},
        )


def _slots(conversation: content.Conversation) -> Iterator[content.Slot | None]:
    """One for each event of the conversation, in order; ``None`` for an event without content."""
    for message in conversation.messages:
        yield from content.slots(message) or (None,)
    if content.usage(_response(conversation.request).get("usage")) is not None:
        yield None


def _all_slots(value: Json) -> Iterator[content.Slot | None]:
    for conversation in content.conversations(value):
        yield from _slots(conversation)


def _response(request: dict[str, Any]) -> dict[str, Any]:
    """The part of a record that holds the figures: its response, else the record itself."""
    found = request.get("response")
    return mapping(found) if isinstance(found, dict) else request


def _name(message: Any) -> str:
    """What to call a message that is not understood. Where it has no role this is not what
    :func:`chat_content.name_of` says: to say that would change events that stores hold."""
    return string(mapping(message).get("role")) or type(message).__name__
