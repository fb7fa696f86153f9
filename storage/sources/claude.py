"""Claude Code: where its logs are, how to know them, and the reader of one file.

A file holds one main session, and in the oldest versions the side chains of its sub-agents, each
of which is a session of its own here. Newer versions give a sub-agent a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from compress.events import ContentBlock, SessionEvent
from compress.markup import behind_elements
from storage.sources.base import (
    Contents,
    Derived,
    FileReader,
    Json,
    Numbering,
    Record,
    Root,
    SessionFacts,
    SourceAdapter,
)
from storage.sources.claude_records import decode
from storage.sources.claude_session import Session
from storage.sources.draft import Identities, title_of
from storage.sources.values import mapping, string

_GRAPH_TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})
_OWN_TYPES = frozenset(
    {
        "file-history-snapshot",
        "queue-operation",
        "last-prompt",
        "permission-mode",
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "pr-link",
        "cost-state",
        "atis-latch",
        "api-request-shape",
        "api-request-blob",
        "api-request",
    }
)
"""Types outside the graph whose name alone tells the agent."""
_TYPES = _GRAPH_TYPES | _OWN_TYPES | {"summary", "mode", "tag"}
_SUBTYPES = frozenset(
    {
        None,
        "compact_boundary",
        "microcompact_boundary",
        "local_command",
        "api_error",
        "stop_hook_summary",
        "turn_duration",
        "away_summary",
        "bridge_status",
        "informational",
    }
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
"""Record types that hold a title → the field, from the weakest to the strongest."""


class ClaudeReader(FileReader):
    """The records of one file, in order."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._identities = Identities()
        self._running: dict[str, Session] = {}
        self._side_of: dict[str, str] = {}
        self._launches: dict[str, str] = {}
        self._sub_agent: bool | None = None
        self._place = 0
        self._title_rank = -1
        self._foreign_titles: dict[str, str] = {}
        self._session("", path.stem)

    def feed(self, record: Record) -> Iterable[Derived]:
        value = record.value
        if value is None and record.damage is not None:
            return ()
        self._place += 1
        kind = _type_name(value)
        if kind is None:
            return self._unknown(record, value, _shape(value))
        session = self._owner(value)
        uuid = value.get("uuid")
        native = uuid if isinstance(uuid, str) and uuid else self._identities.of(record, value)
        self._learn(session, kind, value)
        if kind not in _TYPES or (kind == "system" and not _known_subtype(value)):
            return self._unknown(record, value, kind if kind != "system" else _subtype_name(value))
        self.recognised += 1
        events = session.feed(native, value, self._place)
        if session.facts.title is None:
            session.facts.title = _first_words(events)
        found = [Derived(session.facts.key, events)] if events else []
        if session.facts.key:
            passed = self._running[""].link(native, value)
            if passed:
                found.append(Derived("", passed))
        else:
            self._note_launches(value)
        return found

    def _unknown(self, record: Record, value: Any, name: str) -> Iterable[Derived]:
        self._count_unknown(name)
        session = self._owner(mapping(value))
        uuid = string(mapping(value).get("uuid"))
        fresh = uuid and uuid not in session.chain.graph
        native = uuid if fresh else self._identities.of(record, value)
        return (Derived(session.facts.key, session.unknown(native, value, name)),)

    def _session(self, key: str, native_id: str) -> Session:
        facts = self.sessions[key] = SessionFacts(key=key, native_id=native_id)
        session = self._running[key] = Session(facts, self.numbering(key))
        return session

    def _owner(self, value: Mapping[str, Any]) -> Session:
        """The session of a record: the file's own, or the side chain that its parent is in."""
        main = self._running[""]
        uuid = value.get("uuid")
        if not isinstance(uuid, str) or not uuid:
            return main
        side = value.get("isSidechain") is True
        if self._sub_agent is None:
            self._sub_agent = side
            self._describe_file(main.facts, value, side)
        if self._sub_agent or not side:
            return main
        key = self._side_of.get(string(value.get("parentUuid")))
        if key is None:
            key = f"side:{uuid}"
            if key not in self._running:
                self._open_side(key, uuid, value)
        self._side_of[uuid] = key
        return self._running[key]

    def _describe_file(self, facts: SessionFacts, value: Mapping[str, Any], side: bool) -> None:
        origin = string(value.get("sessionId")) or None
        if side:
            facts.relation = "subagent"
            facts.parent_native_id = origin
            return
        source = string(mapping(value.get("forkedFrom")).get("sessionId"))
        if source:
            facts.relation, facts.parent_native_id = "fork", source
        elif origin and origin != facts.native_id and _UUID.fullmatch(facts.native_id):
            facts.relation, facts.parent_native_id = "fork", origin

    def _open_side(self, key: str, uuid: str, value: Mapping[str, Any]) -> None:
        facts = self._session(key, uuid).facts
        facts.relation = "subagent"
        facts.parent_native_id = self.sessions[""].native_id
        content = mapping(value.get("message")).get("content")
        if isinstance(content, str):
            facts.parent_call_id = self._launches.get(content)

    def _note_launches(self, value: Mapping[str, Any]) -> None:
        """Remember the prompts that calls hand to sub-agents: their side chains begin with
        them."""
        if value.get("type") != "assistant":
            return
        content = mapping(value.get("message")).get("content")
        for item in content if isinstance(content, list) else ():
            if isinstance(item, dict) and item.get("type") == "tool_use":
                prompt = mapping(item.get("input")).get("prompt")
                if isinstance(prompt, str) and isinstance(item.get("id"), str):
                    self._launches[prompt] = item["id"]

    def _learn(self, session: Session, kind: str, value: Mapping[str, Any]) -> None:
        facts = session.facts
        cwd, version = value.get("cwd"), value.get("version")
        if isinstance(cwd, str) and cwd:
            facts.cwd = cwd
        if isinstance(version, str) and version:
            facts.agent_version = version
        if self._foreign_titles:
            foreign = self._foreign_titles.pop(string(value.get("uuid")), "")
            if foreign:
                self._entitle("summary", foreign)
        if kind not in _TITLES:
            return
        title = value.get(_TITLES[kind]) or value.get("title")
        if not isinstance(title, str) or not title:
            return
        leaf = string(value.get("leafUuid"))
        if kind == "summary" and leaf not in self._running[""].chain.graph:
            # It may speak of another file; it counts once its record is seen.
            self._foreign_titles[leaf] = title
        else:
            self._entitle(kind, title)

    def _entitle(self, kind: str, title: str) -> None:
        rank = list(_TITLES).index(kind)
        if rank >= self._title_rank:
            self._title_rank = rank
            self.sessions[""].title = title


class ClaudeAdapter(SourceAdapter):
    """Claude Code, from 1.0 on."""

    agent: ClassVar[str] = "claude"
    revision: ClassVar[int] = 2
    global_ids: ClassVar[bool] = True
    beside: ClassVar[tuple[str, ...]] = ("*.meta.json",)

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        configured = environment.get("CLAUDE_CONFIG_DIR")
        base = Path(configured) if configured else home / ".claude"
        source = "CLAUDE_CONFIG_DIR" if configured else "default"
        yield Root(base / "projects", "**/*.jsonl", source)

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        return any(isinstance(value, dict) and _is_own(value) for value in head)

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> ClaudeReader:
        return ClaudeReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        return self.contents(value)(block)

    def contents(self, value: Json) -> Contents:
        parts = decode(value)
        return lambda block: parts[block].blocks if 0 <= block < len(parts) else ()


def _first_words(events: Iterable[SessionEvent]) -> str | None:
    """What a session is called until its log names it: by the first words that a person wrote, not
    by a program's that it wrapped in tags."""
    texts = (
        behind_elements(block.text)
        for event in events
        if event.type == "user/message"
        for block in event.blocks
        if block.kind == "text"
    )
    return next(filter(None, map(title_of, texts)), None)


def _is_own(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind in _GRAPH_TYPES:
        # Another agent has the same graph; its messages have parts, not content.
        graph = "parentUuid" in value and "sessionId" in value
        return graph and "parts" not in mapping(value.get("message"))
    return kind in _OWN_TYPES or (kind == "summary" and "leafUuid" in value)


def _type_name(value: Any) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) and kind else None


def _shape(value: Any) -> str:
    return "object without a type" if isinstance(value, dict) else "not an object"


def _known_subtype(value: Mapping[str, Any]) -> bool:
    subtype = value.get("subtype")
    return subtype is None or (isinstance(subtype, str) and subtype in _SUBTYPES)


def _subtype_name(value: Mapping[str, Any]) -> str:
    subtype = value.get("subtype")
    return f"system/{subtype if isinstance(subtype, str) else 'odd'}"
