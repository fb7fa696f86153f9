"""What of an event counts as its text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from compress.events import ContentBlock, SessionEvent
from tests.benchmarks.fidelity.arms import Piece


@dataclass(frozen=True, slots=True)
class Texts:
    """``schema``: whether a call's tool and the keys of its input count. The agent uses them, but
    they are words of the tools' schemas, which every request holds anyway."""

    schema: bool = True

    def of(self, events: Sequence[SessionEvent]) -> str:
        """The texts of all blocks, one under the other."""
        return "\n".join(self._words(block) for event in events for block in event.blocks)

    def piece(self, events: Sequence[SessionEvent]) -> Piece:
        """A node as the arms take it."""
        return Piece(
            self.of(events),
            "\n".join(
                f"[result of {len(block.text)} characters cleared]"
                if block.kind == "tool_result"
                else self._words(block)
                for event in events
                for block in event.blocks
            ),
            any(event.type == "assistant/message" for event in events),
        )

    def _words(self, block: ContentBlock) -> str:
        if block.kind != "tool_call":
            return block.text
        values = self._flat(block.input)
        return f"{block.name or ''}\n{values}" if self.schema else values

    def _flat(self, value: Any) -> str:
        """The texts of a call's input, a line each: no escapes that would glue to a name."""
        if isinstance(value, str):
            return value
        if isinstance(value, dict):
            return "\n".join(
                f"{key}: {self._flat(each)}" if self.schema else self._flat(each)
                for key, each in value.items()
            )
        if isinstance(value, list):
            return "\n".join(self._flat(each) for each in value)
        return json.dumps(value)
