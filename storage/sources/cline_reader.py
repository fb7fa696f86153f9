"""The rows of a Cline conversation, in order → events.

What a task sends is its messages without a range that it leaves out: the first two stay, and with
the range go the results at its end whose calls went. Of single texts it sends another (edits). A
session sends its messages, of which a compacted list may stand for the beginning.

Source: ``ContextManager.getTruncatedMessages`` of cline/cline 3.89;
``projectSessionCompactionState`` of 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from compress.events import Usage
from storage.sources.base import Derived, FileReader, Numbering, Record
from storage.sources.cline_matching import matched, matched_copies
from storage.sources.cline_messages import Row, Slot, rows_of, slots_of
from storage.sources.cline_screen import (
    Entry,
    Fact,
    deleted_to,
    read_entry,
    session_usage,
    task_usage,
)
from storage.sources.cline_session import ClineSession
from storage.sources.cline_transcript import Message, Transcript
from storage.sources.draft import LONGEST_FACT, NO_META, Identities, title_of, type_name, word
from storage.sources.plan_items import plan_items
from storage.sources.values import count, epoch_milliseconds, listing, mapping, string

TASK_FILE = "api_conversation_history.json"
SESSION_SUFFIX = ".messages.json"
_QUESTION = "ask_question"
_LONGEST_INDEX = 9
_ENDED = ("completed", "failed", "cancelled", "aborted")


class ClineReader(FileReader):
    """One task or one session."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        name = path.parent.name if path.name == TASK_FILE else path.name
        self._session = ClineSession(name.removesuffix(SESSION_SUFFIX), self.numbering(""))
        self.sessions[""] = self._session.facts
        self._transcript = Transcript()
        self._identities = Identities()
        self._screens: dict[int, Entry] = {}
        self._newest = -1
        """Index of the newest entry of the screen."""
        self._costs: dict[int, Usage] = {}
        """Index of the newest message when a request was made → what it cost, until its answer
        is there."""
        self._told: dict[int, Usage] = {}
        """Index of an answer → the figures that were told of it."""
        self._items: list[dict[str, Any]] = []
        self._questions: dict[str, str] = {}
        """Call → the question that is open."""
        self._spent: int | None = None
        """Tokens of the newest request's prompt."""

    def feed(self, record: Record) -> Iterable[Derived]:
        if record.value is None and record.damage is not None:
            return ()
        session = self._session
        session.events = []
        known = False
        for row in rows_of(record.value):
            known = True
            session.begin(self._native(record, row), _time(row.data))
            self._take(row)
        if known:
            self.recognised += 1
        else:
            name = self._count_unknown(type_name(record.value))
            session.begin(self._identities.of(record, record.value), None)
            session.log("unknown", {"type": name})
        return (Derived("", session.events),) if session.events else ()

    def _native(self, record: Record, row: Row) -> str:
        """The message's id, told apart from earlier records that had it, too."""
        own = row.table in ("message", "edit", "item") and not row.removed
        name = word(mapping(row.data).get("id")) if own else None
        if name is None:
            # Of a document the message alone, so that what it grows by changes nothing.
            return self._identities.of(record, row.data if row.base else record.value)
        return self._identities.own(name)

    def _take(self, row: Row) -> None:
        index = int(row.id) if row.id.isdecimal() and len(row.id) <= _LONGEST_INDEX else None
        if row.table in ("message", "edit", "item", "screen"):
            if index is not None:
                self._take_numbered(row, index)
        elif row.table == "head":
            self._head(row)
        elif row.table == "manifest":
            self._manifest(mapping(row.data))
        elif row.table == "compaction":
            self._compaction(row)
        elif row.table == "metadata":
            self._metadata(mapping(row.data))
        elif row.table == "task" and not row.removed:
            self._task(mapping(row.data))

    def _take_numbered(self, row: Row, index: int) -> None:
        if row.table == "screen":
            self._screen(row, index)
        elif row.removed and row.table == "edit":
            self._transcript.edits.pop(index, None)
            self._session.stand(self._transcript.sent(), {"marker": "rewind"})
        elif row.removed:
            if self._transcript.remove(index):
                self._session.stand(self._transcript.sent(), {"marker": "rewind"})
        elif row.table == "edit":
            self._edit(row, index)
        else:
            self._message(row, index)

    def _message(self, row: Row, index: int) -> None:
        session, transcript = self._session, self._transcript
        fields = mapping(row.data)
        role = string(fields.get("role"))
        before = transcript.messages.get(index)
        slots = slots_of(row)
        is_answer = role == "assistant"
        self._use_model(fields)
        usage = None
        if before is None and is_answer:
            session.step += 1
        if is_answer:
            usage = self._cost_of(row, index)
        made, nodes = matched(slots, before.nodes if before else [], self._step_of)
        if made and is_answer:
            made[0] = made[0]._replace(usage=usage)
            made = [one._replace(model=session.facts.model) for one in made]
        is_next = transcript.put(index, Message(role, nodes))
        calls = [b for _, slot in slots if (b := slot.block) and b.kind == "tool_call"]
        if before is None:
            self._begin_turn(slots)
            session.steps.update((block.id, session.step) for block in calls)
        if made or before is not None or not is_next:
            session.place(made, None if is_next else transcript.sent())
        if usage is not None and not (made and is_answer):
            session.log("usage", usage=usage, request=nodes[0] if nodes else None)
        if is_answer and row.table == "item":
            session.facts.turn_open = bool(calls)
        self._tell_progress(slots)
        if before is None:
            self._tell_questions(slots)

    def _edit(self, row: Row, index: int) -> None:
        """Another text is sent in place of one of a message's."""
        transcript = self._transcript
        there = transcript.messages.get(index)
        known = transcript.edits.get(index) or (there.nodes if there else [])
        made, nodes = matched(slots_of(row), known, self._step_of, grows=False)
        transcript.edits[index] = nodes
        self._session.place(made, transcript.sent())

    def _step_of(self, slot: Slot) -> int | None:
        session = self._session
        if slot.type == "assistant/message":
            return session.step
        if slot.type != "tool/result" or slot.block is None:
            return None
        return session.steps.get(slot.block.id, session.step) or None

    def _begin_turn(self, slots: Sequence[tuple[int, Slot]]) -> None:
        """A message with words of the user's own begins a turn."""
        facts = self._session.facts
        said = [slot.block for _, slot in slots if slot.type == "user/message"]
        if not said:
            return
        self._session.turn += 1
        facts.turn_open = True
        words = next((block.text for block in said if block is not None and block.text), "")
        facts.title = facts.title or title_of(words.replace("<task>", "").lstrip())

    def _use_model(self, fields: dict[str, Any]) -> None:
        told = mapping(fields.get("modelInfo"))
        self._note_model(word(told.get("modelId")) or word(told.get("id")))

    def _note_model(self, model: str | None) -> None:
        facts = self._session.facts
        if model is not None and model != facts.model:
            facts.model = model
            self._session.log("request/header", {"model": model})

    def _cost_of(self, row: Row, index: int) -> Usage | None:
        """What the request of an answer cost, where that is news."""
        figures = mapping(row.data).get("metrics")
        usage = session_usage(figures) if row.table == "item" else task_usage(figures)
        # A request is made after one message, or none, of the user's was added.
        for at in (index - 2, index - 1):
            usage = self._costs.pop(at, usage)
        return self._news_of_cost(index, usage)

    def _news_of_cost(self, index: int, usage: Usage | None) -> Usage | None:
        if usage is None or self._told.get(index) == usage:
            return None
        self._told[index] = usage
        self._spent = usage.total_input
        return usage

    def _tell_progress(self, slots: Sequence[tuple[int, Slot]]) -> None:
        """A list of what is to be done goes along with calls."""
        for block in (slot.block for _, slot in slots):
            if block is not None and block.kind == "tool_call":
                self._note_progress(plan_items(string(mapping(block.input).get("task_progress"))))

    def _tell_questions(self, slots: Sequence[tuple[int, Slot]]) -> None:
        """What a call asks a person, and what the person answered."""
        for block in (slot.block for _, slot in slots):
            if block is None or block.id is None:
                continue
            if block.kind == "tool_call" and block.name == _QUESTION:
                question = string(mapping(block.input).get("question"))[:LONGEST_FACT]
                self._questions[block.id] = question
                asked = {"tool": _QUESTION, "call": block.id, "text": question}
                self._session.log("approval/request", asked)
            elif block.kind == "tool_result" and block.id in self._questions:
                question = self._questions.pop(block.id)
                told = {"call": block.id, "decision": "answered", "question": question}
                answer = {"message": block.text[:LONGEST_FACT]}
                self._session.log("approval/decision", {**told, **answer})
        self._session.facts.waiting = bool(self._questions)

    def _note_progress(self, items: list[dict[str, Any]]) -> None:
        if items and items != self._items:
            self._items = items
            self._session.log("artifact/update", {"kind": "todo", "items": items})

    def _screen(self, row: Row, index: int) -> None:
        newest = self._newest
        if row.removed:
            if self._screens.pop(index, None) is not None and index == newest:
                self._newest = max(self._screens, default=-1)
                last = self._screens.get(self._newest)
                self._leave_out(last.deleted if last is not None else None)
            return
        self._newest = max(newest, index)
        entry = read_entry(row.data)
        before = self._screens.get(index)
        self._screens[index] = entry
        if before is None and entry.at is not None and index > newest:
            self._leave_out(entry.deleted)
        for fact in entry.facts:
            if before is None or fact not in before.facts:
                self._tell(fact)
        if entry.usage is not None and entry.at is not None:
            self._note_cost(entry.at, entry.usage)
        if index >= newest:
            self._note_end(entry)

    def _tell(self, fact: Fact) -> None:
        if fact.type == "artifact/update":
            self._note_progress(fact.meta["items"])
        else:
            self._session.log(fact.type, fact.meta)

    def _note_end(self, entry: Entry) -> None:
        facts = self._session.facts
        facts.waiting = entry.waits
        if entry.ends is not None and facts.turn_open:
            facts.turn_open = False
            self._session.log("turn/end", {"reason": entry.ends})

    def _note_cost(self, at: int, usage: Usage) -> None:
        """What a request cost that was made when this was the newest message."""
        for index in (at + 2, at + 1):
            there = self._transcript.messages.get(index)
            if there is not None and there.role == "assistant":
                news = self._news_of_cost(index, usage)
                if news is not None:
                    node = there.nodes[0] if there.nodes else None
                    self._session.log("usage", usage=news, request=node)
                return
        self._costs[at] = usage

    def _leave_out(self, deleted: int | None) -> None:
        """Messages up to this index are left out of requests from here on."""
        transcript, session = self._transcript, self._session
        before, transcript.deleted = transcript.deleted, deleted
        if before == deleted:
            return
        wanted = transcript.sent()
        if wanted == session.standing:
            return
        if deleted is None or deleted < (before or 0):
            session.stand(wanted, {"marker": "rewind"})
            return
        told = {} if self._spent is None else {"pre_tokens": self._spent}
        session.log("compact/start", {"trigger": "truncation", **told})
        session.log("compact/summary")
        session.stand(wanted, {"checkpoint": "agent"})
        session.log("compact/end")

    def _compaction(self, row: Row) -> None:
        """A compacted list that stands for the first messages; or none does any more."""
        transcript, session = self._transcript, self._session
        fields = mapping(row.data)
        replaced = count(fields.get("source_message_count"))
        if row.removed or not row.holds or replaced is None:
            transcript.compacted = None
            session.stand(transcript.sent(), {"marker": "branch"})
            return
        slots = slots_of(row)
        earlier = transcript.compacted[1] if transcript.compacted else []
        known = [*earlier, *transcript.first(replaced)]
        made, nodes = matched_copies(slots, known, self._step_of)
        transcript.compacted = (replaced, nodes)
        told = next((s for _, s in slots if "checkpoint" in s.meta), None)
        words = "" if told is None or told.block is None else told.block.text
        told_before = map(_tokens_before, listing(fields.get("messages")))
        spent = next((tokens for tokens in told_before if tokens is not None), self._spent)
        start = {} if spent is None else {"pre_tokens": spent}
        session.log("compact/start", start)
        session.log("compact/summary", {"message": words[:500]} if words else NO_META)
        # The summary comes last: it carries the list that stands then.
        made.sort(key=lambda one: "checkpoint" in one.slots[0][1].meta)
        session.place(made, transcript.sent())
        session.log("compact/end")

    def _head(self, row: Row) -> None:
        facts, fields = self._session.facts, mapping(row.data)
        facts.native_id = word(fields.get("sessionId")) or facts.native_id
        version = word(mapping(fields.get("origin")).get("version"))
        facts.agent_version = version or facts.agent_version
        agent = word(fields.get("agent"))
        if agent is not None and agent != "lead":
            facts.relation, facts.parent_native_id = "subagent", self.path.parent.name
        made, nodes = matched(slots_of(row), self._transcript.system, self._step_of)
        self._transcript.system = nodes
        if made:
            self._session.place(made, self._transcript.sent())

    def _manifest(self, fields: dict[str, Any]) -> None:
        facts, told = self._session.facts, mapping(fields.get("metadata"))
        facts.cwd = word(fields.get("cwd")) or facts.cwd
        words = string(told.get("title")) or string(fields.get("prompt"))
        facts.title = title_of(words) or facts.title
        facts.ended = fields.get("status") in _ENDED
        parent = word(mapping(told.get("fork")).get("forkedFromSessionId"))
        if parent is not None and facts.relation == "main":
            facts.relation, facts.parent_native_id = "fork", parent
        self._note_model(word(fields.get("model")))

    def _metadata(self, fields: dict[str, Any]) -> None:
        facts = self._session.facts
        for told in _last(fields.get("environment_history")):
            facts.agent_version = word(told.get("cline_version")) or facts.agent_version
        for told in _last(fields.get("model_usage")):
            self._note_model(word(told.get("model_id")))

    def _task(self, fields: dict[str, Any]) -> None:
        facts = self._session.facts
        facts.title = title_of(string(fields.get("task"))) or facts.title
        facts.cwd = word(fields.get("cwdOnTaskInitialization")) or facts.cwd
        self._leave_out(deleted_to(fields.get("conversationHistoryDeletedRange")))


def _tokens_before(message: Any) -> int | None:
    return count(mapping(mapping(message).get("metadata")).get("tokensBefore"))


def _last(listed: Any) -> list[dict[str, Any]]:
    return [mapping(listed[-1])] if isinstance(listed, list) and listed else []


def _time(data: Any) -> float | None:
    return epoch_milliseconds(mapping(data).get("ts"))
