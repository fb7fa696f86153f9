"""What the full-text index holds of an event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compress.events import ContentBlock
from storage.scripts import index_text

SEARCH_CHARACTERS = 256 << 10
"""Characters of one event that the full-text index holds; the rest is found by its raw only."""


def search_text(blocks: Sequence[ContentBlock]) -> str:
    """Texts, call names and inputs, without NULs, as the index takes them."""
    parts = []
    room = SEARCH_CHARACTERS
    for block in blocks:
        text = block.text
        if block.kind == "tool_call":
            text = f"{block.name or ''} {_input_text(block.input)}"
        if len(text) >= room:
            parts.append(text[:room])
            break
        parts.append(text)
        room -= len(text)
    return index_text("\n".join(parts).replace("\0", " "))


def _input_text(value: Any) -> str:
    """The keys and values of a call's input. Its JSON would join the ``n`` of an escaped line
    break to the word behind it."""
    if isinstance(value, str):
        return value
    found: list[str] = []
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            for key, item in reversed(value.items()):
                waiting += (item, key)
        elif isinstance(value, list):
            waiting.extend(reversed(value))
        elif value is not None:
            found.append(str(value))
    return " ".join(found)
