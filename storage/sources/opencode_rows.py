"""A row of opencode's store → what it is, and the content of its events, from the row alone.

A row is a session, a message or a part, as the database or the tree of files has it; an export
(``opencode export``) holds all rows of one session. Source: ``MessageV2.toModelMessages`` of
opencode 1.18.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from compress.events import ContentBlock, Image
from compress.images import image_from_base64
from storage.sources.base import Json
from storage.sources.draft import text_block, word
from storage.sources.values import count, listing, mapping, string

CONTENT, RESULT, CLEARED = 0, 1, 2
"""Block indices of a part: what it says or calls, the call's result, the result once cleared."""
ROW_BLOCKS = 64
"""Block indices of one row; those of an export's n-th row begin at n times this."""
CLEARED_TEXT = "[Old tool result content cleared]"
MARKER_TEXT = "What did we do so far?"
SUBTASK_TEXT = "The following tool was executed by the user"
_NOT_SENT = ("text/plain", "application/x-directory")
"""Files of these kinds were made texts when they were attached."""


class Row(NamedTuple):
    """One row, whichever way it is kept."""

    table: str
    id: str
    session: str
    message: str
    created: int
    """Milliseconds; orders messages together with their ids."""
    data: dict[str, Any]
    removed: bool = False
    base: int = 0
    """Block index of the row's first event."""


def rows_of(value: Json) -> Iterator[Row]:
    """The rows of a record; none for what is no record of opencode's."""
    record = mapping(value)
    if string(record.get("table")) in ("session", "message", "part"):
        yield _row(record)
    elif is_export(record):
        yield from _exported(record)


def is_export(record: dict[str, Any]) -> bool:
    """Whether this is what ``opencode export`` prints."""
    told, messages = mapping(record.get("info")), record.get("messages")
    if not isinstance(told.get("id"), str) or not isinstance(messages, list):
        return False
    return all("info" in mapping(m) and isinstance(m.get("parts"), list) for m in messages)


def _row(record: dict[str, Any]) -> Row:
    table, data = string(record.get("table")), mapping(record.get("data"))
    own = string(record.get("id"))
    if record.get("file"):
        # Named by its file; the id stands in it.
        own = string(data.get("id")) or own.rpartition("/")[2].removesuffix(".json")
    if record.get("removed") and own.endswith(".json"):
        own = own.rpartition("/")[2].removesuffix(".json")
    return Row(
        table,
        own,
        own if table == "session" else string(record.get("session_id")),
        own if table == "message" else string(record.get("message_id")),
        count(record.get("time_created")) or 0,
        data,
        bool(record.get("removed")),
    )


def _exported(record: dict[str, Any]) -> Iterator[Row]:
    told = mapping(record["info"])
    session = string(told.get("id"))
    yield Row("session", session, session, "", 0, told)
    base = ROW_BLOCKS
    for message in listing(record["messages"]):
        info = mapping(message["info"])
        name = string(info.get("id"))
        created = count(mapping(info.get("time")).get("created")) or 0
        yield Row("message", name, session, name, created, info, base=base)
        base += ROW_BLOCKS
        for part in map(mapping, listing(message["parts"])):
            own = string(part.get("id"))
            yield Row("part", own, session, name, created, part, base=base)
            base += ROW_BLOCKS


def blocks_of(data: dict[str, Any], slot: int) -> tuple[ContentBlock, ...]:
    """The content of a part's event. Empty where there is none."""
    if data.get("type") == "tool":
        return _tool(data, slot)
    block = _said(data) if slot == CONTENT else None
    return () if block is None else (block,)


def _said(data: dict[str, Any]) -> ContentBlock | None:
    text = string(data.get("text"))
    match data.get("type"):
        case "text" if text:
            # What opencode itself adds to a message is synthetic.
            return text_block("context" if data.get("synthetic") else "text", text)
        case "reasoning":
            return text_block("thinking", text, signature=_signature(data))
        case "compaction":
            return text_block("context", MARKER_TEXT)
        case "subtask":
            return text_block("context", SUBTASK_TEXT)
        case "file" if data.get("mime") not in _NOT_SENT:
            return _file(data)
    return None


def _file(data: dict[str, Any]) -> ContentBlock:
    image = _image(data)
    if image is not None:
        return text_block("image", images=(image,))
    return text_block("opaque", name=word(data.get("filename")) or word(data.get("mime")))


def result_text(state: dict[str, Any]) -> tuple[str, bool] | None:
    """What a call that ended gave, and whether that is an error; ``None`` while it runs."""
    status = state.get("status")
    if status == "completed":
        return string(state.get("output")), False
    if status == "error":
        told = mapping(state.get("metadata"))
        if told.get("interrupted") is True and isinstance(told.get("output"), str):
            return told["output"], False
        return string(state.get("error")), True
    return None


def is_cleared(state: dict[str, Any]) -> bool:
    """Whether the agent pruned this result: it stays in the store and is not sent."""
    if state.get("status") != "completed":
        return False
    return bool(mapping(state.get("time")).get("compacted"))


def _tool(data: dict[str, Any], slot: int) -> tuple[ContentBlock, ...]:
    state = mapping(data.get("state"))
    call, name = word(data.get("callID")), word(data.get("tool"))
    if slot == CONTENT:
        return (text_block("tool_call", id=call, name=name, input=state.get("input")),)
    if slot == CLEARED:
        return (text_block("tool_result", CLEARED_TEXT, id=call, name=name),)
    given = result_text(state) if slot == RESULT else None
    if given is None:
        return ()
    text, failed = given
    images = map(_image, map(mapping, listing(state.get("attachments"))))
    return (
        text_block(
            "tool_result",
            text,
            id=call,
            name=name,
            is_error=failed or None,
            images=tuple(image for image in images if image is not None),
        ),
    )


def _signature(data: dict[str, Any]) -> str | None:
    told = mapping(data.get("metadata"))
    return next((s for p in told.values() if (s := word(mapping(p).get("signature")))), None)


def _image(part: dict[str, Any]) -> Image | None:
    kind = string(part.get("mime"))
    if not kind.startswith("image/"):
        return None
    head, _, data = string(part.get("url")).partition(",")
    if head.startswith("data:"):
        return image_from_base64(data, kind)
    return Image(media_type=kind)
