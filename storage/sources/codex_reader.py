"""The state machine over the records of one rollout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from compress.events import EventType
from storage.sources.base import Derived, Numbering, Record, SessionFacts
from storage.sources.codex_decisions import decision_of, question_asked
from storage.sources.codex_events import RolloutEvents
from storage.sources.codex_items import Item, inter_agent_item, is_silent, item_of, message_text
from storage.sources.codex_records import (
    APPROVAL_EVENTS,
    SILENT_EVENTS,
    SILENT_RECORD_TYPES,
    enveloped,
    parent_of,
    plan_blocks,
    plan_of,
    question_of,
    text_of_error,
)
from storage.sources.codex_usage import UsageReader, window_of
from storage.sources.draft import APPEND, title_of, type_name, word
from storage.sources.values import mapping, timestamp


class CodexReader(RolloutEvents):
    """One rollout, one session."""

    def __init__(
        self, path: Path, numbering: Mapping[str, Numbering] | None, native_id: str
    ) -> None:
        super().__init__(path, numbering)
        self.facts = self.sessions[""] = SessionFacts(native_id=native_id)
        self._usage = UsageReader()
        self._step_of_call: dict[str, int] = {}
        self._questions: dict[str, str] = {}
        """Call id → what it asks the person, until there is an answer."""
        self._turn_named = False
        """The current turn was opened by a record of its own."""
        self._turn_spoken = False
        """The user has spoken in the current turn."""
        self._told_turns = False
        self._provider: str | None = None
        self._header: tuple[str | None, int | None, str | None] = (None, None, None)
        self._identified = False

    def feed(self, record: Record) -> Iterable[Derived]:
        value = record.value
        if value is None and record.damage is not None:
            return ()
        self._record, self._id, self._events = record, None, []
        if isinstance(value, dict):
            kind, payload = enveloped(value)
            self._content = [kind, payload]
            self._time = timestamp(value.get("timestamp"))
            handle = self._HANDLERS.get(kind or "")
            if handle is not None and isinstance(payload, dict):
                self.recognised += 1
                handle(self, payload)
            elif kind in SILENT_RECORD_TYPES:
                self.recognised += 1
            else:
                self._unknown(kind if kind is not None else type_name(value))
        else:
            self._content, self._time = value, None
            self._unknown(type_name(value))
        return (Derived("", self._events),) if self._events else ()

    # -- items --------------------------------------------------------------------------------

    def _on_item(self, payload: dict[str, Any]) -> None:
        item = item_of(payload)
        if item is None:
            if not is_silent(payload):
                self.recognised -= 1
                self._unknown("response_item")
            return
        if not item.known:
            self.recognised -= 1
            self._count_unknown(f"response_item/{item.meta['source']}")
        self._place_new(item)

    def _on_inter_agent(self, payload: dict[str, Any]) -> None:
        self._place_new(inter_agent_item(payload))

    def _place_new(self, item: Item) -> None:
        self.facts.waiting = False
        kind, step = self._situate(item)
        node = self._place(item, 0, APPEND if item.sent else None, kind, step)
        if item.sent:
            self._history.append(node, item)
        if item.artifact is not None:
            self._add("artifact/update", len(self._events), step=step, meta=item.artifact)
        self._note_question(item, step)

    def _note_question(self, item: Item, step: int | None) -> None:
        """What the person is asked, and decides."""
        call = item.call_id or ""
        question = question_asked(item) if item.produced else None
        if question is not None:
            self._questions[call] = question
        elif item.type == "tool/result":
            decision = decision_of(item, self._questions.pop(call, None))
            if decision is not None:
                self._add("approval/decision", len(self._events), step=step, meta=decision)

    def _situate(self, item: Item) -> tuple[EventType, int | None]:
        """The item's type and step, and what it does to the turn."""
        kind = item.type
        if item.produced:
            step = self._requests.produced(self._seq(0))
            if item.call_id:
                self._step_of_call[item.call_id] = step
            if not self._told_turns:
                self.facts.turn_open = item.call_id is not None
            return kind, step
        if kind == "tool/result":
            self._requests.answered()
            own = self._step_of_call.get(item.call_id or "", self._requests.step)
            self.facts.turn_open = self.facts.turn_open or not self._told_turns
            return kind, own or None
        self._requests.broken()
        if kind == "user/message":
            kind = self._user_speaks(item)
        return kind, None

    def _user_speaks(self, item: Item) -> Literal["user/message", "steering/message"]:
        if not self.facts.title:
            self.facts.title = title_of(message_text(item))
        if self._turn_named and self.facts.turn_open and self._turn_spoken:
            return "steering/message"
        if not (self._turn_named and self.facts.turn_open):
            self._turn += 1
            self._turn_named = False
        if not self._told_turns:
            self.facts.turn_open = True
        self._turn_spoken = True
        return "user/message"

    # -- what is told about the session ---------------------------------------------------------

    def _on_meta(self, payload: dict[str, Any]) -> None:
        if self._identified:
            return  # written again on each resume; the first one is the identity
        self._identified = True
        facts = self.facts
        facts.native_id = word(payload.get("id")) or facts.native_id
        facts.agent_version = word(payload.get("cli_version"))
        facts.cwd = word(payload.get("cwd"))
        self._provider = word(payload.get("model_provider"))
        parent = parent_of(payload)
        if parent is not None:
            facts.relation = "subagent" if parent[0] == "subagent" else "fork"
            facts.parent_native_id = parent[1]
        meta = {
            "version": facts.agent_version,
            "cwd": facts.cwd,
            "originator": word(payload.get("originator")),
        }
        self._add("session/start", meta={k: v for k, v in meta.items() if v is not None})

    def _on_turn_context(self, payload: dict[str, Any]) -> None:
        self._history.settings(word(payload.get("turn_id")))
        self._model = word(payload.get("model")) or self._model
        self.facts.model = self._model
        self.facts.cwd = self.facts.cwd or word(payload.get("cwd"))
        self._tell_header(0)

    def _tell_header(self, block: int) -> None:
        header = (self._model, self.facts.window, self._provider)
        if header != self._header and (self._model or self.facts.window):
            self._header = header
            names = ("model", "window", "provider")
            known = {k: v for k, v in zip(names, header, strict=True) if v is not None}
            self._add("request/header", block, meta=known)

    def _on_event(self, payload: dict[str, Any]) -> None:
        kind = word(payload.get("type")) or ""
        handle = self._EVENTS.get(kind)
        if handle is not None:
            handle(self, payload)
        elif kind in APPROVAL_EVENTS:
            self.facts.waiting = True
            self._add("approval/request", meta={"kind": kind, "text": question_of(payload)})
            return
        elif kind not in SILENT_EVENTS:
            self.recognised -= 1
            self._unknown(f"event_msg/{type_name(payload)}")
        self.facts.waiting = False

    def _on_token_count(self, payload: dict[str, Any]) -> None:
        window = window_of(payload)
        if window is not None:
            self.facts.window = window
        reading = self._usage.read(payload.get("info"))
        if reading is not None:
            self._context = reading.context or self._context
            if reading.usage is not None:
                request = self._requests.paid(self._seq(0))
                self._add("usage", usage=reading.usage, request=request, step=self._requests.step)
            elif reading.context:
                self._add("usage", meta={"context": reading.context, "estimated": True})
        if window is not None:
            self._tell_header(1)

    def _on_started(self, payload: dict[str, Any]) -> None:
        self._requests.broken()
        turn_id = word(payload.get("turn_id"))
        self._history.started(turn_id)
        if not self._turn_named or self._turn_spoken:
            self._turn += 1
        self._turn_named, self._turn_spoken = True, False
        self._told_turns = self.facts.turn_open = True
        self._add("turn/start", meta={} if turn_id is None else {"turn_id": turn_id})
        window = window_of(payload)
        if window is not None:
            self.facts.window = window
            self._tell_header(1)

    def _on_complete(self, payload: dict[str, Any]) -> None:
        self._end_turn(word(payload.get("turn_id")), "completed")

    def _on_aborted(self, payload: dict[str, Any]) -> None:
        interrupted = payload.get("reason") in (None, "interrupted")
        self._end_turn(
            word(payload.get("turn_id")),
            "interrupted" if interrupted else "aborted",
            aborted=True,
        )

    def _end_turn(self, turn_id: str | None, reason: str, *, aborted: bool = False) -> None:
        self._requests.broken()
        self._history.ended(turn_id, aborted=aborted)
        self.facts.turn_open = False
        self._add("turn/end", meta={"reason": reason})

    def _on_user_words(self, payload: dict[str, Any]) -> None:
        self._history.spoke()

    def _on_item_completed(self, payload: dict[str, Any]) -> None:
        plan = plan_of(payload)
        if plan is not None:
            self._add("artifact/update", blocks=plan_blocks(payload), meta=plan)
        elif mapping(payload.get("item")).get("type") in ("UserMessage", "user_message"):
            self._history.spoke()

    def _on_error(self, payload: dict[str, Any]) -> None:
        self._add("error", meta={"message": text_of_error(payload)})

    def _on_stream_error(self, payload: dict[str, Any]) -> None:
        self._add("retry", meta={"message": text_of_error(payload)})

    def _on_named(self, payload: dict[str, Any]) -> None:
        name = word(payload.get("thread_name")) or word(payload.get("name"))
        self.facts.title = name or self.facts.title

    _HANDLERS: Mapping[str, Callable[[CodexReader, dict[str, Any]], None]] = {
        "response_item": _on_item,
        "event_msg": _on_event,
        "turn_context": _on_turn_context,
        "session_meta": _on_meta,
        "compacted": RolloutEvents.on_compacted,
        "inter_agent_communication": _on_inter_agent,
    }
    _EVENTS: Mapping[str, Callable[[CodexReader, dict[str, Any]], None]] = {
        "token_count": _on_token_count,
        "task_started": _on_started,
        "turn_started": _on_started,
        "task_complete": _on_complete,
        "turn_complete": _on_complete,
        "turn_aborted": _on_aborted,
        "thread_rolled_back": RolloutEvents.on_rolled_back,
        "user_message": _on_user_words,
        "item_completed": _on_item_completed,
        "error": _on_error,
        "stream_error": _on_stream_error,
        "thread_name_updated": _on_named,
    }
