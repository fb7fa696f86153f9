"""One entry of a pi session → what it gives to the context, from the entry alone.

Sources: pi's ``core/session-manager.js`` (``sessionEntryToContextMessages``, the migrations) and
``core/messages.js`` (``convertToLlm``, whose wrappings are part of what the model reads).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from compress.events import ContentBlock, EventType, Image, Role, Usage
from compress.images import image_from_base64
from storage.sources.draft import NO_META, text_block, word
from storage.sources.values import count, listing, mapping

COMPACTION_START = (
    "The conversation history before this point was compacted into the following summary:\n\n"
    "<summary>\n"
)
COMPACTION_END = "\n</summary>"
BRANCH_START = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
)
BRANCH_END = "</summary>"

SILENT_TYPES = frozenset({"custom", "label", "thinking_level_change"})
"""Entries that give nothing to the context and tell nothing about the session."""

STREAM_TYPES = frozenset(
    {
        "agent_start",
        "agent_end",
        "turn_start",
        "turn_end",
        "message_start",
        "message_update",
        "message_end",
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
    }
)
"""Events of ``pi --mode json``: that stream begins like a session and is none."""

_NOT_ITS_OWN = frozenset({"id", "parentId", "firstKeptEntryId", "firstKeptEntryIndex"})
"""Fields that pi's migration of a v1 file adds or replaces."""


class Piece(NamedTuple):
    """One message of an entry. An empty ``blocks`` stands for one event without content."""

    type: EventType
    role: Role
    blocks: tuple[ContentBlock, ...]
    sent: bool = True
    editable: bool = True
    """A ``context_edit`` may give it other content."""
    joined: bool = False
    """All blocks are one event; else each block is one."""
    model: str | None = None
    meta: Mapping[str, Any] = NO_META

    def events(self) -> list[tuple[ContentBlock, ...]]:
        """The content of each of its events; at least one."""
        if self.joined or not self.blocks:
            return [self.blocks]
        return [(block,) for block in self.blocks]


def is_migrated(entry: Mapping[str, Any]) -> bool:
    """Whether pi gave this entry its id when it rewrote a v1 file: then the id stands behind the
    entry's own fields, while pi's newer writers put it in front of the timestamp."""
    for name in entry:
        if name == "id":
            return False
        if name == "timestamp":
            return True
    return False


def own_content(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry as it was before any migration: what identifies it in a v1 file and after."""
    content = {name: value for name, value in entry.items() if name not in _NOT_ITS_OWN}
    message = content.get("message")
    if isinstance(message, dict) and message.get("role") == "hookMessage":
        content["message"] = {**message, "role": "custom"}
    return content


def pieces_of(entry: Mapping[str, Any]) -> list[Piece] | None:
    """The messages that an entry gives to the context; ``None`` for an entry that is not
    understood. A compaction's summary comes first, the system prompt that it restates second."""
    kind = word(entry.get("type"))
    if kind == "message":
        piece = _message(mapping(entry.get("message")))
        return None if piece is None else [piece]
    if kind == "custom_message":
        return [_custom(entry)]
    if kind == "branch_summary":
        summary = word(entry.get("summary"))
        if summary is None:
            return []
        return [_wrapped(BRANCH_START + summary + BRANCH_END, {"source": "branch_summary"})]
    if kind == "compaction":
        text = COMPACTION_START + (word(entry.get("summary")) or "") + COMPACTION_END
        pieces = [_wrapped(text, {"checkpoint": "agent"})]
        if isinstance(entry.get("systemMessage"), dict):
            pieces.append(_system(entry["systemMessage"]))
        return pieces
    return [] if kind in _WITHOUT_CONTENT else None


def edit_blocks(entry: Mapping[str, Any]) -> tuple[ContentBlock, ...]:
    """The content that a ``context_edit`` puts in place of its target's."""
    return content_blocks(mapping(entry.get("replacement")).get("content"))


def content_blocks(content: Any) -> tuple[ContentBlock, ...]:
    """The blocks of a message's content, a text or a list."""
    if isinstance(content, str):
        return (text_block("text", content),)
    return tuple(_block(part) for part in listing(content))


def result_block(
    content: tuple[ContentBlock, ...], call_id: str | None, name: str | None, failed: bool | None
) -> ContentBlock:
    """A tool result: its texts joined with nothing between, its images beside them."""
    return text_block(
        "tool_result",
        id=call_id,
        name=name,
        text="".join(block.text for block in content if block.kind == "text"),
        images=tuple(image for block in content for image in block.images),
        is_error=failed,
    )


def usage_of(value: Any, *, cut: bool = False) -> Usage | None:
    """The usage of a request; ``None`` where it has no figures, or zeroes only, which pi writes
    for requests that never got an answer (T11). ``cut``: the stream broke off."""
    figures = mapping(value)
    names = ("input", "cacheRead", "cacheWrite", "output")
    known = [count(figures.get(name)) for name in names]
    if not any(known):
        return None
    fresh, read, written, output = known
    return Usage.model_construct(
        input=fresh,
        cache_read=read,
        cache_write=written,
        output=output,
        reasoning=count(figures.get("reasoning")),
        lower_bound=cut,
    )


def _message(message: Mapping[str, Any]) -> Piece | None:
    role = message.get("role")
    blocks = content_blocks(message.get("content"))
    if role == "user":
        return Piece("user/message", "user", blocks)
    if role == "assistant":
        return _assistant(message, blocks)
    if role == "toolResult":
        return _result(message, blocks)
    if role == "bashExecution":
        return _command(message)
    if role in ("custom", "hookMessage"):
        return _custom(message)
    return _system(message) if role == "system" else None


def _result(message: Mapping[str, Any], blocks: tuple[ContentBlock, ...]) -> Piece:
    failed = message.get("isError")
    block = result_block(
        blocks,
        word(message.get("toolCallId")),
        word(message.get("toolName")),
        failed if isinstance(failed, bool) else None,
    )
    return Piece("tool/result", "user", (block,))


def _command(message: Mapping[str, Any]) -> Piece:
    sent = message.get("excludeFromContext") is not True
    block = text_block("text", _command_text(message))
    meta = {"source": "bash"}
    return Piece("context/message", "user", (block,), sent=sent, editable=False, meta=meta)


def _assistant(message: Mapping[str, Any], blocks: tuple[ContentBlock, ...]) -> Piece:
    facts = {
        "stop": word(message.get("stopReason")),
        "provider": word(message.get("provider")),
        "api": word(message.get("api")),
    }
    meta = {name: value for name, value in facts.items() if value is not None}
    model = word(message.get("model"))
    return Piece("assistant/message", "assistant", blocks, model=model, meta=meta)


def _custom(entry: Mapping[str, Any]) -> Piece:
    source = word(entry.get("customType")) or "custom"
    blocks = content_blocks(entry.get("content"))
    return Piece("context/message", "user", blocks, meta={"source": source})


def _system(message: Mapping[str, Any]) -> Piece:
    """A system message: its text, then its sections in their order; ``null`` withdraws one."""
    texts = [block.text for block in content_blocks(message.get("content"))]
    texts += [text for text in mapping(message.get("sections")).values() if isinstance(text, str)]
    block = text_block("context", "\n\n".join(text for text in texts if text))
    meta = {"source": "system"}
    return Piece("context/message", "system", (block,), editable=False, meta=meta)


def _wrapped(text: str, meta: Mapping[str, Any]) -> Piece:
    block = text_block("text", text)
    return Piece("context/message", "user", (block,), editable=False, meta=meta)


def _command_text(message: Mapping[str, Any]) -> str:
    """A command that the user ran with ``!``, as pi tells the model of it."""
    output = word(message.get("output"))
    text = f"Ran `{_js(message.get('command'))}`\n"
    text += f"```\n{output}\n```" if output is not None else "(no output)"
    code = message.get("exitCode")
    if message.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif code is not None and code != 0:
        text += f"\n\nCommand exited with code {_js(code)}"
    if message.get("truncated") and message.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {message['fullOutputPath']}]"
    return text


def _js(value: Any) -> str:
    return value if isinstance(value, str) else ("undefined" if value is None else str(value))


def _block(part: Any) -> ContentBlock:
    if isinstance(part, str):
        return text_block("text", part)
    part = mapping(part)
    kind = word(part.get("type"))
    if kind == "text":
        return text_block("text", word(part.get("text")) or "")
    if kind == "thinking":
        # A redacted block is sent without its text: its name keeps it apart from an empty one.
        return text_block(
            "thinking",
            word(part.get("thinking")) or "",
            signature=word(part.get("thinkingSignature")),
            name="redacted" if part.get("redacted") else None,
        )
    if kind == "toolCall":
        return text_block(
            "tool_call",
            id=word(part.get("id")),
            name=word(part.get("name")),
            input=part.get("arguments"),
        )
    if kind == "image":
        return text_block("image", images=(_image(part),))
    return text_block("opaque", name=kind)


def _image(part: Mapping[str, Any]) -> Image:
    media_type = word(part.get("mimeType"))
    data = part.get("data")
    return image_from_base64(data, media_type) if isinstance(data, str) else Image()


_WITHOUT_CONTENT = SILENT_TYPES | {
    "context_edit",
    "model_change",
    "session_info",
    "usage",
}


def blocks_of(entry: Any) -> list[tuple[ContentBlock, ...]]:
    """The content of each event of an entry, in the order in which the reader makes them."""
    if not isinstance(entry, dict):
        return []
    if entry.get("type") == "context_edit":
        return [edit_blocks(entry)]
    contents = [content for piece in pieces_of(entry) or [] for content in piece.events()]
    # Two events stand before a compaction's content: compact/start and compact/summary.
    return [(), (), *contents] if entry.get("type") == "compaction" else contents


def edited(piece: Piece, entry: Mapping[str, Any]) -> Piece:
    """A message with the content of a ``context_edit``, all in one event. A result keeps the id
    of its call, which the edit does not repeat: ``meta`` does."""
    blocks = edit_blocks(entry)
    meta = {**piece.meta, "edits": entry.get("targetId")}
    if piece.type == "tool/result":
        old = piece.blocks[0]
        meta |= {"call_id": old.id, "tool": old.name}
        blocks = (result_block(blocks, old.id, old.name, old.is_error),)
    return piece._replace(blocks=blocks, joined=True, meta=meta)
