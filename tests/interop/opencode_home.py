"""opencode in a home that is thrown away, and the provider that it asks: OpenAI's chat protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.interop.agents import PROBE, _run
from tests.interop.loopback import Handler, serving
from tests.interop.provider import ANSWER
from tests.interop.wire import Line

_CLEAN = {
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
}


@contextmanager
def chat_provider() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serves on the loopback until the end of the block: its address, and what it was asked."""
    with serving(_Handler) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", server.asked


class _Handler(Handler):
    def do_POST(self) -> None:  # noqa: N802 - as http.server calls it
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(json.loads(body))
        told = [{"role": "assistant", "content": ANSWER}, {}]
        pieces = []
        for number, delta in enumerate(told):
            choice = {"index": 0, "delta": delta, "finish_reason": "stop" if number else None}
            pieces.append({"id": "x", "object": "chat.completion.chunk", "choices": [choice]})
        data = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
        self.send(200, "text/event-stream", data.encode())


class OpencodeHome:
    """A home that talks to the provider at ``url``."""

    def __init__(self, opencode: Path, folder: Path, url: str) -> None:
        self._opencode = opencode
        self._work = folder / "work"
        self._work.mkdir()
        self._environment = {**_CLEAN, "XDG_DATA_HOME": str(folder / "data")}
        self.database = folder / "data" / "opencode" / "opencode.db"
        model = {
            "name": "m",
            "limit": {"context": 200_000, "output": 8_000},
            "attachment": True,
            "modalities": {"input": ["text", "image"], "output": ["text"]},
        }
        mock: dict[str, Any] = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "mock",
            "options": {"baseURL": url, "apiKey": "none"},
            "models": {"m": model},
        }
        settings = {"model": "mock/m", "share": "disabled", "provider": {"mock": mock}}
        (self._work / "opencode.json").write_text(json.dumps(settings), encoding="utf-8")

    def take(self, session: Mapping[str, Any]) -> None:
        """Imports a session that ``opencode export`` could have printed."""
        file = self._work / "session.json"
        file.write_text(json.dumps(session), encoding="utf-8")
        _run([str(self._opencode), "import", str(file)], self._work, self._environment)

    def resume(self, session: str) -> None:
        """One turn in this session."""
        words = [str(self._opencode), "run", "-s", session, PROBE]
        _run(words, self._work, self._environment)


def of_chat(messages: Sequence[Mapping[str, Any]]) -> list[Line]:
    """(role, kind, id of the call, input as JSON, text) of every part of a request, the system
    prompt left out."""
    return [line for message in messages for line in _of_message(message)]


def _of_message(message: Mapping[str, Any]) -> list[Line]:
    role, content = message["role"], message.get("content")
    if role == "system":
        return []
    if role == "tool":
        return [("user", "tool_result", message["tool_call_id"], None, content)]
    lines: list[Line] = []
    if thought := message.get("reasoning_content"):
        lines.append((role, "thinking", None, None, thought))
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    lines += [
        (role, "text", None, None, part["text"])
        if part["type"] == "text"
        else (role, "image", None, None, "")
        for part in parts
        if part.get("text") != ""
    ]
    for call in message.get("tool_calls") or ():
        given = json.dumps(json.loads(call["function"]["arguments"]), sort_keys=True)
        lines.append((role, "tool_call", call["id"], given, call["function"]["name"]))
    return lines
