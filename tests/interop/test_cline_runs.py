"""Cline's own program talks to a provider on the loopback: what it asks is what is shown of the
session that it leaves behind."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from storage.sources.cline import ClineAdapter
from tests.interop.agents import PROBE, _run, program
from tests.interop.loopback import Handler, serving
from tests.storage.sources.cline_cases import Sent, shown

pytestmark = [pytest.mark.interop, pytest.mark.slow]

HOW_TO_INSTALL = "npm install --ignore-scripts --prefix FOLDER cline@3.0.65"
COMMAND = "printf 'two\\nlines\\n'; false"


class _Provider(Handler):
    """Answers with calls first, then with words."""

    def do_POST(self) -> None:  # noqa: N802 - as http.server calls it
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = self.server.asked
        asked.append(json.loads(body))
        calls = [
            {
                "index": index,
                "id": f"c{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for index, (name, given) in enumerate(_CALLS if len(asked) == 1 else ())
        ]
        delta = {"role": "assistant", "content": "I look." if calls else "Done."}
        told = [{**delta, **({"tool_calls": calls} if calls else {})}, {}]
        pieces: list[dict[str, Any]] = []
        for number, part in enumerate(told):
            reason = ("tool_calls" if calls else "stop") if number else None
            choice = {"index": 0, "delta": part, "finish_reason": reason}
            pieces.append({"id": "x", "object": "chat.completion.chunk", "choices": [choice]})
        usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
        pieces.append({"id": "x", "object": "chat.completion.chunk", "choices": [], "usage": usage})
        data = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
        self.send(200, "text/event-stream", data.encode())


_CALLS = [
    ("run_commands", {"commands": [COMMAND, "echo é"]}),
    ("read_files", {"files": [{"path": "long.txt"}, {"path": "nowhere.txt"}]}),
]


@contextmanager
def provider() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    with serving(_Provider) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", server.asked


def test_what_it_asks_is_what_is_shown(tmp_path: Path) -> None:
    cline = program("cline")
    if cline is None or shutil.which("node") is None:
        pytest.skip(f"Cline is not installed: {HOW_TO_INSTALL}")
    work = tmp_path / "work"
    work.mkdir()
    (work / "long.txt").write_text("a line of text\n" * 2_000, encoding="utf-8")
    home = {"HOME": str(tmp_path), "CLINE_DIR": str(tmp_path / ".cline")}
    with provider() as (url, asked):
        settings = ["-k", "none", "-m", "m", "-b", url]
        _run([str(cline), "auth", "openai-compatible", *settings], work, home)
        _run([str(cline), "-P", "openai-compatible", "-m", "m", "-c", str(work), PROBE], work, home)
    (root, *_) = ClineAdapter().roots(home, tmp_path)
    (path,) = root.path.glob(root.pattern)
    told = shown(path)
    assert told[-1] == ("assistant", [("text", "", "Done.")])
    assert lines(told[:-1]) == [line for m in asked[-1]["messages"] for line in of_chat(m)]


def lines(told: Sent) -> list[tuple[str, str]]:
    """Of every block what tells it: its role or its call, and its text."""
    return [
        (name or role, "" if kind == "tool_call" else words)
        for role, blocks in told
        for kind, name, words in blocks
    ]


def of_chat(message: dict[str, Any]) -> list[tuple[str, str]]:
    """The same of a message of the chat protocol."""
    content = message.get("content") or ()
    parts = [{"text": content}] if isinstance(content, str) else content
    owner = message.get("tool_call_id") or message["role"]
    said = [(owner, part["text"]) for part in parts if part["text"]]
    return [*said, *((call["id"], "") for call in message.get("tool_calls") or ())]
