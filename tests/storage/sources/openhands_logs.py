"""Made events of OpenHands' SDK."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from compress.events import SessionEvent
from compress.messages import Message, derive_messages
from compress.surface import fold
from storage.sources.base import FileReader
from storage.sources.openhands import OpenhandsAdapter
from tests.derivation import content, read
from tests.storage.sources.kit import rows_as_records

ADAPTER = OpenhandsAdapter()
PATH = Path("c0ffee/events.jsonl")
Json = dict[str, Any]
TIME = "2026-07-03T10:00:00"


def reading(rows: Iterable[Any], path: Path = PATH) -> tuple[FileReader, list[SessionEvent]]:
    """Rows, read: the reader and the events of the main session."""
    reader, found = read(ADAPTER, path, rows_as_records(rows))
    return reader, found.get("", [])


def events(rows: Iterable[Any]) -> list[SessionEvent]:
    """The events of the main session."""
    return reading(rows)[1]


def sent(log: Sequence[SessionEvent]) -> list[Message]:
    """The messages that would be sent."""
    return derive_messages(content(fold(log), log), "openhands")


def lines(log: Sequence[SessionEvent]) -> list[tuple[str, str, str | None, str]]:
    """The blocks that would be sent: role, kind, id, text; of a call its input."""
    return [
        (m.role, b.kind, b.id, b.text if b.kind != "tool_call" else json.dumps(b.input))
        for m in sent(log)
        for b in m.blocks
    ]


def event(kind: str, name: str, **more: Any) -> Json:
    """An event of the SDK's."""
    return {"kind": kind, "id": name, "timestamp": TIME, "source": "environment", **more}


def text(words: str) -> Json:
    """A text of a content."""
    return {"type": "text", "text": words}


def user(name: str, words: str, **more: Any) -> Json:
    """The user's message."""
    message = {"role": "user", "content": [text(words)]}
    return event("MessageEvent", name, llm_message=message, **{"source": "user", **more})


def answer(name: str, words: str, **more: Any) -> Json:
    """The agent's message to its user."""
    message = {"role": "assistant", "content": [text(words)]}
    return event("MessageEvent", name, llm_message=message, **{"source": "agent", **more})


def action(name: str, call: str, response: str, words: str = "", **more: Any) -> Json:
    """A call of an answer."""
    made = {
        "id": call,
        "name": "terminal",
        "arguments": '{"command": "ls"}',
        "origin": "completion",
    }
    return event(
        "ActionEvent",
        name,
        **{
            "source": "agent",
            "thought": [text(words)] if words else [],
            "tool_name": "terminal",
            "tool_call_id": call,
            "tool_call": made,
            "llm_response_id": response,
            **more,
        },
    )


def result(name: str, call: str, words: str, of: str = "", **more: Any) -> Json:
    """What a call gave."""
    observation = {"kind": "FileEditorObservation", "content": [text(words)], "is_error": False}
    return event(
        "ObservationEvent",
        name,
        tool_name="terminal",
        tool_call_id=call,
        action_id=of,
        observation={**observation, **more},
    )


def condensation(name: str, gone: Sequence[str], summary: str | None, at: int | None) -> Json:
    """The agent's compaction."""
    told = {"summary": summary, "summary_offset": at}
    return event(
        "Condensation",
        name,
        forgotten_event_ids=[*gone],
        llm_response_id=f"r-{name}",
        **{key: value for key, value in told.items() if value is not None},
    )


def state(name: str, key: str, value: Any) -> Json:
    """A state of the agent's."""
    return event("ConversationStateUpdateEvent", name, key=key, value=value)


def stats(name: str, prompt: int, output: int, newest: int) -> Json:
    """The sums of what was spent, told as an answer comes."""
    usage = {"model": "m", "prompt_tokens": prompt, "completion_tokens": output}
    figures = {**usage, "per_turn_token": newest, "context_window": 1000}
    metrics = {"model_name": "m", "accumulated_token_usage": figures}
    return state(name, "stats", {"usage_to_metrics": {"default": metrics}})


SIGNED = {"thinking_blocks": [{"type": "thinking", "thinking": "so", "signature": "s"}]}


def made() -> list[Json]:
    """A log with an event of every kind."""
    tasks = {"command": "plan", "task_list": [{"title": "x", "status": "in_progress"}]}
    plan = {"id": "c4", "name": "task_tracker", "arguments": json.dumps(tasks)}
    picture = {"type": "image", "image_urls": ["data:image/png;base64,"]}
    shell = {"kind": "TerminalObservation", "is_error": True, "metadata": {"exit_code": 1}}
    return [
        event(
            "SystemPromptEvent",
            "e0",
            system_prompt=text("rules"),
            tools=[{"name": "terminal"}],
            dynamic_context=text("where"),
        ),
        user("e1", "do it", extended_content=[text("a skill")]),
        state("s1", "execution_status", "running"),
        stats("s2", 90, 7, 97),
        action("a1", "c1", "r1", "look", **SIGNED),
        action("a2", "c2", "r1"),
        result("o1", "c1", "one", "a1"),
        result("o2", "c2", "two", "a2", **shell),
        user("e2", "and that"),
        action("a3", "c3", "r2", reasoning_content="hm"),
        event("UserRejectObservation", "o3", tool_call_id="c3", rejection_reason="no"),
        action("a4", "c4", "r3", tool_call=plan, tool_name="task_tracker"),
        event("AgentErrorEvent", "o4", tool_call_id="c4", error="broken"),
        event("HookExecutionEvent", "h1", success=True),
        event("CondensationRequest", "q1"),
        condensation("k1", ["a1", "o1", "o2"], "the summary", 1),
        event("PauseEvent", "p1"),
        event("MessageEvent", "e3", llm_message={"role": "user", "content": [picture]}),
        action("a5", "c5", "r4", tool_name="finish"),
        result("o5", "c5", "done", "a5"),
        event("ConversationErrorEvent", "x1", code="C", detail="it broke"),
        answer("e4", "yes"),
        {**user("e5", "another way"), "parent_id": "e1"},
    ]


def made_rows() -> list[Json]:
    """The same as the rows of a folder."""
    figures = {"model": "m", "prompt_tokens": 50, "completion_tokens": 7, "cache_read_tokens": 20}
    settings = {"id": "c0ffee", "model": "m", "working_dir": "/repo"}
    usage = {"table": "usage", "id": "agent/0", "data": {**figures, "response_id": "r1"}}
    late = {"table": "usage", "id": "agent/1", "data": {**figures, "response_id": "r3"}}
    head = {"execution_status": "waiting_for_confirmation", "leaf_event_id": "e2"}
    return [
        {"table": "conversation", "id": "base_state.json", "data": settings},
        usage,
        *({"table": "event", "id": f"event-{n}", "data": e} for n, e in enumerate(made())),
        late,
        {"table": "head", "id": "base_state.json", "data": head},
        {"table": "head", "id": "base_state.json", "data": {"head_is_empty": True}},
    ]


def random_log(seed: int) -> list[Json]:
    """A conversation as the SDK writes it: messages, answers with one call or several, results in
    any order, some late or none, loops with signed thinking, condensations of any events, states
    between; with ``parent_id``, branches."""
    choose = random.Random(seed)
    branches = choose.random() < 0.4
    rows: list[Json] = [
        event("SystemPromptEvent", "e0", system_prompt=text("rules"), source="agent", tools=[])
    ]
    view: list[str] = ["e0"]
    open_calls: list[tuple[str, str]] = []

    def add(row: Json) -> None:
        if branches:
            row["parent_id"] = leaf
        rows.append(row)
        if row["kind"] not in ("ConversationStateUpdateEvent", "CondensationRequest"):
            view.append(row["id"])

    leaf = "e0"
    for number in range(choose.randint(2, 16)):
        what = choose.random()
        name = f"n{number}"
        if what < 0.2:
            add(user(name, f"words {choose.randint(0, 9)}"))
        elif what < 0.3:
            add(answer(name, f"said {number}"))
        elif what < 0.6:
            signed = SIGNED if choose.random() < 0.4 else {}
            for part in range(choose.choice((1, 1, 1, 2, 3))):
                own = f"{name}.{part}"
                words = f"thought {number}" if part == 0 and choose.random() < 0.7 else ""
                more = signed if part == 0 else {}
                add(action(own, f"c{own}", f"r{number}", words, **more))
                leaf = own if branches else leaf
                open_calls.append((own, f"c{own}"))
            choose.shuffle(open_calls)
            while open_calls and choose.random() < 0.85:
                of, call = open_calls.pop()
                own = f"o{of}"
                add(result(own, call, f"printed {of}", of))
                leaf = own
            continue
        elif what < 0.7 and open_calls:
            of, call = open_calls.pop()
            add(event("AgentErrorEvent", name, tool_call_id=call, tool_name="t", error="late"))
        elif what < 0.78:
            rows.append(state(name, "execution_status", "running"))
            if branches:
                rows[-1]["parent_id"] = leaf
            continue
        elif what < 0.95:
            gone = [each for each in view if choose.random() < 0.4]
            if choose.random() < 0.5:
                first = choose.randint(0, len(view))
                gone = view[first : first + choose.randint(1, 6)]
            summary = f"summary {number}" if choose.random() < 0.8 else None
            room = len([each for each in view if each not in gone])
            at = choose.randint(0, room) if summary else None
            add(condensation(name, gone, summary, at))
            view[:] = [each for each in view if each not in gone and each != name]
            if summary is not None:
                # A later one may forget the summary, by the name that it has in the view.
                view.insert(min(at or 0, len(view)), f"{name}-summary")
        elif branches and len(rows) > 3:
            # The conversation goes on from an event before.
            leaf = choose.choice([r["id"] for r in rows if not r["kind"].startswith("Conv")])
            add(user(name, "another way"))
        else:
            continue
        leaf = name
    return rows
