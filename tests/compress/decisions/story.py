"""Hand-made sessions: events in order, and what is harvested of them."""

from __future__ import annotations

from typing import Any

from compress.decisions.harvest import About, Harvest, Judge
from compress.decisions.values import DecisionPoint
from compress.events import ContentBlock, EventType, SessionEvent
from compress.reduction.profile import parse_profile

ABOUT = About("made", "s-1", "/p")
RUNNER = parse_profile(
    {
        "name": "runner",
        "checks": True,
        "match": {"commands": ["^runner\\b"]},
        "critical": [
            {"pattern": "\\d+ (?:passed|failed)", "level": "verdict"},
            {"pattern": "failed|Error", "level": "failure"},
        ],
        "success": {"output": ["\\d+ passed"]},
    },
    "runner",
)
FINDER = parse_profile(
    {"name": "finder", "match": {"commands": ["^find\\b"]}, "success": {"exit_codes": [0, 1]}},
    "finder",
)
ANY = parse_profile(
    {"name": "any", "critical": [{"pattern": "error|Error", "level": "failure"}]}, "any"
)
JUDGE = Judge([RUNNER, FINDER], ANY)


def new_harvest() -> Harvest:
    return Harvest(ABOUT, len, JUDGE)


class Story:
    """Each method appends the events of one record, and gives the seq of its last."""

    def __init__(self) -> None:
        self.events: list[SessionEvent] = []
        self.turn = 0

    def record(self, *parts: tuple[EventType, dict[str, Any]]) -> int:
        native = f"r{len({event.native_id for event in self.events}) + 1}"
        for block, (kind, fields) in enumerate(parts):
            seq = len(self.events) + 1
            base: dict[str, Any] = {"seq": seq, "type": kind, "native_id": native, "block": block}
            base |= {"turn": self.turn or None, "time": 1_000.0 + seq}
            self.events.append(SessionEvent(**(base | fields)))
        return len(self.events)

    def says(self, text: str) -> int:
        """The person begins a turn."""
        self.turn += 1
        block = ContentBlock(kind="text", text=text)
        node = len(self.events) + 1
        return self.record(("user/message", {"blocks": (block,), "node": node}))

    def replies(self, text: str, **meta: Any) -> int:
        block = ContentBlock(kind="text", text=text)
        return self.record(("assistant/message", {"blocks": (block,), "meta": meta}))

    def calls(
        self, call: str, name: str, *more: tuple[EventType, dict[str, Any]], **given: Any
    ) -> int:
        block = ContentBlock(kind="tool_call", id=call, name=name, input=given)
        return self.record(("assistant/message", {"blocks": (block,)}), *more)

    def returns(
        self,
        call: str,
        text: str,
        is_error: bool | None = None,
        *more: tuple[EventType, dict[str, Any]],
        **meta: Any,
    ) -> int:
        block = ContentBlock(kind="tool_result", id=call, text=text, is_error=is_error)
        return self.record(("tool/result", {"blocks": (block,), "meta": meta}), *more)

    def runs(self, call: str, command: str, text: str, is_error: bool | None = None) -> int:
        self.calls(call, "shell", command=command)
        return self.returns(call, text, is_error)

    def logs(self, type_: EventType, /, **meta: Any) -> int:
        return self.record((type_, {"meta": meta}))

    def ends(self, reason: str = "completed") -> int:
        return self.logs("turn/end", reason=reason)

    def points(self, kind: str = "") -> list[DecisionPoint]:
        harvest = new_harvest()
        for event in self.events:
            harvest.feed(event, 1)
        return [point for point in harvest.take() if kind in ("", point.stage.kind)]

    def only(self, kind: str) -> DecisionPoint:
        (point,) = self.points(kind)
        return point


def listed(*items: tuple[str, str], **more: Any) -> tuple[EventType, dict[str, Any]]:
    """A to-do list as it stands now."""
    stated = [{"text": text, "status": status} for text, status in items]
    return ("artifact/update", {"meta": {"kind": "todo", "items": stated, **more}})


def decided(decision: str, call: str, **more: Any) -> tuple[EventType, dict[str, Any]]:
    return ("approval/decision", {"meta": {"decision": decision, "call": call, **more}})
