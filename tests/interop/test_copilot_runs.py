"""Copilot CLI itself talks to a provider on the loopback: until it compacts, what it asks is what
is shown; behind a compaction, as much of it as its log tells."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from compress.messages import derive_messages
from compress.surface import fold
from storage.sources.copilot import CopilotAdapter
from tests.derivation import content, read, records
from tests.interop.agents import _run, program
from tests.interop.loopback import Handler, serving

pytestmark = [pytest.mark.interop, pytest.mark.slow]

HOW_TO_INSTALL = (
    "npm install --ignore-scripts --prefix FOLDER "
    "@github/copilot@1.0.102 @github/copilot-sdk@1.0.14"
)
RUNNER = Path(__file__).with_name("copilot_runs.mjs")
CALLS = [
    ("bash", {"command": "echo hello", "description": "say hello"}),
    ("view", {"path": "long.txt"}),
    ("view", {"path": "nowhere.txt"}),
]
Line = tuple[str, str]


class _Provider(Handler):
    """Answers with calls first, then with words."""

    def do_POST(self) -> None:  # noqa: N802 - as http.server calls it
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = self.server.asked
        asked.append(json.loads(body))
        said: dict[str, Any] = {"role": "assistant", "content": f"Answer {len(asked)}."}
        if len(asked) == 1:
            said["tool_calls"] = [
                {
                    "id": f"c{index}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(given)},
                }
                for index, (name, given) in enumerate(CALLS)
            ]
        reason = "tool_calls" if len(asked) == 1 else "stop"
        choice = {"index": 0, "message": said, "finish_reason": reason}
        usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
        told = {"object": "chat.completion", "created": 1, "model": "m", "usage": usage}
        answer = {"id": f"x{len(asked)}", "choices": [choice], **told}
        self.send(200, "application/json", json.dumps(answer).encode())


def run(home: Path, *prompts: str) -> tuple[list[dict[str, Any]], list[Line]]:
    """What it asks while a person says this, and what is shown of the session."""
    found = program("copilot")
    if found is None or shutil.which("node") is None:
        pytest.skip(f"Copilot CLI is not installed: {HOW_TO_INSTALL}")
    packages = next((p for p in found.parents if p.name == "node_modules"), found.parent)
    if not (packages / "@github" / "copilot-sdk").is_dir():
        pytest.skip(f"Copilot's SDK is not beside it: {HOW_TO_INSTALL}")
    work = home / "work"
    work.mkdir()
    (work / "long.txt").write_text("a line of text\n" * 2_000, encoding="utf-8")
    environment = {"HOME": str(home), "COPILOT_HOME": str(home / "copilot")}
    with serving(_Provider) as server:
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        words = ["node", str(RUNNER), str(packages.parent), url, str(work), *prompts]
        _run(words, work, environment)
        asked = server.asked
    adapter = CopilotAdapter()
    (root, *_) = adapter.roots(environment, home)
    (path,) = root.path.glob(root.pattern)
    reader, events = read(adapter, path, records(path.read_bytes()))
    assert reader.unknown_types == {}
    log = events[""]
    messages = derive_messages(content(fold(log), log), "copilot")
    return asked, [
        (block.id or message.role, "" if block.kind == "tool_call" else block.text)
        for message in messages
        for block in message.blocks
    ]


def of_chat(messages: list[dict[str, Any]]) -> list[Line]:
    """Of every block of a request what tells it: its role or its call, and its text."""
    found: list[Line] = []
    for message in messages:
        owner = message.get("tool_call_id") or message["role"]
        if message.get("content"):
            found.append((owner, message["content"]))
        found += [(call["id"], "") for call in message.get("tool_calls") or ()]
    return found


def test_what_it_asks_is_what_is_shown(tmp_path: Path) -> None:
    asked, shown = run(tmp_path, "Look at it.", "Again.")
    assert shown[-1] == ("assistant", "Answer 3.")
    told = of_chat(asked[-1]["messages"])
    # What the model reads of a failure is not in the log: it has the screen's words.
    failed = next(at for at, (name, words) in enumerate(told) if name == "c2" and words)
    assert shown[failed] == ("c2", "Path does not exist")
    assert [*shown[:failed], *shown[failed + 1 : -1]] == [*told[:failed], *told[failed + 1 :]]


def test_behind_a_compaction_its_summary_and_the_users_words_stand(tmp_path: Path) -> None:
    asked, shown = run(tmp_path, "Look at it.", "/compact", "Again.")
    (_, system), (_, frame), (_, last) = of_chat(asked[-1]["messages"])
    (_, told), (_, summary), (_, first), *since = shown
    assert told == system
    assert summary in frame
    assert first.endswith("Look at it.")
    assert "Look at it." in frame
    assert since == [("user", last), ("assistant", "Answer 4.")]
