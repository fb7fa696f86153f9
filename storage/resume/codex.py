"""A plan as a Codex rollout: a header, and one ``compacted`` record that states the history.

Codex takes a stated history as it stands, while it cuts the outputs of loose items to what its
present model allows (openai/codex ``core/src/session/rollout_reconstruction.rs``): so all of the
plan goes into the statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from storage.resume.base import Composed, CopyNode, Original, PlanCopy
from storage.resume.checks import check_said
from storage.resume.codex_items import HistoryItem, history_of
from storage.resume.jsontext import dumps, list_text, members, object_text, text_of
from storage.sources.codex_records import enveloped
from storage.sources.values import mapping

_HEADER: Mapping[str, str] = {
    "cwd": '"',
    "originator": '"',
    "cli_version": '"',
    "source": '"',
    "model_provider": '"',
    "base_instructions": "{",
    "dynamic_tools": "[",
    "git": "{",
}
"""What a copy's header takes over, and how the value must begin: a sub-agent's ``source`` is an
object, which ties it to its parent. The rest speaks of the original's place among other threads,
or of the form of its history."""

_STATED = 8 << 20
"""Characters of the stated history, at most, since Ullage itself does not understand lines above
16 MiB. What is beyond follows as loose items."""

_SETTINGS_SOURCES = ("agents_md", "developer", "environment", "plugins", "skill")
"""Of the messages in which Codex tells the model its settings."""


class CodexWriter:
    """Rollouts below ``sessions``, by date; Codex finds them by the id in their name."""

    agent: ClassVar[str] = "codex"
    label: ClassVar[str] = "Codex"

    def compose(self, copy: PlanCopy) -> Composed:
        """See :meth:`storage.resume.base.Writer.compose`. Calls and results that stand alone are
        let through: Codex itself answers the one and leaves out the other."""
        check_said(copy)
        original = _Original.of(copy.records())
        stated, loose = _split(history_of(copy.nodes))
        settings = [] if original.settings is None else [text_of(original.settings)]
        told = _tells_settings(copy.nodes[0])
        made = datetime.fromtimestamp(copy.made_at, UTC)
        time = f"{made:%Y-%m-%dT%H:%M:%S}.{made.microsecond // 1000:03d}Z"
        statement = {
            "message": dumps(""),
            "replacement_history": list_text(item.text for item in stated),
        }
        lines = [
            _line(time, "session_meta", _header(copy, original.header, time)),
            *([] if told else settings),
            _line(time, "compacted", object_text(statement)),
            *(_line(time, "response_item", item.text) for item in loose),
            _line(time, "event_msg", dumps(_shown(copy))),
            # Settings behind the history are what it has been told: only changes are told again.
            # Where a summary took the telling away, Codex tells all of them anew.
            *(settings if told else []),
        ]
        day = f"{made:%Y/%m/%d}"
        # An archived session is not resumed, so a copy of one is put among the others.
        aside = "../sessions" if "archived_sessions" in copy.source.path.parts else ""
        name = f"rollout-{made:%Y-%m-%dT%H-%M-%S}-{copy.session_id}.jsonl"
        return Composed(
            place=PurePosixPath(aside, day, name),
            lines=tuple(line.encode() for line in lines),
            command=("codex", "resume", copy.session_id),
            note=f"Codex finds the copy only in sessions/{day} of its own folder.",
        )


class _Original(NamedTuple):
    header: Original | None
    """The first ``session_meta``; the later ones are written on each resume."""
    settings: Original | None
    """The newest ``turn_context``."""

    @classmethod
    def of(cls, records: Iterable[Original]) -> _Original:
        header = settings = None
        for record in records:
            # A glance at the bytes spares most records the parsing.
            if header is not None and b'"turn_context"' not in record.raw:
                continue
            kind, payload = enveloped(mapping(record.value))
            if not isinstance(payload, dict):
                continue
            if kind == "turn_context":
                settings = record
            elif kind == "session_meta" and header is None:
                header = record
        return cls(header, settings)


def _header(copy: PlanCopy, original: Original | None, time: str) -> str:
    source = copy.source
    own: dict[str, Any] = {
        "id": copy.session_id,
        "timestamp": time,
        "cwd": source.cwd or "/",
        "originator": "codex_cli_rs",
        "cli_version": source.version or "0.0.0",
        "source": "cli",
    }
    if _is_uuid(source.native_id):
        own["forked_from_id"] = source.native_id
    parts = {name: dumps(value) for name, value in own.items()}
    known = _payload(original)
    parts |= {n: known[n] for n, mark in _HEADER.items() if known.get(n, "").startswith(mark)}
    return object_text(parts)


def _payload(original: Original | None) -> Mapping[str, str]:
    if original is None:
        return {}
    record = members(text_of(original))
    payload = record.get("payload")
    return record if payload is None else members(payload)


def _is_uuid(name: str) -> bool:
    try:
        UUID(name)
    except ValueError:
        return False
    return True


def _split(items: Sequence[HistoryItem]) -> tuple[Sequence[HistoryItem], Sequence[HistoryItem]]:
    """What is stated, and what follows: from an item on that would make Codex refuse the whole
    statement, while a loose item that it does not understand costs that item only."""
    size = 0
    for index, item in enumerate(items):
        size += len(item.text)
        if size > _STATED or not item.sound:
            return items[:index], items[index:]
    return items, ()


def _tells_settings(node: CopyNode) -> bool:
    event = node.pieces[0].event
    return event.type == "context/message" and event.meta.get("source") in _SETTINGS_SOURCES


def _shown(copy: PlanCopy) -> Mapping[str, Any]:
    """The message by which Codex' list of sessions names the copy."""
    words = (node for node in copy.nodes if node.type == "user/message" and not node.brought)
    texts = (piece.text.strip() for node in words for piece in node.pieces)
    text = next(filter(None, texts), copy.source.title or copy.source.name)
    return {"type": "user_message", "message": text, "images": []}


def _line(time: str, kind: str, payload: str) -> str:
    return object_text({"timestamp": dumps(time), "type": dumps(kind), "payload": payload})
