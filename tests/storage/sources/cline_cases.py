"""Random conversations of Cline, and what is compared of a list that is sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from compress.events import SessionEvent
from compress.messages import derive_messages
from compress.surface import SurfaceFold
from storage.sources.cline import ClineAdapter
from storage.sources.cline_tail import ClineTail
from tests.derivation import content, read
from tests.storage.sources.cline_logs import (
    answer,
    call,
    compaction,
    document,
    result,
    screen,
    summary,
    text,
    user,
    write,
)

ADAPTER = ClineAdapter()
Sent = list[tuple[str, list[tuple[str, str, str]]]]
"""Role, and of each block its kind, its call and its text."""


def random_task(seed: int) -> dict[str, Any]:
    """Messages, the range that is left out, texts that are sent in place of others."""
    draw = Random(seed)
    messages: list[Any] = []
    calls: list[str] = []
    for number in range(draw.randint(1, 10)):
        if number % 2:
            calls = [f"c{number}.{n}" for n in range(draw.choice((0, 0, 1, 2, 3)))]
            messages.append(answer(text(f"a{number}"), *(call(name) for name in calls)))
            continue
        answered = [name for name in calls if draw.random() < 0.7]
        draw.shuffle(answered)
        answered += ["stray"] if draw.random() < 0.2 else []
        results = [result(name, [text(f"r{name}")]) for name in answered]
        parts = [*results, text(f"<feedback>u{number}</feedback>")]
        if draw.random() < 0.3:
            parts.insert(0, text(f"[read_file for 'x'] Result:\n{number}"))
        messages.append(user(*parts))
    ends = range(3, len(messages), 2)
    deleted = [2, draw.choice(ends)] if ends and draw.random() < 0.6 else None
    edits = []
    for index in range(len(messages)):
        after_cut = deleted is not None and index == deleted[1] + 1
        if draw.random() < 0.2 and not after_cut:
            block = draw.randrange(len(messages[index]["content"]))
            changes = [[number, "text", [f"edit {number}"], []] for number in range(2)]
            edits.append([index, [0, [[block, changes]]]])
    return {"messages": messages, "deleted": deleted, "edits": edits}


def random_session(seed: int) -> dict[str, Any]:
    """Messages, and a compacted list that may stand for the first of them."""
    draw = Random(seed)
    messages: list[Any] = []
    open_calls: list[str] = []
    for number in range(draw.randint(1, 10)):
        name = f"m{number}"
        kind = draw.choice("uuaar") if open_calls else draw.choice("ua")
        if kind == "u":
            words = f'<user_input mode="act">u{number}</user_input>'
            parts = [text(words if draw.random() < 0.5 else f" u{number}")]
            if draw.random() < 0.2:
                parts.append({"type": "file", "path": "/p", "content": "f" * 50_001})
            messages.append(user(*parts, id=name))
        elif kind == "a":
            open_calls = [f"c{number}.{n}" for n in range(draw.choice((0, 1, 2)))]
            made = (call(one, "editor", path="x") for one in open_calls)
            messages.append(answer(text(f"a{number}"), *made, id=name))
        else:
            one = open_calls.pop(draw.randrange(len(open_calls)))
            long = "xy" * draw.choice((1, 4_000, 4_001, 9_000))
            given: Any = draw.choice((long, [text(long), text("z")], [{"query": "q", "n": [long]}]))
            parts = [{**result(one, given), "name": "editor"}]
            if draw.random() < 0.2:
                parts.append(text("and this"))
            messages.append(user(*parts, id=name))
    state = None
    if draw.random() < 0.6:
        replaced = draw.randint(0, len(messages))
        kept = messages[draw.randint(0, replaced) : replaced]
        state = compaction(messages[:replaced], [summary("in short"), *kept])
        if draw.random() < 0.2:
            state["source_prefix_hash"] = "sha256:0"
    return {"messages": messages, "state": state}


def task_as_shown(case: dict[str, Any], folder: Path) -> Sent:
    """What is shown of a task with these files."""
    path = folder / "t" / "api_conversation_history.json"
    write(path, case["messages"])
    entry = screen("text", "x", at=len(case["messages"]) - 1, deleted=case["deleted"])
    write(path.with_name("ui_messages.json"), [entry])
    write(path.with_name("context_history.json"), case["edits"])
    return shown(path)


def session_as_shown(case: dict[str, Any], folder: Path) -> Sent:
    """What is shown of a session with these files, its instructions left out."""
    path = folder / "s" / "s.messages.json"
    write(path, document(case["messages"]))
    state = path.with_name("s.compaction.json")
    if case["state"] is None:
        state.unlink(missing_ok=True)
    else:
        write(state, case["state"])
    return [entry for entry in shown(path) if entry[0] != "system"]


def shown(path: Path) -> Sent:
    with ClineTail(path) as tail:
        records = tail.read().records
    return sent(read(ADAPTER, path, records)[1][""])


def sent(events: Sequence[SessionEvent]) -> Sent:
    """What would be sent after these events; each operation is legal."""
    state = SurfaceFold()
    for event in events:
        state.apply(event)
    found: Sent = []
    for message in derive_messages(content(state.snapshot(), events), "cline"):
        blocks = [(_KINDS.get(b.kind, b.kind), b.id or "", b.text) for b in message.blocks]
        found.append((message.role, blocks))
    return found


_KINDS = {"synthetic": "tool_result", "context": "text"}


def told(messages: Iterable[dict[str, Any]]) -> Sent:
    """The same of a list as Cline itself makes it."""
    found: Sent = []
    for message in messages:
        parts = message["content"]
        if isinstance(parts, str):
            parts = [text(parts)]
        found.append((message["role"], [_part(part) for part in parts]))
    return [(role, blocks) for role, blocks in found if blocks]


def _part(part: dict[str, Any]) -> tuple[str, str, str]:
    match part["type"]:
        case "tool_use":
            return "tool_call", part["id"], ""
        case "tool_result":
            given = part["content"]
            entries = [text(given)] if isinstance(given, str) else given
            plain = all(entry.get("type") == "text" for entry in entries)
            words = "".join(e["text"] for e in entries) if plain else _compact(given)
            return "tool_result", part["tool_use_id"], words
        case "file":
            return (
                "text",
                "",
                f'<file_content path="{part["path"]}">\n{part["content"]}\n</file_content>',
            )
    return "text", "", part["text"]


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def digested(sent: Sent) -> list[Any]:
    """The same without its texts: of each its length and a digest."""
    return [
        [role, [[kind, name, *_digest(said)] for kind, name, said in blocks]]
        for role, blocks in sent
    ]


def _digest(words: str) -> tuple[int, str]:
    return len(words), sha256(words.encode()).hexdigest()[:12]
