"""Made events of OpenHands' from before its SDK."""

from __future__ import annotations

import random
from typing import Any

from tests.storage.sources.openhands_logs import TIME, Json


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
