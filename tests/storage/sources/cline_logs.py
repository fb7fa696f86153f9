"""Made conversations of Cline: rows, documents, folders of files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from storage.sources.cline_sidecar import prefix_hash

TIME = 1_783_376_868_000


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, tool: str = "read_file", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


def result(name: str, words: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": words}


def user(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts), **more}


def answer(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(parts), **more}


def row(table: str, name: object, data: Any, **more: Any) -> dict[str, Any]:
    return {"table": f"cline/{table}", "id": str(name), "data": data, **more}


def screen(kind: str, words: Any = "", *, at: int, deleted: Any = None, **more: Any) -> Any:
    """An entry of the screen; ``ask:`` before its kind for a question."""
    asks, name = kind.startswith("ask:"), kind.removeprefix("ask:")
    said = words if isinstance(words, str) else json.dumps(words)
    told: dict[str, Any] = {"ts": TIME + 10 * at, "type": "ask" if asks else "say"}
    told |= {"ask" if asks else "say": name, "text": said, "conversationHistoryIndex": at}
    return {**told, **({"conversationHistoryDeletedRange": deleted} if deleted else {}), **more}


def compaction(messages: Sequence[Any], instead: Sequence[Any]) -> dict[str, Any]:
    """A compacted list that stands for these messages."""
    return {
        "version": 1,
        "updated_at": "2026-07-16T23:40:16.179Z",
        "source_message_count": len(messages),
        "source_prefix_hash": prefix_hash(messages),
        "messages": list(instead),
    }


def summary(words: str) -> dict[str, Any]:
    return user(text(words), id="sum", metadata={"kind": "compaction_summary", "tokensBefore": 77})


def talk(number: int) -> list[Any]:
    """So many messages."""
    return [
        user(text(f"<task>u{n}</task>")) if n % 2 == 0 else answer(text(f"a{n}"))
        for n in range(number)
    ]


METRICS = {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 60, "cacheWriteTokens": 10}
TASK = [
    user(text("<task>\ndo it\n</task>"), text("<environment_details>\nx\n</environment_details>")),
    answer(text("I read"), call("c1", task_progress="- [x] a\n- [ ] b")),
    user(result("c1", [text("one")]), text("<environment_details>\ny\n</environment_details>")),
    answer({"type": "thinking", "thinking": "t", "signature": "s"}, call("c2"), call("c3")),
    user(result("c3", "three"), result("c2", "two")),
    answer(text("done"), metrics={"tokens": {"prompt": 40, "cached": 5, "completion": 3}}),
    user(text("[read_file for 'x'] Result:"), text("words"), text("<feedback>\nmore\n</feedback>")),
    answer(text("ok"), modelInfo={"modelId": "m", "providerId": "p", "mode": "act"}),
]
SESSION = [
    user(text('<user_input mode="act">do it</user_input>'), id="m1", ts=TIME),
    answer(text("I read"), call("c1", "read_files"), id="m2", metrics=METRICS),
    user(result("c1", [{"query": "q", "result": "r" * 9000, "success": True}]), id="m3"),
    answer(text("done"), id="m4", modelInfo={"id": "m", "provider": "p"}),
    user(text("more"), {"type": "file", "path": "/p/x", "content": "in it"}, id="m5"),
    answer(call("c9"), id="m6"),
]
HEAD = {"version": 1, "agent": "lead", "sessionId": "s-1", "system_prompt": "be good"}
MANIFEST = {
    "version": 1,
    "session_id": "s-1",
    "status": "running",
    "model": "m0",
    "cwd": "/p",
    "metadata": {"title": "a title", "fork": {"forkedFromSessionId": "s-0"}},
}


def task_rows() -> list[dict[str, Any]]:
    """A task in which everything comes."""
    spent = {"tokensIn": 30, "cacheReads": 5, "cacheWrites": 2, "tokensOut": 4}
    notice = {**row("edit", 1, TASK[1]), "edits": {"0": "earlier messages are gone"}}
    range_ = [2, 3]
    return [
        row("metadata", "", {"model_usage": [{"model_id": "m0"}], "environment_history": [{}]}),
        row("message", 0, TASK[0]),
        row("screen", 0, screen("task", "do it", at=-1)),
        row("screen", 1, screen("api_req_started", {"request": "x"}, at=0)),
        row("message", 1, TASK[1]),
        row("screen", 1, screen("api_req_started", spent, at=0)),
        row("screen", 2, screen("ask:tool", "{}", at=1)),
        *(row("message", i, TASK[i]) for i in range(2, 5)),
        row("screen", 3, screen("task_progress", "- [x] a\n- [x] b", at=4)),
        row("screen", 4, screen("error", "no", at=4)),
        notice,
        row("screen", 5, screen("text", "x", at=4, deleted=range_)),
        row("message", 5, TASK[5]),
        row("screen", 6, screen("ask:followup", {"question": "why?"}, at=5, deleted=range_)),
        row("message", 6, TASK[6]),
        row("message", 6, user(*TASK[6]["content"], text("[TASK RESUMPTION] x"))),
        row("message", 7, TASK[7]),
        row("screen", 7, screen("error_retry", {"attempt": 2}, at=7, deleted=range_)),
        row("screen", 8, screen("completion_result", "done", at=7, deleted=range_)),
        row("task", "", {"id": "t", "task": "do it", "conversationHistoryDeletedRange": [2, 5]}),
        row("message", 7, None, removed=True),
        row("screen", 8, None, removed=True),
        row("edit", 1, None, removed=True),
        row("a table that nobody has", 1, None),
    ]


def session_rows() -> list[dict[str, Any]]:
    """A session in which everything comes."""
    state = compaction(SESSION[:4], [summary("in short"), SESSION[3]])
    return [
        row("manifest", "", MANIFEST),
        row("head", "", HEAD),
        *(row("item", i, message) for i, message in enumerate(SESSION[:4])),
        {**row("compaction", "", state), "holds": True},
        *(row("item", i + 4, message) for i, message in enumerate(SESSION[4:])),
        row("item", 5, {**SESSION[5], "metrics": METRICS}),
        {**row("compaction", "", state), "holds": False},
        {**row("compaction", "", state), "holds": True},
        row("compaction", "", None, removed=True),
        row("manifest", "", {**MANIFEST, "status": "completed"}),
    ]


def document(messages: Sequence[Any] = SESSION) -> dict[str, Any]:
    return {**HEAD, "updated_at": "2026-07-16T23:40:16.179Z", "messages": list(messages)}


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
