"""The standing nodes of a Codex plan as Responses-API items, one JSON text each.

Items are cut out of the original records: encrypted reasoning, arguments and outputs keep their
bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from compress.events import ContentBlock, NodeId
from compress.messages import NodeContent, derive_messages
from storage.resume.base import CopyNode, Original, Piece
from storage.resume.jsontext import dumps, items, members, text_of
from storage.sources.codex_items import inter_agent_item, item_of
from storage.sources.codex_records import NO_SUMMARY, compacted_of, enveloped, events_of_item
from storage.sources.draft import word
from storage.sources.values import listing, mapping

_OUTPUT_OF = {"custom_tool_call": "custom_tool_call_output"}
"""Type of a call → of its output, where that is not ``function_call_output``."""

_NEEDED: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "message": {"role": str, "content": list},
    "reasoning": {"summary": list},
    "function_call": {"name": str, "arguments": str, "call_id": str},
    "function_call_output": {"call_id": str, "output": (str, list)},
    "custom_tool_call": {"name": str, "input": str, "call_id": str},
    "custom_tool_call_output": {"call_id": str, "output": (str, list)},
    "local_shell_call": {"status": str, "action": dict},
    "compaction": {"encrypted_content": str},
    "agent_message": {"author": str, "recipient": str, "content": list},
}
"""Fields without which Codex does not understand an item (``protocol/src/models.rs``)."""


class HistoryItem(NamedTuple):
    """One item. ``sound``: nothing in it would keep Codex from reading it."""

    text: str
    sound: bool = True


def history_of(nodes: Sequence[CopyNode]) -> list[HistoryItem]:
    """The items of these nodes, in their order."""
    reworded = _reworded(nodes)
    outputs: dict[str, str] = {}
    found: list[HistoryItem] = []
    for node in nodes:
        if node.node in reworded:
            found.append(_made(_message("user", reworded[node.node])))
        elif node.brought:
            found.extend(_made(value) for value in _brought(node, outputs))
        else:
            item = _own(node.pieces[0])
            kind, call = item.value.get("type"), item.value.get("call_id")
            if isinstance(kind, str) and kind.endswith("_call") and isinstance(call, str):
                outputs[call] = _OUTPUT_OF.get(kind, "function_call_output")
            found.append(HistoryItem(item.text, _is_sound(item.value)))
    return found


class _Item(NamedTuple):
    text: str
    value: Mapping[str, Any]


def _own(piece: Piece) -> _Item:
    """The item of an agent's own node, as its record has it."""
    assert piece.original is not None
    value = mapping(piece.original.value)
    kind, payload = enveloped(value)
    if kind == "inter_agent_communication":
        return _whole(_agent_message(payload))
    if kind == "compacted":
        return _restated(piece.original, payload, piece.event.block)
    text = text_of(piece.original)
    return _clean(members(text)["payload"] if "payload" in value else text, payload)


def _restated(original: Original, payload: Mapping[str, Any], block: int) -> _Item:
    """The item of a compaction's record whose first event has this block index."""
    if not isinstance(payload.get("replacement_history"), list):
        return _whole(_message("user", [word(payload.get("message")) or NO_SUMMARY]))
    record = members(text_of(original))
    listed = members(record.get("payload", text_of(original)))["replacement_history"]
    values = listing(payload["replacement_history"])
    sent = [
        (_Item(text, mapping(value)), item)
        for text, value in zip(items(listed), values, strict=True)
        if (item := item_of(mapping(value))) is not None and item.sent
    ]
    # The summary's events come first, then those of the copies before it and behind it.
    summary = len(compacted_of(payload).before)
    at = 2
    for own, item in [sent[summary], *sent[:summary], *sent[summary + 1 :]]:
        if at == block:
            return _clean(own.text, own.value)
        at += len(events_of_item(item))
    raise LookupError(f"line {original.line} states no item at block {block}")


def _agent_message(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """What Codex makes of a message between agents: the content as our own reader has it."""
    content = [
        {"type": "encrypted_content", "encrypted_content": block.signature}
        if block.kind == "opaque"
        else {"type": "input_text", "text": block.text}
        for block in inter_agent_item(payload).blocks
    ]
    names = {key: word(payload.get(key)) or "" for key in ("author", "recipient")}
    return {"type": "agent_message", **names, "content": content}


def _reworded(nodes: Sequence[CopyNode]) -> Mapping[NodeId, Sequence[str]]:
    """The user's words that a legacy compaction cut, as they are sent since."""
    if not any("rebuilt" in node.pieces[0].event.meta for node in nodes):
        return {}
    contents = [NodeContent(n.node, tuple(piece.event for piece in n.pieces)) for n in nodes]
    sent = {m.seqs[0]: m.blocks for m in derive_messages(contents, "codex") if m.seqs}
    return {
        content.node: [block.text for block in sent[content.events[0].seq]]
        for content in contents
        if content.events[0].seq in sent
        and content.events[0].type in ("user/message", "steering/message", "context/message")
        and sent[content.events[0].seq] != tuple(b for e in content.events for b in e.blocks)
    }


def _brought(node: CopyNode, outputs: Mapping[str, str]) -> Iterable[Mapping[str, Any]]:
    """What the plan brings: a summary or a pack, receipts in the place of results."""
    blocks = [block for piece in node.pieces for block in piece.blocks]
    if node.type == "tool/result":
        return [_output(block, outputs) for block in blocks]
    role = "assistant" if node.type == "assistant/message" else "user"
    return [_message(role, [block.text for block in blocks])]


def _output(block: ContentBlock, outputs: Mapping[str, str]) -> Mapping[str, Any]:
    call = block.id or ""
    kind = outputs.get(call, "function_call_output")
    return {"type": kind, "call_id": call, "output": block.text}


def _message(role: str, texts: Iterable[str]) -> Mapping[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {
        "type": "message",
        "role": role,
        "content": [{"type": kind, "text": text} for text in texts],
    }


def _made(value: Mapping[str, Any]) -> HistoryItem:
    return HistoryItem(_whole(value).text)


def _whole(value: Mapping[str, Any]) -> _Item:
    return _clean(dumps(value), value)


def _clean(text: str, value: Mapping[str, Any]) -> _Item:
    """Without halves of surrogate pairs: one of them, and Codex would read nothing of the line."""
    try:
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        if "\\ud" not in text.lower():
            return _Item(text, value)
    printed = dumps(json.loads(text, strict=False))
    return _Item(printed.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), value)


def _is_sound(value: Mapping[str, Any]) -> bool:
    needed = _NEEDED.get(word(value.get("type")) or "", {})
    return all(isinstance(value.get(name), kind) for name, kind in needed.items())
