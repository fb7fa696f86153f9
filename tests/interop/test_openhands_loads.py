"""OpenHands' own SDK, loading conversations: it sends exactly what the surface shows."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from compress.events import SessionEvent
from storage.sources.base import Record
from tests.derivation import read
from tests.interop.agents import PROBE
from tests.interop.loopback import Handler, Server, serving
from tests.storage.sources.openhands_logs import ADAPTER, events, random_log
from tests.storage.sources.openhands_reference import Line, loaded
from tests.storage.sources.test_openhands_surface import messages

pytestmark = pytest.mark.interop

_LOADER = Path(__file__).with_name("openhands_loader.py")
_TALK = Path(__file__).with_name("openhands_talk.py")
_SECONDS = 300
SECRET = b"sk-none-of-your-business"
_HOW = "name a Python 3.12 or newer that has openhands-sdk==1.58.2: ULLAGE_OPENHANDS=FILE"


@pytest.fixture
def python() -> str:
    """The program that has the SDK."""
    found = os.environ.get("ULLAGE_OPENHANDS")
    if found is None:
        pytest.skip(f"OpenHands' SDK is not installed: {_HOW}")
    return found


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(_Provider) as running:
        yield running


class _Provider(Handler):
    """Thinks twice, or once, some turns long; sums up where no tools are offered."""

    def do_POST(self) -> None:  # noqa: N802 - as http.server calls it
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        number = len(self.server.asked)
        message: dict[str, Any] = {"role": "assistant", "content": f"said {number}"}
        if body.get("tools") and number % 7:
            message["tool_calls"] = [
                {"id": f"call_{number}_{n}", "type": "function", "function": _thought(number, n)}
                for n in range(1 + number % 2)
            ]
        usage = {
            "prompt_tokens": 100 + number,
            "completion_tokens": 9,
            "total_tokens": 109 + number,
        }
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        told = {"id": f"r{number}", "object": "chat.completion", "created": 1, "model": "gpt-4o"}
        answer = {**told, "choices": [choice], "usage": usage}
        self.send(200, "application/json", json.dumps(answer).encode())


def _thought(number: int, part: int) -> dict[str, str]:
    return {"name": "think", "arguments": json.dumps({"thought": f"thought {number}.{part}"})}


def sent_lines(message: dict[str, Any]) -> list[Line]:
    """A message as it is sent, as lines."""
    content = message.get("content") or []
    parts = [{"text": content}] if isinstance(content, str) else content
    if message["role"] == "tool":
        text = "".join(part["text"] for part in parts)
        return [("user", "tool_result", message["tool_call_id"], text)]
    role = message["role"]
    thoughts = message.get("thinking_blocks") or []
    found: list[Line] = [(role, "thinking", None, block["thinking"]) for block in thoughts]
    found += [(role, "text", None, part["text"]) for part in parts]
    for call in message.get("tool_calls") or []:
        given = json.dumps(json.loads(call["function"]["arguments"]))
        found.append((role, "tool_call", call["id"], given))
    return found


def run(*command: str | Path) -> str:
    """What a program prints."""
    ran = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=_SECONDS, check=True
    )
    return ran.stdout


def folder_of(home: Path) -> tuple[Sequence[Record], list[SessionEvent]]:
    """The conversation that was kept there."""
    (path,) = (home / "conversations").glob("*/base_state.json")
    with ADAPTER.tail(path, None, lambda: iter(())) as tail:
        records = tail.read(final=True).records
    reader, found = read(ADAPTER, path, records)
    assert reader.unknown_types == {}
    return records, found[""]


def test_its_view_gives_the_same_for_random_conversations(tmp_path: Path, python: str) -> None:
    logs = [random_log(seed) for seed in range(600)]
    # What it sends in two parts where it stands as one is a gap that is known.
    logs = [rows for rows in logs if loaded(rows) is not None]
    path = tmp_path / "conversations.jsonl"
    path.write_text("".join(f"{json.dumps(rows)}\n" for rows in logs))
    told = [json.loads(line) for line in run(python, _LOADER, path).splitlines()]
    for rows, sent in zip(logs, told, strict=True):
        assert messages(events(rows)) == [sent_lines(message) for message in sent]


def test_every_request_of_a_conversation_held_what_stood(
    tmp_path: Path, python: str, server: Server
) -> None:
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    run(python, _TALK, tmp_path, url, "one", "two", "three", "four")
    talked = len(server.asked)
    # Loaded again, it goes on.
    run(python, _TALK, tmp_path, url, PROBE)
    records, log = folder_of(tmp_path)
    assert not any(SECRET in record.raw for record in records)
    asked = {f"r{n}": body for n, body in enumerate(server.asked, 1) if body.get("tools")}
    assert int(list(asked)[-1][1:]) > talked
    first: dict[str, str] = {}
    for data in (r.value["data"] for r in records if r.value["table"] == "event"):
        if data["kind"] != "Condensation" and "llm_response_id" in data:
            first.setdefault(data["llm_response_id"], data["id"])
    assert first.keys() == asked.keys()
    assert len([e for e in log if e.type == "compact/end"]) > 2
    for answer, name in first.items():
        at = next(index for index, e in enumerate(log) if e.native_id == name)
        stood = [line for message in messages(log[:at]) for line in message]
        held = [line for message in asked[answer]["messages"] for line in sent_lines(message)]
        assert stood == held, answer
        assert log[at].usage is not None
