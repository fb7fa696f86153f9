"""What OpenHands sends for a conversation, derived a second time: its view and its messages,
plainly.

Held by hand to the agent's own code (openhands-sdk 1.58.2, openhands-ai 0.62.0) on random logs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

Json = dict[str, Any]
Line = tuple[str, str, str | None, str]
"""(role, kind, id of the call, its input or the text)."""
_RESULTS = ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent")
_SEEN = ("SystemPromptEvent", "MessageEvent", "ActionEvent", *_RESULTS)


def loaded(rows: Sequence[Json]) -> list[list[Line]] | None:
    """The messages after a load of these events. ``None`` where an answer with several calls would
    be sent in two parts: a summary between them, or a branch from the midst of them."""
    path = _path(rows)
    view: list[Json] = []
    for row in path:
        if row["kind"] == "Condensation":
            view = [each for each in view if each["id"] not in row["forgotten_event_ids"]]
            if "summary_offset" in row:
                view.insert(
                    row["summary_offset"], {**row, "kind": "Summary", "id": f"{row['id']}-summary"}
                )
        elif row["kind"] in _SEEN:
            view.append(row)
    while broken := _broken(view, path):
        view = [row for row in view if row["id"] not in broken]
    if _is_parted(view, path, rows):
        return None
    return [message for _, message in _messages(view)]


def _path(rows: Sequence[Json]) -> list[Json]:
    parents: dict[str, str | None] = {}
    before: str | None = None
    leaf = None
    for row in rows:
        parents[row["id"]] = row.get("parent_id", before)
        before = row["id"]
        if row["kind"] != "ConversationStateUpdateEvent":
            leaf = row["id"]
    by_id = {row["id"]: row for row in rows}
    path = []
    while leaf is not None:
        path.append(by_id[leaf])
        leaf = parents[leaf]
    return path[::-1]


def _broken(view: list[Json], path: list[Json]) -> set[str]:
    """The events that the first broken property takes out."""
    results = [row for row in view if row["kind"] in _RESULTS]
    actions = [row for row in view if row["kind"] == "ActionEvent"]
    calls = [row["tool_call_id"] for row in results]
    if again := {r["id"] for n, r in enumerate(results) if r["tool_call_id"] in calls[:n]}:
        return again
    here = {row["id"] for row in view}
    parted = {
        row["llm_response_id"]
        for row in path
        if row["kind"] == "ActionEvent" and row["id"] not in here
    }
    if batch := {row["id"] for row in actions if row["llm_response_id"] in parted}:
        return batch
    made = [row["tool_call_id"] for row in actions]
    single = {row["id"] for row in actions if row["tool_call_id"] not in calls}
    if single | {row["id"] for row in results if row["tool_call_id"] not in made}:
        return single | {row["id"] for row in results if row["tool_call_id"] not in made}
    return {name for loop in _loops(path) if not loop <= here for name in loop & here}


def _loops(path: list[Json]) -> list[set[str]]:
    loops: list[set[str]] = []
    inside = False
    for row in path:
        if row["kind"] == "ActionEvent" and row.get("thinking_blocks"):
            loops.append({row["id"]})
            inside = True
        elif row["kind"] in ("ActionEvent", *_RESULTS):
            if inside:
                loops[-1].add(row["id"])
        else:
            inside = False
    return loops


def _is_parted(view: list[Json], path: list[Json], rows: Sequence[Json]) -> bool:
    def answer(row: Json) -> Any:
        return row["llm_response_id"] if row["kind"] == "ActionEvent" else None

    ends = [answer(b) for a, b in pairwise(view) if answer(b) and answer(a) != answer(b)]
    here = {row["id"] for row in path}
    missing = {answer(row) for row in rows if row["id"] not in here}
    first = [answer(view[0])] if view and answer(view[0]) else []
    seen = [*first, *ends]
    return len(seen) != len(set(seen)) or any(answer(row) in missing - {None} for row in path)


def _messages(view: list[Json]) -> Iterator[tuple[str, list[Line]]]:
    merged: list[tuple[str, list[Line]]] = []
    answer = None
    for row in view:
        key, lines = _said(row)
        own = row.get("llm_response_id") if key == "action" else None
        last = merged[-1] if merged else None
        if (last is not None and key == "user" == last[0]) or (
            last is not None and own is not None and answer == own
        ):
            last[1].extend(lines)
        else:
            merged.append((key, lines))
        answer = own
    yield from merged


def _said(row: Json) -> tuple[str, list[Line]]:
    kind = row["kind"]
    if kind == "Summary":
        return "user", [("user", "text", None, row["summary"])]
    if kind == "SystemPromptEvent":
        return "system", [("system", "text", None, row["system_prompt"]["text"])]
    if kind == "MessageEvent":
        message = row["llm_message"]
        parts = [(message["role"], "text", None, p["text"]) for p in message["content"]]
        return message["role"], parts
    if kind == "ActionEvent":
        blocks = row.get("thinking_blocks", [])
        lines: list[Line] = [("assistant", "thinking", None, b["thinking"]) for b in blocks]
        lines += [("assistant", "text", None, part["text"]) for part in row["thought"]]
        given = json.dumps(json.loads(row["tool_call"]["arguments"]))
        return "action", [*lines, ("assistant", "tool_call", row["tool_call_id"], given)]
    text = row["error"] if kind == "AgentErrorEvent" else _observed(row["observation"])
    return "result", [("user", "tool_result", row["tool_call_id"], text)]


def _observed(told: Json) -> str:
    text = "".join(part["text"] for part in told["content"])
    if told["kind"] == "TerminalObservation":
        more = told["metadata"]
        text = f"{more['prefix']}{text}{more['suffix']}"
        if more["working_dir"]:
            text += f"\n[Current working directory: {more['working_dir']}]"
        if more["py_interpreter_path"]:
            text += f"\n[Python interpreter: {more['py_interpreter_path']}]"
        if more["exit_code"] != -1:
            text += f"\n[Command finished with exit code {more['exit_code']}]"
    return f"[An error occurred during execution.]\n{text}" if told["is_error"] else text


def loaded_old(rows: Sequence[Json]) -> list[list[Line]]:
    """The messages after a load of events from before the SDK."""
    gone: set[int] = set()
    summary = None
    for row in rows:
        if row.get("action") == "condensation":
            args = row["args"]
            start, end = (args.get(f"forgotten_events_{e}_id", 0) for e in ("start", "end"))
            listed = args.get("forgotten_event_ids")
            gone |= set(range(start, end + 1) if listed is None else listed) | {row["id"]}
            summary = args if "summary" in args else summary
    view = [row for row in rows if row["id"] not in gone]
    view = [row for row in view if row.get("observation") != "agent_state_changed"]
    if summary is not None:
        view.insert(summary["summary_offset"], {"summary": summary["summary"]})
    messages: list[list[Line]] = []
    waiting: dict[str, list[Line]] = {}
    results: dict[str, list[Line]] = {}
    for row in view:
        metadata = row.get("tool_call_metadata")
        if metadata is None:
            messages += [[line] for line in _plain_old(row)]
        elif "action" in row:
            answer = metadata["model_response"]
            waiting[answer["id"]] = _answer_old(answer["choices"][0]["message"])
        else:
            call = metadata["tool_call_id"]
            results[call] = [("user", "tool_result", call, _result_old(row))]
        for name, lines in list(waiting.items()):
            calls = [call for _, kind, call, _ in lines if kind == "tool_call" and call]
            if all(call in results for call in calls):
                messages += [lines, *(results.pop(call) for call in calls)]
                del waiting[name]
    for before, after in pairwise([[], *messages]):
        if before and before[0][:2] == after[0][:2] == ("user", "text"):
            after[0] = (*after[0][:3], f"\n\n{after[0][3]}")
    return messages


def _answer_old(message: Json) -> list[Line]:
    text = message["content"]
    lines: list[Line] = [("assistant", "text", None, text)] if text and text.strip() else []
    return lines + [
        (
            "assistant",
            "tool_call",
            call["id"],
            json.dumps(json.loads(call["function"]["arguments"])),
        )
        for call in message["tool_calls"]
    ]


def _plain_old(row: Json) -> list[Line]:
    kind, args = row.get("action"), row.get("args", {})
    role = "user" if row.get("source") == "user" else "assistant"
    if "summary" in row:
        return [("user", "text", None, row["summary"])]
    if kind == "system":
        return [("system", "text", None, args["content"])]
    if kind == "message":
        return [(role, "text", None, args["content"])]
    if kind == "finish":
        return [(role, "text", None, args["thought"])]
    if kind == "run":
        return [("user", "text", None, f"User executed the command:\n{args['command']}")]
    if row.get("observation") == "run":
        head = "\nObserved result of command executed by user:\n"
        return [("user", "text", None, head + _result_old(row))]
    return []


def _result_old(row: Json) -> str:
    text = str(row["content"])
    if row["observation"] == "error":
        return f"{text}\n[Error occurred in processing last action]"
    if row["observation"] == "user_rejected":
        return f"OBSERVATION:\n{text}\n[Last action has been rejected by the user]"
    metadata = row["extras"]["metadata"]
    if "working_dir" in metadata:
        text += f"\n[Current working directory: {metadata['working_dir']}]"
    if metadata["exit_code"] != -1:
        text += f"\n[Command finished with exit code {metadata['exit_code']}]"
    return text
