"""Made trajectories in the Agent Trajectory Interchange Format."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compress.events import SessionEvent
from compress.messages import derive_messages
from compress.surface import fold
from storage.sources.atif import AtifAdapter
from storage.sources.base import FileReader
from tests.derivation import content, read
from tests.storage.sources.kit import rows_as_records

ADAPTER = AtifAdapter()
Json = dict[str, Any]


def reading(*documents: Any) -> tuple[FileReader, dict[str, list[SessionEvent]]]:
    """Documents, read: the reader and the events by session."""
    return read(ADAPTER, Path("trajectory.json"), rows_as_records(documents))


def events(document: Any) -> list[SessionEvent]:
    """The events of its own trajectory."""
    return reading(document)[1][""]


def sent(log: Sequence[SessionEvent]) -> list[tuple[str, str, str | None, str]]:
    """The blocks that stand: role, kind, id, text."""
    messages = derive_messages(content(fold(log), log), "atif")
    return [(m.role, b.kind, b.id, b.text) for m in messages for b in m.blocks]


def trajectory(*steps: Json, **more: Any) -> Json:
    """A whole document; its steps are numbered."""
    agent = {"name": "an-agent", "version": "1.0", "model_name": "m"}
    numbered = [{"step_id": n, **step} for n, step in enumerate(steps, 1)]
    return {"schema_version": "ATIF-v1.8", "agent": agent, "steps": numbered, **more}


def step(source: str, message: Any, **more: Any) -> Json:
    """A step of a trajectory."""
    return {"source": source, "message": message, **more}


def call(name: str, function: str = "bash", **arguments: Any) -> Json:
    """A call of a tool."""
    return {"tool_call_id": name, "function_name": function, "arguments": arguments}


def made() -> Json:
    """One with a step of every kind."""
    image = {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}
    audio = {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}}
    results = [
        {"source_call_id": "c1", "content": [{"type": "text", "text": "one"}, image]},
        {"source_call_id": "c2", "subagent_trajectory_ref": [{"trajectory_id": "sub-1"}]},
        {"content": "what the terminal shows"},
    ]
    metrics = {"prompt_tokens": 90, "completion_tokens": 7, "cached_tokens": 40}
    inner = trajectory(
        step("user", "look closer"), step("agent", "looked"), trajectory_id="sub-1", session_id="r"
    )
    return trajectory(
        step("system", "rules", timestamp="2026-08-18T10:00:00Z"),
        step("user", [{"type": "text", "text": "do it"}, image, audio]),
        step("agent", "as before", is_copied_context=True, metrics=metrics),
        step(
            "agent",
            "look",
            reasoning_content="so",
            tool_calls=[call("c1", command="ls"), call("c2", "delegate", task="look closer")],
            observation={"results": results},
            metrics=metrics,
        ),
        step("system", "", observation={"results": [{"content": "summarized"}]}),
        step("agent", "by rule", llm_call_count=0),
        step("agent", "done", model_name="n", llm_call_count=3, metrics=metrics),
        session_id="r",
        trajectory_id="t-1",
        subagent_trajectories=[inner],
        final_metrics={"total_steps": 7},
    )


def random_trajectory(seed: int) -> Json:
    """Steps of every source, with parts, calls, and results with and without a call."""
    choose = random.Random(seed)

    def content() -> Any:
        words = f"words {choose.randint(0, 99)}"
        picture = {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}
        text = {"type": "text", "text": words}
        return choose.choice((words, "", [text], [text, picture], [text, text]))

    steps = [step("system", "rules"), step("user", "do it")]
    for number in range(choose.randint(0, 9)):
        if choose.random() < 0.3:
            steps.append(step(choose.choice(("user", "system")), f"said {number}"))
            continue
        calls = [call(f"c{number}.{n}", command="ls") for n in range(choose.randint(0, 3))]
        results: list[Json] = [
            {"source_call_id": made_["tool_call_id"], "content": content()}
            for made_ in calls
            if choose.random() < 0.8
        ]
        if choose.random() < 0.3:
            results.append({"content": f"shown {number}"})
        more: Json = {"tool_calls": calls} if calls else {}
        more |= {"observation": {"results": results}} if results else {}
        more |= {"reasoning_content": f"thought {number}"} if choose.random() < 0.4 else {}
        said = content() if calls or "reasoning_content" in more else f"said {number}"
        steps.append(step("agent", said, **more))
    return trajectory(*steps)
