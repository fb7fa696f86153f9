"""Made documents of SWE-agent and mini-SWE-agent, and runs as SWE-agent itself goes on."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compress.events import SessionEvent
from compress.messages import derive_messages
from compress.surface import fold
from storage.sources.base import FileReader
from storage.sources.sweagent import SweAgentAdapter
from tests.derivation import content, read
from tests.storage.sources.kit import rows_as_records

ADAPTER = SweAgentAdapter()
PATH = Path("task-1.traj")
Json = dict[str, Any]
CONFIG = {"agent": {"name": "main", "model": {"name": "m"}}}


def reading(document: Any, path: Path = PATH) -> tuple[FileReader, dict[str, list[SessionEvent]]]:
    """A document, read: the reader and the events by session."""
    return read(ADAPTER, path, rows_as_records([document]))


def events(document: Any, path: Path = PATH) -> list[SessionEvent]:
    """The events of its main session."""
    return reading(document, path)[1][""]


def sent(log: Sequence[SessionEvent]) -> list[tuple[str, str, str | None, str]]:
    """The blocks that would be sent: role, kind, id, text."""
    messages = derive_messages(content(fold(log), log), "sweagent")
    return [(m.role, b.kind, b.id, b.text) for m in messages for b in m.blocks]


def item(role: str, text: str, kind: str, **more: Any) -> Json:
    """A message of a history."""
    return {"role": role, "content": text, "agent": "main", "message_type": kind, **more}


def answer(text: str, call: str | None = None) -> Json:
    """What the model said; with ``call``, calling ``bash``."""
    calls = [{"id": call, "type": "function", "function": {"name": "bash", "arguments": "{}"}}]
    return item(
        "assistant", text, "action", thought=text, action="ls", tool_calls=calls if call else None
    )


def observation(text: str, call: str | None = None) -> Json:
    """What a command printed."""
    if call is None:
        return item("user", text, "observation")
    return item("tool", text, "observation", tool_call_ids=[call])


def step(said: Json, query: Sequence[Json], **more: Any) -> Json:
    """A step of a trajectory."""
    fields = {name: said.get(name) for name in ("thought", "action")}
    state = {"open_file": "n/a", "working_dir": "/repo"}
    return {**fields, "response": said["content"], "query": [*query], "state": state} | {
        "observation": "printed",
        **more,
    }


def document(history: Sequence[Json], steps: Sequence[Json] = (), **info: Any) -> Json:
    """A whole document."""
    return {
        "trajectory": [*steps],
        "history": [*history],
        "info": info,
        "replay_config": json.dumps(CONFIG),
        "environment": "swe_main",
    }


def elided(history: Sequence[Json], last: int) -> list[Json]:
    """A history as ``last_n_observations`` passes it on: of the observations behind the first,
    which is the task, all but the last ones are told by the number of their lines."""
    places = [i for i, m in enumerate(history) if m["message_type"] == "observation"]
    dropped = places[1 : max(0, len(places) - last)]
    found = copy.deepcopy([*history])
    for place in dropped:
        lines = len(found[place]["content"].splitlines())
        found[place]["content"] = f"Old environment output: ({lines} lines omitted)"
    return found


def random_run(seed: int) -> list[Json]:
    """A run as its file stands after each step."""
    choose = random.Random(seed)
    calls = choose.random() < 0.6
    last = choose.randint(1, 3)
    history = [item("system", "rules", "system_prompt")]
    if choose.random() < 0.3:
        history.append(item("user", "shown", "demonstration", is_demo=True))
    history.append(observation("solve it"))
    steps: list[Json] = []
    documents = [document(history)]
    for number in range(choose.randint(1, 7)):
        query = elided(history, last)
        if choose.random() < 0.2:
            failed = [item("assistant", f"bad {number}", "action"), item("user", "again", "user")]
            wrong = answer(f"bad {number}")
            steps.append(step(wrong, query))
            query = [*query, *failed]
        call = f"c{number}" if calls else None
        said = answer(f"thought {choose.randint(0, 2)}", call)
        steps.append(step(said, query))
        printed = "\n".join(["line"] * choose.randint(0, 3))
        history = [*history, said, observation(printed, call)]
        documents.append(document(history, steps))
    return copy.deepcopy(documents)


def made() -> Json:
    """One with a message of every kind."""
    history = [
        item("system", "rules", "system_prompt"),
        item("user", "a demonstration", "demonstration", is_demo=True),
        observation("solve it"),
        {**answer("look", "c1"), "thinking_blocks": [{"thinking": "t", "signature": "s"}]},
        observation("1\n2", "c1"),
        answer("in words"),
        observation([{"type": "text", "text": "seen"}]),  # type: ignore[arg-type]
        {**item("user", "for another agent", "observation"), "agent": "helper"},
    ]
    short = [*history[:4], observation("Old environment output: (2 lines omitted)", "c1")]
    steps = [
        step(answer("bad"), history[:3]),
        step(history[3], history[:3]),
        step(history[5], short),
    ]
    return document(history, steps, exit_status="submitted", swe_agent_version="1.1.0")


def mini(messages: Sequence[Json], **info: Any) -> Json:
    """A document of mini-SWE-agent's."""
    config = {"model": {"model_name": "m"}, "environment": {"cwd": "/repo"}}
    facts = {"mini_version": "2.4.6", "config": config, **info}
    return {"info": facts, "messages": [*messages], "trajectory_format": "mini-swe-agent-1.1"}


def extra(role: str, text: Any, facts: Mapping[str, Any], **more: Any) -> Json:
    """A message of mini-SWE-agent's, with what it notes beside it."""
    return {"role": role, "content": text, "extra": {"timestamp": 1_780_000_000.5, **facts}, **more}


def made_mini() -> Json:
    """One with a message of every kind."""
    usage = {"prompt_tokens": 50, "completion_tokens": 7}
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    output = [
        {"type": "reasoning", "id": "rs1", "summary": [{"type": "summary_text", "text": "so"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "now"}]},
        {"type": "function_call", "call_id": "c2", "name": "bash", "arguments": "{}"},
    ]
    return mini(
        [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": "solve it"},
            extra("assistant", "look", {"response": {"usage": usage}}, tool_calls=[call]),
            extra("tool", "out", {"returncode": 0}, tool_call_id="c1"),
            extra(
                "user", "no call", {"interrupt_type": "FormatError", "response": {"usage": usage}}
            ),
            {"object": "response", "output": output, "usage": usage, "extra": {}},
            {"type": "function_call_output", "call_id": "c2", "output": "two"},
            extra("user", "not so", {"interrupt_type": "UserRejection"}),
            extra("user", "<returncode>0</returncode>", {"returncode": 0}),
            extra("user", "and this", {"interrupt_type": "UserNewTask"}),
            extra("exit", "", {"exit_status": "Submitted"}),
        ],
        exit_status="Submitted",
    )
