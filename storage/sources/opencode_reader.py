"""What opencode's rows mean, as they come and change.

A part says something once it has a content, and again when that content is another one: then the
same events come with new content. The result of a call that is pruned later is replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from compress.events import EventType, SessionEvent
from storage.sources.base import Derived, Numbering, Record, SessionFacts
from storage.sources.draft import NO_META, Identities, event, title_of, type_name, word
from storage.sources.opencode_events import FACT, RowEvents, Said
from storage.sources.opencode_facts import (
    error_text,
    essence,
    source_of,
    todo_items,
    told,
    usage_of,
)
from storage.sources.opencode_list import Message, Part
from storage.sources.opencode_rows import (
    CLEARED,
    CONTENT,
    RESULT,
    Row,
    blocks_of,
    is_cleared,
    result_text,
    rows_of,
)
from storage.sources.opencode_session import OpencodeSession
from storage.sources.values import count, epoch_milliseconds, mapping, string

_SPOKEN = ("text", "reasoning")
"""Parts of the model's that are sent; calls beside them."""
_ADDED = ("text", "file", "compaction", "subtask")
"""Parts of the user's that are sent."""
_SILENT = ("step-start", "patch", "snapshot", "agent")
_OTHERS = ("tool", "step-finish", "retry")
_KNOWN = frozenset({*_SPOKEN, *_ADDED, *_SILENT, *_OTHERS})
_GOES_ON = ("tool-calls", "tool_calls", "unknown", "")
"""How a step finishes behind which the model is asked again."""


class OpencodeReader(RowEvents):
    """Reads rows of any number of sessions; the key of each is its id."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._sessions: dict[str, OpencodeSession] = {}
        self._places: dict[tuple[str, str], tuple[str, str]] = {}
        """(table, row) → its session and message."""
        self._calls: dict[str, str | None] = {}
        """Session of a sub-agent → the call that started it."""
        self._identities = Identities()

    def feed(self, record: Record) -> Iterable[Derived]:
        if record.value is None:
            return ()
        rows = list(rows_of(record.value))
        if not rows:
            return self._not_understood(record)
        derived: dict[str, list[SessionEvent]] = {}
        for row in map(self._placed, rows):
            if row.session:
                self._events = derived.setdefault(row.session, [])
                self._row(self._session(row.session), row)
        self.recognised += 1
        return [Derived(key, events) for key, events in derived.items() if events]

    def _not_understood(self, record: Record) -> Iterable[Derived]:
        key = next(iter(self.sessions), self.path.stem)
        session = self._session(key)
        name = self._count_unknown(type_name(record.value))
        native = self._identities.of(record, record.value)
        made = event(session.number(native), "unknown", native, meta={"type": name})
        return (Derived(key, (made,)),)

    def _placed(self, row: Row) -> Row:
        """A row that is gone does not say where it was."""
        if row.removed:
            session, message = self._places.get((row.table, row.id), ("", ""))
            return row._replace(session=session, message=message)
        self._places[row.table, row.id] = (row.session, row.message)
        return row

    def _session(self, key: str) -> OpencodeSession:
        session = self._sessions.get(key)
        if session is None:
            facts = self.sessions[key] = SessionFacts(key=key, native_id=key)
            session = self._sessions[key] = OpencodeSession(facts, self.numbering(key))
        return session

    def _row(self, session: OpencodeSession, row: Row) -> None:
        self._native = self._identities.own(row.id)
        self._fact = row.base + FACT
        self._time = None
        if row.table == "session":
            self._own_row(session, row)
        elif row.table == "message":
            self._message_row(session, row)
        else:
            self._part_row(session, row)

    def _own_row(self, session: OpencodeSession, row: Row) -> None:
        facts, data = session.facts, row.data
        if row.removed:
            facts.ended = True
            return
        times = mapping(data.get("time"))
        facts.agent_version = word(data.get("version")) or facts.agent_version
        facts.cwd = word(data.get("directory")) or facts.cwd
        facts.title = title_of(string(data.get("title"))) or facts.title
        facts.model = facts.model or word(mapping(data.get("model")).get("id"))
        parent = word(data.get("parent_id")) or word(data.get("parentID"))
        if parent is not None:
            facts.parent_native_id, facts.relation = parent, "subagent"
            facts.parent_call_id = self._calls.get(row.session)
        facts.ended = bool(data.get("time_archived") or times.get("archived"))
        if not session.begun:
            session.begun = True
            self._time = epoch_milliseconds(data.get("time_created") or times.get("created"))
            known = {"version": facts.agent_version, "cwd": facts.cwd}
            self._log(session, "session/start", {k: v for k, v in known.items() if v})
        revert = mapping(data.get("revert"))
        if revert != session.list.revert:
            session.list.revert = revert
            session.changes()
        self._arrange(session, "rewind")

    def _message_row(self, session: OpencodeSession, row: Row) -> None:
        if row.removed:
            session.list.remove(row.id)
            session.changes()
            self._arrange(session, "rewind")
            return
        data = row.data
        times = mapping(data.get("time"))
        self._time = epoch_milliseconds(times.get("created"))
        message = session.list.by_id.get(row.id)
        is_new = message is None
        if message is None:
            self._tell_of_end(session)
            message = Message(row.id, row.created, essence(data))
            session.add(message)
        else:
            session.changes(message)
            message.data = essence(data)
        if data.get("role") == "assistant":
            self._answer(session, message, data, is_new=is_new)
        elif model := word(mapping(data.get("model")).get("modelID")):
            session.facts.model = session.facts.model or model
        self._arrange(session, "branch")

    def _answer(
        self, session: OpencodeSession, message: Message, data: Mapping[str, Any], *, is_new: bool
    ) -> None:
        """What the row of an answer says: of its model, and how it broke off."""
        facts = session.facts
        facts.cwd = facts.cwd or word(mapping(data.get("path")).get("cwd"))
        model, provider = word(data.get("modelID")), word(data.get("providerID"))
        if is_new and model is not None:
            if model != facts.model or not session.step:
                self._log(session, "request/header", {"model": model, "provider": provider})
            facts.model = model
        error = mapping(data.get("error"))
        if error and "end" not in message.said:
            message.said.add("end")
            aborted = error.get("name") == "MessageAbortedError"
            facts.turn_open = False
            session.ending = ("interrupted" if aborted else "error", error_text(error))
            # On a first reading the parts are still to come; the end is told behind them.
            if not is_new:
                self._tell_of_end(session)

    def _tell_of_end(self, session: OpencodeSession) -> None:
        if session.ending is not None:
            reason, words = session.ending
            session.ending = None
            if reason == "error":
                self._log(session, "error", {"message": words})
            self._log(session, "turn/end", {"reason": reason})

    def _part_row(self, session: OpencodeSession, row: Row) -> None:
        message = session.list.by_id.get(row.message)
        if message is None:
            if not row.removed:
                # Its message is gone or was never written: nothing is sent of it.
                self._log(session, "unknown", {"type": "part without a message"})
            return
        session.changes(message)
        if row.removed:
            message.parts = [part for part in message.parts if part.id != row.id]
            self._arrange(session, "rewind")
            return
        part = message.part(row.id)
        kind = string(row.data.get("type"))
        part.data = {name: row.data.get(name) for name in ("type", "auto", "tail_start_id")}
        started = mapping(row.data.get("time")).get("start")
        self._time = epoch_milliseconds(started) or epoch_milliseconds(message.created)
        if kind == "tool":
            self._call(session, message, part, row)
        elif kind == "step-finish":
            self._spent(session, message, part, row)
        elif kind == "retry":
            self._retry(session, part, row)
        elif kind not in _KNOWN:
            self._unknown_part(session, part, kind or "part")
        elif message.data.get("role") != "assistant":
            self._ask(session, message, part, row)
        elif kind in _SPOKEN:
            self._say(session, message, part, row)
        self._arrange(session, "branch")

    def _unknown_part(self, session: OpencodeSession, part: Part, name: str) -> None:
        if not part.said:
            part.said = (name,)
            self._log(session, "unknown", {"type": self._count_unknown(name)})

    def _ask(self, session: OpencodeSession, message: Message, part: Part, row: Row) -> None:
        """What stands in the user's message."""
        blocks = blocks_of(row.data, CONTENT)
        news = told(row.data, "type", "text", "url", "ignored", "synthetic")
        if not blocks or news in part.said:
            return
        part.said = (news,)
        ignored = bool(row.data.get("ignored"))
        own = blocks[0].kind != "context" and not ignored
        if own and "turn" not in message.said:
            message.said.add("turn")
            session.turn += 1
            session.facts.turn_open = True
        kind: EventType = "user/message" if own else "context/message"
        meta = NO_META if own else {"source": source_of(row.data)}
        said = Said(kind, row.id, row.base + CONTENT, "user", blocks, meta)
        seq = session.number(said.native, said.block)
        if ignored:
            part.content = None
            self._emit(session, said, seq, None, None)
            return
        known = next((p.content for p in message.parts if p.content is not None), None)
        part.content = part.content or known or seq
        self._place(session, said, part.content)

    def _say(self, session: OpencodeSession, message: Message, part: Part, row: Row) -> None:
        """What the model says."""
        blocks = blocks_of(row.data, CONTENT)
        news = told(row.data, "type", "text", "metadata")
        is_empty = row.data.get("type") == "reasoning" and not string(row.data.get("text"))
        if not blocks or news in part.said or (is_empty and not blocks[0].signature):
            return
        part.said = (news,)
        kind: EventType = "assistant/message"
        meta: Mapping[str, Any] = NO_META
        announced = False
        if message.data.get("summary"):
            kind, meta = "context/message", {"source": "summary"}
            announced = self._announce(session, message, part, blocks[0].text)
        self._speak(
            session,
            message,
            part,
            row,
            Said(
                kind,
                row.id,
                row.base + CONTENT,
                "assistant",
                blocks,
                meta,
                word(message.data.get("modelID")),
            ),
            announced=announced,
        )

    def _speak(
        self,
        session: OpencodeSession,
        message: Message,
        part: Part,
        row: Row,
        said: Said,
        *,
        announced: bool = False,
    ) -> None:
        """A block of its step's node."""
        seq = session.number(said.native, said.block)
        node = part.content or message.node_of_step(part)
        if node is None:
            node = seq
            session.step += 1
            session.step_of[node] = session.step
        part.content = node
        self._place(session, said, node, announced=announced)

    def _announce(self, session: OpencodeSession, message: Message, part: Part, words: str) -> bool:
        """Whether with the first words of a summary a compaction comes into force; tells of it."""
        if part.content is not None or not message.sums_up():
            return False
        before = session.list.compacted
        part.content = 0  # for the time of the question
        session.list.sent()
        mark, session.list.compacted, part.content = session.list.compacted, before, None
        if not mark or mark == before:
            return False
        self._compaction_begins(session, mark, words)
        return True

    def _call(self, session: OpencodeSession, message: Message, part: Part, row: Row) -> None:
        """A call and, once it ended, its result."""
        state = mapping(row.data.get("state"))
        times = mapping(state.get("time"))
        self._time = epoch_milliseconds(times.get("start")) or self._time
        called = told(state, "input") + told(row.data, "callID", "tool")
        # While its input is being written there is nothing to show.
        is_begun = state.get("status") != "pending" or bool(state.get("input"))
        if is_begun and called not in part.said:
            part.said = (called,)
            blocks = blocks_of(row.data, CONTENT)
            model = word(message.data.get("modelID"))
            said = Said(
                "assistant/message", row.id, row.base + CONTENT, "assistant", blocks, model=model
            )
            self._speak(session, message, part, row, said)
            if row.data.get("tool") == "todowrite":
                items = todo_items(state.get("input"))
                self._log(session, "artifact/update", {"kind": "todo", "items": items})
        if result_text(state) is not None and part.content is not None:
            self._time = epoch_milliseconds(times.get("end")) or self._time
            self._result(session, part, row, state)

    def _result(
        self, session: OpencodeSession, part: Part, row: Row, state: dict[str, Any]
    ) -> None:
        slot = CLEARED if is_cleared(state) else RESULT
        news = f"{slot}:" + told(state, "output", "error", "attachments")
        if news in part.said:
            return
        part.said = (part.said[0], news)
        block = row.base + slot
        seq = session.number(row.id, block)
        old, part.result = part.result, seq
        child = word(mapping(state.get("metadata")).get("sessionId"))
        if child is not None:
            call = self._calls[child] = word(row.data.get("callID"))
            if child in self.sessions:
                self.sessions[child].parent_call_id = call
        said = Said(
            "tool/result",
            row.id,
            block,
            "user",
            blocks_of(row.data, slot),
            {"agent": child} if child else NO_META,
            step=None if part.content is None else session.step_of.get(part.content),
        )
        self._place(session, said, replaces=old if old != seq else None)

    def _spent(self, session: OpencodeSession, message: Message, part: Part, row: Row) -> None:
        """What a step cost, and whether the turn ends with it."""
        usage, news = usage_of(row.data.get("tokens")), told(row.data, "tokens")
        if news not in part.said:
            node = message.node_of_step(part)
            if usage is not None:
                self._log(
                    session,
                    "usage",
                    usage=usage,
                    request=node,
                    model=word(message.data.get("modelID")),
                    step=None if node is None else session.step_of.get(node),
                )
            ends = string(row.data.get("reason")) not in _GOES_ON
            if not part.said and ends and not message.data.get("summary"):
                message.said.add("end")
                session.facts.turn_open = False
                self._log(session, "turn/end", {"reason": "completed"})
            part.said = (news,)

    def _retry(self, session: OpencodeSession, part: Part, row: Row) -> None:
        if not part.said:
            part.said = ("retry",)
            words, attempt = error_text(mapping(row.data.get("error"))), row.data.get("attempt")
            self._log(session, "retry", {"message": words, "attempt": count(attempt)})
