"""Made events of OpenHands', of its SDK and from before."""

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


# -------------------------------------------------------------------------------------- the SDK


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


# ------------------------------------------------------------------------------- before the SDK


def old(number: int, action_: str, source: str = "agent", **args: Any) -> Json:
    """An action."""
    return {"id": number, "timestamp": TIME, "source": source, "action": action_, "args": args}


def seen(number: int, observation: str, words: str, cause: int = 0, **extras: Any) -> Json:
    """An observation."""
    return {
        "id": number,
        "timestamp": TIME,
        "source": "agent",
        "observation": observation,
        "content": words,
        "cause": cause,
        "extras": extras,
    }


def response(name: str, *calls: str, words: str | None = "so") -> Json:
    """An answer of the model's, as it stands in each of its actions."""
    made_ = [
        {"id": call, "type": "function", "function": {"name": "bash", "arguments": '{"a": 1}'}}
        for call in calls
    ]
    message = {"role": "assistant", "content": words, "tool_calls": made_}
    usage = {"prompt_tokens": 60, "completion_tokens": 5}
    return {"id": name, "model": "m", "choices": [{"message": message}], "usage": usage}


def of(row: Json, answer_: Json, call: str) -> Json:
    """The event with the answer that it came from."""
    total = len(answer_["choices"][0]["message"]["tool_calls"])
    metadata = {"function_name": "bash", "tool_call_id": call, "model_response": answer_}
    return {**row, "tool_call_metadata": {**metadata, "total_calls_in_response": total}}


def made_old() -> list[Json]:
    """A log with an event of every kind."""
    one, two = response("r1", "c1", "c2"), response("r2", "c3")
    agent = {"name": "git", "content": "commit often"}
    return [
        old(0, "system", content="rules", tools=[]),
        old(1, "message", "user", content="do it", image_urls=["data:image/png;base64,"]),
        old(2, "recall", "user", recall_type="workspace_context"),
        seen(3, "recall", "", 2, recall_type="knowledge", microagent_knowledge=[agent]),
        of(old(4, "run", command="ls"), one, "c1"),
        of(seen(5, "run", "out", 4, metadata={"exit_code": 0, "working_dir": "/r"}), one, "c1"),
        of(old(6, "read", path="a"), one, "c2"),
        old(7, "message", "user", content="and that"),
        of(seen(8, "error", "broken", 6), one, "c2"),
        {**old(9, "run", "user", command="pwd"), "args": {"command": "pwd"}},
        {**seen(10, "run", "/r", 9, metadata={"exit_code": 0}), "source": "user"},
        seen(11, "agent_state_changed", "", 0, agent_state="awaiting_user_confirmation"),
        of(old(12, "delegate", agent="B", inputs={}), two, "c3"),
        old(13, "message", content="the delegate speaks"),
        of(seen(14, "delegate", "done", 12, outputs={"content": "inner"}), two, "c3"),
        old(15, "condensation_request"),
        old(16, "condensation", forgotten_event_ids=[4, 5], summary="S", summary_offset=2),
        old(17, "condensation", forgotten_events_start_id=7, forgotten_events_end_id=9),
        old(18, "run", command="git status", thought="look"),
        seen(19, "run", "clean", 18),
        {**old(20, "run", command="x"), "args": {"command": "x", "hidden": True}},
        seen(21, "user_rejected", "no", 18),
        old(22, "finish", thought="all done"),
        seen(23, "agent_state_changed", "", 0, agent_state="finished"),
    ]


def random_old(seed: int) -> list[Json]:
    """A conversation as it was written before the SDK: messages, answers whose calls are run one
    by one, with results that are late or none and words of the user's between, commands of the
    user's own, condensations by list or by range."""
    choose = random.Random(seed)
    rows: list[Json] = [old(0, "system", content="rules", tools=[])]

    def add(row: Json) -> int:
        rows.append(row)
        return int(row["id"])

    def next_id() -> int:
        return int(rows[-1]["id"]) + 1

    def words() -> str:
        return f"words {choose.randint(0, 5)}"

    add(old(1, "message", "user", content="do it"))
    for number in range(choose.randint(1, 14)):
        what = choose.random()
        if what < 0.2:
            add(old(next_id(), "message", "user", content=words()))
        elif what < 0.3:
            add(old(next_id(), "message", content=words()))
        elif what < 0.65:
            calls = [f"c{number}.{n}" for n in range(choose.choice((1, 1, 2, 3)))]
            one = response(f"r{number}", *calls, words=choose.choice((None, "", words())))
            for call in calls:
                kind, args = choose.choice((("run", {"command": "ls"}), ("read", {"path": "a"})))
                cause = add(of(old(next_id(), kind, **args), one, call))
                if choose.random() < 0.15:
                    add(old(next_id(), "message", "user", content=words()))
                if choose.random() < 0.85:
                    metadata = {"exit_code": choose.choice((0, -1)), "working_dir": "/r"}
                    given = choose.choice(
                        (
                            seen(next_id(), "run", words(), cause, command="l", metadata=metadata),
                            seen(next_id(), "error", words(), cause),
                            seen(next_id(), "user_rejected", words(), cause),
                        )
                    )
                    add(of(given, one, call))
        elif what < 0.72:
            cause = add(old(next_id(), "run", "user", command="pwd"))
            given = seen(next_id(), "run", "/r", cause, command="pwd", metadata={"exit_code": 0})
            add({**given, "source": "user"})
        elif what < 0.77:
            add(old(next_id(), "recall", "user", recall_type="knowledge", query="x"))
        elif what < 0.82:
            state_ = choose.choice(("running", "awaiting_user_input"))
            add(seen(next_id(), "agent_state_changed", "", 0, agent_state=state_))
        elif what < 0.95:
            # What has its place before the summary is kept, as the agent's condensers do.
            newest = next_id() - 1
            first = choose.randint(2, max(2, newest))
            last = min(newest, first + choose.randint(0, 5))
            ids = sorted({choose.randint(2, newest) for _ in range(4)} if newest > 1 else ())
            ranged = {"forgotten_events_start_id": first, "forgotten_events_end_id": last}
            told: Json = ranged if choose.random() < 0.6 else {"forgotten_event_ids": ids}
            if choose.random() < 0.7:
                told |= {"summary": f"summary {number}", "summary_offset": choose.randint(0, 2)}
            add(old(next_id(), "condensation", **told))
        else:
            add(old(next_id(), "finish", thought=words()))
    return rows
