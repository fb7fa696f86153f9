"""Rows of Gemini CLI's chats, as it writes them; and random ones, for the tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from compress.events import SessionEvent
from compress.messages import Message, derive_messages
from compress.surface import View, fold
from storage.sources.gemini import GeminiAdapter
from tests.derivation import content, read, records
from tests.storage.sources.paths import NOWHERE

ADAPTER = GeminiAdapter()
HEADER = {
    "sessionId": "5e55-10",
    "projectHash": "ab12",
    "startTime": "2026-04-01T10:00:00.000Z",
    "lastUpdated": "2026-04-01T10:00:00.000Z",
    "kind": "main",
}
TIME = "2026-04-01T10:00:01.000Z"
CONTEXT = (
    "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /home/me/app\n"
    "</session_context>"
)
Row = Mapping[str, Any]


def message(name: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "timestamp": TIME, "type": kind, "content": content, **more}


def user(name: str, *parts: Any) -> dict[str, Any]:
    return message(name, "user", [{"text": p} if isinstance(p, str) else p for p in parts])


def answer(name: str, content: Any = "", **more: Any) -> dict[str, Any]:
    return message(name, "gemini", content, model="gemini-2.5-pro", **more)


def response(call: str, output: str, name: str = "read_file") -> dict[str, Any]:
    return {"functionResponse": {"id": call, "name": name, "response": {"output": output}}}


def called(call: str, name: str = "read_file") -> dict[str, Any]:
    return {"functionCall": {"id": call, "name": name, "args": {"file_path": "a.txt"}}}


def tool(call: str, result: Any = None, **more: Any) -> dict[str, Any]:
    """A call as its message keeps it; ``result``: a text makes the usual list of one part."""
    if isinstance(result, str):
        result = [response(call, result)]
    made = {"id": call, "name": "read_file", "args": {"file_path": "a.txt"}, "status": "success"}
    return {**made, "result": result, **more}


def checkpoint(*messages: Row) -> dict[str, Any]:
    return {"$set": {"messages": list(messages), "lastUpdated": TIME}}


def data(rows: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def events(rows: Iterable[Any]) -> list[SessionEvent]:
    return read(ADAPTER, NOWHERE, records(data(rows)))[1].get("", [])


def sent(log: Sequence[SessionEvent], view: View = "resume") -> list[Message]:
    return derive_messages(content(fold(log, view), log), "gemini")


def told(rows: Iterable[Any], view: View = "resume") -> list[tuple[str, list[str]]]:
    """Role and, in short, blocks of each message that would be sent."""
    return [
        (message.role, [block.text or f"{block.kind} {block.id}" for block in message.blocks])
        for message in sent(events(rows), view)
    ]


def random_log(seed: int) -> list[dict[str, Any]]:
    """A chat in which everything comes that the loader tells apart."""
    return _Writer(Random(seed)).rows()


class _Writer:
    """Writes as the CLI does, and now and then as it should not."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._rows: list[dict[str, Any]] = [HEADER]
        self._messages: dict[str, dict[str, Any]] = {}
        self._count = 0

    def rows(self) -> list[dict[str, Any]]:
        steps = [
            (self._turn, 6),
            (self._answer, 6),
            (self._results, 4),
            (self._rewind, 1),
            (self._checkpoint, 1),
            (self._note, 1),
        ]
        makers = [maker for maker, weight in steps for _ in range(weight)]
        for _ in range(self._random.randint(3, 18)):
            self._random.choice(makers)()
        return self._rows

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"

    def _write(self, row: dict[str, Any]) -> None:
        self._messages[row["id"]] = row
        self._rows += [row, {"$set": {"lastUpdated": TIME}}]

    def _turn(self) -> None:
        words = ["do it", "/compress", "?", "  ", CONTEXT, "<hook_context>x</hook_context>", "go"]
        text = self._random.choice(words)
        content: Any = self._random.choice([text, [text], [{"text": text}], {"text": text}])
        self._write(message(self._name("u"), "user", content))

    def _answer(self) -> None:
        row = answer(self._name("g"), self._random.choice(["", "so", [{"text": "so"}], [{}]]))
        if self._random.random() < 0.5:
            row["thoughts"] = [{"subject": "S", "description": "D"}, {"description": "E"}]
        if self._random.random() < 0.2:
            row["content"] = [{"text": "T", "thought": True}, {"text": ""}, {"text": "modern"}]
        self._write(row)
        if self._random.random() < 0.6:
            calls = [self._call() for _ in range(self._random.randint(1, 3))]
            row = {**row, "toolCalls": calls}
            if self._random.random() < 0.2:
                row["content"] = [{"text": "m"}, called(calls[0]["id"])]
            self._rows.append(row)
            self._messages[row["id"]] = row

    def _call(self) -> dict[str, Any]:
        call = self._name("read_file__fc" if self._random.random() < 0.5 else "c")
        made = tool(call, self._random.choice([None, "out", "out", "out"]))
        if self._random.random() < 0.2:
            made["result"] = self._random.choice(
                [{**response(call, "one")}, [response(call, "x"), {"text": "beside"}], [], ""]
            )
        return made

    def _results(self) -> None:
        """The turn that brings the results of the newest calls."""
        calls = [c for row in self._messages.values() for c in row.get("toolCalls", [])][-2:]
        parts = [
            part
            for call in calls
            if isinstance(call["result"], list)
            for part in call["result"]
            if "functionResponse" in part
        ]
        if parts:
            more = [{"text": "and"}] if self._random.random() < 0.2 else []
            self._write(message(self._name("u"), "user", [*parts, *more]))

    def _rewind(self) -> None:
        known = [*self._messages, "nowhere"]
        target = self._random.choice(known)
        self._rows.append({"$rewindTo": target})
        kept = known[: known.index(target)] if target != "nowhere" else []
        self._messages = {name: self._messages[name] for name in kept}

    def _note(self) -> None:
        kind = self._random.choice(["info", "error", "warning", "later"])
        self._write(message(self._name("n"), kind, "a note"))

    def _checkpoint(self) -> None:
        """The whole list again: as it is, without its beginning, summarised, or with masked
        results."""
        rows = [dict(row) for row in self._messages.values()]
        how = self._random.choice(["same", "tail", "summary", "masked", "empty"])
        if how in ("tail", "summary"):
            rows = rows[len(rows) // 2 :]
        if how == "summary":
            summary = message(self._name("s"), "user", [{"text": "<state_snapshot>S"}])
            rows = [summary, answer(self._name("s"), [{"text": "Got it."}]), *rows]
        if how == "masked":
            rows = [json.loads(json.dumps(row).replace('"out"', '"masked"')) for row in rows]
        if how == "empty":
            rows = []
        self._messages = {row["id"]: row for row in rows}
        self._rows.append(checkpoint(*rows))
