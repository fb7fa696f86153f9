"""The records of a copy for Claude Code: one straight chain, each record below the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from compress.events import ContentBlock
from storage.resume.base import Checkpoint, CopyNode, Original, Piece, PlanCopy
from storage.resume.jsontext import dumps, items, list_text, members, object_text, text_of
from storage.sources.claude_records import content_of
from storage.sources.values import mapping, string

_LONGEST_PROMPT = 200
"""Characters of the last prompt, which the agent's list of sessions shows."""
_SAID = ("user", "assistant")
_ELSEWHERE = ("forkedFrom", "requestRef")
"""Members that point to what the copy does not hold."""
_ENVELOPE = ("cwd", "version", "gitBranch", "userType")
"""Members that a record of the plan takes over from the one before it."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One piece, where it stands."""

    position: int
    node: CopyNode
    piece: Piece

    @property
    def brought(self) -> bool:
        """Whether no record of the log says it: the plan does, or the mark of a clearing, which
        the agent reads back without effect."""
        return self.piece.original is None or self.piece.event.meta.get("receipt") is True

    def joins(self, other: _Part) -> bool:
        """Whether both stand in one record."""
        if self.brought or other.brought:
            return self.node is other.node
        return self.piece.original == other.piece.original


class Chain:
    """Feed it the nodes in surface order, then take the records. ``prompt`` is what the person
    asked last, for a copy in which no question stands any more."""

    def __init__(self, copy: PlanCopy, project: str, prompt: str) -> None:
        self._copy = copy
        self._lines: list[str] = []
        self._tip: str | None = None
        self._leaf: str | None = None
        self._prompt = prompt
        self._used: set[str] = set()
        self._owners: dict[str, CopyNode] = {}
        self._parts: list[_Part] = []
        made_at = datetime.fromtimestamp(copy.made_at, UTC)
        self._now = dumps(made_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        self._envelope = {"cwd": dumps(project), "userType": dumps("external")}
        if copy.source.version:
            self._envelope["version"] = dumps(copy.source.version)

    def add(self, position: int, node: CopyNode) -> None:
        """The next node, at this position of the plan."""
        if position == 0 and node.checkpoint is not None:
            self._boundary(node.checkpoint)
        for piece in node.pieces:
            part = _Part(position, node, piece)
            if self._parts and not self._parts[-1].joins(part):
                self._flush()
            self._parts.append(part)
        if node.type == "user/message" and node.checkpoint is None:
            self._prompt = "\n".join(piece.text for piece in node.pieces) or self._prompt

    def finish(self, title: Original | None) -> list[str]:
        """All records: the chain, then the title and the pointer to the leaf, where they are
        known."""
        self._flush()
        if title is not None:
            self._lines.append(self._retitled(title))
        prompt = " ".join(self._prompt.split())
        if len(prompt) > _LONGEST_PROMPT:
            prompt = f"{prompt[: _LONGEST_PROMPT - 1]}…"
        if prompt and self._leaf is not None:
            pointer = {"type": "last-prompt", "lastPrompt": prompt, "leafUuid": self._leaf}
            self._lines.append(dumps(pointer | {"sessionId": self._copy.session_id}))
        return self._lines

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if not parts:
            return
        original = parts[0].piece.original
        if original is None or parts[0].brought:
            self._bring(parts)
        else:
            self._carry(original, parts)

    # What the plan brings

    def _boundary(self, checkpoint: Checkpoint) -> None:
        by_person = {"agent": checkpoint.trigger, "policy": "auto"}.get(checkpoint.origin)
        metadata: dict[str, Any] = {"trigger": by_person or "manual"}
        if checkpoint.tokens_before is not None:
            metadata["preTokens"] = checkpoint.tokens_before
        behind = checkpoint.behind.partition("~")[0] if checkpoint.behind else None
        self._write(
            self._made(
                {
                    "type": "system",
                    "subtype": "compact_boundary",
                    "logicalParentUuid": behind,
                    "content": "Conversation compacted",
                    "level": "info",
                    "isMeta": False,
                    "compactMetadata": metadata,
                }
            ),
            self._copy.new_uuid("boundary"),
        )

    def _bring(self, parts: Sequence[_Part]) -> None:
        node = parts[0].node
        blocks = [block for part in parts for block in part.piece.blocks]
        flags: dict[str, Any] = {}
        content: Any
        if node.type == "tool/result":
            content = [_result(block) for block in blocks]
        else:
            content = "\n".join(block.text for block in blocks if block.text)
            flags = {"isMeta": True}
            if parts[0].position == 0 and node.checkpoint is not None:
                flags = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
        message = {"role": "user", "content": content}
        made = self._made({"type": "user", "message": message, **flags})
        self._leaf = self._write(made, self._copy.new_uuid(str(node.node)))

    def _made(self, own: Mapping[str, Any]) -> dict[str, str]:
        """A record of the copy's own."""
        links = {"parentUuid": "", "isSidechain": dumps(False)}
        told = {key: dumps(value) for key, value in own.items()}
        return {**links, **self._envelope, **told, "timestamp": self._now}

    # What the log says

    def _carry(self, original: Original, parts: Sequence[_Part]) -> None:
        value = mapping(original.value)
        kind = string(value.get("type"))
        record = {"isSidechain": dumps(False), "timestamp": self._now, **members(text_of(original))}
        wanted = [part.piece.event.block for part in parts]
        whole = kind not in _SAID or sorted(wanted) == list(range(len(content_of(value))))
        if kind in _SAID:
            message = _message(kind, value, record["message"])
            if not whole:
                content = items(message["content"])
                message["content"] = list_text(content[index] for index in wanted)
                record.pop("toolUseResult", None)
            if kind == "assistant":
                self._answer(message, parts[0])
            record["message"] = object_text(message)
        for name in _ELSEWHERE:
            record.pop(name, None)
        uuid = string(value.get("uuid"))
        if not whole or uuid in self._used:
            uuid = self._copy.new_uuid(f"{original.line}:{','.join(map(str, wanted))}")
        self._write(record, uuid)
        if kind in _SAID:
            self._leaf = uuid
        self._envelope |= {name: record[name] for name in _ENVELOPE if name in record}

    def _answer(self, message: dict[str, str], part: _Part) -> None:
        """What the provider counted for another prompt would make the agent compact a copy that
        is small, so it stays out."""
        if part.position >= self._copy.changed_from:
            message.pop("usage", None)
        name = message.get("id", "")
        if name[:1] == '"' and self._owners.setdefault(name, part.node) is not part.node:
            # Records of one id are one message to the agent.
            message["id"] = f'{name[:-1]}-{part.node.node}"'

    def _retitled(self, title: Original) -> str:
        record = members(text_of(title))
        if "sessionId" in record:
            record["sessionId"] = dumps(self._copy.session_id)
        if "leafUuid" in record:
            record["leafUuid"] = dumps(self._leaf)
        return object_text(record)

    def _write(self, record: dict[str, str], uuid: str) -> str:
        links = {"parentUuid": self._tip, "sessionId": self._copy.session_id, "uuid": uuid}
        self._lines.append(object_text(record | {name: dumps(to) for name, to in links.items()}))
        self._used.add(uuid)
        self._tip = uuid
        return uuid


def _message(kind: str, value: Mapping[str, Any], text: str) -> dict[str, str]:
    """The message of a record, in the shape that every version takes."""
    if isinstance(value.get("message"), dict):
        return {"role": dumps(kind), **members(text)}
    return {"role": dumps(kind), "content": text}


def _result(block: ContentBlock) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": block.id, "content": block.text}
    return result | ({"is_error": True} if block.is_error else {})
