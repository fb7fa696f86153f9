"""The records of Copilot CLI, in order → events.

The surface is approximate. After a compaction the log holds the summary and how many messages
went, not which: here all that stood when it began goes but for the newest that the count leaves,
and what came meanwhile stays. The user's words stay, too: the CLI tells them again in front of the
summary. A truncation tells a number only: here the oldest go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from storage.sources.base import Derived, FileReader, Numbering, Record
from storage.sources.copilot_facts import HANDLERS
from storage.sources.copilot_records import TYPES, Said, said
from storage.sources.copilot_session import CopilotSession
from storage.sources.draft import Identities, title_of, type_name, word
from storage.sources.plan_items import plan_items
from storage.sources.values import count, mapping, string, timestamp


class CopilotReader(FileReader):
    """One file: the session, and each of its sub-agents as a session of its own."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._identities = Identities()
        self._found: dict[str, CopilotSession] = {}
        # The folder bears the session's id, the file always the same name.
        name = path.parent.name if path.name == "events.jsonl" else path.stem
        self._main = self._session("", name)
        self._started: dict[str, str] = {}
        """Sub-agent → the call that started it."""

    def feed(self, record: Record) -> Iterable[Derived]:
        if record.value is None and record.damage is not None:
            return ()
        value = mapping(record.value)
        kind = value.get("type")
        data = mapping(value.get("data"))
        session = self._of(value, data)
        session.begin(self._native(record, value), record.line, timestamp(value.get("timestamp")))
        if not isinstance(kind, str) or kind not in TYPES:
            name = self._count_unknown(type_name(record.value))
            session.log("unknown", {"type": name})
        else:
            self.recognised += 1
            found = said(value)
            if found is not None:
                self._stand(session, kind, found, data)
            if kind in HANDLERS:
                HANDLERS[kind](session, data)
        return (Derived(session.facts.key, session.events),) if session.events else ()

    def _native(self, record: Record, value: dict[str, Any]) -> str:
        """The record's id, told apart from earlier records that had it, too."""
        name = word(value.get("id"))
        if name is None:
            return self._identities.of(record, record.value)
        return self._identities.own(name)

    def _of(self, value: dict[str, Any], data: dict[str, Any]) -> CopilotSession:
        """The session that a record belongs to."""
        agent = word(value.get("agentId"))
        call = word(data.get("parentToolCallId"))
        if value.get("type") == "subagent.started" and agent is not None:
            self._started.setdefault(agent, string(data.get("toolCallId")))
        if agent is None and call is None:
            return self._main
        # Older versions name the call in place of the sub-agent.
        name = agent or next((a for a, c in self._started.items() if c == call), call or "")
        key = f"agent:{name}"
        session = self._found.get(key) or self._session(key, name)
        facts = session.facts
        facts.relation = "subagent"
        facts.parent_native_id = self._main.facts.native_id
        facts.parent_call_id = facts.parent_call_id or self._started.get(name) or call
        return session

    def _session(self, key: str, name: str) -> CopilotSession:
        session = self._found[key] = CopilotSession(key, name, self.numbering(key))
        self.sessions[key] = session.facts
        return session

    def _stand(self, session: CopilotSession, kind: str, found: Said, data: dict[str, Any]) -> None:
        """Puts what the record says on the surface."""
        facts = session.facts
        if kind == "session.compaction_complete":
            session.compact(found, data)
        elif kind == "session.context_cleared":
            session.clear(found)
        elif kind == "system.message":
            session.instruct(found, string(data.get("name")))
        elif found.type == "assistant/message":
            session.use_model(data.get("model"))
            session.answer(found, word(data.get("apiCallId")), count(data.get("outputTokens")))
            facts.turn_open = True
            for call in (block for block in found.parts if block.kind == "tool_call"):
                todos = mapping(call.input).get("todos")
                if call.name == "update_todo" and isinstance(todos, str):
                    session.log("artifact/update", {"kind": "todo", "items": plan_items(todos)})
        elif found.type == "tool/result":
            session.result(found)
        else:
            if found.type == "user/message":
                session.turn += 1
                facts.turn_open = True
                facts.title = facts.title or title_of(string(data.get("content")))
            session.append(found)
