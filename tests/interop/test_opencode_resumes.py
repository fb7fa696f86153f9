"""opencode itself resumes a session, and asks its provider for exactly what the surface shows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compress.messages import derive_messages
from compress.surface import fold
from storage.sources.registry import registry
from storage.store import Store
from tests.derivation import content
from tests.interop.agents import PROBE, program
from tests.interop.opencode_home import OpencodeHome, chat_provider, of_chat
from tests.interop.wire import Line
from tests.storage.sources.opencode_store import START, events, read, tool

pytestmark = [pytest.mark.interop, pytest.mark.slow]

HOW_TO_INSTALL = "npm install --ignore-scripts --prefix FOLDER opencode-ai@1.18.33"
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
    "DwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ABORTED = {"name": "MessageAbortedError", "data": {"message": "aborted"}}
FAILED = {"name": "UnknownError", "data": {"message": "broken"}}


def installed() -> Path | None:
    """The program itself; what npm links in ``.bin`` is put in its place by a script that a
    careful installation does not run."""
    found = program("opencode")
    if found is None:
        return None
    for folder in found.resolve().parents:
        own = folder / "opencode-linux-x64" / "bin" / "opencode"
        if own.exists():
            return own
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpencodeHome, list[Any]]]:
    found = installed()
    if found is None or shutil.which(str(found)) is None:
        pytest.skip(f"opencode is not installed: {HOW_TO_INSTALL}")
    with chat_provider() as (url, asked):
        yield OpencodeHome(found, tmp_path_factory.mktemp("opencode"), url), asked


class Script:
    """A session as ``opencode export`` prints it."""

    def __init__(self, number: int) -> None:
        self._number, self._at = number, START
        self.id = f"ses_{0xFFFFFFFFFFF0 - number:012x}AAAAAAAAAAAAAA"
        self.messages: list[dict[str, Any]] = []

    def says(self, role: str, *parts: dict[str, Any], **more: Any) -> str:
        """A message; returns its id."""
        self._at += 1000
        name = self._name("msg")
        time = {"created": self._at, "completed": self._at + 500}
        info: dict[str, Any] = {"id": name, "sessionID": self.id, "role": role, "agent": "build"}
        if role == "user":
            info |= {"time": {"created": self._at}}
            info |= {"model": {"providerID": "mock", "modelID": "m"}, "summary": {"diffs": []}}
        else:
            cache = {"read": 0, "write": 0}
            tokens = {"input": 9, "output": 1, "reasoning": 0, "cache": cache}
            info |= {"time": time, "modelID": "m", "providerID": "mock", "mode": "build"}
            info |= {"path": {"cwd": "/", "root": "/"}, "cost": 0, "tokens": tokens}
            info |= {"parentID": self.messages[-1]["info"]["id"], "finish": "stop"}
        info |= more
        made = []
        for part in parts:
            self._at += 1
            made.append({"id": self._name("prt"), "sessionID": self.id, "messageID": name, **part})
        self.messages.append({"info": info, "parts": made})
        return name

    def exported(self) -> dict[str, Any]:
        info = {
            "id": self.id,
            "slug": "made",
            "projectID": "global",
            "directory": "/",
            "title": "Made",
            "version": "1.18.33",
            "time": {"created": START, "updated": self._at},
        }
        return {"info": info, "messages": self.messages}

    def _name(self, kind: str) -> str:
        return f"{kind}_{self._at * 4096 & 0xFFFFFFFFFFFF:012x}{self._number:014d}"


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def call(status: str, output: str = "", name: str = "c1", **more: Any) -> dict[str, Any]:
    made = {"type": "tool", **tool(status, output, name, **more)}
    state = made["state"]
    if status == "completed":
        state |= {"title": "ls", "metadata": {}}
    elif status != "pending":
        state["time"] = {"start": START, **({"end": START + 1} if status == "error" else {})}
    else:
        state["raw"] = ""
    return made


def plain() -> Script:
    script = Script(1)
    picture = {"type": "file", "mime": "image/png", "url": PIXEL, "filename": "x.png"}
    script.says("user", text("Ünd weiter 😀"), text("its lines", synthetic=True), picture)
    script.says("assistant", {"type": "step-start"}, text("so"), call("completed", "one"),
                call("completed", "two", "c2"), finish="tool-calls")  # fmt: skip
    script.says("assistant", {"type": "step-start"}, call("error", name="c3", error="no such"),
                call("running", name="c4"), finish="tool-calls")  # fmt: skip
    script.says("user", text("hidden", ignored=True), text("go on"))
    script.says("assistant", text("lost"), error=FAILED)
    script.says("user", text("again"))
    script.says("assistant", text("half"), error=ABORTED)
    return script


def compacted(tail: bool) -> Script:
    script = Script(2 + tail)
    script.says("user", text("one"))
    script.says("assistant", text("two"))
    kept = script.says("user", text("three"))
    script.says("assistant", {"type": "step-start"}, call("completed", "out"))
    mark: dict[str, Any] = {"type": "compaction", "auto": True}
    if tail:
        mark["tail_start_id"] = kept
    script.says("user", mark)
    script.says("assistant", text("the summary"), summary=True, mode="compaction")
    script.says("user", text("four"))
    pruned = call("completed", "long", "c2", compacted=START)
    script.says("assistant", {"type": "step-start"}, pruned, finish="tool-calls")
    script.says("assistant", text("five"))
    return script


def shown(path: Path, session: str) -> list[Line]:
    """What our surface says would be sent."""
    store = Store(":memory:", registry())
    read(store, path)
    log = events(store, session)
    return [
        (
            message.role,
            {"context": "text", "synthetic": "tool_result"}.get(block.kind, block.kind),
            block.id,
            json.dumps(block.input, sort_keys=True) if block.kind == "tool_call" else None,
            (block.name if block.kind == "tool_call" else block.text) or "",
        )
        for message in derive_messages(content(fold(log), log), "opencode")
        for block in message.blocks
    ]


@pytest.mark.parametrize("script", [plain(), compacted(False), compacted(True)])
def test_opencode_sends_what_the_surface_shows(
    home: tuple[OpencodeHome, list[Any]], script: Script
) -> None:
    agent, asked = home
    agent.take(script.exported())
    expected = shown(agent.database, script.id)
    asked.clear()
    agent.resume(script.id)
    request = next(body for body in asked if body.get("tools"))
    lines = of_chat(request["messages"])
    assert PROBE in str(lines[-1][-1])
    assert lines[: len(expected)] == expected
    assert len(lines) == len(expected) + 1
    # What the turn added is there afterwards, behind what stood.
    assert shown(agent.database, script.id)[: len(expected)] == expected
