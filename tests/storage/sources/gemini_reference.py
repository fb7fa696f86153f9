"""What Gemini CLI sends on resume, derived a second time: its loader and its history, plainly.

Held to the CLI itself by ``tests/interop/test_gemini_loads.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

Line = tuple[str, str, str | None, str]
"""(role, kind, id of the call, its input or the text)."""
_SKIPPED = ("/", "?", "<session_context>", "<hook_context>")


def resumed(rows: Iterable[Any]) -> list[Line]:
    """The blocks that a resume of these rows would send, in order."""
    turns = [turn for message in _load(rows) for turn in _turns(message)]
    lines: list[Line] = []
    for role, run in groupby(turns, lambda turn: turn[0]):
        contents = [parts for _, parts in run]
        if role == "model" and not all(map(_valid, contents)):
            continue
        lines += [_line(role, part) for parts in contents for part in parts if _goes(part)]
    return lines


def of_contents(contents: Iterable[Mapping[str, Any]]) -> list[Line]:
    """The same of a request's contents."""
    return [_line(content["role"], part) for content in contents for part in content["parts"]]


def _load(rows: Iterable[Any]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        if not isinstance(row, dict):
            continue
        if isinstance(row.get("$rewindTo"), str):
            names = list(found)
            at = names.index(row["$rewindTo"]) if row["$rewindTo"] in found else 0
            found = {name: found[name] for name in names[:at]}
        elif isinstance(row.get("id"), str):
            found[row["id"]] = row
        elif isinstance(row.get("$set"), dict):
            if isinstance(row["$set"].get("messages"), list):
                found = {m["id"]: m for m in row["$set"]["messages"]}
        elif "sessionId" in row:
            found |= {m["id"]: m for m in row.get("messages", [])}
    return list(found.values())


def _turns(message: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    content, kind = message.get("content"), message.get("type")
    parts = _parts(content)
    if kind == "user":
        text = "".join("[…]" if _labelled(p) else p.get("text", "") for p in parts).strip()
        return [] if not text or text.startswith(_SKIPPED) else [("user", parts)]
    if kind != "gemini":
        return []
    calls = message.get("toolCalls") or []
    if not content:
        parts = []
    if not any(p.get("functionCall") or p.get("thought") for p in parts):
        thoughts = [{"text": "t", "thought": True} for _ in message.get("thoughts") or []]
        asked = [{"functionCall": {k: c.get(k) for k in ("id", "name", "args")}} for c in calls]
        parts = [*thoughts, *parts, *asked]
    if not parts:
        return []
    answers: list[dict[str, Any]] = []
    for call in calls:
        if isinstance(result := call.get("result"), str) and result:
            made = {"id": call["id"], "name": call["name"], "response": {"output": result}}
            answers.append({"functionResponse": made})
        elif result:
            answers += _parts(result)
    return [("model", parts), *([("user", answers)] if answers else [])]


def _parts(content: Any) -> list[dict[str, Any]]:
    items = content if isinstance(content, list) else [content]
    return [{"text": p} if isinstance(p, str) else p for p in items if p is not None]


def _labelled(part: Mapping[str, Any]) -> bool:
    return any(name in part for name in ("functionCall", "functionResponse", "thought"))


def _valid(parts: list[dict[str, Any]]) -> bool:
    return all(part and (part.get("thought") or part.get("text") != "") for part in parts)


def _goes(part: dict[str, Any]) -> bool:
    return not part.get("thought") and part.get("text") != ""


def _line(role: str, part: Mapping[str, Any]) -> Line:
    role = "assistant" if role == "model" else role
    if "functionCall" in part:
        call = part["functionCall"]
        given = json.dumps(call.get("args"), sort_keys=True)
        return role, "tool_call", _id(call), f"{call['name']} {given}"
    if "functionResponse" in part:
        result = part["functionResponse"]
        answered = result["response"]
        return role, "tool_result", _id(result), answered.get("output") or answered["error"]
    return role, "text", None, part["text"]


def _id(named: Mapping[str, Any]) -> str:
    return str(named["id"]).removeprefix(f"{named['name']}__")
