"""One record of a Gemini CLI log → its messages → the events that they are, from the record alone.

Source: google-gemini/gemini-cli 0.61, ``loadConversationRecord`` (``chatRecordingService.ts``) and
``convertSessionToClientHistory`` (``sessionUtils.ts``). Also read: a whole legacy document, the
file that ``/chat save`` writes, and a bare list of contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from compress.events import ContentBlock, EventType
from storage.sources.draft import NO_META, type_name, word
from storage.sources.gemini_parts import Part, block_of, is_result, key_of, parts_of, plain
from storage.sources.values import listing, mapping, string

RecordKind = Literal["head", "message", "checkpoint", "metadata", "rewind", "contents", "unknown"]
_ROLES = {"user": "user", "model": "gemini"}
_SNAPSHOT = "<state_snapshot>"
_SESSION = "<session_context>"
_HOOK = "<hook_context>"
_REFUSALS = ("User denied execution.", "User did not allow tool call")
"""The CLI's own words in the result of a call that a person refused."""
_CANCELLED = "[Operation Cancelled]"


class Slot(NamedTuple):
    """One event of a message."""

    blocks: tuple[ContentBlock, ...]
    key: bytes
    """What it says, to be found again in a later copy of the message."""


class Group(NamedTuple):
    """The events of one node, or one log-only event."""

    type: EventType
    slots: tuple[Slot, ...]
    stands: bool = True
    """On the surface; else log-only."""
    live_only: bool = False
    """The running agent sent it, a resume does not."""
    call: str | None = None
    """Of a result: the id of the call that it answers."""
    told_by: Literal["call", "turn"] = "turn"
    """Of a result: whether the record of its call holds it, or the turn that brought it."""
    meta: Mapping[str, Any] = NO_META

    @property
    def key(self) -> bytes:
        """What the node says to the model: thoughts left out, since they are not sent."""
        said = [s.key for s in self.slots if any(b.kind != "thinking" for b in s.blocks)]
        return b"".join((self.type.encode(), *(said or [s.key for s in self.slots])))


@dataclass(frozen=True, slots=True)
class GeminiMessage:
    """One message of a record."""

    id: str
    """Empty for a content of a bare list."""
    raw: Mapping[str, Any]
    groups: tuple[Group, ...]
    block: int
    """Index of its first event among those of the record."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a record is, and its messages."""

    kind: RecordKind
    messages: tuple[GeminiMessage, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the record is of a type that the CLI has."""
        if self.kind == "message":
            return all(group.type != "unknown" for group in self.messages[0].groups)
        return self.kind != "unknown"

    @property
    def slots(self) -> Iterator[Slot]:
        """All events with content, in the order of their block index."""
        for message in self.messages:
            for group in message.groups:
                yield from group.slots


def decode(value: Any) -> Decoded:
    """The record. The tests stand in the order of the CLI's own loader."""
    kind, raws = _sort(value)
    messages = []
    block = 0
    for index, raw in enumerate(raws):
        following = raws[index + 1] if index + 1 < len(raws) else None
        groups = tuple(_groups(raw, kind, following))
        messages.append(GeminiMessage(string(mapping(raw).get("id")), mapping(raw), groups, block))
        block += sum(len(group.slots) for group in groups)
    return Decoded(kind, tuple(messages))


def is_content(value: Any) -> bool:
    """Whether this is a content of the Gemini API: a role and parts."""
    return (
        isinstance(value, dict)
        and isinstance(role := value.get("role"), str)
        and role in _ROLES
        and isinstance(value.get("parts"), list)
    )


def _sort(value: Any) -> tuple[RecordKind, Sequence[Any]]:
    if isinstance(value, list):
        return ("contents", value) if any(map(is_content, value)) else ("unknown", ())
    record = mapping(value)
    if isinstance(record.get("$rewindTo"), str):
        return "rewind", ()
    if isinstance(record.get("id"), str):
        return "message", (record,)
    if isinstance(record.get("$set"), dict):
        held = record["$set"].get("messages")
        return ("checkpoint", held) if isinstance(held, list) else ("metadata", ())
    if isinstance(record.get("sessionId"), str) and (
        isinstance(record.get("projectHash"), str) or isinstance(record.get("messages"), list)
    ):
        return "head", listing(record.get("messages"))
    history = listing(record.get("history"))
    return ("contents", history) if any(map(is_content, history)) else ("unknown", ())


def _groups(raw: Any, kind: RecordKind, following: Any) -> Iterator[Group]:
    if kind == "contents" and is_content(raw):
        type_, content = _ROLES[raw["role"]], raw["parts"]
    elif isinstance(raw, dict) and isinstance(raw.get("id"), str):
        type_, content = string(raw.get("type")), raw.get("content")
    else:
        type_, content = "", None
    if type_ == "user":
        whole = kind in ("checkpoint", "head", "contents")
        yield from _user(content, summary=whole and _is_summary(content, following))
    elif type_ == "gemini":
        yield from _answer(mapping(raw), content)
        yield from _results(mapping(raw))
    elif type_ in ("info", "warning", "error"):
        yield _note(type_, content)
    else:
        slot = Slot((), repr(raw).encode("utf-8", "replace"))
        yield Group("unknown", (slot,), stands=False, meta={"type": type_name(raw)[:200]})


def _user(content: Any, *, summary: bool) -> Iterator[Group]:
    parts = parts_of(content)
    text = plain(content).strip()
    type_: EventType = "user/message"
    meta: Mapping[str, Any] = NO_META
    context = text.startswith((_SESSION, _HOOK))
    if summary:
        type_, meta = "context/message", {"checkpoint": "agent", "source": "compaction"}
    elif context:
        source = "session_context" if text.startswith(_SESSION) else "hook_context"
        type_, meta = "context/message", {"source": source}
    elif parts and is_result(parts[0]):
        type_ = "steering/message"
    # The new session's own context takes the place of the old one.
    dropped = not text or text.startswith(("/", "?", _HOOK))
    said: list[Slot] = []
    for part in parts:
        if is_result(part):
            if said:
                yield Group(type_, tuple(said), live_only=dropped, meta=meta)
                said = []
            yield _result([part], "turn")
        else:
            said.append(_slot(part, context=context))
    if said:
        yield Group(type_, tuple(said), live_only=dropped, meta=meta)


def _answer(raw: Mapping[str, Any], content: Any) -> Iterator[Group]:
    parts = parts_of(content)
    if not any(part.get("functionCall") or part.get("thought") for part in parts):
        parts = [*_thoughts(raw), *parts, *_calls(raw)]
    if parts:
        yield Group("assistant/message", tuple(_slot(part) for part in parts))


def _thoughts(raw: Mapping[str, Any]) -> list[Part]:
    found: list[Part] = []
    for thought in map(mapping, listing(raw.get("thoughts"))):
        subject, said = string(thought.get("subject")), string(thought.get("description"))
        found.append({"text": f"**{subject}** {said}" if subject else said, "thought": True})
    return found


def _calls(raw: Mapping[str, Any]) -> list[Part]:
    return [
        {"functionCall": {name: call.get(name) for name in ("id", "name", "args")}}
        for call in map(mapping, listing(raw.get("toolCalls")))
    ]


def _results(raw: Mapping[str, Any]) -> Iterator[Group]:
    """The results that the record of a call holds: each with what came along with it."""
    for call in map(mapping, listing(raw.get("toolCalls"))):
        result = call.get("result")
        if not result:
            continue
        if isinstance(result, str):
            whole = {"id": call.get("id"), "name": call.get("name")}
            result = {"functionResponse": {**whole, "response": {"output": result}}}
        parts: list[Part] = []
        for part in parts_of(result):
            if parts and is_result(part):
                yield _result(parts, "call", call)
                parts = []
            parts.append(part)
        if parts:
            yield _result(parts, "call", call)


def _result(
    parts: Sequence[Part], told_by: Literal["call", "turn"], call: Mapping[str, Any] = NO_META
) -> Group:
    blocks = tuple(block_of(part, failed=call.get("status") == "error") for part in parts)
    slot = Slot(blocks, b"".join(key_of(part) for part in parts))
    if blocks[0].kind != "tool_result":
        return Group("context/message", (slot,), told_by=told_by, meta={"source": "tool"})
    meta: dict[str, Any] = {}
    if agent := word(call.get("agentId")):
        meta["agent"] = agent
    text = blocks[0].text
    if text.startswith(_CANCELLED) and any(words in text for words in _REFUSALS):
        meta["declined"] = True
    return Group("tool/result", (slot,), call=blocks[0].id, told_by=told_by, meta=meta)


def _note(type_: str, content: Any) -> Group:
    """What the CLI shows its user. Binary content that a tool gave is sent under this type, too."""
    if type_ == "error":
        slot = Slot((), b"error")
        return Group("error", (slot,), stands=False, meta={"message": plain(content)[:500]})
    parts = parts_of(content)
    blocks = tuple(map(block_of, parts))
    slot = Slot(blocks, b"".join(map(key_of, parts)))
    sent = any("inlineData" in part or "fileData" in part for part in parts)
    meta = {"source": "binary" if sent else type_}
    return Group("context/message", (slot,), stands=sent, live_only=sent, meta=meta)


def _slot(part: Part, *, context: bool = False) -> Slot:
    block = block_of(part)
    if context and block.kind == "text":
        block = ContentBlock(kind="context", text=block.text)
    return Slot((block,), key_of(part))


def _is_summary(content: Any, following: Any) -> bool:
    """Whether this is the summary of a compression: the model's acknowledgement follows it."""
    answer = mapping(following)
    answers = answer.get("type") == "gemini" or answer.get("role") == "model"
    return answers and _SNAPSHOT in plain(content)
