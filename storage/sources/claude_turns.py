"""Turns, and the calls that wait for an answer, of one Claude Code session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from storage.sources.base import SessionFacts
from storage.sources.claude_events import EventWriter
from storage.sources.claude_plans import Tasks
from storage.sources.claude_records import Part, answers_of
from storage.sources.values import count, mapping

_QUESTIONS = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Calls that wait for the person."""
_RUNNING = frozenset({"tool_use", "pause_turn"})
"""Stop reasons after which the turn goes on."""


class Turns:
    """Keeps the session's facts about turns, and writes the events that follow from them.

    A turn's end is logged at the agent's own mark; older versions have none, there it is logged
    where the next turn begins.
    """

    def __init__(self, facts: SessionFacts, writer: EventWriter) -> None:
        self.results: dict[str, tuple[int, int]] = {}
        """Call id → node and step of its newest result."""
        self._facts = facts
        self._writer = writer
        self._over = False
        self._calls: dict[str, tuple[str, int]] = {}
        self._questions: set[str] = set()
        self._tasks = Tasks()

    def begin(self) -> None:
        """The person says something that is no answer."""
        if self._over:
            self._end("completed")
        self._writer.turn += 1
        self._facts.turn_open = True
        self._facts.ended = False
        self._writer.log("turn/start", {})

    def interrupted(self) -> None:
        self._end("interrupted")

    def failed(self) -> None:
        self._end("error")

    def marked(self, value: Mapping[str, Any]) -> None:
        """The agent's own mark of a turn's end."""
        if self._over or self._facts.turn_open:
            duration = count(value.get("durationMs"))
            self._end("completed", {} if duration is None else {"duration_ms": duration})

    def _end(self, reason: str, more: Mapping[str, Any] | None = None) -> None:
        self._over = False
        self._facts.turn_open = False
        self._writer.log("turn/end", {"reason": reason, **(more or {})})

    def stopped(self, reason: Any) -> None:
        """An assistant record with this stop reason."""
        self._over = isinstance(reason, str) and reason not in _RUNNING
        self._facts.turn_open = not self._over
        self._facts.waiting = bool(self._questions)

    def called(self, parts: Sequence[Part], step: int) -> None:
        """Before the events of an assistant record: note its calls."""
        for part in parts:
            for block in part.blocks:
                if block.kind == "tool_call" and block.id:
                    self._calls[block.id] = (block.name or "", step)
                    if block.name in _QUESTIONS:
                        self._questions.add(block.id)

    def tasks_changed(self, parts: Sequence[Part]) -> None:
        """After the events of an assistant record: the task list, where a call changed it."""
        calls = [b for part in parts for b in part.blocks if b.kind == "tool_call"]
        updates = [mapping(call.input) for call in calls if call.name == "TaskUpdate"]
        # Each update is taken, also after one that changed something.
        if sum(self._tasks.updated(arguments) for arguments in updates):
            self._log_tasks()

    def step_of(self, call: str) -> int:
        """The step of a call; 0 for one that is not known."""
        return self._calls.get(call, ("", 0))[1]

    def answered(self, value: Mapping[str, Any], parts: Sequence[Part]) -> None:
        """After the events of a user record: what follows from the answers in it."""
        decided = any(part.type == "approval/decision" for part in parts)
        for part in parts:
            if part.type != "tool/result":
                continue
            call = part.blocks[0].id or ""
            self._questions.discard(call)
            self._facts.turn_open = True
            name = self._calls.get(call, ("", 0))[0]
            if name == "TaskCreate" and self._tasks.created(value.get("toolUseResult")):
                self._log_tasks()
            elif name == "ExitPlanMode" and not decided:
                decision = "rejected" if part.blocks[0].is_error else "approved"
                self._decision(decision, call)
            elif name == "AskUserQuestion" and (said := answers_of(value.get("toolUseResult"))):
                self._decision("answered", call, said)
            elif mapping(value.get("toolUseResult")).get("userModified") is True:
                self._decision("edited", call)
        self._facts.waiting = bool(self._questions)

    def _decision(self, decision: str, call: str, said: Mapping[str, str] | None = None) -> None:
        meta = {"decision": decision, "call": call, **(said or {})}
        self._writer.log("approval/decision", meta)

    def _log_tasks(self) -> None:
        self._writer.log("artifact/update", {"kind": "todo", "items": self._tasks.items()})
