"""A record of Cline's → its messages and the content of their events, from the record alone.

Two stores. *Task*: the extension up to 3.x keeps the provider's messages (Anthropic's form) in
``api_conversation_history.json``. *Session*: from 4.0, and the CLI, ``ID.messages.json``. A record
is one row of either, as ``cline_tail.py`` gives it, or a whole document.

Source: cline/cline 3.89 (``messages/content.ts``, ``ContextManager``) and 4.1 (``MessageBuilder``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from compress.events import ContentBlock, EventType, Role
from storage.sources.cline_parts import edited, part_block
from storage.sources.cline_sidecar import sent_words
from storage.sources.draft import NO_META, digest_of, text_block
from storage.sources.values import listing, mapping, string

ROW_BLOCKS = 1 << 12
"""Block indices of one message; those of the n-th message of a record begin at n times this."""
FACT = 1 << 40
"""Block index of a record's first log-only event."""
PREFIX = "cline/"
"""Of the tables' names in records: other agents have tables of messages, too."""
_TABLES = (
    "task",
    "metadata",
    "message",
    "edit",
    "screen",
    "head",
    "manifest",
    "compaction",
    "item",
)
_OUTPUT = re.compile(r"\[\w+(?: for [^\n]*)?\] Result:")
_SPOKEN = ("<task>", "<feedback>", "<user_message>", "<answer>", "<user_input")
_INJECTED = (
    "<environment_details>",
    "<hook_context",
    "<explicit_instructions",
    "[ERROR]",
    "[TASK RESUMPTION]",
)
TASK_META: Mapping[str, Any] = {"layout": "task"}
"""Tells a task from a session, which sends the same otherwise."""
_COMPACTED = ("compaction", "compaction_summary")


class Row(NamedTuple):
    """One row of a task or a session."""

    table: str
    id: str
    data: Any
    removed: bool = False
    base: int = 0
    """Block index of its first event."""
    edits: Mapping[str, Any] = NO_META
    """Of a task's message: block → the text that is sent in its place."""
    holds: bool = False
    """Of a compaction: it stands for the beginning of the transcript."""


class Slot(NamedTuple):
    """One event of a message."""

    type: EventType
    role: Role
    block: ContentBlock | None
    meta: Mapping[str, Any]
    key: bytes
    """What it says, to know it again."""


def rows_of(value: Any) -> Iterator[Row]:
    """The rows of a record; none for what is no record of Cline's."""
    if isinstance(value, list):
        messages = value
        if not messages or not all(map(is_message, messages)):
            return
        table = "message"
    else:
        record = mapping(value)
        if (row := _own(record)) is not None:
            yield row
            return
        messages = listing(record.get("messages"))
        if not is_session(record):
            return
        yield _head(record)
        table = "item"
    for index, message in enumerate(messages):
        yield _message(table, index, message)


def row_at(value: Any, block: int) -> Row | None:
    """The row of a record whose event has this block index. Of a document, which is asked for
    each of its events, only that message is looked at."""
    index = block // ROW_BLOCKS - 1
    if isinstance(value, list):
        table, messages = "message", value
    else:
        record = mapping(value)
        if (row := _own(record)) is not None:
            return row if index == -1 or row.table == "compaction" else None
        if index == -1:
            return _head(record)
        table, messages = "item", listing(record.get("messages"))
    known = 0 <= index < len(messages) and is_message(messages[index])
    return _message(table, index, messages[index]) if known else None


def _own(record: dict[str, Any]) -> Row | None:
    """The row that a record is; ``None`` for a document."""
    table = string(record.get("table")).removeprefix(PREFIX)
    own = PREFIX + table == record.get("table") and table in _TABLES
    if not own or not isinstance(record.get("id"), str):
        return None
    return Row(
        table,
        record["id"],
        record.get("data"),
        record.get("removed") is True,
        edits=mapping(record.get("edits")),
        holds=record.get("holds") is True,
    )


def _head(record: dict[str, Any]) -> Row:
    head = {key: record[key] for key in record if key not in ("messages", "updated_at")}
    return Row("head", "", head)


def _message(table: str, index: int, message: Any) -> Row:
    return Row(table, str(index), message, base=(index + 1) * ROW_BLOCKS)


def is_session(record: dict[str, Any]) -> bool:
    """Whether this is the document of a session's messages."""
    messages = record.get("messages")
    named = isinstance(record.get("sessionId"), str) or "source_message_count" in record
    return named and isinstance(messages, list) and all(map(is_message, messages))


def is_message(value: Any) -> bool:
    """Whether this has a message's form."""
    fields = mapping(value)
    return fields.get("role") in ("user", "assistant") and isinstance(
        fields.get("content"), str | list
    )


def slots_of(row: Row) -> list[tuple[int, Slot]]:
    """The events of a row with content, by their block index."""
    if row.table == "compaction":
        found = []
        for index, message in enumerate(listing(mapping(row.data).get("messages"))):
            base = row.base + index * ROW_BLOCKS
            found += [
                (base + i, slot)
                for i, slot in enumerate(message_slots(message, {}, in_session=True))
            ]
        return found
    if row.table == "head":
        prompt = string(mapping(row.data).get("system_prompt"))
        slots = [_slot("context/message", "system", prompt, {"source": "system"})] if prompt else []
    elif row.table in ("message", "edit", "item"):
        slots = message_slots(row.data, row.edits, in_session=row.table == "item")
    else:
        slots = []
    return [(row.base + index, slot) for index, slot in enumerate(slots)]


def block_of(row: Row, block: int) -> tuple[ContentBlock, ...]:
    """The content of the row's event with this block index."""
    place, index = divmod(block - row.base, ROW_BLOCKS)
    if row.table == "compaction":
        messages = listing(mapping(row.data).get("messages"))
        if not 0 <= place < len(messages):
            return ()
        slots = message_slots(messages[place], {}, in_session=True)
    elif place == 0:
        slots = [slot for _, slot in slots_of(row)]
    else:
        return ()
    said = slots[index].block if index < len(slots) else None
    return () if said is None else (said,)


def message_slots(message: Any, edits: Mapping[str, Any], *, in_session: bool) -> list[Slot]:
    """The events of a message, in order; at most :data:`ROW_BLOCKS`. ``in_session``: of the newer
    store."""
    fields = mapping(message)
    content = fields.get("content")
    parts = [content] if isinstance(content, str) else listing(content)
    own = NO_META if in_session else TASK_META
    if fields.get("role") == "assistant":
        return [
            Slot("assistant/message", "assistant", block, own, _key(block))
            for index, part in enumerate(parts[:ROW_BLOCKS])
            for block in (part_block(edited(part, edits.get(str(index))), limited=False),)
        ]
    if fields.get("role") != "user":
        return []
    compacted = mapping(fields.get("metadata")).get("kind") in _COMPACTED
    found: list[Slot] = []
    for index, part in enumerate(parts[:ROW_BLOCKS]):
        block = part_block(edited(part, edits.get(str(index))), limited=in_session)
        if block.kind == "tool_result":
            found.append(Slot("tool/result", "user", block, NO_META, _key(block)))
            continue
        if compacted:
            meta: Mapping[str, Any] = {"checkpoint": "agent"}
        elif mapping(part).get("type") == "file":
            meta = {"source": "file"}
        else:
            meta = NO_META if in_session else _source(block, found)
        if block.kind == "text" and in_session:
            block = text_block("text", sent_words(block.text))
        if meta and block.kind == "text" and not compacted:
            block = text_block("context", block.text)
        kind: EventType = "context/message" if meta else "user/message"
        found.append(Slot(kind, "user", block, meta or own, _key(block)))
    return found


def _source(block: ContentBlock, before: list[Slot]) -> Mapping[str, Any]:
    """Where a part of a user's message comes from; nothing for the user's own. Before calls were
    the provider's own, a tool's output was a text behind a heading, and so it is still called."""
    text = block.text.lstrip() if block.kind == "text" else ""
    if any(mark in text for mark in _SPOKEN):
        return NO_META
    if text.startswith(_INJECTED):
        return {"source": "environment" if text.startswith("<") else "notice"}
    if _OUTPUT.match(text):
        return {"source": "tool"}
    # What stands behind the heading, in texts and pictures of its own.
    return {"source": "tool"} if before and before[-1].meta.get("source") == "tool" else NO_META


def _slot(kind: EventType, role: Role, text: str, meta: Mapping[str, Any]) -> Slot:
    block = text_block("text", text)
    return Slot(kind, role, block, meta, _key(block))


def _key(block: ContentBlock) -> bytes:
    return digest_of(block.model_dump())
