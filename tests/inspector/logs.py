"""Small Claude Code logs with known content, and use-cases over a store of their own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspector.settings import load_settings
from inspector.usecases import UseCases
from storage.sources.registry import registry
from storage.store import Store

NAME = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"


class Log:
    """Writes records with a correct parent chain, each at once."""

    def __init__(self, folder: Path, name: str = NAME) -> None:
        self.path = folder / f"{name}.jsonl"
        self._name = name
        self._count = 0
        self._last: str | None = None

    def user(self, text: str, **more: Any) -> None:
        self._write("user", {"role": "user", "content": text}, **more)

    def assistant(self, *blocks: Mapping[str, Any], tokens: int = 1_000, **more: Any) -> None:
        """One message; a record for each block, as the agent writes it."""
        name = f"msg_{self._count}"
        for block in blocks:
            usage = {"input_tokens": tokens, "output_tokens": 20}
            message = {"role": "assistant", "id": name, "model": "claude-sonnet-4-5"}
            self._write("assistant", {**message, "content": [block], "usage": usage}, **more)

    def result(self, call: str, text: str, **more: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        self._write("user", {"role": "user", "content": [block]}, **more)

    def step(self, number: int, size: int = 400) -> None:
        """A message that calls a tool, and its result."""
        call = f"toolu_{number}"
        self.assistant(
            {"type": "text", "text": f"Looking at file {number}."},
            {
                "type": "tool_use",
                "id": call,
                "name": "Read",
                "input": {"file_path": f"/p/f{number}.py"},
            },
        )
        self.result(call, f"content of file {number}\n" + "line of code\n" * size)

    def compact(self, summary: str) -> None:
        """The agent's own compaction."""
        self._last, before = None, self._last
        self._write(
            "system",
            None,
            subtype="compact_boundary",
            logicalParentUuid=before,
            compactMetadata={"trigger": "auto", "preTokens": 150_000},
        )
        self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def _write(self, kind: str, message: Mapping[str, Any] | None, **more: Any) -> None:
        self._count += 1
        row = {
            "type": kind,
            "uuid": f"u{self._count}",
            "parentUuid": self._last,
            "sessionId": self._name,
            "timestamp": f"2026-01-02T03:{self._count // 60 % 60:02}:{self._count % 60:02}.000Z",
            "isSidechain": False,
            "cwd": "/home/u/demo",
            "version": "2.1.200",
            **more,
        }
        if message is not None:
            row["message"] = message
        self._last = f"u{self._count}"
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def usecases(
    db: Path | str, folder: Path, clock: Callable[[], float] = time.time, **settings: Any
) -> UseCases:
    """Use-cases that find no log but those they are given."""
    loaded = load_settings(
        settings, environment={}, folder=folder, config_file=folder / "none.toml"
    )
    return UseCases(Store(db, registry()), loaded, environment={}, home=folder, clock=clock)


def rows(cases: UseCases, session: str = NAME, track: str = "plan") -> Sequence[Any]:
    """The surface's rows."""
    view = cases.view(session, track="plan" if track == "plan" else "agent")
    return view.rows(0, len(view))
