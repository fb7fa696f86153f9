"""The beliefs that an event states, its content at hand.

What an event is follows from its type, and what a call did from the structure of its input
(:mod:`compress.toolcalls`); no tool is known by its name. A content that is longer than a pack can
well hold is cut by :mod:`compress.spans` into parts, each a belief of its own. An id follows from
the session's native id, the record, the statement's place in it and its content: the same from
every machine that reads the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from compress.artifacts.edits import FileChange, file_changes
from compress.beliefs.classes import SOURCES, Source
from compress.beliefs.parts import parts_of
from compress.beliefs.values import LOCK_NONE, LOCK_USER, Belief
from compress.compaction.facts import FRAME
from compress.decisions.text import memory_text
from compress.decisions.values import DecisionPoint
from compress.events import ContentBlock, SessionEvent
from compress.markup import is_wrapped
from compress.packs.frame import is_pack
from compress.tokens import TokenCounter
from compress.toolcalls import ToolCall, json_output, tool_call

LABEL_LIMIT = 120
"""Characters of a label."""
_TOLD = 40
"""Characters from which a text that a tool of an unknown kind is given says something."""
_RESULT_KINDS: Mapping[str, str] = {
    "read": "file_read",
    "changed": "progress",
    "created": "progress",
    "ran": "command",
    "searched": "found",
    "fetched": "found",
    "other": "tool",
}
"""What a call did → the kind of source that its result is."""


@dataclass(frozen=True, slots=True)
class _Statement:
    kind: str
    text: str
    label: str = ""


def beliefs_of(
    event: SessionEvent,
    *,
    native: str,
    counter: TokenCounter,
    session: str = "",
    call: ContentBlock | None = None,
    sources: Mapping[str, Source] = SOURCES,
    locked: bool = False,
) -> tuple[Belief, ...]:
    """The beliefs of one event, in the order of its content; none where it says nothing.

    ``native``: the session's native id. ``session``: its name in the store, for the beliefs.
    ``call``: the call that a result answers; without it the result is of an unknown kind.
    ``locked``: a person pinned the event. Never raises for what an event holds.
    """
    found: list[Belief] = []
    for place, told in enumerate(_statements(event, call)):
        source = sources[told.kind]
        origin = f"{native}\0{event.native_id}\0{event.block}\0{place}"
        parts = parts_of(told.text, counter)
        for number, text in enumerate(parts):
            found.append(
                Belief(
                    id=_id(origin, number, text),
                    content=text,
                    retention_class=source.retention,
                    belief_type=source.type,
                    source_kind=told.kind,
                    lock_level=LOCK_USER if locked else LOCK_NONE,
                    source_event_seqs=(event.seq,),
                    session=session,
                    label=told.label,
                    part=(number, len(parts)) if len(parts) > 1 else None,
                )
            )
    return tuple(found)


def belief_of_decision(
    point: DecisionPoint,
    *,
    native: str,
    session: str = "",
    sources: Mapping[str, Source] = SOURCES,
) -> Belief:
    """A decision point as one belief: what it is as a record of memory."""
    text = memory_text(point)
    source = sources["decision"]
    return Belief(
        id=_id(f"{native}\0decision\0{point.id}", 0, text),
        content=text,
        retention_class=source.retention,
        belief_type=source.type,
        source_kind="decision",
        source_event_seqs=point.source_event_seqs or (point.first_seq,),
        session=session,
    )


def label(text: str) -> str:
    """A text in one line of at most :data:`LABEL_LIMIT` characters."""
    line = " ".join(text[: 8 * LABEL_LIMIT].split())
    return line if len(line) <= LABEL_LIMIT else f"{line[: LABEL_LIMIT - 1]}…"


def _statements(event: SessionEvent, call: ContentBlock | None) -> Iterator[_Statement]:
    if event.type in ("user/message", "steering/message"):
        yield from _of_person(event)
    elif event.type == "context/message":
        text = _words(event.blocks)
        kind = "checkpoint" if event.meta.get("checkpoint") else "context"
        yield from _statement("note" if is_pack(text) else kind, text)
    elif event.type in ("assistant/message", "tool/result"):
        yield from _of_agent(event, call)
    elif event.type == "approval/decision":
        yield from _statement("steering", _string(event.meta, "message"))
    elif event.type == "artifact/update":
        yield from _of_plan(event)
    elif event.type == "error":
        yield from _statement("context", _string(event.meta, "message"), "error")


def _of_person(event: SessionEvent) -> Iterator[_Statement]:
    """The person's words; apart from them what a program put beside them, or in their place."""
    text = _words(event.blocks)
    if is_pack(text):
        yield _Statement("note", text)
    elif event.meta.get("checkpoint") or text.startswith(FRAME):
        yield from _statement("checkpoint", text)
    else:
        own = [block for block in event.blocks if not is_wrapped(block.text)]
        kind = "steering" if event.type == "steering/message" else "user"
        yield from _statement(kind, _words(own))
        for block in event.blocks:
            if block.kind in ("text", "context") and is_wrapped(block.text):
                yield from _statement("context", block.text)


def _of_agent(event: SessionEvent, call: ContentBlock | None) -> Iterator[_Statement]:
    calls = {block.id: block for block in event.blocks if block.kind == "tool_call"}
    for block in event.blocks:
        if block.kind == "text":
            yield from _statement("answer", block.text)
        elif block.kind == "tool_call":
            yield from _of_call(block)
        elif block.kind in ("tool_result", "synthetic"):
            asked = calls.get(block.id)
            if asked is None and call is not None and call.id in (block.id, None):
                asked = call
            yield from _of_result(block, asked)


def _of_call(block: ContentBlock) -> Iterator[_Statement]:
    """What a call did that its result does not tell: what it wrote, ran or handed on."""
    changes = file_changes(block.input)
    for change in changes:
        yield from _statement("file_written", _new_text(change), change.path)
    if changes:
        return
    made = tool_call(block.name or "", block.input)
    action = made.facts[0].action if made.facts else "other"
    if action == "ran":
        yield from _statement("action", made.facts[0].target, made.name)
    elif action == "other" and isinstance(block.input, Mapping):
        told = [text for text in block.input.values() if isinstance(text, str)]
        yield from _statement(
            "action", "\n".join(text for text in told if len(text) >= _TOLD), made.name
        )


def _new_text(change: FileChange) -> str:
    if change.whole is not None:
        return change.whole
    new = [text for _, text, _ in change.replaced] + ["\n".join(lines) for _, lines in change.hunks]
    return "\n".join(new)


def _of_result(block: ContentBlock, call: ContentBlock | None) -> Iterator[_Statement]:
    made = tool_call(call.name or "", call.input) if call is not None else ToolCall("", ())
    inner = (json_output(block.text) or {}).get("output")
    text = inner if isinstance(inner, str) else block.text
    if made.facts:
        fact = made.facts[0]
        yield from _statement(_RESULT_KINDS[fact.action], text, fact.target)
    else:
        yield from _statement("tool", text, made.name or block.name or "")


def _of_plan(event: SessionEvent) -> Iterator[_Statement]:
    for text, status in _items(event.meta):
        yield from _statement("plan_step", text, status)
    yield from _statement("plan_step", _words(event.blocks), _string(event.meta, "title"))


def _items(meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    listed = meta.get("items")
    for item in listed if isinstance(listed, list | tuple) else ():
        if isinstance(item, Mapping):
            yield _string(item, "text"), _string(item, "status").replace("_", " ")


def _statement(kind: str, text: str, about: str = "") -> Iterator[_Statement]:
    if text.strip():
        yield _Statement(kind, text, label(about))


def _words(blocks: Iterable[ContentBlock]) -> str:
    return "\n".join(block.text for block in blocks if block.kind in ("text", "context"))


def _string(values: Mapping[str, Any], key: str) -> str:
    found = values.get(key)
    return found if isinstance(found, str) else ""


def _id(origin: str, part: int, text: str) -> str:
    digest = blake2b(digest_size=8)
    digest.update(f"{origin}\0{part}\0".encode("utf-8", "surrogatepass"))
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
