"""Run by a Python that has openhands-sdk (1.58): the agent's own log, view and messages.

Argument: a file with one conversation a line, each a JSON list of events. Prints for each the
messages as the SDK sends them (``Message.to_chat_dict``), one JSON list a line.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

from openhands.sdk.context.view.view import View  # type: ignore[import-not-found]
from openhands.sdk.conversation.event_store import EventLog  # type: ignore[import-not-found]
from openhands.sdk.event import (  # type: ignore[import-not-found]
    ConversationStateUpdateEvent,
    Event,
    LLMConvertibleEvent,
)
from openhands.sdk.io import InMemoryFileStore  # type: ignore[import-not-found]
from openhands.sdk.tool.schema import Observation  # type: ignore[import-not-found]


class FileEditorObservation(Observation):  # type: ignore[misc]
    """Named by the made events; like most observations it is sent as it stands."""


def messages(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is sent after a load of these events."""
    log = EventLog(InMemoryFileStore())
    leaf = None
    for row in rows:
        event = Event.model_validate(row)
        log.append(event)
        if not isinstance(event, ConversationStateUpdateEvent):
            leaf = event.id
    view = View.from_events(log.path_to_root(leaf))
    flags = {"cache_enabled": False, "vision_enabled": True, "function_calling_enabled": True}
    return [
        message.to_chat_dict(**flags, force_string_serializer=False, send_reasoning_content=False)
        for message in LLMConvertibleEvent.events_to_messages(view.events)
    ]


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    for line in Path(sys.argv[1]).read_text().splitlines():
        print(json.dumps(messages(json.loads(line))))
