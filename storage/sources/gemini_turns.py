"""What Gemini CLI's messages do to turns, steps and the session's facts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compress.events import Usage
from storage.sources.base import Numbering, SessionFacts
from storage.sources.draft import NO_META, title_of, word
from storage.sources.gemini_events import Emission, GeminiEvents
from storage.sources.gemini_facts import Asked, usage_of, workspace_of
from storage.sources.gemini_messages import GeminiMessage, Group
from storage.sources.values import listing, string

_CANCELLED = "Request cancelled."
"""What the CLI notes where its user broke a turn off."""


class GeminiTurns(GeminiEvents):
    """Follows the session while its messages come."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self.facts = self.sessions[""] = SessionFacts(native_id=path.stem)
        if path.parent.parent.name == "chats":
            self.facts.relation = "subagent"
            self.facts.parent_native_id = path.parent.name
        self._step = 0
        self._steps: dict[str, int] = {}
        """Message or call → the request that made it."""
        self._figures: dict[str, Usage] = {}
        """What the request of each message cost, as it was told last."""
        self._asked = Asked()
        self._decided: set[str] = set()
        self._begun = False
        self._is_message = False
        """The record at hand is one message, of which unknown types are counted already."""

    def _head(self, value: Mapping[str, Any]) -> None:
        facts = self.facts
        facts.native_id = word(value.get("sessionId")) or facts.native_id
        if value.get("kind") == "subagent":
            facts.relation = "subagent"
        self._tell(value)
        if not self._begun:
            self._begun = True
            self._log("session/start", {"cwd": facts.cwd} if facts.cwd else NO_META)

    def _tell(self, value: Mapping[str, Any]) -> None:
        """What the metadata says of the session."""
        self.facts.title = title_of(string(value.get("summary"))) or self.facts.title
        folder = next(filter(word, listing(value.get("directories"))), None)
        self.facts.cwd = self.facts.cwd or folder

    def _situate(self, message: GeminiMessage, name: str) -> None:
        """What a new message does to turn and step."""
        facts = self.facts
        kind = message.groups[0].type if message.groups else None
        if kind == "user/message":
            self._turn += 1
            facts.turn_open = True
            if not facts.title:
                blocks = (b for slot in message.groups[0].slots for b in slot.blocks)
                facts.title = title_of("".join(b.text for b in blocks if b.kind == "text"))
        elif kind == "assistant/message" or message.raw.get("type") == "gemini":
            self._step += 1
            self._steps[name] = self._step

    def _step_of(self, group: Group, name: str, *, is_copy: bool) -> int | None:
        """``is_copy``: an answer of a checkpoint, which no request made unless its calls say
        which."""
        if group.call is not None:
            return self._steps.get(f"call:{group.call}", self._step) or None
        if not is_answer(group):
            return None
        step = self._steps.get(name)
        calls = [b.id for slot in group.slots for b in slot.blocks if b.kind == "tool_call"]
        if step is None:
            known = (self._steps.get(f"call:{call}") for call in calls)
            step = next((found for found in known if found is not None), None)
        if step is None and is_copy:
            return None
        if step is None:
            self._step += 1
            step = self._step
        self._steps[name] = step
        self._steps.update((f"call:{call}", step) for call in calls if call)
        return step

    def _spent(self, emission: Emission) -> Usage | None:
        return self._news_of_cost(emission.message, emission.raw)

    def _news_of_cost(self, name: str, raw: Mapping[str, Any]) -> Usage | None:
        usage = usage_of(raw.get("tokens"))
        if usage is None or self._figures.get(name) == usage:
            return None
        self._figures[name] = usage
        return usage

    def _tell_workspace(self, message: GeminiMessage) -> None:
        group = message.groups[0] if message.groups else None
        if group is None or self.facts.cwd or group.meta.get("source") != "session_context":
            return
        self.facts.cwd = workspace_of("".join(b.text for s in group.slots for b in s.blocks))

    def _tell_of(self, emission: Emission) -> None:
        group, native = emission.group, emission.native
        blocks = [block for slot in group.slots[emission.first :] for block in slot.blocks]
        facts = []
        if group.type == "unknown" and not self._is_message:
            self._count_unknown(str(group.meta["type"]))
        elif group.type == "assistant/message":
            calls = [block for block in blocks if block.kind == "tool_call"]
            self.facts.turn_open = bool(calls) or not any(b.kind == "text" for b in blocks)
            for call in calls:
                facts += self._asked.call(call)
            model = emission.model
            if model is not None and model != self.facts.model:
                self.facts.model = model
                self._log("request/header", {"model": model}, native=native, turn=emission.turn)
        elif group.type == "tool/result" and (group.call or "") not in self._decided:
            facts = self._asked.result(blocks[0], declined="declined" in group.meta)
            if facts:
                self._decided.add(group.call or "")
        elif group.meta.get("source") == "info" and any(b.text == _CANCELLED for b in blocks):
            self.facts.turn_open = False
            self._log("turn/end", {"reason": "interrupted"}, native=native, turn=emission.turn)
        for fact in facts:
            self._log(fact.type, fact.meta, native=native, turn=emission.turn, step=emission.step)


def is_answer(group: Group) -> bool:
    """Whether the model says it."""
    return group.type == "assistant/message"
