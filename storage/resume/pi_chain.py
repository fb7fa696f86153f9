"""The standing nodes of a pi plan as entries, one below the other.

Entries are carried over text by text under their own ids: signatures and arguments keep their
bytes, only the links are new. Answers lose their usage: it was paid in the original, and pi would
take it for the size of the copy's window (``core/compaction/compaction.js``, which passes over
usage of zeroes).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compress.events import ContentBlock
from storage.resume.base import CopyNode, Original, PlanCopy
from storage.resume.jsontext import dumps, list_text, members, object_text, text_of
from storage.resume.pi_log import PiLog
from storage.sources.values import mapping

_BROUGHT = "ullage"
"""``customType`` of the messages that the plan brings."""

_LINKS = frozenset({"type", "id", "parentId", "firstKeptEntryIndex"})

_NO_USAGE: Mapping[str, Any] = {
    **dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), 0),
    "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0),
}

Parts = dict[str, str]
"""An entry's fields → the JSON texts of their values."""


class Chain:
    """Collects the entries of a copy. ``time`` is ISO 8601, for those that are made here."""

    def __init__(self, copy: PlanCopy, log: PiLog, time: str) -> None:
        self._copy = copy
        self._log = log
        self._time = time
        self._ids: set[str] = set()
        self._last: str | None = None
        self.lines: list[str] = []

    def build(self) -> list[str]:
        """The lines of all entries, the header excluded."""
        for setting in self._log.settings:
            self._carry(setting)
        nodes = self._copy.nodes
        # Only at the head pi reads a compaction as what it is: elsewhere it would hide all that
        # stands before it.
        with_prompt = len(nodes) > 1 and _is_summary(nodes[1]) and _same_record(*nodes[:2])
        at_head = 2 if with_prompt else int(_is_summary(nodes[0]))
        if at_head:
            self._compaction(nodes[at_head - 1], with_prompt=with_prompt)
        for node in nodes[at_head:]:
            self._node(node)
        return self.lines

    def _node(self, node: CopyNode) -> None:
        original = node.pieces[0].original
        event = node.pieces[0].event
        if original is None:
            self._brought(node)
        elif "edits" in event.meta:
            self._edited(original, str(event.meta["edits"]))
        elif mapping(original.value).get("type") != "compaction":
            self._carry(original)
        elif event.role == "system":
            prompt = members(text_of(original))["systemMessage"]
            self._add("message", {"message": prompt}, self._identifier())
        else:
            self._add("custom_message", _said(_blocks(node)), self._identifier())

    def _carry(self, original: Original) -> None:
        """An entry as it stands, under its own id."""
        value = mapping(original.value)
        parts = members(text_of(original))
        if "message" in parts:
            parts["message"] = _carried(parts["message"], mapping(value.get("message")))
        self._add(str(value.get("type")), parts, self._identifier(value.get("id")))

    def _compaction(self, node: CopyNode, *, with_prompt: bool) -> None:
        original = node.pieces[0].original
        assert original is not None
        parts = members(text_of(original))
        parts.pop("usage", None)
        if not with_prompt:
            parts.pop("systemMessage", None)
        identifier = self._identifier(mapping(original.value).get("id"))
        # Its own id: it keeps nothing of what stands before it.
        parts["firstKeptEntryId"] = dumps(identifier)
        self._add("compaction", parts, identifier)

    def _edited(self, edit: Original, target: str) -> None:
        """An entry with the content that an edit gave it."""
        original = self._log.edited[target]
        value = mapping(original.value)
        content = members(members(text_of(edit))["replacement"])["content"]
        parts = members(text_of(original))
        if "message" in parts:
            message = mapping(value.get("message"))
            if content.startswith('"') and message.get("role") in ("assistant", "toolResult"):
                content = list_text([object_text({"type": dumps("text"), "text": content})])
            carried = members(_carried(parts["message"], message))
            parts["message"] = object_text({**carried, "content": content})
        else:
            parts["content"] = content
        self._add(str(value.get("type")), parts, self._identifier())

    def _brought(self, node: CopyNode) -> None:
        """What the plan brings: a summary or a pack, receipts in the place of results."""
        blocks = _blocks(node)
        if node.type != "tool/result":
            self._add("custom_message", _said(blocks), self._identifier())
            return
        for block in blocks:
            message = {
                "role": "toolResult",
                "toolCallId": block.id or "",
                "toolName": block.name or "",
                "content": [{"type": "text", "text": block.text}],
                "isError": block.is_error is True,
                "timestamp": int(self._copy.made_at * 1000),
            }
            self._add("message", {"message": dumps(message)}, self._identifier())

    def _add(self, kind: str, parts: Mapping[str, str], identifier: str) -> None:
        links = {"type": kind, "id": identifier, "parentId": self._last}
        entry = {name: dumps(value) for name, value in links.items()}
        entry["timestamp"] = dumps(self._time)
        entry.update((name, text) for name, text in parts.items() if name not in _LINKS)
        self.lines.append(object_text(entry))
        self._last = identifier

    def _identifier(self, own: Any = None) -> str:
        """The entry's own id where it has one that is free, else one of the copy's."""
        if not isinstance(own, str) or not own or own in self._ids:
            made = self._copy.new_uuid(f"entry {len(self.lines)}")
            own = made if made[:8] in self._ids else made[:8]
        identifier: str = own
        self._ids.add(identifier)
        return identifier


def _is_summary(node: CopyNode) -> bool:
    original, event = node.pieces[0].original, node.pieces[0].event
    if original is None or event.role == "system" or "edits" in event.meta:
        return False
    return mapping(original.value).get("type") == "compaction"


def _same_record(one: CopyNode, other: CopyNode) -> bool:
    first, second = one.pieces[0].original, other.pieces[0].original
    return first is not None and second is not None and first.line == second.line


def _blocks(node: CopyNode) -> list[ContentBlock]:
    return [block for piece in node.pieces for block in piece.blocks]


def _said(blocks: Iterable[ContentBlock]) -> Parts:
    """A message that reaches the model in the user's place and is not the user's."""
    content = [{"type": "text", "text": block.text} for block in blocks]
    fields = {"customType": _BROUGHT, "content": content, "display": True}
    return {name: dumps(value) for name, value in fields.items()}


def _carried(text: str, message: Mapping[str, Any]) -> str:
    """A message in pi's present form, its usage taken away."""
    role = message.get("role")
    changed: Parts = {}
    if role == "hookMessage":
        changed["role"] = dumps("custom")
    if role == "assistant":
        changed["usage"] = dumps(_NO_USAGE)
    return object_text({**members(text), **changed}) if changed else text
