"""Whether Cline takes a compacted list in place of the beginning of a transcript.

``ID.compaction.json`` holds the list that stands for the first messages of ``ID.messages.json``,
with a digest of them. Where it does not agree with the transcript, Cline sends that one whole.

Source: ``projectSessionCompactionState`` of cline/cline 4.1 (``session-compaction.ts``,
``prompt/format.ts``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from hashlib import sha256
from math import isfinite
from typing import Any

from storage.sources.draft import word
from storage.sources.values import count, listing, mapping, string

_VERSION = "cline-session-compaction-source-v2"
_HASHED = ("agent", "sessionId", "metadata", "modelInfo", "metrics")
_LARGEST_EXACT = 2**53
_MOST_DECIMAL = 21
"""Digits before the point from which on JavaScript writes an exponent."""
_LEAST_DECIMAL = -6
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LARGEST_INDEX = 2**32 - 2
_COMMAND = re.compile(r"<user_command\b([^>]*)>([\s\S]*?)</user_command>", re.IGNORECASE | re.ASCII)
_SLASH = re.compile(r'slash="([^"]+)"', re.IGNORECASE)
_BLANKS = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's ``trim`` takes away."""
_TEAM_PREFIX = "spawn a team of agents for the following task:"


def holds(state: Any, messages: Sequence[Any]) -> bool:
    """Whether this compacted list stands for the beginning of this transcript."""
    fields = mapping(state)
    replaced = count(fields.get("source_message_count"))
    if replaced is None or replaced > len(messages) or not _is_state(fields):
        return False
    digest = word(fields.get("source_prefix_hash"))
    if digest is not None:
        return prefix_hash(messages[:replaced]) == digest
    key = word(fields.get("source_last_message_key"))
    return replaced > 0 and key is not None and _boundary_key(messages[replaced - 1]) == key


def prefix_hash(messages: Sequence[Any]) -> str:
    """What Cline writes as ``source_prefix_hash``."""
    found = sha256(f"{_VERSION}\n{len(messages)}\n".encode())
    for message in messages:
        found.update(stringified(_hashed(mapping(message))).encode("utf-8", "replace"))
        found.update(b"\n")
    return f"sha256:{found.hexdigest()}"


def _is_state(fields: dict[str, Any]) -> bool:
    messages = fields.get("messages")
    return fields.get("version") == 1 and isinstance(messages, list)


def _hashed(message: dict[str, Any]) -> list[Any]:
    named = [[name, message.get(name)] for name in _HASHED]
    return [["role", message.get("role")], ["content", _normalised(message)], *named]


def _boundary_key(message: Any) -> str:
    fields = mapping(message)
    name = string(fields.get("id")).strip()
    if name:
        return f"id:{name}"
    time = fields.get("ts")
    if isinstance(time, int | float) and not isinstance(time, bool):
        return f"ts:{string(fields.get('role'))}:{stringified(time)}"
    return f"content:{string(fields.get('role'))}:{stringified(_normalised(fields))}"


def _normalised(message: dict[str, Any]) -> Any:
    content = message.get("content")
    if message.get("role") != "user":
        return content
    if isinstance(content, str):
        return displayed(content)
    return [
        {**part, "text": displayed(string(part.get("text")))}
        if isinstance(part, dict) and part.get("type") == "text"
        else part
        for part in listing(content)
    ]


def sent_words(text: str) -> str:
    """A user's text as it is sent: without the envelope that Cline keeps it in."""
    words = text.strip(_BLANKS)
    for tag in ("user_input", "user_command"):
        taken = _unwrapped(words, tag)
        words = (taken if taken != words else _untagged(words, tag)).strip(_BLANKS)
    return words


def _unwrapped(text: str, tag: str) -> str:
    """The text with what such elements hold in place of them. Looked for step by step: one pattern
    would look through the rest of a text for each tag that nothing closes."""
    opening, closing = re.compile(rf"<{tag}\b", re.ASCII), f"</{tag}>"
    parts, at = [], 0
    while (found := opening.search(text, at)) is not None:
        start = text.find(">", found.end())
        end = text.find(closing, start + 1) if start >= 0 else -1
        if end < 0:
            break
        parts += [text[at : found.start()], text[start + 1 : end]]
        at = end + len(closing)
    return "".join([*parts, text[at:]])


def _untagged(text: str, tag: str) -> str:
    """The text without opening tags."""
    parts, at = [], 0
    while (found := text.find(f"<{tag}", at)) >= 0 and (end := text.find(">", found)) >= 0:
        parts.append(text[at:found])
        at = end + 1
    return "".join([*parts, text[at:]])


def displayed(text: str) -> str:
    """A user's text as it is shown: without notices, a slash command by its name."""
    words = _without(sent_words(text), "mode_notice").strip(_BLANKS)
    found = _COMMAND.fullmatch(text.strip(_BLANKS))
    slash = _SLASH.search(found[1]) if found else None
    command = slash[1].strip(_BLANKS) if slash else ""
    if not command:
        return words
    if command.lower() == "team" and words.lower().startswith(_TEAM_PREFIX):
        words = words[len(_TEAM_PREFIX) :].strip(_BLANKS)
    shown = "team" if command.lower() == "team" else command
    return f"/{shown} {words}" if words else f"/{shown}"


def _without(text: str, tag: str) -> str:
    """The text without such elements, their content included."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = text.find(opening)
    while start >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
        text = text[:start] + text[end + len(closing) :]
        start = text.find(opening, start)
    return text


def stringified(value: Any) -> str:
    """The value as ``JSON.stringify`` writes it."""
    if isinstance(value, dict):
        pairs = (f"{_text(key)}:{stringified(value[key])}" for key in _ordered(value))
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(stringified, value))}]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return _number(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _ordered(value: dict[str, Any]) -> list[str]:
    """JavaScript lists keys that are array indices first, by number."""
    indices = [key for key in value if _INDEX.fullmatch(key) and int(key) <= _LARGEST_INDEX]
    if not indices:
        return list(value)
    first = sorted(indices, key=int)
    return [*first, *(key for key in value if key not in {*first})]


def _number(value: float) -> str:
    if isinstance(value, int) and abs(value) <= _LARGEST_EXACT:
        return str(value)
    try:
        number = float(value)
    except OverflowError:
        return "null"
    return _decimal(number) if isfinite(number) else "null"


def _decimal(number: float) -> str:
    """A number that is not whole, or large: the shortest digits, and where the point stands."""
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    figures = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + int(exponent)
    if not figures:
        return "0"
    if 0 < point <= _MOST_DECIMAL:
        whole, rest = figures[:point].ljust(point, "0"), figures[point:]
        text = f"{whole}.{rest}" if rest else whole
    elif _LEAST_DECIMAL < point <= 0:
        text = f"0.{'0' * -point}{figures}"
    else:
        mantissa = f"{figures[0]}.{figures[1:]}" if len(figures) > 1 else figures
        text = f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"-{text}" if sign else text
